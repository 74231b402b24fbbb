"""Many benchmarks at once: each as alone, false discoveries controlled, bad pairs harmless."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.stats import Comparison, SuiteComparison, compare, compare_suite, decision, reducing

from .simulated_rounds import Pair, Values, histories, pairs, rounds

CHANGED = ("regression", "improvement")
GOOD = [[1.0, 1.1], [1.05, 1.0]]


def suite(
    seed: int, count: int, shape: tuple[int, int] = (5, 3), between: float | Values = 0.006
) -> list[Pair]:
    rng = np.random.default_rng(seed)
    return pairs(*(rounds(rng, count, shape, between=between) for _ in range(2)))


def slower(given: list[Pair], which: slice, factor: float) -> list[Pair]:
    chosen = range(len(given))[which]
    return [(before, after * factor if i in chosen else after) for i, (before, after) in enumerate(given)]


def called(found: SuiteComparison) -> list[int]:
    return [i for i, one in enumerate(found) if one.verdict in CHANGED]


def test_names_of_the_contract() -> None:
    parameters = inspect.signature(compare_suite).parameters
    shared = [one for one in inspect.signature(compare).parameters.values() if one.kind is one.KEYWORD_ONLY]
    for one in shared:
        assert parameters[one.name].default == one.default
    assert {"fdr", "use_guard", "groups", "differences", "across_sessions"} <= set(parameters)


def test_it_is_a_sequence() -> None:
    found = compare_suite(suite(1, 5))
    assert (len(found), found[-1], found[1:3]) == (5, found.rows[4], found.rows[1:3])
    assert list(found) == list(found.rows) and found.rows[2] in found
    assert all(isinstance(one, Comparison) for one in found)


def test_no_pairs_and_one_pair() -> None:
    empty = compare_suite([])
    assert (len(empty), empty.comparable, empty.reason, empty.corrected) == (0, True, "", ())
    assert math.isnan(empty.shift)
    pair = suite(2, 1)
    assert compare_suite(pair)[0] == compare(*pair[0])


# ---- the same as compare


def test_a_pair_has_the_figures_of_compare() -> None:
    """Where a history, or too small a suite, leaves nothing to the suite's own spread of variances."""
    rng = np.random.default_rng(3)
    few = [(rounds(rng, 1, (k, 4))[0], rounds(rng, 1, (5, 3))[0] * 1.02) for k in range(1, 9)]
    past = [None if k % 2 else histories(rng, 1, 6, (3, 5))[0] for k in range(8)]
    for paired in (False, True):
        given = [(before[:5], after[: len(before)]) for before, after in few] if paired else few
        for (before, after), history, one in zip(
            given, past, compare_suite(given, history=past, paired=paired), strict=True
        ):
            alone = compare(before, after, history=history, paired=paired)
            for name in (
                "before",
                "after",
                "ratio",
                "ci_low",
                "ci_high",
                "p_value",
                "spread",
                "df",
                "prior_df",
            ):
                assert getattr(one, name) == pytest.approx(getattr(alone, name), rel=1e-9), name
            assert (one.rounds, one.paired) == (alone.rounds, alone.paired)


def test_one_way_of_giving_the_rounds_is_as_good_as_another() -> None:
    """Equal shapes are reduced as one array, ragged ones and those beside a bad pair one by one."""
    given = slower(suite(4, 30), slice(3), 1.1)
    found = compare_suite(given)
    as_lists = [(before.tolist(), after.tolist()) for before, after in given]
    as_tuples = [tuple(tuple(map(tuple, side)) for side in pair) for pair in as_lists]
    for other in (
        as_lists,
        as_tuples,
        np.array(given),
        (pair for pair in as_lists),
        [list(p) for p in given],
    ):
        assert compare_suite(other).rows == found.rows  # type: ignore[arg-type]
    beside = compare_suite([*as_lists, ([], GOOD)])
    for one, same in zip(found, beside, strict=False):
        assert same.verdict == one.verdict
        assert same.ci_low == pytest.approx(one.ci_low, rel=1e-9)


