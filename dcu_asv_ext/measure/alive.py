"""The pass that names what is alive at the peak of one steady call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..devices.base import NotMeasured
from ..devices.holders import Holder, Holders
from .passes import Run

#: A call that takes longer than this many seconds is not made once more, several times slower, for it.
LONG_CALL = 2.0
MEMORY_METRICS = ("peak_allocated", "peak_reserved", "peak_card", "memory_growth")


def alive(run: Run) -> None:
    """`memory.alive`, where a memory metric is wanted and the run is not a quick one."""
    if run.options.quick or not any(run.wants(metric) for metric in MEMORY_METRICS):
        return
    run.stage = "the pass that looks who is alive at the peak"
    if run.call_seconds > LONG_CALL:
        _missing(run, f"one call takes {run.call_seconds:.1f} s, and watched it would take much longer")
        return
    try:
        # A device that tries two ways calls twice, so the reset lies inside and is seen too.
        found = run.device.alive_at_peak(run.reset_and_call())
    except NotMeasured as missing:
        _missing(run, missing.reason)
        return
    run.record.memory["alive"] = _as_record(found)


def _missing(run: Run, reason: str) -> None:
    run.record.memory.setdefault("missing", {})["alive"] = reason


def _as_record(found: Holders) -> dict[str, Any]:
    told = {
        "bytes": found.bytes,
        "before_call": found.before_call,
        "method": found.method,
        "holders": listed(found.holders),
        "rest": found.rest,
        "unexplained": found.unexplained,
    }
    if found.earlier:
        told["earlier"] = listed(found.earlier)
    return told


def listed(holders: Sequence[Holder]) -> list[dict[str, Any]]:
    return [asdict(holder) for holder in holders]
