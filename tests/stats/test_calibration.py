"""Intervals cover, unchanged code is not called, over benchmarks as noisy as real ones are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dcu_asv_ext.stats import Comparison, compare

from .simulated_rounds import Values, called, covered, each_alone, histories, pairs, rounds


def test_each_alone_is_what_compare_says() -> None:
    rng = np.random.default_rng(1)
    given = pairs(*(rounds(rng, 20, (3, 5)) for _ in range(2)))
    past = histories(rng, 20, 4, (3, 5))
    for (before, after), history, one in zip(given, past, each_alone(given, past), strict=True):
        alone = compare(before, after, history=history)
        assert (one.ci_low, one.ci_high) == pytest.approx((alone.ci_low, alone.ci_high))
        assert one.p_value == pytest.approx(alone.p_value)


def population(seed: int, count: int) -> tuple[np.random.Generator, Values]:
    """Between-round noise of many benchmarks, 0.2 to 3 % in most."""
    rng = np.random.default_rng(seed)
    return rng, 0.007 * np.exp(rng.normal(0.0, 0.7, count))


NOISE: Sequence[dict[str, float]] = (
    {},
    {"uneven": 0.3},
    {"spikes": 0.05},
    {"correlation": 0.7, "spikes": 0.05, "uneven": 0.2},
)


@pytest.mark.parametrize("count", [2, 3, 5, 10])
@pytest.mark.parametrize("runs", [0, 20])
def test_intervals_cover_and_unchanged_code_is_not_called(count: int, runs: int) -> None:
    """252 comparisons; 89.5 % covered is four standard errors below 95 %."""
    many = 63
    rng, between = population(count, many)
    found: list[Comparison] = []
    for noise in NOISE:
        options = {"between": between, "within": 0.005, **noise}
        before, after = (rounds(rng, many, (count, 5), **options) for _ in range(2))
        past = histories(rng, many, runs, (count, 5), **options) if runs else None
        found += each_alone(pairs(before, after), past)
    assert covered(found) >= 0.895
    assert called(found) <= 0.03


@pytest.mark.parametrize("drift", [0.0, 0.05])
def test_paired_intervals_cover(drift: float) -> None:
    rng, between = population(7, 360)
    before, after = (rounds(rng, 360, (5, 5), between=between) for _ in range(2))
    shared = np.exp(rng.normal(0.0, drift, (360, 5, 1)))
    found = list(each_alone(pairs(before * shared, 1.02 * after * shared), paired=True))
    assert covered(found, 1.02) >= 0.905


def test_a_history_finds_what_two_rounds_alone_cannot() -> None:
    rng = np.random.default_rng(3)
    before, after = (rounds(rng, 90, (2, 5), between=0.004, within=0.002) for _ in range(2))
    past = histories(rng, 90, 20, (2, 5), between=0.004, within=0.002)
    given = pairs(before, 1.02 * after)
    alone, informed = called(list(each_alone(given))), called(list(each_alone(given, past)))
    assert informed > alone + 0.2