def test_each_keyword_takes_one_value_or_one_for_each_pair() -> None:
    before, after = suite(5, 1)[0]
    given = [(before, 1.03 * after)] * 4 + [([[5]], [[6]])]
    found = compare_suite(
        given,
        margin=[0.0, 0.01, 0.1, 0.01, 0.01],
        equivalence=np.array([0.2] * 5),
        direction=["lower", "higher", "lower", "lower", "higher"],
        paired=[False, False, False, True, False],
        exact=(False, False, False, False, True),
        history=[None, None, None, None, []],
        fdr=0.5,
    )
    assert [one.verdict for one in found][:3] == ["regression", "improvement", "no change"]
    assert [one.paired for one in found] == [False, False, False, True, False]
    assert (found[4].verdict, found[4].ratio) == ("improvement", 1.2)
    assert found[0].p_value < found[1].p_value < found[2].p_value


# ---- bad input


BAD: list[tuple[Any, str]] = [
    (([], GOOD), "before: there are no rounds"),
    ((GOOD, [[1.0], []]), "after: round 2 has no samples"),
    (([[math.nan]], GOOD), "before: round 1 holds a sample that is not a number"),
    ((GOOD, [[1.0], [math.inf]]), "after: round 2 holds an infinite sample"),
    ((GOOD, [[-1.0]]), "after: round 1 holds a negative sample"),
    ((GOOD, [["a"]]), "after: round 1 is no sequence of numbers"),
    ((GOOD, None), "after: rounds must be sequences of samples, one sequence a round"),
    ((GOOD, [1.0]), "after: rounds must be sequences of samples, one sequence a round"),
    ((GOOD, GOOD, GOOD), "a pair must be (before, after), each a sequence of rounds"),
    ((GOOD,), "a pair must be (before, after), each a sequence of rounds"),
    (None, "a pair must be (before, after), each a sequence of rounds"),
    (5, "a pair must be (before, after), each a sequence of rounds"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD)
@pytest.mark.parametrize("exact", [False, True])
def test_a_bad_pair_is_not_comparable_and_harms_no_other(bad: Any, reason: str, exact: bool) -> None:
    given = slower(suite(6, 12), slice(2), 1.2)
    alone = compare_suite(given)
    found = compare_suite([*given[:4], bad, *given[4:]], exact=[False] * 4 + [exact] + [False] * 8)
    assert (found[4].verdict, found[4].reason, found[4].rounds_needed) == ("not comparable", reason, None)
    assert math.isnan(found[4].ratio) and math.isnan(found[4].p_value)
    others = [*found[:4], *found[5:]]
    assert [one.verdict for one in others] == [one.verdict for one in alone]
    assert found.comparable
    np.testing.assert_allclose([one.ci_low for one in others], [one.ci_low for one in alone], rtol=1e-9)


def test_paired_rounds_of_unequal_number() -> None:
    given = [(GOOD, GOOD), (GOOD, [*GOOD, [1.0]])]
    found = compare_suite(given, paired=True)
    assert [one.verdict == "not comparable" for one in found] == [False, True]
    assert "as many on both sides, not 2 and 3" in found[1].reason
    assert compare_suite(given, paired=[True, False])[1].verdict != "not comparable"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"margin": [0.01] * 2}, "margin must be one value or one for each of 3 pairs, not 2"),
        ({"direction": ["lower"] * 4}, "direction must be one value or one for each of 3 pairs, not 4"),
        ({"paired": [True]}, "paired must be one value"),
        ({"history": [None]}, "history must have one entry for each of 3 pairs, not 1"),
        ({"groups": ["a"]}, "groups must have one entry for each of 3 pairs, not 1"),
        ({"margin": [0.01, -1.0, 0.01]}, "margin must be a fraction of at least 0"),
        ({"margin": math.nan}, "margin must be a fraction"),
        ({"equivalence": [0.05, 0.05, 0.001]}, "must not be smaller than margin"),
        ({"direction": ["lower", "up", "lower"]}, "direction must be"),
        ({"direction": [["lower"]] * 3}, "direction must be"),
        ({"margin": None}, "margin must be a fraction"),
        ({"fdr": 0.0}, "fdr must lie between 0 and 1, not 0.0"),
        ({"fdr": 1.0}, "fdr must lie"),
        ({"fdr": math.nan}, "fdr must lie"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        compare_suite([(GOOD, GOOD)] * 3, **settings)


# ---- false discoveries


def test_an_unchanged_suite_has_few_alarms() -> None:
    """40 suites of 60: at a false discovery rate of 5 %, two of them may have one."""
    with_alarms = sum(bool(called(compare_suite(suite(seed, 60), fdr=0.05))) for seed in range(40))
    assert with_alarms <= 6


def test_false_discoveries_are_as_few_as_asked_and_changes_are_found() -> None:
    found_of_five, shares = [], []
    for seed in range(20):
        found = called(compare_suite(slower(suite(100 + seed, 100), slice(5), 1.05), fdr=0.05))
        found_of_five.append(sum(i < 5 for i in found))
        shares.append(sum(i >= 5 for i in found) / max(len(found), 1))
    assert np.mean(found_of_five) > 4.7
    assert np.mean(shares) < 0.07


def test_the_level_is_stricter_in_noisier_suites() -> None:
    """Many noisy benchmarks make chance calls likely; quiet ones whose margin chance cannot reach do not."""
    quiet, middle, noisy = (compare_suite(suite(7, 100, between=sd)) for sd in (0.001, 0.01, 0.04))
    assert quiet.level == pytest.approx(0.025)
    assert noisy.level < middle.level < quiet.level
    assert noisy.level < 0.001


def test_a_looser_rate_calls_no_fewer() -> None:
    given = slower(suite(8, 60, between=0.02), slice(10), 1.06)
    found = [compare_suite(given, fdr=fdr) for fdr in (0.001, 0.02, 0.2, 0.8)]
    counts, levels = [len(called(one)) for one in found], [one.level for one in found]
    assert counts == sorted(counts) and counts[0] < counts[-1]
    assert levels == sorted(levels)


def test_changes_are_exactly_what_the_level_says() -> None:
    found = compare_suite(slower(suite(9, 60, between=0.02), slice(10), 1.06))
    assert {one.p_value <= 2 * found.level for one in found} == {True, False}
    for one in found:
        assert (one.verdict in CHANGED) == (one.p_value <= 2 * found.level)


def test_what_the_suite_keeps_back_is_said() -> None:
    found = compare_suite(slower(suite(10, 100, between=0.03), slice(30), 1.045), fdr=0.001, use_guard=False)
    kept = [one for one in found if one.verdict == "inconclusive" and one.p_value <= 0.05]
    assert kept and all("among so many benchmarks it may be chance" in one.reason for one in kept)
    assert all(one.rounds_needed is None or one.rounds_needed > 0 for one in kept)


def test_intervals_cover_where_benchmarks_differ_in_noise() -> None:
    rng = np.random.default_rng(11)
    for count in (2, 5):
        noise = 0.006 * np.exp(rng.normal(0.0, 0.8, 1000))
        found = compare_suite(suite(12, 1000, (count, 3), noise))
        assert 0.92 <= np.mean([one.ci_low <= 1.0 <= one.ci_high for one in found]) <= 0.98


def test_paired_and_unpaired_rounds_lend_each_other_their_spread() -> None:
    """Two rounds tell little of the noise, a hundred benchmarks as noisy tell it well: 1 % a round."""
    rng = np.random.default_rng(16)
    given = pairs(*(rounds(rng, 200, (2, 3), between=0.01, within=0.0) for _ in range(2)))
    found = compare_suite(given, paired=[k % 2 == 0 for k in range(200)])
    assert np.median([one.spread for one in found[1::2]]) == pytest.approx(0.01, rel=0.1)
    assert np.median([one.spread for one in found[::2]]) == pytest.approx(0.01 * 2**0.5, rel=0.2)
    assert np.median([one.prior_df for one in found]) > 20


# ---- sizes


def test_large_suites_are_computed_as_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work in Python does not grow with the number of benchmarks."""
    counts = {"tails": 0, "reduced": 0}
    tails, reduced = decision.upper_tail, reducing.levels

    def tails_counted(*given: Any) -> Any:
        counts["tails"] += 1
        return tails(*given)

    def reduced_counted(*given: Any) -> Any:
        counts["reduced"] += 1
        return reduced(*given)

    monkeypatch.setattr(decision, "upper_tail", tails_counted)
    monkeypatch.setattr(reducing, "levels", reduced_counted)
    found = compare_suite(slower(suite(13, 3000, (5, 3), 0.02), slice(100), 1.1))
    assert len(found) == 3000 and len(called(found)) > 50
    assert counts["reduced"] == 0
    assert counts["tails"] < 100


def test_ragged_pairs_and_histories() -> None:
    rng = np.random.default_rng(14)
    given, past = [], []
    for k in range(200):
        shapes = [(int(rng.integers(1, 6)), int(rng.integers(1, 8))) for _ in range(2)]
        before, after = (rounds(rng, 1, shape)[0] for shape in shapes)
        given.append((before, after * (1.5 if k < 10 else 1.0)))
        past.append(histories(rng, 1, k % 5, (3, 4))[0] if k % 5 else None)
    found = compare_suite(given, history=past)
    assert [one.rounds for one in found] == [(len(before), len(after)) for before, after in given]
    assert set(range(10)) <= set(called(found)) and len(called(found)) < 15


def test_zeros_and_exact_figures_stay_out_of_the_common_way() -> None:
    noisy = suite(15, 12)
    given = [([[0.0]], [[0.0]]), *noisy[:6], ([[3]], [[4]]), *noisy[6:], ([[0.0], [1.0]], [[9.0], [9.1]])]
    exact = [False] * 7 + [True] + [False] * 7
    found = compare_suite(given, exact=exact)
    assert [found[k].verdict for k in (0, 7)] == ["no change", "regression"]
    assert found[14] == compare(*given[14])
    same = compare_suite(noisy)
    assert [one.ci_low for one in [*found[1:7], *found[8:14]]] == pytest.approx([one.ci_low for one in same])


def test_single_figures_of_a_suite_are_judged_by_its_spread() -> None:
    """As asv keeps them by default: one figure a side, no samples."""
    figures = 1e-3 * np.exp(np.random.default_rng(8).normal(0.0, 0.02, (2, 30)))
    figures[1, 0] *= 100.0
    figures[1, 1] *= 2.0
    found = compare_suite([([[a]], [[b]]) for a, b in figures.T])
    assert [one.verdict for one in found[:2]] == ["regression", "regression"]
    assert not any(one.verdict in ("regression", "improvement") for one in found[2:])


def test_one_round_a_side_alone_believes_large_changes_only() -> None:
    assert compare_suite([([[1.0] * 6], [[2.0] * 6])])[0].verdict == "inconclusive"
    assert compare_suite([([[1.0] * 6], [[100.0] * 6])])[0].verdict == "regression"


def test_a_small_suite_of_single_rounds() -> None:
    rng = np.random.default_rng(9)
    figures = 1e-3 * np.exp(rng.normal(0.0, 0.02, (2, 8, 1, 6)))
    figures[1, 0] *= 100.0
    found = compare_suite(list(zip(*figures, strict=True)))
    assert [one.verdict == "regression" for one in found] == [True] + [False] * 7
