"""Intervals over mixtures of variances, rounds that are needed, and how a verdict is told."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special

from dcu_asv_ext.stats import Comparison, compare, compare_suite
from dcu_asv_ext.stats.decision import (
    MOST_ROUNDS,
    Settings,
    comparisons,
    distance_of,
    estimates,
    judge,
    percent,
    upper_tail,
)
from dcu_asv_ext.stats.variance import Mixture

from .simulated_rounds import Values, histories, rounds


def mixtures(count: int, parts: int) -> tuple[Mixture, Values]:
    rng = np.random.default_rng(1)
    logs = rng.normal(0.0, 8.0, (count, parts))
    scale = 10 ** rng.uniform(-12, 1, (count, parts))
    return Mixture(logs, scale, 10 ** rng.uniform(0, 3, (count, parts))), rng.uniform(0.01, 2.0, count)


def test_one_component_is_students_t() -> None:
    known, factor = Mixture(np.zeros((1, 1)), np.array([[0.04]]), np.array([[5.0]])), np.array([0.5])
    error = math.sqrt(0.04 * 0.5)
    assert upper_tail(known, factor, np.array([0.3])) == pytest.approx(special.stdtr(5, -0.3 / error))
    assert distance_of(known, factor, 0.025) == pytest.approx(special.stdtrit(5, 0.975) * error)


def test_weights_of_a_mixture() -> None:
    known = Mixture(np.log([[1.0, 3.0]]) - 5000.0, np.array([[1.0, 100.0]]), np.array([[3.0, 8.0]]))
    one, other = special.stdtr(3, -2.0), special.stdtr(8, -0.2)
    assert upper_tail(known, np.ones(1), np.array([2.0])) == pytest.approx((one + 3 * other) / 4)
    assert known.mean_scale == pytest.approx(75.25)
    assert known.mean_df == pytest.approx(6.75)


@pytest.mark.parametrize("level", [0.4, 0.05, 0.025, 1e-4, 2.5e-7])
@pytest.mark.parametrize("parts", [1, 2, 84])
def test_the_distance_has_its_tail(level: float, parts: int) -> None:
    known, factor = mixtures(200, parts)
    found = distance_of(known, factor, level)
    assert (found > 0).all()
    assert upper_tail(known, factor, found) == pytest.approx(np.full(200, level), rel=1e-4)


def test_components_without_weight_do_not_count() -> None:
    narrow = Mixture(np.zeros((1, 1)), np.array([[1e-6]]), np.array([[9.0]]))
    both = Mixture(np.array([[0.0, -1e5]]), np.array([[1e-6, 1e12]]), np.array([[9.0, 1.0]]))
    assert distance_of(both, np.ones(1), 0.025) == pytest.approx(distance_of(narrow, np.ones(1), 0.025))


# ---- rounds that are needed


def undecided(effect: float, between: float, count: int, runs: int) -> tuple[int, int, int]:
    """Of 60 comparisons: how many are inconclusive, how many of these are settled by the rounds that they asked for,
    and how many asked for more than can be told."""
    rng = np.random.default_rng(round(1000 * effect) + count)
    still, settled, hopeless = 0, 0, 0
    for _ in range(60):
        past = histories(rng, 1, runs, (count, 3), between=between)[0] if runs else None
        before, after = (
            rounds(rng, 2, (count, 3), between=between) * np.array([1.0, 1 + effect])[:, None, None]
        )
        found = compare(before, after, history=past)
        assert found.decided == (found.rounds_needed == 0)
        if found.decided:
            continue
        still += 1
        if found.rounds_needed is None:
            hopeless += 1
            continue
        assert 1 <= found.rounds_needed <= MOST_ROUNDS
        more = rounds(rng, 2, (found.rounds_needed, 3), between=between)
        more = more * np.array([1.0, 1 + effect])[:, None, None]
        again = compare(np.concatenate([before, more[0]]), np.concatenate([after, more[1]]), history=past)
        settled += again.decided
    return still, settled, hopeless


@pytest.mark.parametrize("effect", [0.0, 0.02, 0.05, 0.08])
@pytest.mark.parametrize(("between", "count", "runs"), [(0.03, 2, 0), (0.03, 3, 10), (0.05, 5, 0)])
def test_the_rounds_needed_settle_most(effect: float, between: float, count: int, runs: int) -> None:
    still, settled, hopeless = undecided(effect, between, count, runs)
    assert still >= 10, "the scenario must leave enough undecided"
    assert hopeless <= still / 5
    assert settled >= 0.6 * (still - hopeless)


def test_the_rounds_needed_settle_most_across_sessions() -> None:
    """What sessions add does not shrink with more rounds of the same two: a number is told more seldom."""
    rng = np.random.default_rng(3)
    past = histories(rng, 160, 20, (5, 3), between=0.02) * np.exp(rng.normal(0.0, 0.004, (160, 20, 1, 1)))
    levels = np.exp(rng.normal(0.0, 0.004, (2, 160, 1, 1))) * np.array([1.0, 1.03])[:, None, None, None]
    sides = [rounds(rng, 160, (2, 3), between=0.02) * level for level in levels]
    options: dict[str, Any] = {"across_sessions": True, "use_guard": False}
    found = compare_suite(list(zip(*sides, strict=True)), history=list(past), **options)
    told, settled, hopeless = 0, 0, 0
    for i, one in enumerate(found):
        if one.verdict != "inconclusive":
            continue
        if one.rounds_needed is None:
            assert "sessions differ; interleave the rounds of both sides" in one.reason
            hopeless += 1
            continue
        more = [rounds(rng, 1, (one.rounds_needed, 3), between=0.02)[0] * level[i] for level in levels]
        pair = tuple(np.concatenate([side[i], add]) for side, add in zip(sides, more, strict=True))
        told += 1
        settled += compare_suite([pair], history=[past[i]], **options)[0].decided
    assert hopeless >= 20 and told >= 20
    assert settled >= 0.6 * told


def test_what_lasts_keeps_its_degrees_of_freedom() -> None:
    """However little sessions add: more rounds do not make the errors any better known."""
    log = np.linspace(-0.03, 0.03, 3)
    made = estimates(log[None], log[None] + 0.03, paired=False)
    known = Mixture(np.zeros((1, 1)), np.array([[1e-3]]), np.array([[2.0]]))
    settings = Settings(np.log1p([0.01]), np.log1p([0.05]), np.array([True]))
    needed = []
    for lasting in (0.0, 1e-12):
        one = replace(made, lasting=np.array([lasting]))
        (found,) = comparisons(one, known, known, settings, judge(one, known, settings))
        needed.append(found.rounds_needed)
    assert needed[0] is not None and needed[1] is not None and needed[1] > 2 * needed[0]


def test_the_spread_is_never_all_of_what_lasts() -> None:
    """Where sessions were left out of the variance, as they would have narrowed the interval."""
    log = np.linspace(-0.03, 0.03, 3)
    made = replace(estimates(log[None], log[None], paired=False), lasting=np.array([5e-3]))
    known = Mixture(np.zeros((1, 1)), np.array([[1e-3]]), np.array([[2.0]]))
    settings = Settings(np.log1p([0.01]), np.log1p([0.05]), np.array([True]))
    (found,) = comparisons(made, known, known, settings, judge(made, known, settings))
    assert found.spread == pytest.approx(math.sqrt(0.5 * 0.9e-3))


def figure(difference: float, spread: float, count: int = 3) -> Comparison:
    """Rounds with exactly this log difference and standard deviation."""
    unit = np.linspace(-1.0, 1.0, count)
    before = np.exp(spread * unit / unit.std(ddof=1))
    return compare(before[:, None], np.exp(difference) * before[:, None])


def test_less_is_needed_of_clearer_cases() -> None:
    needed = [figure(difference, 0.05).rounds_needed for difference in (0.03, 0.06, 0.08)]
    assert None not in needed
    assert needed == sorted(needed, reverse=True)  # type: ignore[type-var]
    needed = [figure(0.0, spread).rounds_needed for spread in (0.04, 0.08, 0.2)]
    assert None not in needed and needed == sorted(needed)  # type: ignore[type-var]


def test_none_where_no_number_of_rounds_would_do() -> None:
    found = figure(0.0, 3.0)
    assert (found.verdict, found.rounds_needed) == ("inconclusive", None)
    assert "more rounds would hardly settle it" in found.reason
    middle = compare([[1.0], [1.1]], [[1.0], [1.1]], margin=0.0, equivalence=1e-6)
    assert (middle.verdict, middle.rounds_needed) == ("inconclusive", None)


def test_reasons_hold_the_figures() -> None:
    found = figure(math.log(1.05), 0.05)
    assert f"{found.rounds_needed} more rounds a side would settle it" in found.reason
    assert f"{percent(found.ci_low)} to {percent(found.ci_high)}" in found.reason
    assert figure(math.log(2.0), 0.01).reason.endswith("lies beyond the margin of 1 %")
    same = figure(0.0, 0.001)
    assert same.reason.startswith("the 90 % interval, -0.") and same.reason.endswith("lies within 5 %")
    assert percent(same.ci_high) not in same.reason, "the 95 % interval is another one"


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.0, "+0.00 %"),
        (1.023, "+2.3 %"),
        (0.9, "-10.0 %"),
        (0.9951, "-0.49 %"),
        (2.999, "+199.9 %"),
        (3.0, "x3"),
        (1234.5, "x1.23e+03"),
        (math.inf, "xinf"),
    ],
)
def test_a_ratio_as_a_signed_change(ratio: float, text: str) -> None:
    assert percent(ratio) == text
