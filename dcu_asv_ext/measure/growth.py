"""The pass for `memory_growth`: does memory stay allocated, call after call, and what is it?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ..devices.base import NotMeasured
from ..devices.holders import Holder
from ..devices.levels import MemoryLevels
from ..stats.growth import FEWEST, Growth, growth
from .alive import listed
from .passes import Run

MOST_CALLS = 1000
LEAST_CALLS = 50
#: Seconds that the calls should take, and that the least number of them may take.
BUDGET = 3.0
LIMIT = 15.0
_REHEARSED = (3, 13)
#: Calls that are made twice more to see what they keep.
_LOOKED_AT = (2, 12)
_LISTED = 10
#: torch's allocators give out memory in units of this many bytes.
GRANULARITY = 512


def memory_growth(run: Run) -> None:
    """`memory_growth` and `memory.growth`, where the metric is wanted. It may leave much allocated."""
    if not run.wants("memory_growth"):
        return
    run.stage = "the memory growth pass"
    call = _with_reset(run)
    try:
        levels = run.device.memory_levels(call, _calls(run, call))
        if len(levels.allocated) < (FEWEST if levels.full else LEAST_CALLS):
            raise NotMeasured(_too_few(levels))
    except NotMeasured as missing:
        run.record.missing["memory_growth"] = missing.reason
        return
    allocated, peak = growth(levels.allocated, GRANULARITY), growth(levels.peak, GRANULARITY)
    found = allocated if allocated.shown or not peak.shown else peak
    run.record.memory["memory_growth"] = found.slope if found.shown else 0.0
    grew = _what_grew(run, call) if found.shown else {"grew": []}
    run.record.memory["growth"] = _as_record(levels, allocated, peak, found) | grew


def _with_reset(run: Run) -> Callable[[], None]:
    call, reset = run.call(), run.reset()

    def once() -> None:
        if reset is not None:
            reset()
        call()

    return once


def _calls(run: Run, call: Callable[[], None]) -> int:
    """As many as the budget allows, from a rehearsal. Raises NotMeasured."""
    if run.options.quick:
        raise NotMeasured("a quick run makes too few calls for a trend")
    each = run.call_seconds
    if each * LEAST_CALLS <= LIMIT:
        few, many = (_seconds(run, call, count) for count in _REHEARSED)
        each = max(each, (many - few) / (_REHEARSED[1] - _REHEARSED[0]))
    if each * LEAST_CALLS > LIMIT:
        raise NotMeasured(f"{LEAST_CALLS} calls, of {each:.2g} s each when watched, take too long")
    return max(LEAST_CALLS, min(MOST_CALLS, math.floor(BUDGET / each) if each > 0 else MOST_CALLS))


def _seconds(run: Run, call: Callable[[], None], count: int) -> float:
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
        "method": f"{levels.method}; median of pairwise slopes, and a t test of the increments of block levels",
    }
    if levels.reserved:
        told["reserved_slope"] = growth(levels.reserved).slope
    return told


def _what_grew(run: Run, call: Callable[[], None]) -> dict[str, Any]:
    """What further calls keep, in bytes a call: what many of them keep beyond what a few do, so that memory which
    each call replaces does not count.
    """
    try:
        few, many = (_kept(run, call, count) for count in _LOOKED_AT)
    except NotMeasured as missing:
        return {"grew": [], "missing": {"grew": missing.reason}}
    more = _LOOKED_AT[1] - _LOOKED_AT[0]
    grew = [
        Holder(round((size - few[key][0]) / more), round((count - few[key][1]) / more), *key)
        for key, (size, count) in many.items()
    ]
    grew = sorted((one for one in grew if one.bytes > 0), key=lambda one: (-one.bytes, one.where, one.what))
    if not grew:
        return {"grew": [], "missing": {"grew": "the calls keep nothing that was seen being allocated"}}
    return {"grew": listed(grew[:_LISTED])}


def _kept(run: Run, call: Callable[[], None], calls: int) -> dict[tuple[str, str], tuple[int, int]]:
    """(line, operator) -> (bytes, count) of what so many calls made and did not free."""

    def several() -> None:
        for _ in range(calls):
            call()

    kept = run.device.alive_at_peak(several).kept
    return defaultdict(lambda: (0, 0), {(one.where, one.what): (one.bytes, one.count) for one in kept})
