"""Rates of right and wrong verdicts, from judges whose answers are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from peers.asv_rule import measured, verdict
from peers.decision_data import Suite, Trials
from peers.decision_quality import one_by_one, quality, rate, session_quality, suite_quality, together
from peers.decision_simulation import SCENARIOS, simulate
from peers.report import Row


def still(count: int) -> Trials:
    """Pairs without any noise."""
    names = np.array([f"b{number % 4}" for number in range(count)])
    return Trials(names, np.ones((count, 2, 3)), np.ones((count, 2, 3)), None)


def exact(before: Any, after: Any, *, history: Any = None) -> SimpleNamespace:
    ratio = float(np.median(after) / np.median(before))
    said = "regression" if ratio > 1.03 else "improvement" if ratio < 0.97 else "no change"
    return SimpleNamespace(verdict=said, ci_low=0.99 * ratio, ci_high=1.01 * ratio)


def always(said: str) -> Any:
    def compare(before: Any, after: Any, *, history: Any = None) -> SimpleNamespace:
        return SimpleNamespace(verdict=said, ci_low=None, ci_high=None)

    return compare


def suite_of(compare: Any) -> Any:
    return together(lambda pairs, *, history: [compare(*pair) for pair in pairs])


def test_standard_error_is_by_benchmark() -> None:
    found = rate(np.array([True, True, False, False]), np.array(["a", "a", "b", "b"]))
    assert (found.value, found.error) == (0.5, 0.5)
    assert rate(np.array([True, False, True, False]), np.array(["a", "a", "b", "b"])).error == 0.0


def test_false_alarms_count_both_ways_and_power_only_slower() -> None:
    found = quality(one_by_one(always("improvement")), still(8))
    assert [one.value for one in found.flagged.values()] == [1.0, 0.0, 0.0, 0.0]
    assert found.covered is None


def test_an_exact_judge() -> None:
    found = quality(one_by_one(exact), still(8))
    assert [one.value for one in found.flagged.values()] == [0.0, 0.0, 1.0, 1.0]
    assert [one.value for one in found.same.values()] == [1.0, 1.0, 0.0, 0.0]
    assert found.covered is not None and found.covered.value == 1.0


def test_suites_of_an_exact_judge_and_of_one_that_cries_wolf() -> None:
    drawn = [still(40), still(40)]
    right = suite_quality(suite_of(exact), drawn, history=False)
    assert (right.found.value, right.alarms.value, right.alarms_unchanged.value) == (1.0, 0.0, 0.0)
    wolf = suite_quality(suite_of(always("regression")), drawn, history=False)
    assert (wolf.found.value, wolf.alarms.value, wolf.alarms_unchanged.value) == (1.0, 38.0, 40.0)
    shy = suite_quality(suite_of(always("not comparable")), drawn, history=False)
    assert (shy.found.value, shy.refused, shy.covered) == (0.0, 1.0, None)


def test_sessions_count_what_was_refused_without_need() -> None:
    one = np.ones((2, 5))
    calm = Suite(["a"], [(one, one)], None)
    moved = Suite(["a", "b"], [(one, 1.5 * one), (one, 1.7 * one)], None)
    assert moved.common_shift == pytest.approx((np.log(1.5) + np.log(1.7)) / 2)
    seen = session_quality(suite_of(exact), [moved])
    assert (seen.flagged, seen.refused, seen.calm) == (1.0, 0.0, 0)
    refused = session_quality(suite_of(always("not comparable")), [moved, calm])
    assert (refused.pairs, refused.refused, refused.calm, refused.calm_refused) == (3, 1.0, 1, 1.0)
    assert np.isnan(refused.found)


def test_asv_cannot_flag_6_against_6_but_7_against_7() -> None:
    samples = 1.0 + 0.01 * np.arange(7)
    for count, said in ((6, "same"), (7, "regression")):
        before, after = measured(samples[None, :count]), measured(100 * samples[None, :count])
        assert verdict(before, after, 1.05) == said
    assert verdict(measured(100 * samples[None]), measured(samples[None]), 1.05) == "improvement"
    assert verdict(measured(samples[None]), measured(1.2 * samples[None]), 1.3) == "same"


def test_drift_is_shared_by_interleaved_rounds() -> None:
    trials = simulate(SCENARIOS[4], 10, 5, 400, seed=3)
    before, after = (np.log(np.median(side, axis=2)) for side in (trials.before, trials.after))
    apart = before.var(axis=1, ddof=1) + after.var(axis=1, ddof=1)
    paired = (after - before).var(axis=1, ddof=1)
    # 2 * 0.017^2 is left of 2 * (0.017^2 + 0.02^2); samples within a round and spikes add to both.
    assert paired.mean() / apart.mean() == pytest.approx(0.45, abs=0.04)


def test_bounds_of_a_row() -> None:
    assert Row("a", 2.0, 4.0, "s", 0.5).reached and not Row("a", 2.0, 3.0, "s", 0.5).reached
    assert Row("a", 0.5, 0.1, "%", 1.0, absolute=True).reached
    assert Row("a", 98.0, 40.0, "%", 97.0, at_least=True).reached
    assert not Row("a", 96.0, 99.0, "%", 97.0, at_least=True).reached
    assert Row("a", 96.0, 99.0, "%", 97.0, at_least=True).bound == ">= 97 %"
