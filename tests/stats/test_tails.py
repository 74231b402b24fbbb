"""Tails of mixtures against scipy's root finder and its integrals, and a suite's level against the plain search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, special

from dcu_asv_ext.stats import compare_suite, decision
from dcu_asv_ext.stats.blocks import make_blocks
from dcu_asv_ext.stats.reducing import Options, reduce
from dcu_asv_ext.stats.suite import _LEVELS
from dcu_asv_ext.stats.tails import Tails
from dcu_asv_ext.stats.variance import Mixture

from .simulated_rounds import histories, rounds

LEVELS = [0.4, 0.05, 0.025, 1e-4, 2.5e-7]


def made(count: int, parts: int, apart: float, seed: int = 2) -> Tails:
    """apart: how many decades of the variance the components lie apart."""
    rng = np.random.default_rng(seed)
    scale = 10 ** (rng.uniform(-9, -3, (count, 1)) + rng.uniform(-apart, apart, (count, parts)))
    known = Mixture(rng.normal(0.0, 2.0, (count, parts)), scale, 10 ** rng.uniform(0, 2, (count, parts)))
    return Tails(known, rng.uniform(0.1, 1.0, count))


def searched(tails: Tails, row: int, level: float) -> float:
    """By bisection on the logarithm of the tail."""
    one = tails.take(np.array([row]))

    def excess(place: float) -> float:
        tail = one.beyond(np.array([np.exp(place)]))[0]
        return float(np.log(max(tail, 1e-300)) - np.log(level))

    return float(np.exp(optimize.brentq(excess, -30.0, 10.0, xtol=1e-14, rtol=1e-14)))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("apart", [0.3, 5.0])
def test_distances_are_those_of_a_root_finder(level: float, apart: float) -> None:
    tails = made(12, 35, apart)
    expected = [searched(tails, row, level) for row in range(12)]
    np.testing.assert_allclose(tails.distance(level), expected, rtol=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_it_does_not_matter_where_the_search_begins(level: float) -> None:
    tails = made(50, 8, 1.0)
    expected = tails.distance(level)
    for near in LEVELS:
        np.testing.assert_allclose(tails.distance(level, (near, tails.distance(near))), expected, rtol=1e-9)


def test_a_plateau_between_two_far_components_is_crossed() -> None:
    """A thousandth of the weight lies a million times further out: just above that level the tail hardly falls."""
    logs = np.log(np.array([[0.999, 0.001]]))
    tails = Tails(Mixture(logs, np.array([[1e-12, 1.0]]), np.array([[300.0, 300.0]])), np.ones(1))
    for level in (0.3, 0.000501, 0.0005, 0.000499, 1e-5):
        assert tails.beyond(tails.distance(level))[0] == pytest.approx(level, rel=1e-9)


def test_the_density_is_that_of_the_tail() -> None:
    tails = made(5, 4, 1.0)
    distance = tails.distance(0.1)
    for row in range(5):
        one = tails.take(np.array([row]))
        found, _ = integrate.quad(lambda x, one=one: one.density(np.array([x]))[0], 0.0, distance[row])
        assert found == pytest.approx(0.4, rel=1e-7)


def test_one_component_has_its_quantile_itself() -> None:
    tails = Tails(Mixture(np.zeros((1, 1)), np.array([[4.0]]), np.array([[0.5]])), np.ones(1))
    assert tails.distance(2.5e-7)[0] == pytest.approx(-2.0 * special.stdtrit(0.5, 2.5e-7))


@pytest.mark.parametrize(("changed", "fdr"), [(0, 0.05), (4, 0.05), (12, 0.05), (12, 0.2)])
def test_the_level_of_a_suite_is_that_of_the_plain_search(changed: int, fdr: float) -> None:
    rng = np.random.default_rng(changed)
    count = 60
    before, after = (rounds(rng, count, (5, 3), between=0.01) for _ in range(2))
    after[:changed] *= 1.08
    past = histories(rng, count, 12, (5, 3), between=0.01)
    pairs = list(zip(before, after, strict=True))
    found = compare_suite(pairs, history=past, fdr=fdr, use_guard=False)

    options = Options(
        *([value] * count for value in (0.01, 0.05, "lower", False, False, False, False)), list(past)
    )
    (block,) = make_blocks(reduce(pairs, options, [None] * count), options, [None] * count)

    def holds(level: float) -> bool:
        reach = block.settings.margin + decision.distance_of(block.known, block.made.factor, level)
        expected = 2 * decision.upper_tail(block.known, block.made.factor, reach).sum()
        return bool(expected <= fdr * max(int((block.judged.p <= 2 * level).sum()), 1))

    large, small = 0, len(_LEVELS) - 1
    if holds(_LEVELS[0]):
        small = 0
    while small - large > 1:
        middle = (large + small) // 2
        large, small = (large, middle) if holds(_LEVELS[middle]) else (middle, small)
    assert found.level == _LEVELS[small]
