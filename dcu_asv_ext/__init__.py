"""Device benchmarks as plain decorated functions, on unmodified asv.

Documented as ``import dcu_asv_ext as dcu``. Names are imported when first used; importing the package
imports neither torch nor asv.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "benchmark": "decorator",
    "samples": "decorator",
    "synchronized_timer": "measure.timer",
}

__all__ = ["__version__", "benchmark", "samples", "synchronized_timer"]

if TYPE_CHECKING:
    from .decorator import benchmark, samples
    from .measure.timer import synchronized_timer


def __getattr__(name: str) -> Any:
    import importlib

    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
