"""The interval of a median over rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Student's t, 97.5 %, of one to four degrees of freedom.
_T = {2: 12.7062, 3: 4.3027, 4: 3.1824, 5: 2.7764}
#: The interval misses the median once in so many samples.
_ONE_IN = 20


def median_interval(levels: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the median of independent rounds, each given by its level; it holds the sample median.

    Of six and more: the order statistics whose binomial coverage is at least 95 % (Hahn & Meeker, "Statistical
    Intervals", 5.2), whatever the distribution. Of two to five, where no order statistics reach that: Student's t on
    the logs, or on the plain values where one is not positive. None for fewer than two.
    """
    ordered = sorted(levels)
    count = len(ordered)
    if count < 2:
        return None
    if ordered[0] == ordered[-1]:
        return ordered[0], ordered[0]
    if count not in _T:
        place = _place(count)
        return ordered[place], ordered[-1 - place]
    if ordered[0] <= 0:
        return _student(ordered)
    low, high = _student([math.log(one) for one in ordered])
    return math.exp(low), math.exp(high)


def _place(count: int) -> int:
    """How many of the ordered values can be left out at each end."""
    below, place = 1, -1
    while 2 * below * _ONE_IN <= 2**count:
        place += 1
        below += math.comb(count, place + 1)
    return place


def _student(values: Sequence[float]) -> tuple[float, float]:
    count = len(values)
    middle = math.fsum(values) / count
    variance = math.fsum((one - middle) ** 2 for one in values) / (count - 1)
    half = _T[count] * math.sqrt(variance / count)
    return middle - half, middle + half
