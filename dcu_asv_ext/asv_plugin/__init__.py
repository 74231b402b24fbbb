"""The asv plugin: `"plugins": [".dcu_asv_ext.asv_plugin"]` in asv.conf.json."""

from __future__ import annotations


def setup() -> None:
    """Called by asv when the plugin is loaded; loading it twice changes nothing more.

    Raises asv's UserError, in one sentence, on an asv that is not known.
    """
    from .git_environment import leave_callers_repository

    leave_callers_repository()
    try:
        from .hooks import install
    except ImportError as fault:
        if not (fault.name or "").startswith("asv"):
            raise
        from asv import __version__, util

        raise util.UserError(
            f"dcu-asv does not know asv {__version__} ({fault}); "
            "install an asv that it does: pip install 'asv>=0.6.5,<0.7'"
        ) from fault
    install()
