"""Looking more than once finds no more changes than are there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcu_asv_ext.comparing.model import Key, Report, Row, Series
from dcu_asv_ext.daily.looks import Schedule, same_p, spend
from dcu_asv_ext.stats import compare
from dcu_asv_ext.stats.verdicts import IMPROVEMENT, INCONCLUSIVE, NO_CHANGE, REGRESSION, Comparison

SETTINGS = {"equivalence": 0.05}


def row(found: Comparison | None, verdict: str = "") -> Row:
    name = verdict or (found.verdict if found is not None else "failed")
    reason = found.reason if found is not None else "it broke"
    return Row(Key("f", "latency"), Series("f"), None, None, name, reason, comparison=found)


def spent(found: Comparison | None, share: float) -> Row:
    report = Report([], [], rows=[row(found)], settings=SETTINGS)
    spend(report, share)
    return report.rows[0]


def pair(change: float, noise: float, rounds: int, seed: int) -> tuple[list[list[float]], list[list[float]]]:
    generator = np.random.default_rng(seed)
    sides = np.exp(generator.normal(scale=noise, size=(2, rounds, 1)))
    return sides[0].tolist(), (sides[1] * (1 + change)).tolist()


@pytest.mark.parametrize(
    "first, most, looks", [(5, 20, [5, 8, 13, 20]), (2, 3, [2, 3]), (5, 5, [5]), (1, 4, [1, 2, 3, 4])]
)
def test_the_schedule(first: int, most: int, looks: list[int]) -> None:
    schedule = Schedule(first, most)
    assert list(schedule.looks()) == looks
    shares = [schedule.share(k, k == len(looks) - 1) for k in range(len(looks))]
    assert sum(shares) == pytest.approx(1.0)


def test_strong_evidence_stands_at_any_look() -> None:
    slower = compare(*pair(0.5, 0.01, 5, 1), paired=True)
    assert spent(slower, 0.1).verdict == REGRESSION
    same = compare(*pair(0.0, 0.002, 8, 2), paired=True)
    assert same.verdict == NO_CHANGE
    assert spent(same, 0.1).verdict == NO_CHANGE


def test_what_is_just_significant_waits_for_more_rounds() -> None:
    found = replace(compare(*pair(0.5, 0.01, 5, 1), paired=True), p_value=0.02)
    early = spent(found, 0.1)
    assert early.verdict == INCONCLUSIVE
    assert early.comparison is not None and early.comparison.rounds_needed == 1
    assert "p = 0.02 would have to be 0.005 at this look" in early.reason
    assert spent(found, 0.7).verdict == REGRESSION
    assert spent(replace(found, verdict=IMPROVEMENT), 0.1).verdict == INCONCLUSIVE


def test_a_suites_stricter_level_is_what_is_shared_out() -> None:
    found = replace(compare(*pair(0.5, 0.01, 5, 1), paired=True), p_value=0.001)
    for level, verdict in ((0.025, REGRESSION), (0.0025, INCONCLUSIVE)):
        report = Report([], [], rows=[row(found)], settings={**SETTINGS, "level": level})
        spend(report, 0.1)
        assert report.rows[0].verdict == verdict


def test_no_change_is_held_to_the_same_share() -> None:
    for seed in range(40):
        found = compare(*pair(0.0, 0.025, 8, seed), paired=True)
        if found.verdict == NO_CHANGE and same_p(found, 0.05) > 0.01:
            assert spent(found, 0.1).verdict == INCONCLUSIVE
            assert spent(found, 1.0).verdict == NO_CHANGE
            return
    pytest.fail("no pair is just barely unchanged")


def test_exact_rows_and_rows_without_a_comparison_stay() -> None:
    exact = compare([[4.0], [4.0]], [[6.0], [6.0]], exact=True)
    assert spent(exact, 0.1).verdict == REGRESSION
    equal = compare([[4.0], [4.0]], [[4.0], [4.0]], exact=True)
    assert spent(equal, 0.1).verdict == NO_CHANGE
    zeros = compare([[0.0]] * 5, [[0.0]] * 5, paired=True)
    assert spent(zeros, 0.1).verdict == zeros.verdict
    assert spent(None, 0.1).verdict == "failed"


def test_what_is_taken_back_goes_where_it_belongs_in_the_table() -> None:
    weak = replace(compare(*pair(0.5, 0.01, 5, 1), paired=True), p_value=0.02)
    strong = replace(weak, p_value=1e-6)
    report = Report([], [], rows=[row(weak), row(strong)], settings=SETTINGS)
    spend(report, 0.1)
    assert [one.verdict for one in report.rows] == [REGRESSION, INCONCLUSIVE]


def test_same_p_is_the_test_of_the_equivalence_bound() -> None:
    """A pair whose 90 % interval touches the bound has p = 0.05."""
    from scipy.special import stdtrit

    df, error = 9.0, 0.01
    size = np.log(1.05) - float(stdtrit(df, 0.95)) * error
    half = float(stdtrit(df, 0.975)) * error
    found = Comparison(
        1.0, 1.0, np.exp(size), np.exp(size - half), np.exp(size + half), 1.0, NO_CHANGE, 0, "", df=df
    )
    assert same_p(found, 0.05) == pytest.approx(0.05)


def test_four_looks_raise_no_more_false_alarms_than_one() -> None:
    """Nothing changed, rounds that differ by 5 % (where a false alarm is likeliest): at most 5 % of the runs end with
    a change, where looking four times at the full level finds more than one look does."""
    trials, schedule = 150, Schedule(5, 20)
    looks = list(schedule.looks())
    planned, naive, single = 0, 0, 0
    for seed in range(trials):
        before, after = pair(0.0, 0.05, 20, 1000 + seed)
        found = [compare(before[:n], after[:n], paired=True) for n in looks]
        changed = [one.verdict in (REGRESSION, IMPROVEMENT) for one in found]
        shares = [schedule.share(k, k == len(looks) - 1) for k in range(len(looks))]
        kept = [spent(one, share).verdict for one, share in zip(found, shares, strict=True)]
        planned += any(one in (REGRESSION, IMPROVEMENT) for one in kept)
        naive += any(changed)
        single += changed[0]
    assert planned <= 0.05 * trials
    assert naive > single >= planned
