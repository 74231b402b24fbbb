"""Whether a level that should stay where it is keeps growing, call after call.

The slope is the median of the slopes between all pairs of points (Theil 1950; Sen 1968), which a third of the
points may spoil. Its interval is Sen's, from the variance of Kendall's S with ties, enlarged for autocorrelated
points after Hamed & Rao (J. Hydrology 204, 1998).

Growth is shown by more than that, because a cache that fills, a pool that grows once and a level that wanders have
a slope too:
- drift: the series is cut into blocks, and the increments from one block's level to the next must have a mean
  above zero by a t test. Increments of a level that wanders without aim (a random walk, the worst noise there is)
  have mean zero; a step, or the fall of a cache that is emptied, is one large increment among small ones, which
  makes their spread as large as their mean;
- the later half must go on growing, at no less than half of the earlier half's slope;
- all of it must come to more than the allocator's granularity.
The first tenth of the calls is left out: what they fill is not growth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Fewer points than this tell nothing.
FEWEST = 20
_BLOCKS = 10
#: A block's level: low enough that memory held for a while only does not raise it.
_QUANTILE = 0.25
_SIGNIFICANCE = 0.001
_LATER_SHARE = 0.5
_COVERAGE_Z = 1.959964  # 95 %, two-sided


@dataclass(frozen=True)
class Growth:
    """slope, ci_low, ci_high: per call, 95 % (less, about 75 %, where a level correlates over many calls).
    p_value: of the drift test, one-sided. shown: whether it is growth; reason: why not, in a few words ("" where it
    is).
    """

    slope: float
    ci_low: float
    ci_high: float
    p_value: float
    shown: bool
    reason: str = ""


def growth(values: npt.ArrayLike, granularity: float = 0.0) -> Growth:
    """values: the level after each of equally spaced calls. granularity: the least growth over all of them that
    counts. Raises ValueError for less than 20 values and values that are not finite.
    """
    series = np.asarray(values, dtype=np.float64)
    if series.ndim != 1 or series.size < FEWEST:
        raise ValueError(f"growth needs a plain sequence of at least {FEWEST} levels")
    if not np.isfinite(series).all():
        raise ValueError("a level is not finite")
    series = series[series.size // 10 :]
    half = series.size // 2
    slope, low, high = theil_sen(series)
    p_value = mean_above_zero(increments(series))
    least = granularity / (series.size - 1)
    if slope <= max(least, 0.0):
        reason = "no growth" if slope <= 0 else "no more than the allocator's granularity over all calls"
    elif p_value > _SIGNIFICANCE:
        reason = "not told apart from a level that wanders, steps or is emptied now and then"
    elif theil_sen(series[half:])[0] < _LATER_SHARE * theil_sen(series[:half])[0]:
        reason = "it does not go on in the later half of the calls"
    else:
        reason = ""
    return Growth(slope, low, high, p_value, not reason, reason)


def increments(series: Array) -> Array:
    """From one block's level to the next, per step."""
    blocks = np.array_split(series, _BLOCKS)
    levels = [float(np.quantile(block, _QUANTILE)) for block in blocks]
    sizes = np.array([block.size for block in blocks], dtype=np.float64)
    # A steady rise passes its quantile there.
    places = np.cumsum(sizes) - sizes + _QUANTILE * (sizes - 1)
    return np.diff(levels) / np.diff(places)


def mean_above_zero(steps: Array) -> float:
    """p-value of the one-sided t test."""
    from scipy.special import stdtr

    mean, spread = float(steps.mean()), float(steps.std(ddof=1))
    if spread <= 1e-9 * abs(mean):
        return 0.0 if mean > 0 else 1.0
    return float(stdtr(steps.size - 1, -mean / (spread / math.sqrt(steps.size))))


def theil_sen(series: Array) -> tuple[float, float, float]:
    """(slope, low, high) of the 95 % interval, per step."""
    first, second = np.triu_indices(series.size, k=1)
    slopes = np.sort((series[second] - series[first]) / (second - first))
    pairs = slopes.size
    slope = float(np.median(slopes))
    spread = _COVERAGE_Z * math.sqrt(_variance_of_s(series) * _inflation(series, slope))
    low = max(0, math.floor((pairs - spread) / 2))
    high = min(pairs - 1, math.ceil((pairs + spread) / 2))
    return slope, float(slopes[low]), float(slopes[high])


def _variance_of_s(series: Array) -> float:
    """Of Kendall's S without trend; ties lower it."""
    size = series.size
    _, ties = np.unique(series, return_counts=True)
    free = size * (size - 1) * (2 * size + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())
    return max(free, 0.0) / 18


def _inflation(series: Array, slope: float) -> float:
    """By how much autocorrelation enlarges that variance: Hamed & Rao, from the ranks around the slope and the
    lags at which they are correlated beyond chance. At least 1.
    """
    size = series.size
    around = series - slope * np.arange(size)
    ranks = _ranks(around)
    ranks -= ranks.mean()
    power = float(ranks @ ranks)
    if power <= 0:
        return 1.0
    total = 0.0
    for lag in range(1, size // 4):
        correlation = float(ranks[lag:] @ ranks[:-lag]) / power
        if abs(correlation) > _COVERAGE_Z / math.sqrt(size):
            total += (size - lag) * (size - lag - 1) * (size - lag - 2) * correlation
    return max(1.0, 1.0 + 2.0 * total / (size * (size - 1) * (size - 2)))


def _ranks(values: Array) -> Array:
    """Mid-ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle: Array = (ends - (counts - 1) / 2.0)[inverse.ravel()]
    return middle
