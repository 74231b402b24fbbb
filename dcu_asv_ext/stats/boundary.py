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

    Both tests must agree: a t-test of clipped values against a step of at most `null`, which sees the size; and the
    t-test of their ranks (Conover and Iman 1981), which does not believe few values out of many modes. Both count
    autocorrelated values as the fewer independent ones that they are worth.
    """
    from scipy.special import stdtr, stdtrit

    left, right = y[max(start, split - REACH) : split], y[split : min(end, split + REACH)]
    m, k = len(left), len(right)
    before, after = float(np.median(left)), float(np.median(right))
    if min(m, k) < least:
        return Step(after - before, before, after)
    count = m + k
    residual = np.concatenate([left - before, right - after])
    spread = np.sort(np.abs(residual))
    noise = max(1.4826 * _middle(spread) * math.sqrt(count / (count - 2)), spread[int(0.8 * count)] / 1.2816)
    np.clip(residual, -CLIP * noise, CLIP * noise, out=residual)
    before += float(residual[:m].sum()) / m
    after += float(residual[m:].sum()) / k
    residual[:m] -= residual[:m].sum() / m
    residual[m:] -= residual[m:].sum() / k
    squares = float(residual @ residual)
    worth = _independent_share(residual, squares)
    freedom = max(count * worth, 4.0) - 2.0
    deviation = math.sqrt(squares / (count - 2)) + FLOOR
    error = deviation * math.sqrt((1 / m + 1 / k) / worth)
    size = after - before
    by_size = (abs(size) - null) / error
    p_value = max(float(stdtr(freedom, -by_size)), _rank_p(left, right, worth, size))
    evidence = -math.log10(max(p_value, 1e-300))
    half_width = error * float(stdtrit(freedom, 0.975))
    return Step(size, before, after, deviation / math.sqrt(worth), error, half_width, evidence)


def step_to(left: Array, right: Array) -> Step:
    """The step from a segment to the few values after it, whose noise is taken to be that of the segment."""
    from scipy.special import stdtrit

    m, k = len(left), len(right)
    before, after = float(np.median(left)), float(np.median(right))
    noise = 1.4826 * float(np.median(np.abs(left - before))) * math.sqrt(m / (m - 1)) + FLOOR
    error = noise * math.sqrt(1 / m + 1 / k)
    return Step(after - before, before, after, noise, error, error * float(stdtrit(m - 1, 0.975)))


def _middle(ordered: Array) -> float:
    half = len(ordered) // 2
    return float(ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2)


def _independent_share(residual: Array, squares: float) -> float:
    """How many independent values one value is worth, from the correlation of neighbours: (1 - r) / (1 + r)."""
    if squares <= 0.0:
        return 1.0
    correlation = float(residual[1:] @ residual[:-1]) / squares
    correlation = min(max(correlation, 0.0), 0.8)
    return (1.0 - correlation) / (1.0 + correlation)


def _rank_p(left: Array, right: Array, worth: float, size: float) -> float:
    """One-sided p-value that the ranks of the sides differ in the direction of `size`."""
    from scipy.special import ndtr, ndtri, stdtr

    m, k = len(left), len(right)
    count = m + k
    ordered = np.sort(left)
    above = np.searchsorted(ordered, right, "left").sum() + np.searchsorted(ordered, right, "right").sum()
    z = (float(above) / 2 - m * k / 2) / math.sqrt(m * k * (count + 1) / 12.0)
    z = math.copysign(z, z * size)
    t = z * math.sqrt((count - 2) / (count - 1 - z * z))
    return float(ndtr(ndtri(stdtr(count - 2, -t)) * math.sqrt(worth)))
