"""Intervals cover, unchanged code is not called, over benchmarks as noisy as real ones are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.stats import Comparison, compare, compare_suite

from .simulated_rounds import Pair, Values, called, covered, each_alone, histories, pairs, rounds


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


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("between", [0.005, 0.01, 0.02, 0.03, 0.05])
def test_a_figure_from_elsewhere_does_not_mislead(count: int, between: float) -> None:
    """Alone, half a percent is thought beforehand; the rounds of noisier benchmarks must overrule it."""
    rng = np.random.default_rng(4)
    before, after = (rounds(rng, 720, (count, 5), between=between, within=0.003) for _ in range(2))
    assert covered(list(each_alone(pairs(before, after)))) >= 0.91


# ---- histories that no longer hold


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("noisier", [1.0, 2.0, 3.0])
def test_a_suite_sees_that_its_machine_is_busier_than_it_was(count: int, noisier: float) -> None:
    rng, between = population(5, 400)
    past = histories(rng, 400, 20, (count, 5), between=between)
    before, after = (rounds(rng, 400, (count, 5), between=noisier * between) for _ in range(2))
    found = compare_suite(pairs(before, after), history=list(past), use_guard=False)
    assert 0.92 <= covered(found) <= 0.98
    assert sum(one.verdict in ("regression", "improvement") for one in found) <= 2


def test_one_comparison_of_a_busier_machine_is_not_far_off() -> None:
    """Two rounds a side hardly show it; from five on the rounds overrule the history more and more."""
    rng = np.random.default_rng(6)
    past = histories(rng, 180, 20, (5, 5), between=0.005)
    before, after = (rounds(rng, 180, (5, 5), between=0.015) for _ in range(2))
    assert covered(list(each_alone(pairs(before, after), past))) >= 0.8


# ---- paired rounds and a history


def paired_with_history(
    drift_then: float, drift_now: float, count: int, effect: float
) -> tuple[Values, list[Pair]]:
    """The history's rounds hold its drift, which both sides of today's pairs share."""
    rng = np.random.default_rng(7)
    past = histories(rng, 160, 20, (count, 5), between=0.008)
    past = past * np.exp(rng.normal(0.0, drift_then, (160, 20, count, 1)))
    sides = [rounds(rng, 160, (count, 5), between=0.008) for _ in range(2)]
    shared = np.exp(rng.normal(0.0, drift_now, (160, count, 1)))
    return past, pairs(sides[0] * shared, effect * sides[1] * shared)


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("drifts", [(0.0, 0.0), (0.01, 0.01), (0.03, 0.03), (0.03, 0.0), (0.0, 0.03)])
def test_paired_intervals_with_a_history_cover(drifts: tuple[float, float], count: int) -> None:
    past, given = paired_with_history(*drifts, count, 1.0)
    together = compare_suite(given, history=list(past), paired=True)
    assert 0.92 <= covered(together) <= 0.995
    assert covered(list(each_alone(given, past, paired=True))) >= 0.92


@pytest.mark.parametrize("drift", [0.01, 0.03])
def test_with_drift_pairs_find_more(drift: float) -> None:
    past, given = paired_with_history(drift, drift, 2, 1.04)
    options: dict[str, Any] = {"history": list(past), "use_guard": False}
    apart, together = (
        called(compare_suite(given, **options)),
        called(compare_suite(given, paired=True, **options)),
    )
    assert together > apart + 0.15 and together > 0.7


# ---- chance among many


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("runs", [0, 10])
def test_a_few_wild_benchmarks_make_few_false_alarms(count: int, runs: int) -> None:
    """A tenth of the suite varies by 8 % between rounds: ten suites of 100, of which five are changed."""
    rng = np.random.default_rng(8)
    between = np.where(np.arange(100) % 10 == 9, 0.08, 0.003)
    false, true = 0, 0
    for _ in range(10):
        past = list(histories(rng, 100, runs, (count, 3), between=between)) if runs else None
        before, after = (rounds(rng, 100, (count, 3), between=between, within=0.003) for _ in range(2))
        after[:5] *= 1.05
        found = [one.verdict for one in compare_suite(pairs(before, after), history=past)]
        false += sum(one in ("regression", "improvement") for one in found[5:])
        true += found[:5].count("regression")
    assert false <= 0.1 * true + 2
    assert true >= 30


def test_a_history_finds_what_two_rounds_alone_cannot() -> None:
    rng = np.random.default_rng(3)
    before, after = (rounds(rng, 90, (2, 5), between=0.004, within=0.002) for _ in range(2))
    past = histories(rng, 90, 20, (2, 5), between=0.004, within=0.002)
    given = pairs(before, 1.02 * after)
    alone, informed = called(list(each_alone(given))), called(list(each_alone(given, past)))
    assert informed > alone + 0.2
