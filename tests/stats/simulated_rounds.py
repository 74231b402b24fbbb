"""Synthetic rounds of many benchmarks at once: levels that differ between rounds, samples that differ within."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dcu_asv_ext.stats import Comparison, compare_suite

Values = npt.NDArray[np.float64]
Pair = tuple[Values, Values]

#: Fewer pairs than from which on a suite's own spread of variances moderates each: every pair stands alone.
FEW = 9


def rounds(
    rng: np.random.Generator,
    count: int,
    shape: tuple[int, int],
    *,
    between: float | Values = 0.01,
    within: float = 0.005,
    uneven: float = 0.0,
    spikes: float = 0.0,
    correlation: float = 0.0,
) -> Values:
    """(count, rounds, samples) around 1.

    between, within: standard deviations of the log. uneven: log standard deviation of `between` from run to run.
    spikes: share of samples that are late. correlation: AR(1) within the round.
    """
    sd = np.broadcast_to(np.asarray(between, dtype=np.float64), (count,))
    sd = sd * np.exp(rng.normal(0.0, uneven, count)) if uneven else sd
    levels = sd[:, None] * rng.normal(size=(count, shape[0]))
    noise = rng.normal(size=(count, *shape))
    for k in range(1, shape[1]) if correlation else ():
        noise[..., k] = correlation * noise[..., k - 1] + (1.0 - correlation**2) ** 0.5 * noise[..., k]
    late = (rng.random(noise.shape) < spikes) * rng.exponential(0.15, noise.shape)
    return np.asarray(np.exp(levels[..., None] + within * noise) * (1.0 + late))


def histories(
    rng: np.random.Generator, count: int, runs: int, shape: tuple[int, int], **noise: Any
) -> Values:
    """(count, runs, rounds, samples)."""
    return np.stack([rounds(rng, count, shape, **noise) for _ in range(runs)], axis=1)


def pairs(before: Values, after: Values) -> list[Pair]:
    return list(zip(before, after, strict=True))


def each_alone(given: Sequence[Pair], history: Values | None = None, **options: Any) -> Iterator[Comparison]:
    """What `compare` says of each, faster: a suite of so few lends none of them anything."""
    for start in range(0, len(given), FEW):
        part = slice(start, start + FEW)
        past = None if history is None else list(history[part])
        yield from compare_suite(given[part], history=past, use_guard=False, **options)


def covered(found: Sequence[Comparison], ratio: float = 1.0) -> float:
    """Share of the intervals that hold the true ratio."""
    return float(np.mean([one.ci_low <= ratio <= one.ci_high for one in found]))


def called(found: Sequence[Comparison]) -> float:
    """Share of the comparisons that one alone would call changed."""
    return float(np.mean([one.p_value <= 0.05 for one in found]))
