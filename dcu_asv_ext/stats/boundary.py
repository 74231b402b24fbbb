"""One boundary between two segments of a series: how large the step is, and how sure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .rounds import MAD_TO_SD, robust_sd

Array = npt.NDArray[np.float64]

#: Values on each side of a boundary that are compared. Older ones say little of the level beside it: machines drift.
REACH = 50
#: Residuals count at most as this many times the noise.
CLIP = 3.0
#: Standard error of the median of normal values, in units of that of their mean.
MEDIAN_LOSS = math.sqrt(math.pi / 2.0)
#: Smallest noise that is believed, relative: series can repeat to the last digit.
FLOOR = 1e-5
#: Correlation of neighbours beyond which a history tells next to nothing; estimates above it are not believed.
MOST_CORRELATED = 0.8
#: Half-width of the location interval in units of log likelihood: 95 % of the largest excursion of a two-sided
#: random walk, (1 - exp(-x))^2 = .95 (Siegmund 1988).
LOCATION = -math.log(1.0 - math.sqrt(0.95))


@dataclass(frozen=True)
class Step:
    """The step at one boundary, in the scale of the series (natural logarithms).

    error: standard error of `size`; half_width: of its 95 % interval.
    noise: of one value, larger where neighbours are correlated.
    evidence: -log10 of the larger p-value of the two tests, one-sided; None when a side is too short to test.
    """

    size: float
    before: float
    after: float
    noise: float = 0.0
    error: float = math.inf
    half_width: float = math.inf
    evidence: float | None = None


def step_at(y: Array, start: int, split: int, end: int, null: float, least: int) -> Step:
    """Compare y[start:split] with y[split:end], at most REACH values on each side of `split`.

    Two views of the step are tried, and the one with more evidence is returned: means of clipped values with ranks,
    which use all that normal noise offers, and medians with counts, for a machine whose outliers are a mode of
    their own. In each view two tests must agree: a t-test against a step of at most `null`, which sees the size and
    counts correlated values as the fewer independent ones that they are worth; and one of order alone, which does
    not believe a few values out of many modes.
    """
    left, right = y[max(start, split - REACH) : split], y[split : min(end, split + REACH)]
    m, k = len(left), len(right)
    low, high = float(np.median(left)), float(np.median(right))
    if min(m, k) < least:
        return Step(high - low, low, high)
    residual = np.concatenate([left - low, right - high])
    core, wide = noises(residual, 2)
    np.clip(residual, -CLIP * wide, CLIP * wide, out=residual)
    to_left, to_right = float(residual[:m].sum()) / m, float(residual[m:].sum()) / k
    residual[:m] -= to_left
    residual[m:] -= to_right
    worth = independent_share(residual)
    deviation = math.sqrt(float(residual @ residual) / (m + k - 2))
    by_means = _Sides(left, right, low + to_left, high + to_right, deviation + FLOOR, worth)
    by_medians = _Sides(left, right, low, high, MEDIAN_LOSS * core + FLOOR, worth)
    means = by_means.step(null, _rank_p(left, right, by_means.size))
    medians = by_medians.step(null, _count_p(left, right, low, high))
    return medians if (medians.evidence or 0.0) > (means.evidence or 0.0) else means


@dataclass(frozen=True)
class _Sides:
    """Two sides of a boundary with their levels, the noise of one value, and what a value is worth."""

    left: Array
    right: Array
    before: float
    after: float
    noise: float
    worth: float

    @property
    def size(self) -> float:
        return self.after - self.before

    def step(self, null: float, order_p: float) -> Step:
        from scipy.special import stdtr, stdtrit

        m, k = len(self.left), len(self.right)
        freedom = max((m + k) * self.worth, 4.0) - 2.0
        error = self.noise * math.sqrt((1 / m + 1 / k) / self.worth)
        size_p = float(stdtr(freedom, (null - abs(self.size)) / error))
        return Step(
            self.size,
            self.before,
            self.after,
            self.noise / math.sqrt(self.worth),
            error,
            error * float(stdtrit(freedom, 0.975)),
            -math.log10(max(size_p, order_p, 1e-300)),
        )


def step_to(left: Array, right: Array) -> Step:
    """The step from a segment to the few values after it, whose noise is taken to be that of the segment."""
    from scipy.special import stdtrit

    m, k = len(left), len(right)
    before, after = float(np.median(left)), float(np.median(right))
    noise = robust_sd(left, before) * math.sqrt(m / (m - 1)) + FLOOR
    error = noise * math.sqrt(1 / m + 1 / k)
    return Step(after - before, before, after, noise, error, error * float(stdtrit(m - 1, 0.975)))


def noises(residual: Array, levels: int) -> tuple[float, float]:
    """Two estimates of the noise around so many fitted levels, both that of a normal and not moved by spikes.

    From the median of the sizes, and from the larger of that and their 80 % quantile: the median is blind to a
    second mode.
    """
    count = len(residual)
    sizes = np.sort(np.abs(residual))
    half = count // 2
    middle = float(sizes[half] if count % 2 else (sizes[half - 1] + sizes[half]) / 2)
    core = MAD_TO_SD * middle * math.sqrt(count / (count - levels))
    return core, max(core, float(sizes[int(0.8 * count)]) / 1.2816)


def independent_share(residual: Array) -> float:
    """How many independent values one of these is worth: (1 - r) / (1 + r), r the correlation of neighbours."""
    squares = float(residual @ residual)
    if squares <= 0.0:
        return 1.0
    # Levels that were fitted make r too small by about 1 / n.
    correlation = float(residual[1:] @ residual[:-1]) / squares + 1.0 / len(residual)
    correlation = min(max(correlation, 0.0), MOST_CORRELATED)
    return (1.0 - correlation) / (1.0 + correlation)


def order_evidence(before: int, after: int) -> float:
    """The most evidence that order can give for a step between so many values."""
    left, right = np.zeros(before), np.ones(after)
    return -math.log10(min(_rank_p(left, right, 1.0), _count_p(left, right, 0.0, 1.0)))


def _rank_p(left: Array, right: Array, size: float) -> float:
    """One-sided p-value that the ranks of the sides differ in the direction of `size` (Conover and Iman 1981)."""
    from scipy.special import stdtr

    m, k = len(left), len(right)
    count = m + k
    ordered = np.sort(left)
    above = np.searchsorted(ordered, right, "left").sum() + np.searchsorted(ordered, right, "right").sum()
    z = (float(above) / 2 - m * k / 2) / math.sqrt(m * k * (count + 1) / 12.0)
    z = math.copysign(z, z * size)
    return float(stdtr(count - 2, -z * math.sqrt((count - 2) / (count - 1 - z * z))))


def _count_p(left: Array, right: Array, low: float, high: float) -> float:
    """One-sided p-value that the sides lie on different sides of the middle between their levels (Fisher 1922)."""
    from scipy.special import gammaln

    middle = (low + high) / 2.0
    ours, theirs = (left < middle, right < middle) if high > low else (left > middle, right > middle)
    m, k = len(left), len(right)
    near = int(ours.sum())
    both = near + int(theirs.sum())
    x = np.arange(near, min(m, both) + 1)
    of_left = gammaln(m + 1) - gammaln(x + 1) - gammaln(m - x + 1)
    of_right = gammaln(k + 1) - gammaln(both - x + 1) - gammaln(k - both + x + 1)
    of_all = gammaln(m + k + 1) - gammaln(both + 1) - gammaln(m + k - both + 1)
    return min(1.0, float(np.exp(of_left + of_right - of_all).sum()))
