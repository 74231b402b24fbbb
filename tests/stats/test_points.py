"""Shares of a whole are judged by their difference, and zero is a figure like others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.stats import Comparison, change_points, compare, compare_suite
from dcu_asv_ext.stats.changes import ChangePoint
from dcu_asv_ext.stats.verdicts import IMPROVEMENT, INCONCLUSIVE, NO_CHANGE, POINTS, REGRESSION, SAME_POINTS


def share(before: list[float], after: list[float], **more: Any) -> Comparison:
    """By both ways in, which must agree."""
    sides = [[x] for x in before], [[x] for x in after]
    alone = compare(*sides, points=True, **more)
    together = compare_suite([sides], points=True, **more)[0]
    assert (alone.verdict, alone.reason) == (together.verdict, together.reason)
    assert alone.difference_low == pytest.approx(together.difference_low, nan_ok=True)
    return alone


class TestComparison:
    @pytest.mark.parametrize(
        ("before", "after"), [(0.001, 0.019), (0.0, 0.0199), (0.0199, 0.0), (0.98, 0.999), (0.5, 0.5)]
    )
    def test_less_than_two_points_are_no_change_whatever_the_ratio(self, before: float, after: float) -> None:
        for rounds in (1, 3):
            found = share([before] * rounds, [after] * rounds)
            assert (found.verdict, found.rounds_needed) == (NO_CHANGE, 0)
            assert math.isnan(found.ratio) and math.isnan(found.ci_low) and found.points

    def test_more_is_a_regression_or_an_improvement_by_the_direction(self) -> None:
        rise = [0.10, 0.11, 0.09], [0.30, 0.31, 0.29]
        assert share(*rise).verdict == REGRESSION
        assert share(*rise[::-1]).verdict == IMPROVEMENT
        assert share(*rise, direction="higher").verdict == IMPROVEMENT
        assert share(*rise[::-1], direction="higher").verdict == REGRESSION

    def test_the_interval_is_welchs_of_the_difference(self) -> None:
        before, after = [0.10, 0.12, 0.11, 0.09], [0.30, 0.31, 0.29]
        found = share(before, after)
        from scipy import stats

        interval = stats.ttest_ind(after, before, equal_var=False).confidence_interval()
        assert (found.difference_low, found.difference_high) == pytest.approx(tuple(interval))
        assert (found.before, found.after) == pytest.approx((0.105, 0.30))

    def test_paired_rounds_are_compared_as_pairs(self) -> None:
        before, after = [0.10, 0.30, 0.50], [0.14, 0.345, 0.54]
        assert share(before, after).verdict == INCONCLUSIVE
        assert share(before, after, paired=True).verdict == REGRESSION

    def test_the_interval_has_to_lie_beyond_two_points(self) -> None:
        found = share([0.100, 0.102, 0.098], [0.121, 0.124, 0.118])
        assert found.difference_low < POINTS < found.after - found.before
        assert found.verdict == NO_CHANGE and found.difference_high < SAME_POINTS

    def test_within_the_spread_it_is_open_and_more_rounds_are_told(self) -> None:
        found = share([0.10, 0.30, 0.20], [0.15, 0.38, 0.22])
        assert found.verdict == INCONCLUSIVE and found.rounds_needed and "within the spread" in found.reason

    def test_the_reason_has_the_interval_that_decided(self) -> None:
        """No change is the 90 % interval's word, which is narrower than the 95 % that is shown beside it."""
        found = share([0.200, 0.215, 0.185], [0.214, 0.235, 0.193])
        assert found.verdict == NO_CHANGE and found.difference_high > SAME_POINTS
        assert found.reason == "it moved by +1.4 points: the 90 % interval, -1.9 to +4.7, lies within 5"
        found = share([0.10, 0.11, 0.09], [0.30, 0.31, 0.29])
        low, high = 100 * found.difference_low, 100 * found.difference_high
        assert found.reason == (
            f"it moved by +20.0 points: the 95 % interval, {low:+.1f} to {high:+.1f}, lies beyond 2"
        )

    def test_one_round_a_side_has_no_spread(self) -> None:
        found = share([0.05], [0.60])
        assert (found.verdict, found.rounds_needed) == (INCONCLUSIVE, 2)
        assert (found.difference_low, found.difference_high) == (-math.inf, math.inf)

    def test_earlier_rounds_lend_theirs(self) -> None:
        runs = [[[0.05], [0.051]], [[0.05], [0.052]]]
        assert compare([[0.05]], [[0.60]], points=True, history=runs).verdict == REGRESSION
        assert compare_suite([([[0.05]], [[0.60]])], points=True, history=[runs])[0].verdict == REGRESSION

    def test_margins_of_ratios_do_not_apply(self) -> None:
        assert share([0.10] * 3, [0.20] * 3, margin=0.5, equivalence=0.9).verdict == REGRESSION

    def test_noise_of_unchanged_shares_is_rarely_a_change(self) -> None:
        rng = np.random.default_rng(5)
        sides = np.clip(0.3 + 0.02 * rng.standard_normal((2000, 2, 4, 1)), 0, 1)
        found = compare_suite([(one[0].tolist(), one[1].tolist()) for one in sides], points=True)
        called = sum(one.verdict in (REGRESSION, IMPROVEMENT) for one in found)
        assert called <= 0.01 * len(found)

    def test_beside_other_pairs_each_is_judged_its_own_way(self) -> None:
        pair = [[0.001], [0.001]], [[0.004], [0.004]]
        found = compare_suite([pair, pair], points=[True, False])
        assert [one.verdict for one in found] == [NO_CHANGE, REGRESSION]

    def test_a_negative_share_is_refused(self) -> None:
        with pytest.raises(ValueError, match="negative"):
            compare([[0.1]], [[-0.1]], points=True)


