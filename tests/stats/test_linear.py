"""Figures of which some are zero have no logarithm and are compared by differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special

from dcu_asv_ext.stats import Comparison, compare

from .simulated_rounds import Values

Side = list[list[float]]


def flat(*levels: float) -> Side:
    return [[level] * 3 for level in levels]


MIRRORED = {"regression": "improvement", "improvement": "regression"}
NOISY_ZERO = [0.0, 2.0, 1.0, 3.0]


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("paired", [False, True])
def test_all_zero_is_no_change(count: int, paired: bool) -> None:
    found = compare(flat(*[0.0] * count), flat(*[0.0] * count), paired=paired)
    assert (found.verdict, found.ratio, found.ci_low, found.ci_high) == ("no change", 1.0, 1.0, 1.0)
    assert (found.before, found.after, found.p_value, found.rounds_needed) == (0.0, 0.0, 1.0, 0)
    assert (found.rounds, found.spread, found.paired) == ((count, count), 0.0, paired)


@pytest.mark.parametrize(
    ("before", "after", "verdict", "ratio"),
    [
        ([0, 0, 0], [1.0, 1.1, 0.9], "regression", math.inf),
        ([0, 0, 0], [1.0, 1.0, 1.0], "regression", math.inf),
        ([1.0, 1.1, 0.9], [0, 0, 0], "improvement", 0.0),
        ([1.0, 1.0], [0, 0], "improvement", 0.0),
        ([0, 1.0, 0.5], [100.0, 101.0, 99.0], "regression", 200.0),
        ([100.0, 101.0, 99.0], [0, 1.0, 0.5], "improvement", 0.005),
    ],
)
@pytest.mark.parametrize("direction", ["lower", "higher"])
def test_clear_changes_from_and_to_zero(
    before: list[float], after: list[float], verdict: str, ratio: float, direction: str
) -> None:
    found = compare(flat(*before), flat(*after), direction=direction)
    assert found.verdict == (verdict if direction == "lower" else MIRRORED[verdict])
    assert found.ratio == pytest.approx(ratio)
    assert (found.rounds_needed, found.p_value < 0.05) == (0, True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([0, 0, 0], [0, 0, 1.0]),
        ([0, 0, 1.0], [0, 0, 0]),
        ([0, 1.0, 2.0], [1.0, 0, 2.5]),
        ([0], [1.0]),
        ([0], [1.0, 1.0, 1.0]),
        ([1.0], [0]),
    ],
)
def test_what_zeros_leave_open(before: list[float], after: list[float]) -> None:
    found = compare(flat(*before), flat(*after))
    assert found.verdict == "inconclusive"
    assert found.rounds_needed is not None and found.rounds_needed > 0
    assert found.p_value > 0.05 and found.ci_low < found.ci_high


def test_the_same_zeros_on_both_sides_are_no_change_if_the_spread_is_small() -> None:
    figures = [0.0, *[1.0] * 40]
    found = compare(flat(*figures), flat(*figures), equivalence=0.2)
    assert (found.verdict, found.ratio, found.rounds_needed) == ("no change", 1.0, 0)
    assert found.ci_low > 0.8 and found.ci_high < 1.2


def fieller(old: float, new: float, square: float, covariance: Values) -> tuple[float, float]:
    """The ratios r at which (new - r old)^2 is `square` times its variance, by the roots of the quadratic."""
    (va, both), (_, vb) = covariance
    low, high = sorted(
        np.roots([old**2 - square * va, -2 * (old * new - square * both), new**2 - square * vb]).real
    )
    return low, high


def test_welchs_t_and_fiellers_interval_by_hand() -> None:
    a, b = np.array([0.0, 2.0, 1.0, 3.0, 2.0, 2.0]), np.array([6.0, 9.0, 7.0, 8.0])
    found = compare(flat(*a), flat(*b))
    va, vb = a.var(ddof=1) / 6, b.var(ddof=1) / 4
    df = (va + vb) ** 2 / (va**2 / 5 + vb**2 / 3)
    assert (found.before, found.after, found.df) == pytest.approx((a.mean(), 7.5, df))
    gap = 7.5 - 1.01 * a.mean()
    assert found.p_value == pytest.approx(2 * special.stdtr(df, -gap / math.sqrt(va + vb)))
    square = special.stdtrit(df, 0.975) ** 2
    assert (found.ci_low, found.ci_high) == pytest.approx(
        fieller(a.mean(), 7.5, square, np.array([[va, 0.0], [0.0, vb]]))
    )
    assert found.verdict == "regression"


def test_paired_differences_and_fiellers_interval_by_hand() -> None:
    a, b = np.array([0.0, 5.0, 4.0, 6.0, 5.0]), np.array([1.0, 7.1, 6.9, 8.0, 8.0])
    found = compare(flat(*a), flat(*b), paired=True)
    gap = (b - a).mean() - 0.01 * a.mean()
    assert found.df == 4
    assert found.spread == pytest.approx((b - a).std(ddof=1))
    error = (b - a).std(ddof=1) / math.sqrt(5)
    assert found.p_value == pytest.approx(2 * special.stdtr(4, -gap / error))
    square = special.stdtrit(4, 0.975) ** 2
    assert (found.ci_low, found.ci_high) == pytest.approx(
        fieller(a.mean(), b.mean(), square, np.cov(a, b) / 5)
    )


def test_pairing_takes_shared_drift_out() -> None:
    before, after = [0.0, 5.0, 2.0, 8.0, 3.0], [1.0, 6.1, 2.9, 9.0, 4.0]
    assert compare(flat(*before), flat(*after)).verdict == "inconclusive"
    assert compare(flat(*before), flat(*after), paired=True).verdict == "regression"


@pytest.mark.parametrize("factor", [1e3, 1e-9])
def test_the_unit_does_not_matter(factor: float) -> None:
    for after in ([1.0, 0, 2.5, 1.0], [9.0, 9.5, 10.0, 8.0], [0, 0, 0, 0]):
        now = compare(flat(*NOISY_ZERO), flat(*after))
        then = compare(flat(*(factor * x for x in NOISY_ZERO)), flat(*(factor * x for x in after)))
        assert (then.verdict, then.rounds_needed) == (now.verdict, now.rounds_needed)
        for name in ("ratio", "ci_low", "ci_high", "p_value"):
            assert getattr(then, name) == pytest.approx(getattr(now, name))


def test_swapping_the_sides_mirrors_clear_verdicts() -> None:
    for one, other in ((NOISY_ZERO, [60.0, 90.0, 70.0, 80.0]), ([0.0] * 4, [6.0, 9.0, 7.0, 8.0])):
        found, swapped = compare(flat(*one), flat(*other)), compare(flat(*other), flat(*one))
        assert swapped.verdict == MIRRORED[found.verdict]


def test_the_history_speaks_where_the_rounds_have_no_spread() -> None:
    before, after = flat(0.0, 0.0), flat(1.0, 1.0)
    wide = [flat(0.0, 5.0, 1.0), flat(2.0, 8.0, 0.0)]
    assert compare(before, after).verdict == "regression"
    assert compare(before, after, history=wide).verdict == "inconclusive"
    assert compare(before, after, history=[flat(1.0, 1.001), flat(1.0)]).verdict == "regression"


def test_a_zero_sample_is_no_zero_round() -> None:
    """The median of the round decides: a lone zero is an outlier like any other."""
    rounds = [[0.0, 1.0, 1.01], [1.0, 1.0, 0.0], [1.0, 0.99, 1.02]]
    found = compare(rounds, rounds)
    assert found.prior_df > 0 and found.ratio == 1.0


def shares_called(options: dict[str, Any], count: int = 400) -> tuple[float, float]:
    """Regressions and improvements among unchanged counts of small numbers."""
    rng = np.random.default_rng(8)
    found: list[Comparison] = []
    while len(found) < count:
        before, after = rng.poisson(2.0, (2, 5)).astype(float)
        if min(before.min(), after.min()) == 0:
            found.append(compare(flat(*before), flat(*after), **options))
    verdicts = [one.verdict for one in found]
    return verdicts.count("regression") / count, verdicts.count("improvement") / count


@pytest.mark.parametrize("paired", [False, True])
def test_unchanged_counts_are_seldom_called(paired: bool) -> None:
    slower, faster = shares_called({"paired": paired})
    assert slower < 0.045 and faster < 0.045
