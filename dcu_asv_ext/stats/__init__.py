"""Rounds in, verdict out: pure numpy and scipy, no files, no asv, no torch.

Names are imported when first used: scipy takes longer to import than most commands take to run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

_WHERE = {
    "ChangePoint": "changes",
    "Comparison": "verdicts",
    "History": "changes",
    "SteadyState": "steady",
    "SuiteComparison": "suite",
    "change_points": "changes",
    "compare": "comparison",
    "compare_suite": "suite",
    "machine_events": "events",
    "steady_samples": "steady",
    "steady_state": "steady",
}

__all__ = [
    "ChangePoint",
    "Comparison",
    "History",
    "SteadyState",
    "SuiteComparison",
    "change_points",
    "compare",
    "compare_suite",
    "machine_events",
    "steady_samples",
    "steady_state",
]

if TYPE_CHECKING:
    from .changes import ChangePoint, History, change_points
    from .events import machine_events
    from .verdicts import Comparison

__getattr__ = lazily(__name__, _WHERE)
