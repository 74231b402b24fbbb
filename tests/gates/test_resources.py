"""The third gate: memory, cold start, compile time and size, each against its own allowance."""

from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.gates.model import exit_code
from tests.gates.asking import again, ask, of, outcomes
from tests.gates.candidates import MIB, measured


def found(base: Any, candidate: Any, metric: str, gate: Any = None) -> tuple[str, str]:
    (one,) = [one for one in of(ask(base, candidate, gate), "resources") if one.metric == metric]
    return one.outcome, one.word


def with_metric(records: list[Any], metric: str, values: Any, where: str = "memory") -> list[Any]:
    """The records with one more figure each."""
    for one, value in zip(records, values, strict=True):
        one.metrics = [*one.metrics, metric]
        one.versions = {**one.versions, metric: "1"}
        if where == "memory":
            one.memory = {**one.memory, metric: value}
        else:
            one.times = {**one.times, where: [value]}
            one.batch = {**one.batch, where: 1}
    return records


class TestExactBytes:
    @pytest.mark.parametrize(
        ("metric", "changes", "expected"),
        [
            ("peak_allocated", {"allocated": 10 * MIB + 1}, ("failed", "heavier")),
            ("peak_allocated", {"allocated": 10 * MIB}, ("passed", "unchanged")),
            ("peak_allocated", {"allocated": 9 * MIB}, ("passed", "lighter")),
            ("peak_reserved", {"reserved": 100}, ("passed", "lighter")),
            ("package_size", {"size": MIB + MIB // 10}, ("passed", "within the allowance")),
            ("package_size", {"size": MIB + MIB // 10 + 2}, ("failed", "heavier")),
        ],
    )
    def test_against_the_default_allowance(
        self, metric: str, changes: dict[str, Any], expected: tuple[str, str]
    ) -> None:
        assert found(measured(), again(**changes), metric) == expected

    @pytest.mark.parametrize(("now", "outcome"), [(1050, "passed"), (1051, "failed")])
    def test_five_percent_are_five_percent(self, now: int, outcome: str) -> None:
        assert found(measured(reserved=1000), again(reserved=now), "peak_reserved")[0] == outcome

    def test_its_evidence_is_named(self) -> None:
        answer = ask(measured(), again(allocated=13 * MIB))
        one = of(answer, "resources")[0]
        assert (one.name, one.metric, one.rule) == (
            "suite.step",
            "peak_allocated",
            "peak_allocated may grow by 0%",
        )
        assert one.figures is not None and one.figures.exact and one.figures.rounds == (5, 5)
        assert exit_code(answer) == 1

    @pytest.mark.parametrize(("allowed", "outcome"), [("2 MiB", "failed"), ("3 MiB", "passed"), (None, "")])
    def test_an_allowance_in_bytes_and_none(self, allowed: str | None, outcome: str) -> None:
        gate = {"resources": {"peak_allocated": allowed, "peak_reserved": None}}
        answer = ask(measured(), again(allocated=13 * MIB), gate)
        told = [one.outcome for one in of(answer, "resources") if one.metric == "peak_allocated"]
        assert told == ([outcome] if outcome else [])
        assert outcomes(answer)["resources"] == (outcome or "passed")

    def test_a_rule_has_the_last_word(self) -> None:
        gate = {"rules": [{"metric": "peak_*", "resources": "50%"}]}
        answer = ask(measured(), again(allocated=13 * MIB), gate)
        assert outcomes(answer)["resources"] == "passed"
        rules = {one.metric: one.rule for one in of(answer, "resources")}
        assert rules["peak_allocated"] == "peak_allocated may grow by 50% (rule 1)"


class TestFiguresThatVary:
    @pytest.mark.parametrize(
        ("cold", "spread", "expected"),
        [
            (0.5, 0.002, ("passed", "within the allowance")),
            (0.6, 0.002, ("passed", "within the allowance")),
            (0.7, 0.002, ("failed", "heavier")),
            (0.6, 0.08, ("inconclusive", "inconclusive")),
            (0.68, 0.1, ("inconclusive", "inconclusive")),
        ],
    )
    def test_the_whole_interval_counts(self, cold: float, spread: float, expected: tuple[str, str]) -> None:
        assert found(measured(spread=spread), again(cold=cold, spread=spread), "cold_start") == expected

    def test_the_rounds_that_would_settle_it_are_told(self) -> None:
        pair = measured(spread=0.08), measured(cold=0.57, spread=0.08, seed=50, hours=0.005)
        (one,) = [one for one in of(ask(*pair), "resources") if one.metric == "cold_start"]
        assert one.outcome == "inconclusive" and one.rounds_needed is not None and one.rounds_needed > 0

    def test_bytes_that_vary_have_the_margin_below_which_nothing_counts(self) -> None:
        def noisy(records: list[Any]) -> list[Any]:
            for place, one in enumerate(records):
                one.memory = {**one.memory, "peak_allocated": 10 * MIB + 64 * (place % 3)}
            return records

        assert found(noisy(measured()), noisy(again()), "peak_allocated") == (
            "passed",
            "within the allowance",
        )

    def test_compile_time_and_the_whole_card(self) -> None:
        card = [100 * MIB + n for n in range(5)]
        base = with_metric(measured(), "peak_card", card)
        assert found(base, with_metric(again(), "peak_card", card), "peak_card")[0] == "passed"
        heavy = with_metric(again(), "peak_card", [2 * n for n in card])
        assert found(base, heavy, "peak_card") == ("failed", "heavier")
        built = [2.0, 2.01, 2.02, 2.0, 2.01]
        base = with_metric(measured(), "compile_time", built, "compile")
        slow = with_metric(again(), "compile_time", [2 * n for n in built], "compile")
        assert found(base, slow, "compile_time") == ("failed", "heavier")


class TestGrowth:
    @pytest.mark.parametrize(
        ("before", "after", "expected"),
        [
            (0, 0, ("passed", "unchanged")),
            (0, 1024, ("failed", "growth")),
            (1024, 1024, ("passed", "within the allowance")),
            (1024, 4096, ("failed", "heavier")),
            (1024, 0, ("passed", "lighter")),
        ],
    )
    def test_none_that_the_base_has_not(self, before: int, after: int, expected: tuple[str, str]) -> None:
        base = with_metric(measured(), "memory_growth", [before] * 5)
        candidate = with_metric(again(), "memory_growth", [after] * 5)
        assert found(base, candidate, "memory_growth") == expected

    def test_slopes_that_vary_by_chance_are_the_same(self) -> None:
        base = with_metric(measured(), "memory_growth", [1020, 1024, 1026, 1023, 1025])
        candidate = with_metric(again(), "memory_growth", [1024, 1021, 1027, 1026, 1022])
        assert found(base, candidate, "memory_growth")[0] == "passed"

    def test_so_much_may_be_allowed(self) -> None:
        gate = {"resources": {"memory_growth": "2 KiB"}}
        base = with_metric(measured(), "memory_growth", [0] * 5)
        candidate = with_metric(again(), "memory_growth", [1024, 1025, 1024, 1026, 1024])
        assert found(base, candidate, "memory_growth", gate) == ("passed", "within the allowance")


class TestWhatIsMissing:
    def test_on_neither_side_it_is_told(self) -> None:
        answer = ask(measured(size=None), again(size=None))
        (one,) = [one for one in of(answer, "resources") if one.outcome == "told"]
        names = "compile_time, memory_growth, package_size, peak_card"
        assert one.reason == f"measured on neither side, so not gated: {names}"
        assert outcomes(answer)["resources"] == "passed"

    def test_in_the_candidate_it_stops(self) -> None:
        assert found(measured(), again(size=None), "package_size") == ("not measured", "not measured")
        gone = {"project": {"missing": "the project's files cannot be told"}}
        answer = ask(measured(), again(**gone))
        first = of(answer, "resources")[0]
        assert (first.outcome, first.reason) == ("not measured", "the project's files cannot be told")
        assert exit_code(answer) == 4

    def test_a_metric_without_a_number_stops_with_its_reason(self) -> None:
        why = "the caches were not empty"
        times = again()[0].times
        missing = again(missing={"cold_start": why}, times={**times, "cold": [0.5]})
        answer = ask(measured(), missing)
        first = of(answer, "resources")[0]
        assert (first.outcome, first.metric, first.reason) == ("not measured", "cold_start", why)
        assert exit_code(answer) == 4

    def test_in_the_base_it_is_told(self) -> None:
        assert found(measured(size=None), again(), "package_size") == ("told", "new")
        candidate = with_metric(again(), "peak_card", [100] * 5)
        assert found(measured(), candidate, "peak_card") == ("told", "new")

    def test_of_several_sizes_the_newest_counts(self) -> None:
        candidate = [*again(size=9 * MIB, session="earlier"), *again(size=MIB, session="later")]
        assert found(measured(), candidate, "package_size") == ("passed", "unchanged")

    @pytest.mark.parametrize("project", [None, "x", {"package_size": "1 MiB"}, {"package_size": True}])
    def test_a_size_that_is_none_is_none(self, project: Any) -> None:
        assert found(measured(), again(project=project), "package_size")[0] == "not measured"


class TestCountedByAProfile:
    """Not gated by default; zero is a figure like others."""

    def figures(self, metric: str, before: float, after: float) -> tuple[Any, Any]:
        sides = measured(), again()
        for records, value in zip(sides, (before, after), strict=True):
            for one in records:
                one.metrics, one.versions = [*one.metrics, metric], {**one.versions, metric: "1"}
                one.profile = {"steps": 2, "per_call": {metric: value}}
        return sides

    @pytest.mark.parametrize(
        "metric", ["sync_count", "copy_bytes_htod", "idle_share", "profiled_device_time"]
    )
    def test_by_default_nothing_of_a_profile_fails(self, metric: str) -> None:
        answer = ask(*self.figures(metric, 0.1, 0.9))
        assert answer.outcome == "passed"
        assert metric not in {one.metric for one in answer.findings}

    @pytest.mark.parametrize(
        ("allowed", "before", "after", "expected"),
        [
            ("0", 0, 2, ("failed", "heavier")),
            ("2", 0, 2, ("passed", "within the allowance")),
            ("50%", 0, 2, ("failed", "heavier")),
            ("0", 2, 0, ("passed", "lighter")),
            ("0", 0, 0, ("passed", "unchanged")),
            ("10%", 20, 22, ("passed", "within the allowance")),
            ("10%", 20, 23, ("failed", "heavier")),
        ],
    )
    def test_where_it_is_named(
        self, allowed: str, before: float, after: float, expected: tuple[str, str]
    ) -> None:
        gate = {"resources": {"sync_count": allowed}}
        assert found(*self.figures("sync_count", before, after), "sync_count", gate) == expected

    def test_a_rule_by_pattern_names_it_and_one_without_does_not(self) -> None:
        sides = self.figures("copy_count_htod", 1, 3)
        named = {"rules": [{"metric": "copy_*", "resources": "0%"}]}
        assert found(*sides, "copy_count_htod", named) == ("failed", "heavier")
        whole = {"rules": [{"bench": "step", "resources": "50%"}]}
        assert ask(*sides, whole).outcome == "passed"
