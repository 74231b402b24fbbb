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


@pytest.mark.parametrize("factor", [1.2, 1 / 1.2])
def test_no_change_needs_both_bounds_to_be_excluded(factor: float) -> None:
    """The levels differ by just as much as "no change" allows."""
    figures = np.array([0.0, *[1.0] * 40])
    found = compare(flat(*figures), flat(*(factor * figures)), margin=0.2, equivalence=0.2)
    assert found.verdict == "inconclusive"


def test_welchs_t_and_fiellers_interval_by_hand() -> None:
    a, b = np.array([0.0, 2.0, 1.0, 3.0, 2.0, 2.0]), np.array([6.0, 9.0, 7.0, 8.0])
    found = compare(flat(*a), flat(*b))
    va, vb = a.var(ddof=1) / 6, b.var(ddof=1) / 4
    df = (va + vb) ** 2 / (va**2 / 5 + vb**2 / 3)
    assert (found.before, found.after, found.df) == pytest.approx((a.mean(), 7.5, df))
    gap = 7.5 - 1.01 * a.mean()
    assert found.p_value == pytest.approx(2 * special.stdtr(df, -gap / math.sqrt(1.01**2 * va + vb)))
    square = special.stdtrit(df, 0.975) ** 2
    assert (found.ci_low, found.ci_high) == pytest.approx(
        fieller(a.mean(), 7.5, square, np.array([[va, 0.0], [0.0, vb]]))
    )
    assert found.verdict == "regression"


def test_paired_differences_and_fiellers_interval_by_hand() -> None:
    a, b = np.array([0.0, 5.0, 4.0, 6.0, 5.0]), np.array([1.0, 7.1, 6.9, 8.0, 8.0])
    found = compare(flat(*a), flat(*b), paired=True)
    gap = b - 1.01 * a
    assert found.df == 4
    assert found.spread == pytest.approx((b - a).std(ddof=1))
    error = gap.std(ddof=1) / math.sqrt(5)
    assert found.p_value == pytest.approx(2 * special.stdtr(4, -gap.mean() / error))
    square = special.stdtrit(4, 0.975) ** 2
    assert (found.ci_low, found.ci_high) == pytest.approx(
        fieller(a.mean(), b.mean(), square, np.cov(a, b) / 5)
    )


@pytest.mark.parametrize("before", [[0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 0.5], [0.0, 3.0]])
def test_the_lower_end_where_the_first_level_may_be_zero(before: list[float]) -> None:
    """Then no ratio is too large; those too small to reach the second level are ruled out, and no others."""
    a, b = np.array(before), np.array([9.0, 9.5, 10.0])
    found = compare(flat(*a), flat(*b))
    assert (found.ci_high, found.ci_low < found.ratio) == (math.inf, True)
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / 3
    distance = (b.mean() - found.ci_low * a.mean()) / math.sqrt(vb + found.ci_low**2 * va)
    assert distance == pytest.approx(special.stdtrit(found.df, 0.975))


def test_the_interval_from_zero() -> None:
    """Zeros that never vary are nothing but zero only beside figures that do not vary much either."""
    sure, unsure = compare(flat(0, 0, 0), flat(1.0, 1.1, 0.9)), compare(flat(0, 0, 0), flat(0, 0, 5.0))
    assert (sure.verdict, sure.ratio, sure.ci_high) == ("regression", math.inf, math.inf)
    assert sure.ci_low > 1.01
    assert (unsure.verdict, unsure.ci_low, unsure.ci_high) == ("inconclusive", 0.0, math.inf)


def poisson_pairs(
    seed: int, mean: float, ratio: float, counts: tuple[int, int], many: int
) -> list[Comparison]:
    """Comparisons of small counts, of which at least one is zero."""
    rng = np.random.default_rng(seed)
    found: list[Comparison] = []
    while len(found) < many:
        before, after = (rng.poisson(mean * r, count) for r, count in zip((1.0, ratio), counts, strict=True))
        if 0 in before or 0 in after:
            found.append(compare(flat(*before), flat(*after)))
    return found


@pytest.mark.parametrize("counts", [(3, 3), (5, 5), (3, 8), (8, 3)])
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_intervals_of_ratios_cover_and_agree_with_the_verdicts(ratio: float, counts: tuple[int, int]) -> None:
    """Small counts are skew, and those that held a zero were picked: not quite 95 %."""
    found = poisson_pairs(1, 1.5, ratio, counts, 400)
    assert np.mean([one.ci_low <= ratio <= one.ci_high for one in found]) >= 0.9
    for one in found:
        beyond = one.ci_low > 1.01 or one.ci_high < 1 / 1.01
        assert beyond == (one.verdict in ("regression", "improvement")) == (one.p_value < 0.05)


def test_a_side_of_equal_figures_has_the_spread_of_the_other() -> None:
    b = np.array([1.0, 4.0, 2.0, 0.0])
    for side, count in (([2.0], 1), ([2.0, 2.0], 2), ([2.0] * 5, 5)):
        found = compare(flat(*side), flat(*b))
        gap = 2.0 / 1.01 - b.mean()
        error = math.sqrt(b.var(ddof=1) * (1.01**-2 / count + 1 / 4))
        assert found.p_value == pytest.approx(2 * special.stdtr(found.df, -gap / error))


def test_rounds_that_are_needed_have_a_limit() -> None:
    before, after = flat(0, 1, 2), flat(0.02, 1, 2.01)
    assert compare(before, after, margin=0.01, equivalence=0.01).rounds_needed is None
    assert compare(before, after, margin=0.0, equivalence=1e-9).rounds_needed is None
    assert 1 <= (compare(before, after, equivalence=0.5).rounds_needed or 0) <= 1000


@pytest.mark.parametrize("factor", [1e-200, 1e-308, 1e200, 1e307])
def test_figures_at_the_ends_of_the_range_have_a_spread(factor: float) -> None:
    before, after = (0.0, 1.0, 0.0), (1.0, 0.0, 2.0)
    then = compare(flat(*(factor * x for x in before)), flat(*(factor * x for x in after)))
    now = compare(flat(*before), flat(*after))
    assert (then.verdict, then.p_value) == (now.verdict, pytest.approx(now.p_value))
    assert then.spread == pytest.approx(factor * now.spread)


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