class TestExactZeros:
    @pytest.mark.parametrize(
        ("before", "after", "verdict", "ratio"),
        [
            (0.0, 2.0, REGRESSION, math.inf),
            (2.0, 0.0, IMPROVEMENT, 0.0),
            (0.0, 0.0, NO_CHANGE, 1.0),
            (2.0, 2.0, NO_CHANGE, 1.0),
        ],
    )
    @pytest.mark.parametrize("rounds", [1, 3])
    def test_they_are_figures_like_others(
        self, before: float, after: float, verdict: str, ratio: float, rounds: int
    ) -> None:
        sides = [[before]] * rounds, [[after]] * rounds
        for found in (compare(*sides, exact=True), compare_suite([sides], exact=True)[0]):
            assert (found.verdict, found.ratio, found.before, found.after) == (verdict, ratio, before, after)
            assert "inf" not in found.reason and "nan" not in found.reason


class TestHistory:
    def points(self, values: list[float], **more: Any) -> list[ChangePoint]:
        return change_points(values, points=True, **more)

    def test_a_share_that_moves_by_less_than_two_points_has_no_change_point(self) -> None:
        values = [0.001] * 20 + [0.018] * 20
        assert self.points(values) == []
        assert len(change_points(values)) == 1, "as a figure with a ratio it has one"

    def test_one_that_moves_further_has_one_with_its_difference(self) -> None:
        rng = np.random.default_rng(3)
        values = np.concatenate([np.full(20, 0.0), np.full(20, 0.12)]) + 0.003 * np.abs(
            rng.standard_normal(40)
        )
        (one,) = self.points(values.tolist())
        assert (one.index, one.verdict, one.points) == (20, REGRESSION, True)
        assert math.isnan(one.ratio) and math.isnan(one.ci_low)
        assert one.after - one.before == pytest.approx(0.12, abs=0.003)
        assert one.difference_low < 0.12 < one.difference_high < 0.13

    def test_more_is_better_where_that_is_said(self) -> None:
        values = [0.4] * 12 + [0.1] * 12
        assert [one.verdict for one in self.points(values, direction="higher")] == [REGRESSION]
        assert [one.verdict for one in self.points(values)] == [IMPROVEMENT]

    def test_a_pending_one_is_told_when_asked(self) -> None:
        values = [0.1] * 12 + [0.5] * 2
        assert self.points(values) == []
        (one,) = self.points(values, include_pending=True)
        assert one.pending and one.points

    def test_exact_zeros_change_both_ways(self) -> None:
        rise, fall = change_points([0, 0, 2, 2, 0], exact=True)
        assert (rise.verdict, rise.ratio, fall.verdict, fall.ratio) == (
            REGRESSION,
            math.inf,
            IMPROVEMENT,
            0.0,
        )
        assert change_points([0, 0, 0], exact=True) == []
