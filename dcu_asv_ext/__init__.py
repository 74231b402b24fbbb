"""Device benchmarks as plain decorated functions, on unmodified asv.

Documented as ``import dcu_asv_ext as dcu``. Names are imported when first used; importing the package
imports neither torch nor asv.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazily

__version__ = "0.1.0"

_WHERE = {
    "benchmark": "decorator",
    "read_matrix": "evidence.matrix_files",
    "samples": "decorator",
    "synchronized_timer": "measure.timer",
}

__all__ = ["__version__", "benchmark", "read_matrix", "samples", "synchronized_timer"]

if TYPE_CHECKING:
    from .decorator import benchmark, samples
    from .evidence.matrix_files import read_matrix
    from .measure.timer import synchronized_timer

__getattr__ = lazily(__name__, _WHERE)
