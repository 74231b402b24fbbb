"""Peak tensor memory of one call on the CPU: torch keeps no such counter, so its profiler's trace is read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from .base import MemoryPeaks, NotMeasured
from .cpu_trace import trace_call

RESERVED_REASON = "torch's CPU allocator holds no reserve: it asks the system for each tensor"
NO_COUNTERS_REASON = (
    "on the CPU only torch's profiler counts allocations, and it would slow the call that is timed"
)
_NOT_ON_THE_CPU = {
    **dict.fromkeys(("baseline_reserved", "peak_reserved", "after_reserved"), RESERVED_REASON),
    "requested_peak": "torch's CPU allocator rounds nothing: what is allocated is what was asked for",
    **dict.fromkeys(
        ("retries", "ooms", "segments"),
        "torch's CPU allocator has no pool: it asks the system each time, and once",
    ),
}


def cpu_peak_memory(call: Callable[[], object], torch: Any) -> MemoryPeaks:
    """Runs `call` once. Fields that cannot be told are None, with a reason in `missing`."""
    missing = dict(_NOT_ON_THE_CPU)
    try:
        trace = trace_call(call, torch)
    except NotMeasured as reason:
        missing.update(
            dict.fromkeys(("baseline_allocated", "peak_allocated", "after_allocated"), reason.reason)
        )
        return MemoryPeaks(missing=missing)
    levels = list(accumulate((step.bytes for step in trace.steps), initial=trace.baseline))
    return MemoryPeaks(
        baseline_allocated=trace.baseline,
        peak_allocated=max(levels),
        after_allocated=levels[-1],
        method="live CPU tensors before the call, and the profiler's record of allocations during it",
        missing=missing,
    )
