"""Cut one process's times into levels: change points in a sequence that is short, spiky and autocorrelated.

Binary segmentation (Vostrikova 1981) with a CUSUM of clipped log times. A split must be significant with the
long-run variance of an AR(1) process, and its medians must differ by more than a tolerance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .rounds import MAD_TO_SD

Array = npt.NDArray[np.float64]

#: Times further than this many standard deviations from the middle count as this far: a spike is one vote.
_CLIP = 4.0

#: Above this lag-1 autocorrelation a sequence wanders: that is a change of level, not noise around one.
_WANDERS = 0.75

#: The shortest level, unless it is that of the first slow calls.
_SHORTEST = 3

#: A sequence is cut into no more levels than about this; shorter ones are found at its ends only.
_RESOLUTION = 100

#: A split this unlikely among independent times is a hint that several changes hide each other.
_HINT = 0.1


def median(values: Array) -> float:
    # numpy's own takes ten times as long for some tens of values
    half = values.size // 2
    if values.size % 2:
        return float(np.partition(values, half)[half])
    low, high = np.partition(values, (half - 1, half))[half - 1 : half + 1].tolist()
    return float(low + high) / 2


def outer_thirds(logs: Array) -> tuple[float, float]:
    """Medians of the first and of the last third."""
    third = logs.size // 3
    return median(logs[:third]), median(logs[-third:])


@dataclass(frozen=True)
class _Split:
    """p_independent: the p-value if the times were not autocorrelated. far: the levels differ by more than the
    tolerance.
    """

    at: int
    p_value: float
    p_independent: float
    far: bool


_NO_SPLIT = _Split(0, 1.0, 1.0, False)


class Levels:
    """Log times and the bounds of their levels. Differences of logs are relative differences.

    tolerance: levels this close are one. significance: the chance at which noise alone is split, once per test.
    """

    def __init__(self, logs: Array, tolerance: float, significance: float) -> None:
        self.logs = logs
        self.tolerance = tolerance
        self.significance = significance
        self.bounds = self._merged(self._splits())

    def head(self, start: int) -> int:
        """How many samples from `start` on are further off, to one side, than any later one, and more than twice
        as far (six times where they are five) as any of the last half.

        A first slow call is too short for a test against noise; noise rarely puts its outlier exactly there. A
        first call that is faster is noise unless others follow it.
        """
        off = self.logs[start:] - median(self.logs[start:])
        most = off.size // 2
        far = np.abs(off)
        bar = max(max(2.0, 30 / off.size) * float(far[most:].max()), 2 * self.tolerance)
        for side, fewest in ((off[:most], 1), (-off[:most], _SHORTEST)):
            inside = np.flatnonzero(side <= bar)
            head = int(inside[0]) if inside.size else most
            if head >= fewest and side[:head].min() > far[head:].max():
                return head
        return 0

    def slopes(self, start: int) -> bool:
        """Whether the stretch from `start` on rises or falls beyond noise and tolerance."""
        return self._line(self.logs[start:]) is not None

    def is_line(self) -> bool:
        """Whether a line that rises or falls fits the whole better than the levels do (least absolute errors)."""
        residual = self._line(self.logs)
        if residual is None:
            return False
        levels = [self.logs[a:b] - median(self.logs[a:b]) for a, b in pairwise(self.bounds)]
        return bool(np.abs(residual).sum() < np.abs(np.concatenate(levels)).sum())

    def _splits(self) -> list[int]:
        """Bounds of the levels: the slow first calls, then binary segmentation of the rest."""
        first = self.head(0)
        bounds = {0, first, self.logs.size}
        pieces = [(first, self.logs.size)]
        while pieces:
            a, b = pieces.pop()
            at = self._split(a, b)
            if at is not None:
                bounds.add(at)
                pieces += [(a, at), (at, b)]
        return sorted(bounds)

    def _split(self, a: int, b: int) -> int | None:
        """Where the stretch from a to b falls into two levels, if it does.

        Several changes look like autocorrelation, or cancel out: on a hint of it, both halves and the middle one
        are tried, with a tenth of the significance.
        """
        whole = self._best_split(a, b)
        if whole.far and whole.p_value < self.significance:
            return whole.at
        if whole.p_independent >= _HINT:
            return None
        half, quarter = (b - a) // 2, (b - a) // 4
        for first, last in ((b - half, b), (a + quarter, b - quarter), (a, a + half)):
            part = self._best_split(first, last)
            if part.far and part.p_value < self.significance / 10:
                return part.at
        return None

    def _best_split(self, a: int, b: int) -> _Split:
        """CUSUM of clipped times, and a t-test of it with the variance and the degrees of freedom of as many
        independent times as the residuals' autocorrelation leaves; Bonferroni over the places tried.
        """
        n = b - a
        inner = max(_SHORTEST, self.logs.size // _RESOLUTION)
        at = np.arange(_SHORTEST if a == 0 else inner, n - (_SHORTEST if b == self.logs.size else inner) + 1)
        if not at.size:
            return _NO_SPLIT
        logs = self.logs[a:b]
        votes = self._clipped(logs)
        sums = np.cumsum(votes)
        between = (sums[at - 1] - at * (sums[-1] / n)) ** 2 * n / (at * (n - at))
        best = int(at[np.argmax(between)])
        votes[:best] -= sums[best - 1] / best
        votes[best:] -= (sums[-1] - sums[best - 1]) / (n - best)
        explained = float(between.max())
        variance, freedom = self._noise(votes)
        return _Split(
            a + best,
            at.size * _p_value(math.sqrt(explained / variance), freedom),
            at.size * _p_value(math.sqrt(explained / self._variance(votes)), n - 2),
            abs(median(logs[:best]) - median(logs[best:])) > self.tolerance,
        )

    def _line(self, logs: Array) -> Array | None:
        """Residuals of the line through the outer thirds' medians, where it rises or falls beyond noise."""
        third = logs.size // 3
        if third < 3:
            return None
        first, last = outer_thirds(logs)
        if abs(last - first) <= self.tolerance:
            return None
        places = np.arange(logs.size) - (third - 1) / 2
        residual = logs - first - (last - first) / (logs.size - third) * places
        variance, freedom = self._noise(self._clipped(residual))
        # Medians of a distribution with two peaks jump from one to the other: means are tested.
        votes = self._clipped(logs)
        rise = float(votes[-third:].mean() - votes[:third].mean())
        t = abs(rise) / math.sqrt(variance * 2 / third)
        return residual if _p_value(t, freedom) < self.significance else None

    def _clipped(self, logs: Array) -> Array:
        """Distances from the median, clipped. The spread is that of neighbours, which a change does not widen."""
        spread = MAD_TO_SD / math.sqrt(2) * median(np.abs(np.diff(logs)))
        bound = max(_CLIP * spread, 2 * self.tolerance)
        return np.clip(logs - median(logs), -bound, bound)

    def _noise(self, residual: Array) -> tuple[float, float]:
        """Long-run variance of one time once two levels or a line are taken out, and its degrees of freedom.

        An AR(1) process: a mean of n times varies as one of n (1 - rho) / (1 + rho) independent ones, a variance
        as one of n (1 - rho^2) / (1 + rho^2) (Bartlett).
        """
        n = residual.size
        total = float(residual @ residual)
        rho = float(residual[1:] @ residual[:-1]) / total if total > 0 else 0.0
        rho += 2 * (1 + 3 * rho) / n  # taking two means out of few times makes it too small
        rho = min(max(rho, 0.0), _WANDERS)
        variance = self._variance(residual) * (1 + rho) / (1 - rho)
        return variance, max(n * (1 - rho**2) / (1 + rho**2) - 2, 1.0)

    def _variance(self, residual: Array) -> float:
        # No clock is so good that two levels are told apart by less.
        return max(float(residual @ residual) / (residual.size - 2), (self.tolerance / 8) ** 2)

    def _merged(self, bounds: list[int]) -> list[int]:
        """Neighbours whose levels are equal within tolerance become one, the closest first."""
        while len(bounds) > 2:
            levels = [median(self.logs[a:b]) for a, b in pairwise(bounds)]
            steps = np.abs(np.diff(levels))
            closest = int(np.argmin(steps))
            if steps[closest] > self.tolerance:
                break
            bounds = bounds[: closest + 1] + bounds[closest + 2 :]
        return bounds


def _p_value(t: float, freedom: float) -> float:
    """Two-sided p-value of Student's t."""
    from scipy.special import stdtr

    return 2 * float(stdtr(freedom, -t))
