"""The second gate: regressions of workloads, prototypes, required improvements, and what more rounds would settle."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from dcu_asv_ext.gates.model import exit_code
from tests.gates.asking import again, ask, of, outcomes, words
from tests.gates.candidates import measured

LOUD: dict[str, Any] = {"spread": 0.03}


def found(base: Any, candidate: Any, gate: Any = None) -> list[tuple[str, str]]:
    return words(of(ask(base, candidate, gate), "performance"))


class TestWorkloads:
    @pytest.mark.parametrize(
        ("latency", "expected"),
        [
            (0.012, ("failed", "regression")),
            (0.010, ("passed", "no change")),
            (0.009, ("passed", "improvement")),
        ],
    )
    def test_the_verdict_on_latency(self, latency: float, expected: tuple[str, str]) -> None:
        assert found(measured(), again(latency=latency)) == [expected]

    def test_its_evidence_is_named(self) -> None:
        (one,) = of(ask(measured(), again(latency=0.012)), "performance")
        assert (one.name, one.metric, one.rule) == ("suite.step", "latency", "no regression beyond 1 %")
        shown = one.figures
        assert shown is not None and shown.rounds == (5, 5)
        assert 1 < shown.ci_low < shown.ratio < shown.ci_high < 1.3

    def test_inconclusive_is_its_own_outcome_with_the_rounds_needed(self) -> None:
        # Round k of both within the same minute: interleaved.
        base = measured(**LOUD)
        answer = ask(base, measured(latency=0.0103, seed=50, hours=0.005, **LOUD))
        (one,) = of(answer, "performance")
        assert (one.outcome, answer.outcome, exit_code(answer)) == ("inconclusive", "inconclusive", 5)
        assert one.rounds_needed is not None and one.rounds_needed > 0

    def test_surely_no_slower_passes_though_faster_is_open(self) -> None:
        candidate = again(latency=0.0097, spread=0.015)
        assert found(measured(), candidate) == [("passed", "no slower")]
        # Not where an improvement is asked for.
        gate = {"performance": {"require": "improvement"}}
        assert found(measured(), candidate, gate) == [("inconclusive", "inconclusive")]

    def test_the_margin_is_the_configuration_s_and_a_rule_s(self) -> None:
        pair = measured(), again(latency=0.0110)
        assert found(*pair) == [("failed", "regression")]
        assert found(*pair, {"performance": {"margin": "20%"}}) == [("passed", "no change")]
        rules = [{"bench": "step", "performance": {"margin": "20%"}}]
        (one,) = of(ask(*pair, {"rules": rules}), "performance")
        assert (one.outcome, one.rule) == ("passed", "no regression beyond 20 % (rule 1)")
        rules = [{"bench": "other", "performance": {"margin": "20%"}}]
        assert found(*pair, {"rules": rules}) == [("failed", "regression")]

    def test_another_machine_is_not_comparable(self) -> None:
        answer = ask(measured(), again(device={"kind": "cpu", "product": "another"}))
        one = of(answer, "performance")[0]
        assert one.outcome == "passed", "a fact that only one side tells is no difference"
        device = {"kind": "cpu", "simulated": False, "product": "one"}
        answer = ask(measured(device=device), again(device={**device, "product": "another"}, latency=0.012))
        assert set(outcomes(answer).values()) == {"not comparable"}
        assert exit_code(answer) == 4
        assert "device.product was one, is another" in of(answer, "performance")[0].reason

    def test_another_version_of_the_benchmark_is_not_comparable(self) -> None:
        versions = dict.fromkeys(measured()[0].versions, "2")
        answer = ask(measured(), again(versions=versions))
        assert words(of(answer, "performance")) == [("not comparable", "not comparable")]

    def test_evidence_of_an_older_protocol_is_not_comparable(self) -> None:
        answer = ask(measured(protocol=0), again())
        assert answer.outcome == "not comparable"
        assert (
            of(answer, "performance")[0].reason == "the way of measuring changed (protocol 0 before, 1 after)"
        )

    def test_what_failed_cannot_be_shown_to_be_fast(self) -> None:
        answer = ask(measured(), again(status="failed in the first call: ValueError: x", times={}, memory={}))
        assert words(of(answer, "performance")) == [("not measured", "not measured")]
        assert exit_code(answer) == 2

    def test_a_new_benchmark_and_a_repaired_one_are_told(self) -> None:
        broken: dict[str, Any] = {
            "status": "failed in the first call: ValueError: x",
            "times": {},
            "memory": {},
        }
        base = [*measured(), *measured("suite.broken", seed=5, **broken)]
        candidate = [*again(), *again("suite.broken", seed=55), *again("suite.new", seed=56)]
        told = of(ask(base, candidate), "performance")
        assert [(one.outcome, one.word, one.name) for one in told] == [
            ("passed", "no change", "suite.step"),
            ("told", "fixed", "suite.broken"),
            ("told", "new", "suite.new"),
        ]

    def test_without_a_workload_on_both_sides_there_is_nothing_to_pass(self) -> None:
        answer = ask(measured(kind="micro"), again(kind="micro"))
        (one,) = of(answer, "performance")
        assert (one.outcome, one.reason) == (
            "not comparable",
            "no workload's latency was measured on both sides",
        )

    def test_unless_a_rule_leaves_them_out(self) -> None:
        gate = {"rules": [{"bench": ".", "performance": None}]}
        assert found(measured(), again(latency=0.02), gate) == []


class TestPrototypes:
    def test_a_gain_in_device_time_alone_stops(self) -> None:
        answer = ask(measured(), again(device_time=0.0072))
        prototype, latency = of(answer, "performance")
        assert (prototype.outcome, prototype.word, prototype.metric) == ("failed", "prototype", "device_time")
        assert "not shown end to end" in prototype.reason
        assert (latency.outcome, latency.word) == ("passed", "no change")
        assert exit_code(answer) == 1

    def test_a_gain_of_a_micro_benchmark_alone_stops(self) -> None:
        base = [*measured(), *measured("suite.kernel", kind="micro", seed=7)]
        candidate = [*again(), *again("suite.kernel", kind="micro", latency=0.008, seed=57)]
        prototype = of(ask(base, candidate), "performance")[0]
        assert (prototype.outcome, prototype.name, prototype.metric) == ("failed", "suite.kernel", "latency")
        assert prototype.reason.startswith("of a micro benchmark, not shown end to end")

    def test_it_may_be_allowed_as_no_regression(self) -> None:
        gate = {"performance": {"prototype": "allow"}}
        pair = measured(), again(device_time=0.0072)
        assert found(*pair, gate) == [("passed", "no change"), ("passed", "prototype")]
        required = {"performance": {"prototype": "allow", "require": "improvement"}}
        assert ("failed", "no improvement") in found(*pair, required), "it is no win"

    def test_a_gain_that_is_shown_end_to_end_carries_it(self) -> None:
        answer = ask(measured(), again(latency=0.009, device_time=0.0072))
        assert words(of(answer, "performance")) == [("passed", "improvement"), ("told", "improvement")]

    def test_as_long_as_the_latency_is_open_so_is_the_gate(self) -> None:
        """The workload may be faster: more rounds can show the gain end to end."""
        answer = ask(self._loud_latency(measured()), self._loud_latency(again(device_time=0.0072)))
        assert words(of(answer, "performance")) == [("inconclusive", "inconclusive"), ("told", "prototype")]
        assert "as long as suite.step is inconclusive" in of(answer, "performance")[1].reason

    @staticmethod
    def _loud_latency(records: Any) -> Any:
        for place, one in enumerate(records):
            one.times["latency"] = [x * (1.1 if place % 2 else 0.95) for x in one.times["latency"]]
        return records

    def test_a_gain_that_may_be_chance_leaves_the_gate_open(self) -> None:
        """Among so many rows five rounds do not tell; its own interval does."""

        def others(make: Any, seed: int) -> list[Any]:
            return [one for n in range(12) for one in make(f"suite.other_{n}", seed=seed + 100 * n)]

        base = [*measured(), *others(measured, 0)]
        device_alone = [*again(device_time=0.0072), *others(again, 50)]
        first = of(ask(base, device_alone), "performance")[0]
        assert (first.outcome, first.word, first.metric) == ("inconclusive", "prototype", "device_time")
        # As likely end to end: nothing is claimed, and nothing lost.
        both = [*again(latency=0.009, device_time=0.0072), *others(again, 50)]
        answer = ask(base, both)
        assert outcomes(answer)["performance"] == "passed"
        assert ("passed", "likely faster") in words(of(answer, "performance"))

    def test_a_loss_of_a_part_is_told(self) -> None:
        base = [*measured(), *measured("suite.kernel", kind="micro", seed=7)]
        candidate = [*again(device_time=0.01), *again("suite.kernel", kind="micro", latency=0.013, seed=57)]
        answer = ask(base, candidate)
        told = [one for one in of(answer, "performance") if one.outcome == "told"]
        assert {(one.word, one.metric) for one in told} == {
            ("regression", "latency"),
            ("regression", "device_time"),
        }
        assert outcomes(answer)["performance"] == "passed"

    def test_a_workload_that_is_renamed_a_micro_benchmark_is_gated(self) -> None:
        assert found(measured(), again(kind="micro", latency=0.012))[0] == ("failed", "regression")

    def test_a_micro_benchmark_that_is_renamed_a_workload_is_no_gain(self) -> None:
        made = found(measured(kind="micro"), again(latency=0.009))
        assert made[0] == ("failed", "prototype") and ("passed", "improvement") not in made

    def test_a_rule_may_gate_micro_benchmarks(self) -> None:
        base = [*measured(), *measured("suite.kernel", kind="micro", seed=7)]
        candidate = [*again(), *again("suite.kernel", kind="micro", latency=0.013, seed=57)]
        gate = {"rules": [{"bench": "kernel", "performance": {"micro": "gate"}}]}
        assert found(base, candidate, gate)[0] == ("failed", "regression")


class TestRequiredImprovement:
    GATE: ClassVar[dict[str, Any]] = {"performance": {"require": "improvement"}}

    def test_one_workload_is_enough(self) -> None:
        base = [*measured(), *measured("suite.other", seed=5)]
        candidate = [*again(latency=0.008), *again("suite.other", seed=55)]
        assert {one for one, _ in found(base, candidate, self.GATE)} <= {"passed", "told"}

    def test_none_fails(self) -> None:
        answer = ask(measured(), again(), self.GATE)
        assert words(of(answer, "performance"))[0] == ("failed", "no improvement")
        assert of(answer, "performance")[0].rule == "an improvement is required"

    def test_a_rule_asks_it_of_what_it_matches(self) -> None:
        base = [*measured(), *measured("suite.other", seed=5)]
        candidate = [*again(latency=0.008), *again("suite.other", seed=55)]

        def rules(bench: str) -> Any:
            return {"rules": [{"bench": bench, "performance": {"require": "improvement"}}]}

        assert ("failed", "no improvement") not in found(base, candidate, rules("step"))
        answer = ask(base, candidate, rules("other"))
        first = of(answer, "performance")[0]
        assert (first.outcome, first.rule) == ("failed", "an improvement is required (rule 1)")

    def test_a_rule_on_the_margin_alone_makes_no_demand_of_its_own(self) -> None:
        base = [*measured(), *measured("suite.other", seed=5)]
        candidate = [*again(latency=0.008), *again("suite.other", seed=55)]
        gate = {**self.GATE, "rules": [{"bench": "other", "performance": {"margin": "3%"}}]}
        assert {one for one, _ in found(base, candidate, gate)} <= {"passed", "told"}
