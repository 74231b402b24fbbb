"""The pass for `memory_growth`: does memory stay allocated, call after call, and what is it?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..devices.base import NotMeasured
from ..devices.levels import MemoryLevels
from ..stats.growth import FEWEST, Growth, growth
from .passes import Run

MOST_CALLS = 1000
LEAST_CALLS = 50
#: Seconds that the calls should take, and that the least number of them may take.
BUDGET = 3.0
LIMIT = 15.0
_REHEARSED = (3, 13)
#: Calls that are made once more to see what they keep.
_LOOKED_AT = (10, 40)
_LISTED = 10
#: torch's allocators give out memory in units of this many bytes.
GRANULARITY = 512


def memory_growth(run: Run) -> None:
    """`memory_growth` and `memory.growth`, where the metric is wanted. It may leave much allocated."""
    if not run.wants("memory_growth"):
        return
    run.stage = "the memory growth pass"
    call = run.reset_and_call()
    try:
        each = _rehearse(run, call)
        levels = run.device.memory_levels(call, _within(BUDGET, each, LEAST_CALLS, MOST_CALLS))
        if len(levels.allocated) < (FEWEST if levels.full else LEAST_CALLS):
            raise NotMeasured(_too_few(levels))
    except NotMeasured as missing:
        run.record.missing["memory_growth"] = missing.reason
        return
    allocated, peak = growth(levels.allocated, GRANULARITY), growth(levels.peak, GRANULARITY)
    found = allocated if allocated.shown or not peak.shown else peak
    run.record.memory["memory_growth"] = found.slope if found.shown else 0.0
    grew = _what_grew(run, call, each) if found.shown else {"grew": []}
    run.record.memory["growth"] = _as_record(levels, allocated, peak, found) | grew


def _rehearse(run: Run, call: Callable[[], object]) -> float:
    """Seconds of a call that is watched. Raises NotMeasured where they are too many."""
    if run.options.quick:
        raise NotMeasured("a quick run makes too few calls for a trend")
    each = run.call_seconds
    if each * LEAST_CALLS <= LIMIT:
        few, many = (_seconds(run, call, count) for count in _REHEARSED)
        each = max(each, (many - few) / (_REHEARSED[1] - _REHEARSED[0]))
    if each * LEAST_CALLS > LIMIT:
        raise NotMeasured(f"{LEAST_CALLS} calls, of {each:.2g} s each when watched, take too long")
    return each


def _within(budget: float, each: float, fewest: int, most: int) -> int:
    """How many calls of `each` seconds."""
    return max(fewest, min(most, math.floor(budget / each) if each > 0 else most))


def _seconds(run: Run, call: Callable[[], object], count: int) -> float:
    begin = run.device.clock()
    run.device.memory_levels(call, count)
    return run.device.clock() - begin


def _too_few(levels: MemoryLevels) -> str:
    count = len(levels.allocated)
    if levels.full:
        kept = levels.allocated[-1] - levels.allocated[0]
        return f"{count} calls kept {kept} bytes, a quarter of the free memory: too few calls for a trend"
    return f"only {count} calls can be watched at once, and a trend needs {LEAST_CALLS}"


def _as_record(levels: MemoryLevels, allocated: Growth, peak: Growth, found: Growth) -> dict[str, Any]:
    count = len(levels.allocated)
    told: dict[str, Any] = {
        "calls": count,
        "points": count,
        "series": "allocated" if found is allocated else "peak",
        "slope": found.slope,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
        "p_value": found.p_value,
        "peak_slope": peak.slope,
        "leak": found.shown,
        "reason": found.reason,
        "collected": levels.collected / count,
        "method": f"{levels.method}; pairwise slopes, t test of block increments",
    }
    if levels.reserved:
        told["reserved_slope"] = growth(levels.reserved).slope
    return told


def _what_grew(run: Run, call: Callable[[], object], each: float) -> dict[str, Any]:
    """What further calls keep, in bytes and allocations a call, steady holders first."""
    calls = _within(BUDGET, each, *_LOOKED_AT)

    def several() -> None:
        for _ in range(calls):
            call()

    try:
        kept = run.device.alive_at_peak(several).kept
    except NotMeasured as missing:
        return {"grew": [], "missing": {"grew": missing.reason}}
    if not kept:
        return {"grew": [], "missing": {"grew": "the calls keep nothing that was seen being allocated"}}
    # Of the first half of the calls: see Holders.kept. What only now and then survives is no steady holder.
    half = calls / 2
    kept = sorted(kept, key=lambda holder: holder.count < half / 4)
    grew = [
        {"bytes": round(one.bytes / half), "count": round(one.count / half, 2)}
        | {"where": one.where, "what": one.what}
        for one in kept[:_LISTED]
    ]
    return {"grew": grew}
