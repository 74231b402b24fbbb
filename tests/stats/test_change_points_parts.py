"""What change points are made of: candidates, the test of one boundary, drift."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dcu_asv_ext.stats.boundary import independent_share, step_at
from dcu_asv_ext.stats.drift import steps_beat_line
from dcu_asv_ext.stats.segments import LONGEST, Partition, running_median

from .histories import noisy, stepped


@pytest.mark.parametrize("start", [0, 3, 17])
@pytest.mark.parametrize("count", [18, 40])
def test_running_median(start: int, count: int) -> None:
    values = np.random.default_rng(count).normal(size=count)
    plain = [np.median(values[max(0, index - 5) : index + 6]) for index in range(start, count)]
    np.testing.assert_array_equal(running_median(values, 5, start), plain)


def test_the_partition_is_the_same_however_the_series_grew() -> None:
    y = np.log(stepped(noisy("spikes", 400, 1), [100, 250], [0.1, -0.1]))
    whole = Partition(0.0025).extend(y)
    assert {100, 250} <= set(whole)
    grown = Partition(0.0025)
    for count in (1, 2, 7, 30, 31, 150, 399, 400):
        found = grown.extend(y[:count])
    assert found == whole


def test_the_pieces_of_a_constant_series_stay_where_they_are() -> None:
    parts = [Partition(0.0025).extend(np.zeros(count)) for count in (600, 601, 640)]
    assert parts[0] == parts[1] == parts[2] == [LONGEST * k for k in range(1, 5)]


def test_a_boundary_with_too_few_values_has_no_evidence() -> None:
    y = np.log(stepped(noisy("normal", 40, 1), [36], [0.5]))
    assert step_at(y, 0, 36, 40, 0.005, 5).evidence is None
    assert step_at(y, 0, 36, 40, 0.005, 4).evidence > 3.0


def test_rank_and_size_must_both_agree() -> None:
    sure = np.concatenate([np.zeros(20), np.full(20, 0.1)]) + np.tile([0.0, 0.001], 20)
    assert step_at(sure, 0, 20, 40, 0.005, 5).evidence > 8.0
    small = np.concatenate([np.zeros(20), np.full(20, 0.004)]) + np.tile([0.0, 0.001], 20)
    assert step_at(small, 0, 20, 40, 0.005, 5).evidence < 0.5
    modes = np.tile([0.0, 0.3], 20)
    modes[18:24] = 0.3
    assert step_at(modes, 0, 20, 40, 0.005, 5).evidence < 2.0


@pytest.mark.parametrize(
    ("correlation", "low", "high"), [("0", 0.8, 1.0), (".3", 0.45, 0.65), (".6", 0.2, 0.35)]
)
def test_worth_of_correlated_values(correlation: str, low: float, high: float) -> None:
    values = np.log(noisy(f"correlated {correlation}", 2000, 3))
    assert low <= independent_share(values) <= high


def test_a_line_or_steps() -> None:
    noise = np.log(noisy("normal", 200, 4))
    slope = noise + np.linspace(0.0, 0.1, 200)
    assert not steps_beat_line([slope[:100], slope[100:]])
    assert not steps_beat_line([slope[:70], slope[70:130], slope[130:]])
    step = np.log(stepped(np.exp(noise), [100], [0.1]))
    assert steps_beat_line([step[:100], step[100:]])
    assert steps_beat_line([np.zeros(5), np.full(5, math.log(2.0))])
