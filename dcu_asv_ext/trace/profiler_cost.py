"""Whether the factor by which the profiler made a call longer tells anything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: Upper over lower quartile of one kind of call from which on its median says little of the next ones.
SCATTERED = 2
UNDETERMINED = "could not be determined (the machine was busy)"


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
