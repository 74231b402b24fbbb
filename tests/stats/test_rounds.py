"""Levels of rounds, and what earlier runs of a benchmark tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from dcu_asv_ext.stats import compare
from dcu_asv_ext.stats.rounds import (
    Levels,
    Run,
    block_levels,
    earlier_runs,
    levels,
    look_ahead,
    read_rounds,
    segment_medians,
)

from .simulated_rounds import histories, rounds

GOOD = [[1.0, 1.1, 1.05], [1.2, 1.0, 1.1]]


def reduced(given: Any) -> Levels:
    return levels(read_rounds(given, "before"))


def test_the_level_of_a_round_is_the_median_of_its_samples() -> None:
    found = reduced([[3.0, 1.0, 100.0], [2.0, 4.0]])
    assert found.medians.tolist() == [3.0, 3.0]
    assert found.samples == 2


def test_the_spread_inside_rounds_by_hand() -> None:
    """MADs of 1 and 0.2 about medians of 10 and 2: as standard deviations of the median, relative, over n."""
    found = reduced([[9.0, 10.0, 11.0], [1.8, 2.0, 2.2, 2.0, 1.8]])
    relative = 1.2533 * 1.4826 * np.array([1 / 10, 0.2 / 2])
    assert found.sampling == pytest.approx(float(np.mean(relative**2 / [3, 5])))
    assert reduced([[5.0], [6.0]]).sampling == 0.0
    assert reduced([[0.0, 0.0, 1.0]]).sampling == 0.0


def test_the_spread_inside_rounds_is_the_variance_of_their_medians() -> None:
    made = rounds(np.random.default_rng(1), 1, (2000, 9), between=0.0, within=0.02)[0]
    # The MAD of nine samples is smaller than that of many by about a tenth.
    assert reduced(made).sampling == pytest.approx(np.log(np.median(made, axis=1)).var(), rel=0.25)


@pytest.mark.parametrize("samples", [1, 2, 5])
def test_many_sides_of_one_shape_are_reduced_alike(samples: int) -> None:
    made = rounds(np.random.default_rng(2), 12, (3, samples), within=0.1).reshape(6, 2, 3, samples)
    medians, sampling = block_levels(made)
    assert (medians.shape, sampling.shape) == ((6, 2, 3), (6, 2))
    for i, k in np.ndindex(6, 2):
        one = reduced(made[i, k].tolist())
        np.testing.assert_allclose(medians[i, k], one.medians, rtol=1e-14)
        assert sampling[i, k] == pytest.approx(one.sampling, abs=1e-15)


# ---- earlier runs


def test_earlier_runs_by_hand() -> None:
    found = earlier_runs([[[1.0, 1.0, 9.0], [2.0, 2.0, 2.0], [4.0, 4.0, 0.5]], [[3.0] * 3] * 3], 3)
    assert found.variances == pytest.approx([math.log(2) ** 2, 0.0], abs=1e-12)
    assert found.df.tolist() == [2, 2]
    assert found.levels == pytest.approx([math.log(2), math.log(3)])
    assert len(found) == 2


def test_runs_of_one_shape_and_ragged_ones_are_reduced_alike() -> None:
    made = rounds(np.random.default_rng(3), 6, (4, 5)).tolist()
    together, ragged = earlier_runs(made, 5), earlier_runs([*made, [[1.0], [2.0, 2.0], [4.0]]], 5)
    np.testing.assert_allclose(ragged.variances[:-1], together.variances, rtol=1e-12)
    np.testing.assert_allclose(ragged.levels[:-1], together.levels, rtol=1e-12, atol=1e-15)
    assert ragged.df.tolist() == [3] * 6 + [2]


@pytest.mark.parametrize("ragged", [False, True])
def test_longer_rounds_are_thinned_evenly_to_the_samples_of_the_comparison(ragged: bool) -> None:
    """Two of five: the second and the fourth."""
    made = [[[9.0, 1.0, 9.0, 3.0, 9.0], [9.0, 4.0, 9.0, 4.0, 9.0]]]
    found = earlier_runs([*made, [[1.0, 1.0]] * 2] if ragged else made, 2)
    assert found.variances[0] == pytest.approx(math.log(2) ** 2 / 2)
    assert earlier_runs(made, 5).variances[0] == pytest.approx(0.0)


UNUSABLE: list[Any] = [
    [],
    [[1.0, 1.0]],
    [[1.0], [0.0], [0.0, 0.0, 0.1]],
    [[1.0], [math.nan]],
    [[1.0], [math.inf, 1.0]],
    [[1.0], []],
    [[1.0], [None]],
    [[-1.0], [-2.0]],
]


def test_runs_without_two_usable_rounds_tell_nothing() -> None:
    for run in UNUSABLE:
        assert len(earlier_runs([run], 3)) == 0, run
        assert compare(GOOD, GOOD, history=[run, run]) == compare(GOOD, GOOD), run
    found = earlier_runs([GOOD, *UNUSABLE, [[1.0], [0.0], [2.0], [math.nan], [4.0]]], 3)
    assert found.df.tolist() == [1, 2]
    assert found.variances[1] == pytest.approx(math.log(2) ** 2)


def test_an_empty_history_is_none() -> None:
    assert compare(GOOD, GOOD, history=[]) == compare(GOOD, GOOD, history=None) == compare(GOOD, GOOD)


# ---- what a history does to a comparison


@pytest.mark.parametrize("count", [2, 5])
def test_more_runs_lend_more(count: int) -> None:
    """Alike runs: the more of them, the better the noise is known; before all of them stands a foreign figure."""
    past = histories(np.random.default_rng(4), 1, 50, (count, 5), between=0.01)[0]
    before, after = rounds(np.random.default_rng(5), 2, (count, 5), between=0.01)
    found = [compare(before, after, history=past[:runs]) for runs in (0, 1, 2, 5, 20, 50)]
    lent = [one.prior_df for one in found]
    assert lent == sorted(lent)
    assert lent[0] == pytest.approx(0.5 / (2 * count - 1)) and 2 < lent[3] < lent[4] and lent[5] > 15
    assert [one.ratio for one in found] == [found[0].ratio] * 6


def test_a_quiet_history_narrows_the_interval_and_a_noisy_one_widens_it() -> None:
    rng = np.random.default_rng(7)
    before, after = rounds(rng, 2, (3, 5), between=0.01)
    widths = [
        compare(before, after, history=histories(rng, 1, 20, (3, 5), between=between)[0]).spread
        for between in (0.003, 0.01, 0.1)
    ]
    assert widths == sorted(widths)
    assert widths[2] > 5 * widths[0]


def test_a_history_that_the_rounds_contradict_does_not_narrow_the_interval() -> None:
    """Ten times noisier than ever: half of what the rounds alone say, at least."""
    rng = np.random.default_rng(6)
    before, after = rounds(rng, 2, (3, 5), between=0.05)
    quiet = compare(before, after, history=histories(rng, 1, 20, (3, 5), between=0.005)[0])
    assert quiet.spread > 0.5 * compare(before, after).spread


def test_uneven_runs_lend_less_than_even_ones() -> None:
    """How much a history counts is estimated from how much its runs differ."""
    rng = np.random.default_rng(7)
    before, after = rounds(rng, 2, (5, 5))
    even = compare(before, after, history=histories(rng, 1, 30, (5, 5))[0])
    uneven = compare(before, after, history=histories(rng, 1, 30, (5, 5), uneven=1.5)[0])
    assert uneven.prior_df < even.prior_df / 4


@pytest.mark.parametrize(
    "past",
    [
        [[[1.0, 1.0], [1.0, 1.0]]] * 20,
        [[[1.0 + 1e-9 * k], [1.0]] for k in range(5)] + [[[1.0], [3.0]]] * 5,
        [[[1e-300], [1e300]]] * 3,
        [[[5e-324], [1e-323]]] * 3,
    ],
    ids=["without variance", "variances apart by 1e15", "huge variance", "subnormal"],
)
@pytest.mark.parametrize("paired", [False, True])
def test_extreme_histories(past: list[list[list[float]]], paired: bool) -> None:
    found = compare(GOOD, GOOD, history=past, paired=paired)
    assert 0.0 <= found.ci_low < found.ratio == 1.0 < found.ci_high
    assert math.isfinite(found.df) and math.isfinite(found.spread)
    assert found.verdict in ("no change", "inconclusive")


def test_a_thousand_runs() -> None:
    past = histories(np.random.default_rng(8), 1, 1000, (3, 3))[0]
    found = compare(GOOD, [[2.0 * x for x in one] for one in GOOD], history=past)
    assert found.verdict == "regression" and found.prior_df > 50


# ---- runs that keep what was made of them


def kept(runs: Sequence[Any]) -> list[Run]:
    return [Run(run) for run in runs]


def test_runs_that_keep_what_was_made_of_them_tell_the_same() -> None:
    rng = np.random.default_rng(4)
    ragged = [[[1.0, 2.0, 3.5], [2.0, 2.5]], [[0.0, 1.0], [1.0], [3.0, 4.0]], *UNUSABLE]
    given = [*rounds(rng, 5, (4, 9)).tolist(), *rounds(rng, 3, (2, 6)).tolist(), *ragged]
    for samples in (1, 3, 9):
        plain, runs = earlier_runs(given, samples), kept(given)
        for _ in range(2):
            found = earlier_runs(runs, samples)
            np.testing.assert_allclose(found.variances, plain.variances, rtol=1e-12)
            np.testing.assert_allclose(found.levels, plain.levels, rtol=1e-12)
            assert found.df.tolist() == plain.df.tolist()


def test_what_is_worked_out_ahead_is_what_each_run_tells() -> None:
    rng = np.random.default_rng(5)
    given = [
        *rounds(rng, 5, (4, 9)).tolist(),
        [[1.0, 2.0, 3.5], [2.0, 2.5]],
        [[1.0], [2.0, -1.0]],
        [[1.0, 2.0]],
    ]
    ahead = kept(given)
    look_ahead([(ahead[:4], 9), (ahead[3:], 2), (ahead, 9)])
    for run, plain in zip(ahead, given, strict=True):
        for samples, told in run.told.items():
            found = earlier_runs([plain], samples)
            assert told == pytest.approx((found.variances[0], found.df[0], found.levels[0]), rel=1e-12)
    assert [sorted(run.told) for run in ahead] == [[9], [9], [9], [2, 9], [2, 9], [2, 9], [], []]


def test_nothing_is_worked_out_ahead_of_what_no_history_is() -> None:
    look_ahead([(cast(Any, 5), 3), (cast(Any, [3]), 3), ([[[1.0], [2.0]]], 3), ([], 3)])
    odd = kept([[[1.0, None], [2.0, 3.0]]])
    look_ahead([(odd, 3)])
    assert odd[0].told == {}


def test_medians_of_segments() -> None:
    values = np.array([3.0, 1.0, 2.0, 7.0, 5.0, 4.0, 4.0, 1.0, 9.0])
    assert segment_medians(values, np.array([3, 1, 5])).tolist() == [2.0, 7.0, 4.0]
    assert segment_medians(values[:4], np.array([2, 2])).tolist() == [2.0, 4.5]
