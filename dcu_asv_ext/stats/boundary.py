"""One boundary between two segments of a series: how large the step is, and how sure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Values on each side of a boundary that are compared. Older ones say little of the level beside it: machines drift.
REACH = 50
#: Residuals count at most as this many times the noise.
CLIP = 3.0
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

    Two tests must agree: a t-test of clipped values against a step of at most `null`, which sees the size and counts
    correlated values as the fewer independent ones that they are worth; and a test of ranks, which does not believe
    a few values out of many modes.
    """
    from scipy.special import stdtr, stdtrit

    left, right = y[max(start, split - REACH) : split], y[split : min(end, split + REACH)]
    m, k = len(left), len(right)
    before, after = float(np.median(left)), float(np.median(right))
    if min(m, k) < least:
        return Step(after - before, before, after)
    residual = clipped(np.concatenate([left - before, right - after]), 2)
    to_left, to_right = float(residual[:m].sum()) / m, float(residual[m:].sum()) / k
    residual[:m] -= to_left
    residual[m:] -= to_right
    before, after = before + to_left, after + to_right
    size = after - before
    worth = independent_share(residual)
    freedom = max((m + k) * worth, 4.0) - 2.0
    deviation = math.sqrt(float(residual @ residual) / (m + k - 2)) + FLOOR
    error = deviation * math.sqrt((1 / m + 1 / k) / worth)
    p_value = max(float(stdtr(freedom, (null - abs(size)) / error)), _rank_p(left, right, size))
    half_width = error * float(stdtrit(freedom, 0.975))
    evidence = -math.log10(max(p_value, 1e-300))
    return Step(size, before, after, deviation / math.sqrt(worth), error, half_width, evidence)


def step_to(left: Array, right: Array) -> Step:
    """The step from a segment to the few values after it, whose noise is taken to be that of the segment."""
    from scipy.special import stdtrit

    m, k = len(left), len(right)
    before, after = float(np.median(left)), float(np.median(right))
    noise = 1.4826 * float(np.median(np.abs(left - before))) * math.sqrt(m / (m - 1)) + FLOOR
    error = noise * math.sqrt(1 / m + 1 / k)
    return Step(after - before, before, after, noise, error, error * float(stdtrit(m - 1, 0.975)))


def clipped(residual: Array, levels: int) -> Array:
    """Residuals from so many fitted levels, cut at CLIP times their noise, which spikes do not move.

    The noise is the larger of two quantiles of the sizes, as for a normal: the median is blind to a second mode.
    """
    count = len(residual)
    sizes = np.sort(np.abs(residual))
    half = count // 2
    middle = float(sizes[half] if count % 2 else (sizes[half - 1] + sizes[half]) / 2)
    noise = max(
        1.4826 * middle * math.sqrt(count / (count - levels)), float(sizes[int(0.8 * count)]) / 1.2816
    )
    return np.clip(residual, -CLIP * noise, CLIP * noise)


def independent_share(residual: Array) -> float:
    """How many independent values one of these is worth: (1 - r) / (1 + r), r the correlation of neighbours."""
    squares = float(residual @ residual)
    if squares <= 0.0:
        return 1.0
    # Levels that were fitted make r too small by about 1 / n.
    correlation = float(residual[1:] @ residual[:-1]) / squares + 1.0 / len(residual)
    correlation = min(max(correlation, 0.0), MOST_CORRELATED)
    return (1.0 - correlation) / (1.0 + correlation)


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
