"""The interval of a median over rounds: its coverage, its ends, few rounds and many."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dcu_asv_ext.stats.median import median_interval


@pytest.mark.parametrize(("count", "out"), [(6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (20, 5), (100, 39)])
def test_of_many_rounds_as_many_are_left_out_as_95_percent_allow(count: int, out: int) -> None:
    assert median_interval(range(count, 0, -1)) == (1 + out, count - out)
    # Of that many at each end the binomial distribution leaves out the median in less than 5 %, of one more in more.
    assert 2 * stats.binom.cdf(out, count, 0.5) <= 0.05 < 2 * stats.binom.cdf(out + 1, count, 0.5)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_of_few_rounds_it_is_student_s_t_on_the_logs(count: int) -> None:
    levels = [1e-3 * 1.1**place for place in range(count)]
    logs = np.log(levels)
    low, high = stats.t.interval(0.95, count - 1, logs.mean(), stats.sem(logs))
    assert median_interval(levels) == pytest.approx((math.exp(low), math.exp(high)), rel=1e-4)


def test_what_is_not_positive_has_no_log() -> None:
    low, high = stats.t.interval(0.95, 2, 1.0, stats.sem([0, 1, 2]))
    assert median_interval([0, 1, 2]) == pytest.approx((low, high), rel=1e-4)


def test_one_round_has_no_interval_and_equal_rounds_one_without_width() -> None:
    assert median_interval([]) is None and median_interval([1.0]) is None
    assert median_interval([3, 3]) == median_interval([3] * 9) == (3, 3)


@pytest.mark.parametrize("count", [2, 3, 5, 6, 12])
def test_it_holds_the_sample_s_own_median(count: int) -> None:
    random = np.random.default_rng(count)
    for _ in range(200):
        levels = np.exp(random.standard_t(2, count)).tolist()
        interval = median_interval(levels)
        assert interval is not None and interval[0] <= np.median(levels) <= interval[1]


def test_thousands_of_rounds() -> None:
    low, high = median_interval(range(1, 4001)) or (0, 0)
    assert 1930 < low < 2000 < high < 2070
