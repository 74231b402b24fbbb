"""The session guard: a suite that moved as a whole is no hundred regressions."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import stdtrit

from dcu_asv_ext.stats import compare_suite
from dcu_asv_ext.stats.guard import FEWEST

from .simulated_rounds import Pair, Values, pairs, rounds

CHANGED = ("regression", "improvement")


def suite(seed: int, count: int, ratios: float | Values = 1.0, between: float = 0.006) -> list[Pair]:
    """Pairs of five rounds whose sides differ by these ratios."""
    rng = np.random.default_rng(seed)
    before, after = (rounds(rng, count, (5, 3), between=between) for _ in range(2))
    return pairs(before, after * np.broadcast_to(np.asarray(ratios, dtype=float), (count,))[:, None, None])


def verdicts(found: Any) -> set[str]:
    return {one.verdict for one in found}


@pytest.mark.parametrize("ratio", [0.8, 0.97, 1.03, 1.1, 10.0])
def test_a_common_shift_is_refused_and_taken_out_as_advice(ratio: float) -> None:
    ratios = np.full(40, ratio)
    ratios[:4] *= 1.1
    given = suite(1, 40, ratios)
    found = compare_suite(given)
    assert not found.comparable and verdicts(found) == {"not comparable"}
    assert found.shift == pytest.approx(ratio, rel=0.005)
    assert found.shift_low < ratio * 1.002 and found.shift_high > ratio * 0.998
    assert found.shift_low < found.shift < found.shift_high
    assert found.reason.startswith("not comparable: the machine changed (the suite as a whole moved by ")
    assert f"{100 * (found.shift - 1):+.1f} %" in found.reason
    assert {one.reason for one in found} == {found.reason}
    assert {one.rounds_needed for one in found} == {None}
    truth = compare_suite([(before, after / ratio) for before, after in given], use_guard=False)
    for one, advice, true in zip(found, found.corrected, truth, strict=True):
        assert advice.ratio == pytest.approx(true.ratio, rel=0.005)
        assert advice.after == pytest.approx(true.after, rel=0.005)
        assert advice.ci_high / advice.ci_low == pytest.approx(one.ci_high / one.ci_low)
        assert one.ratio == pytest.approx(true.ratio * ratio)
    assert [one.verdict for one in found.corrected[:4]] == ["regression"] * 4
    assert sum(one.verdict in CHANGED for one in found.corrected[4:]) <= 1


def test_a_suite_that_did_not_move_is_compared() -> None:
    ratios = np.ones(40)
    ratios[:5] = 1.2
    found = compare_suite(suite(2, 40, ratios))
    assert (found.comparable, found.reason, found.corrected) == (True, "", ())
    assert found.shift == pytest.approx(1.0, abs=0.005)
    assert [one.verdict for one in found[:5]] == ["regression"] * 5


@pytest.mark.parametrize(("count", "between"), [(20, 0.01), (30, 0.05)])
def test_noise_is_seldom_taken_for_a_shift(count: int, between: float) -> None:
    refused = sum(not compare_suite(suite(seed, count, between=between)).comparable for seed in range(50))
    assert refused <= 5


@pytest.mark.parametrize("count", [8, 12])
@pytest.mark.parametrize("between", [0.006, 0.05])
def test_small_suites_are_seldom_refused_without_cause(count: int, between: float) -> None:
    refused = sum(not compare_suite(suite(seed, count, between=between)).comparable for seed in range(200))
    assert refused <= 12
    assert not compare_suite(suite(1, count, 1.3, between=between)).comparable


def test_the_interval_of_the_shift_is_the_99_percent_one_of_students_t() -> None:
    found = compare_suite(suite(21, 30, 1.1))
    ratios = np.log([one.ratio for one in found])
    spread = 1.4826 * np.median(np.abs(ratios - np.median(ratios)))
    half = stdtrit(29, 0.995) * 1.2533 * spread / math.sqrt(30)
    assert math.log(found.shift) == pytest.approx(np.median(ratios))
    assert math.log(found.shift_high / found.shift) == pytest.approx(half)
    assert math.log(found.shift / found.shift_low) == pytest.approx(half)


def test_a_small_common_shift_is_none_of_interest() -> None:
    assert compare_suite(suite(3, 60, 1.005)).comparable


def test_benchmarks_that_move_both_ways_are_disorder() -> None:
    ratios = np.where(np.arange(40) % 4 == 0, 1.2, np.where(np.arange(40) % 4 == 2, 0.85, 1.0))
    found = compare_suite(suite(4, 40, ratios))
    assert not found.comparable and verdicts(found) == {"not comparable"}
    assert "25 % of the suite became slower and 25 % faster" in found.reason


def test_benchmarks_that_move_one_way_are_no_disorder() -> None:
    """Two in five got faster: an improvement of the code may do that."""
    found = compare_suite(suite(5, 40, np.where(np.arange(40) < 16, 0.8, 1.0)))
    assert found.comparable
    assert [one.verdict for one in found[:16]] == ["improvement"] * 16


def test_few_benchmarks_tell_no_shift() -> None:
    found = compare_suite(suite(6, FEWEST - 1, 1.1))
    assert found.comparable and math.isnan(found.shift) and verdicts(found) == {"regression"}
    assert not compare_suite(suite(6, FEWEST, 1.1)).comparable


def test_without_the_guard_everything_is_compared() -> None:
    found = compare_suite(suite(7, 30, 1.1), use_guard=False)
    assert found.comparable and verdicts(found) == {"regression"}


# ---- interleaved rounds


def test_interleaved_rounds_share_their_session() -> None:
    """The same shift, or a third of the suite: with both sides in one session it is the code."""
    for ratios in (
        np.full(30, 1.1),
        np.where(np.arange(30) < 10, 1.3, 1.0),
        np.where(np.arange(30) % 2, 1.2, 0.8),
    ):
        found = compare_suite(suite(8, 30, ratios), paired=True)
        assert found.comparable and found.corrected == ()
        expected = [{1.0: "", 1.1: "slow", 1.2: "slow", 1.3: "slow", 0.8: "fast"}[ratio] for ratio in ratios]
        words = {"regression": "slow", "improvement": "fast"}
        assert [words.get(one.verdict, "") for one in found] == expected


def test_interleaved_pairs_are_exempt_beside_others_that_are_refused() -> None:
    given = suite(9, 40, 1.1)
    paired = [k < 10 for k in range(40)]
    found = compare_suite(given, paired=paired)
    assert not found.comparable
    assert [one.verdict for one in found] == ["regression"] * 10 + ["not comparable"] * 30
    assert [one.verdict == "regression" for one in found.corrected] == paired
    # Their own rounds do not count as evidence of a shift either.
    mixed = compare_suite([*suite(10, 40, 1.1), *suite(11, 12)], paired=[True] * 40 + [False] * 12)
    assert mixed.comparable and mixed.shift == pytest.approx(1.0, abs=0.01)


# ---- groups


def test_a_function_counts_once() -> None:
    """Twenty series of one function moved, those of nine others did not."""
    given = [*suite(12, 20, 1.2), *suite(13, 9)]
    assert not compare_suite(given).comparable
    found = compare_suite(given, groups=["one"] * 20 + list(range(9)))
    assert found.comparable and verdicts(found[:20]) == {"regression"}
    assert math.isnan(compare_suite(given, groups=["one"] * 20 + ["other"] * 9).shift)


def test_the_shift_is_taken_out_of_those_alone_that_follow_the_machine() -> None:
    """Ten rows of bytes that did not move, and three that did."""
    given = [*suite(1, 20, 1.1), *suite(2, 10), *suite(3, 3, 1.2)]
    found = compare_suite(given, groups=[*range(20), *[None] * 13])
    assert not found.comparable
    assert verdicts(found[:20]) == {"not comparable"} and verdicts(found.corrected[:20]) == {"no change"}
    for rows in (found.rows, found.corrected):
        assert verdicts(rows[20:30]) == {"no change"} and verdicts(rows[30:]) == {"regression"}
    assert found.corrected[20].ratio == found[20].ratio


def test_figures_with_zeros_are_refused_with_the_others() -> None:
    zeros = ([[0.0] * 3, [1.0] * 3, [0.5] * 3], [[9.0] * 3, [9.1] * 3, [9.2] * 3])
    found = compare_suite([*suite(4, 20, 1.1), zeros, ([[0.0]], [[0.0]])])
    assert found[20].verdict == "not comparable"
    # Without logarithms no shift is taken out of them: their view as it is.
    assert found.corrected[20].verdict == "regression"


def test_what_does_not_follow_the_machine_is_not_looked_at() -> None:
    """Two thirds of the rows are bytes that stayed; the times all moved."""
    given = [*suite(14, 20, 1.1), *suite(15, 40)]
    groups = [*range(20), *[None] * 40]
    assert compare_suite(given).comparable
    found = compare_suite(given, groups=groups)
    assert not found.comparable and found.shift == pytest.approx(1.1, rel=0.005)
    assert compare_suite(given, groups=[None] * 60).comparable


# ---- known differences


def test_known_differences_refuse_whatever_the_figures_are() -> None:
    given = suite(16, 12)
    found = compare_suite(given, differences=["driver 1.0 before, 1.1 after", "torch 2.1 before, 2.2 after"])
    assert not found.comparable and verdicts(found) == {"not comparable"}
    assert found.reason == (
        "not comparable: the machine changed (driver 1.0 before, 1.1 after; torch 2.1 before, 2.2 after)"
    )
    assert len(found.corrected) == 12 and "not comparable" not in verdicts(found.corrected)


@pytest.mark.parametrize("options", [{"paired": True}, {"use_guard": False}, {}])
@pytest.mark.parametrize("count", [1, 3, 20])
def test_known_differences_refuse_few_and_interleaved_pairs_too(options: dict[str, Any], count: int) -> None:
    given = suite(17, count, 1.5)
    found = compare_suite(given, differences=["driver"], **options)
    assert not found.comparable and verdicts(found) == {"not comparable"}
    if options or count < FEWEST:
        plain = compare_suite(given, **options)
        assert [dataclasses.astuple(one) for one in found.corrected] == [
            dataclasses.astuple(one) for one in plain
        ]


def test_no_differences_are_none() -> None:
    assert compare_suite(suite(18, 3), differences=()).comparable
    assert compare_suite([], differences=["driver"]).comparable is False


def test_a_bad_pair_keeps_its_own_reason() -> None:
    found = compare_suite([*suite(19, 12, 1.1), ([], [[1.0]])])
    assert not found.comparable
    assert (found[12].verdict, found[12].reason) == ("not comparable", "before: there are no rounds")
    assert found.corrected[12] is found[12]


def test_exact_figures_do_not_depend_on_the_machine() -> None:
    given = [*suite(20, 12, 1.1), ([[5]], [[6]]), ([[5]], [[5]])]
    found = compare_suite(given, exact=[False] * 12 + [True, True])
    assert not found.comparable
    assert [one.verdict for one in found[12:]] == ["regression", "no change"]
    assert [one.verdict for one in found.corrected[12:]] == ["regression", "no change"]
