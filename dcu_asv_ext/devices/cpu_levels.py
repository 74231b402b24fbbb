"""What is allocated on the CPU after each of many calls, from one trace of the profiler over all of them.

Exact also for tensors that C++ alone holds, which no search over live objects finds: the graph behind a sum of
losses is the commonest leak.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Any

from .cpu_trace import Trace, mark, trace_call
from .levels import MemoryLevels, cheap_collection

#: Bytes of a trace's file that are read at once.
_MOST_TRACE = 128 << 20
_REHEARSED = 3
_METHOD = "the profiler's record of allocations over all calls"


def cpu_levels(call: Callable[[], object], torch: Any, calls: int) -> MemoryLevels:
    """Fewer calls than asked for where the trace would be too large. Raises NotMeasured."""
    trace, levels = _traced(call, torch, min(calls, _REHEARSED))
    kept = max(0, levels.allocated[-1] - levels.allocated[0]) // max(1, len(levels.allocated) - 1)
    room = int(_free_memory() // 4 // kept) if kept else calls
    number = max(1, min(calls, _MOST_TRACE // max(1, trace.size // _REHEARSED), room))
    _, levels = _traced(call, torch, number)
    levels.full = number == room < calls
    return levels


def _traced(call: Callable[[], object], torch: Any, calls: int) -> tuple[Trace, MemoryLevels]:
    def many() -> None:
        # Inside, because what is frozen is not found when the trace looks for live tensors.
        with cheap_collection():
            for number in range(calls):
                with mark(torch, number):
                    call()
                gc.collect()

    trace = trace_call(many, torch)
    return trace, levels_of(trace, calls)


def levels_of(trace: Trace, calls: int) -> MemoryLevels:
    """trace.marks: call -> when it ran. What goes between two marks was collected as garbage."""
    levels = MemoryLevels(method=_METHOD)
    steps = iter(trace.steps)
    step = next(steps, None)
    level = trace.baseline
    for number in range(calls):
        begin, end = trace.marks[number].begin, trace.marks[number].end
        following = trace.marks[number + 1].begin if number + 1 < calls else float("inf")
        while step is not None and step.time < begin:
            level, step = level + step.bytes, next(steps, None)
        peak = level
        while step is not None and step.time <= end:
            level, step = level + step.bytes, next(steps, None)
            peak = max(peak, level)
        after = level
        while step is not None and step.time < following:
            level, step = level + step.bytes, next(steps, None)
        levels.allocated.append(level)
        levels.peak.append(peak)
        levels.collected += after - level
    return levels


def _free_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
