"""Whether the factor by which the profiler made a call longer tells anything."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

#: Upper over lower quartile of one kind of call from which on its median says little of the next ones.
SCATTERED = 2
UNDETERMINED = "could not be determined (the machine was busy)"

#: Entry of a trace's header: what a profile pass knows and its rows do not tell. `latency`: median seconds of a call
#: without the profiler; `overhead`: that of a profiled call over it; `doubtful`: see below.
COST = "dcu_asv_ext"


def cost_of(seconds: Sequence[float], samples: Sequence[float]) -> dict[str, Any] | None:
    """The entry, of the times of profiled calls and of those without the profiler; None without either."""
    if not len(seconds) or not len(samples):
        return None
    latency = float(np.median(samples))
    overhead = float(np.median(seconds)) / latency
    return {"latency": latency, "overhead": overhead, "doubtful": doubtful(overhead, seconds, samples)}


def told_cost(header: Mapping[str, Any]) -> dict[str, Any] | None:
    """The entry of a header, if it is whole and holds nothing else."""
    found = header.get(COST)
    if not isinstance(found, Mapping) or not isinstance(found.get("doubtful"), bool):
        return None
    figures = {name: found.get(name) for name in ("latency", "overhead")}
    if not all(type(one) is float and math.isfinite(one) and one > 0 for one in figures.values()):
        return None
    return {**figures, "doubtful": found["doubtful"]}


def doubtful(overhead: float | None, *times: Sequence[float]) -> bool:
    """A profiler makes no call shorter; and medians of times that scatter widely have no factor between them.

    times: seconds of the profiled calls, and of those without the profiler.
    """
    if overhead is None:
        return False
    return overhead < 1 or any(_scattered(one) for one in times if len(one))


def _scattered(times: Sequence[float]) -> bool:
    low, high = np.quantile(np.asarray(times, float), (0.25, 0.75)).tolist()
    return bool(high > SCATTERED * low)
