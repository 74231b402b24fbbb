"""The asv plugin: `"plugins": [".dcu_asv_ext.asv_plugin"]` in asv.conf.json."""

from __future__ import annotations


def setup() -> None:
    """Called by asv when the plugin is loaded; loading it twice changes nothing more."""
    from .hooks import install

    install()
