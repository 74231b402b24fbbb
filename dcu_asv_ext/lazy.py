"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazily(package: str, where: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose public names lie in modules of its own: name -> module."""

    def find(name: str) -> Any:
        import importlib

        module = where.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{module}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
