"""The session guard: did the machine change between the two sides, rather than the code?

No statistic of one session can tell a slower machine from slower code. What can be seen is that a whole suite moved,
or that it fell into disorder (another kind of processor scales benchmarks differently).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .rounds import MEDIAN_LOSS, Floats, robust_sd, segment_medians

#: Fewer groups (functions) than this cannot tell a common shift.
FEWEST = 8
#: A shift is one of the machine from this on (log), if its interval excludes zero.
SHIFT = 0.01
#: Share of the suite that moves both up and down, each way, at least, for it to be called disorder.
DISORDER_EACH, DISORDER = 0.05, 0.25


class Watched(NamedTuple):
    """The comparisons looked at, (N,) each: log ratio, half width of its 95 % interval, log margin, number of its
    group."""

    difference: Floats
    half: Floats
    margin: Floats
    group: NDArray[np.int64]


@dataclass(frozen=True)
class Shift:
    """log_ratio: median over `count` groups. error: its standard error, from the MAD (as of a normal sample's)."""

    log_ratio: float
    error: float
    count: int

    @property
    def known(self) -> bool:
        return self.count >= FEWEST

    @property
    def reach(self) -> float:
        """Half width of its 99 % interval: a few functions that agree by chance are no machine."""
        from scipy.special import stdtrit

        return float(stdtrit(self.count - 1, 0.995)) * self.error if self.known else float("nan")

    @property
    def ratios(self) -> tuple[float, float, float]:
        """Lower end, middle and upper end."""
        low, middle, high = np.exp([self.log_ratio - self.reach, self.log_ratio, self.log_ratio + self.reach])
        return float(low), float(middle), float(high)


NO_SHIFT = Shift(float("nan"), float("nan"), 0)


def common_shift(watched: Watched) -> Shift:
    """The median over the groups of each group's median log ratio; NO_SHIFT where the groups are too few."""
    order = np.argsort(watched.group, kind="stable")
    _, lengths = np.unique(watched.group, return_counts=True)
    if len(lengths) < FEWEST:
        return NO_SHIFT
    medians = segment_medians(watched.difference[order], lengths)
    middle = float(np.median(medians))
    error = MEDIAN_LOSS * robust_sd(medians, middle) / float(np.sqrt(len(medians)))
    return Shift(middle, error, len(medians))


def verdict(shift: Shift, watched: Watched | None, differences: Sequence[str]) -> str:
    """Why the two sides must not be compared; "" where nothing speaks against it."""
    if differences:
        return f"not comparable: the machine changed ({'; '.join(differences)})"
    if watched is None or not shift.known:
        return ""
    if abs(shift.log_ratio) > max(SHIFT, shift.reach):
        change = 100 * float(np.expm1(shift.log_ratio))
        return (
            f"not comparable: the machine changed (the suite as a whole moved by {change:+.1f} %, "
            "measured in different sessions; interleave the rounds of both sides to compare them)"
        )
    low, high = watched.difference - watched.half, watched.difference + watched.half
    up, down = float(np.mean(low > watched.margin)), float(np.mean(high < -watched.margin))
    if up + down >= DISORDER and min(up, down) >= DISORDER_EACH:
        return (
            f"not comparable: the machine changed ({100 * up:.0f} % of the suite became slower and "
            f"{100 * down:.0f} % faster, in different sessions; interleave the rounds of both sides to compare them)"
        )
    return ""
