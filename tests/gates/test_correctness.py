"""The first gate: wrong, not finite, further off than the base, unchecked, failed, gone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pytest

from dcu_asv_ext.gates.checked import checked
from dcu_asv_ext.gates.configuration import policy_of
from dcu_asv_ext.gates.deciding import decide
from tests.gates.asking import again, ask, of, outcomes, side, words
from tests.gates.candidates import judged, measured, wrong

TIGHT = {"correctness": {"growth": 10}}


def found(base: Any, candidate: Any, gate: Any = None) -> list[tuple[str, str]]:
    return words(of(ask(base, candidate, gate), "correctness"))


class TestResults:
    def test_right_ones_pass(self) -> None:
        assert found(measured(), again()) == [("passed", "right")]

    def test_a_wrong_one_fails_by_name_figures_and_reason(self) -> None:
        (one,) = of(ask(measured(), again(**wrong())), "correctness")
        assert (one.outcome, one.word, one.name, one.crashed) == (
            "failed",
            "wrong result",
            "suite.step",
            False,
        )
        assert one.figures is not None and (one.figures.before, one.figures.after) == (1e-6, 0.5)
        assert one.reason.startswith("3 of 100 elements differ")
        assert one.rule == "each result is finite and within its tolerance"

    def test_one_wrong_round_is_enough(self) -> None:
        rounds = again()
        bad = again(**wrong())[1]
        assert found(measured(), [rounds[0], bad, *rounds[2:]]) == [("failed", "wrong result")]

    def test_a_result_that_was_wrong_in_the_base_is_still_wrong(self) -> None:
        (one,) = of(ask(measured(**wrong()), again(**wrong())), "correctness")
        assert one.outcome == "failed" and one.reason.endswith("(and was wrong in the base)")

    def test_nan_and_infinity_fail(self) -> None:
        status = "wrong result: 4 of 100 elements are NaN or infinite in output or reference only"
        facts = {**judged(None), "correct": False, "non_finite": 4}
        missing = dict.fromkeys(("max_error", "mean_error"), status)
        bad = again(status=status, correctness=facts, missing=missing)
        answer = ask(measured(), bad)
        assert words(of(answer, "correctness")) == [("failed", "not finite")]
        assert not of(answer, "correctness")[0].crashed, "it ran to its end"

    @pytest.mark.parametrize(
        ("facts", "word"),
        [
            ({"correct": False}, "wrong result"),
            ({"non_finite": 4}, "not finite"),
        ],
    )
    def test_figures_that_contradict_the_status_are_believed(self, facts: dict[str, Any], word: str) -> None:
        bad = again(correctness={**judged(1e-6), **facts})
        assert found(measured(), bad) == [("failed", word)]

    def test_a_task_metric_beyond_its_tolerance_fails(self) -> None:
        good = {"correct": True, "checked": 3, "task_metric": 0.1, "tolerance": 0.2}
        bad = {**good, "correct": False, "task_metric": 0.3}
        status = "wrong result: task metric 0.3 exceeds 0.2"
        base = measured(error=None, correctness=good)
        assert found(base, again(error=None, correctness=good)) == [("passed", "right")]
        assert found(base, again(error=None, correctness=bad, status=status)) == [("failed", "wrong result")]


class TestGrowth:
    @pytest.mark.parametrize(
        ("before", "after", "outcome"),
        [
            (1e-9, 1e-8, "passed"),  # far inside a tolerance of 1e-3
            (1e-9, 0.9e-4, "passed"),  # up to a tenth of the tolerance
            (1e-9, 1.1e-4, "failed"),
            (0.0, 1.1e-4, "failed"),
            (2e-5, 1.9e-4, "passed"),  # 9.5 times
            (2e-5, 2.1e-4, "failed"),
            (1e-4, 1e-9, "passed"),
        ],
    )
    def test_it_is_a_factor_above_a_floor(self, before: float, after: float, outcome: str) -> None:
        assert found(measured(error=before), again(error=after))[0][0] == outcome

    def test_a_tenth_of_a_tolerance_near_rounding_is_none_of_interest(self) -> None:
        """10 ulp of float32 are 1.2e-6, whatever the tolerance."""

        def facts(error: float) -> dict[str, Any]:
            return judged(error, rtol=1e-6)

        base = measured(correctness=facts(1e-8))
        assert found(base, again(correctness=facts(1.1e-6)))[0][0] == "passed"
        assert found(base, again(correctness=facts(1.3e-6)))[0][0] == "failed"

    def test_an_absolute_tolerance_counts_by_the_size_of_the_reference(self) -> None:
        """A largest error of 1e-4 of a reference of 1000 is 0.1: of atol 10 a hundredth, of atol 0.1 all."""

        def facts(error: float, atol: float) -> dict[str, Any]:
            return {**judged(error, rtol=0.0, atol=atol), "max_absolute": 1000 * error}

        assert found(measured(error=1e-6), again(correctness=facts(1e-4, 10.0)))[0][0] == "passed"
        assert found(measured(error=1e-6), again(correctness=facts(1e-4, 0.1)))[0][0] == "failed"

    def test_the_factor_is_the_configuration_s_and_a_rule_s(self) -> None:
        pair = measured(error=1e-4), again(error=4e-4)
        assert found(*pair) == [("passed", "right")]
        assert found(*pair, {"correctness": {"growth": 2}}) == [("failed", "larger error")]
        rules = [{"bench": "step", "correctness": {"growth": 2}}]
        (one,) = of(ask(*pair, {"rules": rules}), "correctness")
        assert one.word == "larger error" and one.rule.endswith("(rule 1)")
        assert "4 times the base's, 0.0001" in one.reason

    @pytest.mark.parametrize(("error", "outcome"), [(9e-6, "passed"), (4e-4, "failed")])
    def test_of_a_base_without_evidence_asv_s_own_figure_counts(self, error: float, outcome: str) -> None:
        base = side("a", measured())
        base.records = ()
        base.sides = {key: replace(one, value=1e-6) for key, one in base.sides.items()}
        answer = decide([base], [side("b", again(error=error))], policy_of({}))
        (one,) = of(answer, "correctness")
        assert one.outcome == outcome and one.figures is not None and one.figures.before == 1e-6

    def test_another_reference_cannot_tell_growth(self) -> None:
        """The error's own version changed, the latency's did not."""
        versions = {**again()[0].versions, "max_error": "2"}
        answer = ask(measured(), again(error=5e-4, versions=versions))
        (one,) = of(answer, "correctness")
        assert (one.outcome, answer.outcome) == ("not comparable", "not comparable")
        assert one.reason == "the benchmark changed (version 1 before, 2 after)"

    def test_but_a_wrong_result_is_wrong_whatever_it_is_compared_with(self) -> None:
        versions = {**again()[0].versions, "max_error": "2"}
        assert found(measured(), again(**wrong(versions=versions))) == [("failed", "wrong result")]


class TestUnchecked:
    def test_it_is_allowed_and_listed(self) -> None:
        answer = ask(measured(error=None), again(error=None))
        (one,) = of(answer, "correctness")
        assert (one.outcome, one.word, one.name) == ("told", "unchecked", "suite.step")
        assert outcomes(answer)["correctness"] == "passed"

    def test_it_may_be_forbidden(self) -> None:
        gate = {"correctness": {"unchecked": "forbid"}}
        assert found(measured(error=None), again(error=None), gate) == [("failed", "unchecked")]
        assert found(measured(), again(), gate) == [("passed", "right")]

    def test_a_reference_for_some_parameters_only(self) -> None:
        why = "the reference has no result for these parameters: n > 8"

        def suite(make: Any) -> list[Any]:
            large = make(
                params={"n": "16"},
                correctness={"unchecked": why},
                missing={"max_error": why},
                seed=3,
            )
            return [*make(params={"n": "8"}), *large]

        answer = ask(suite(measured), suite(again))
        assert [(one.outcome, one.word, one.name) for one in of(answer, "correctness")] == [
            ("passed", "right", "suite.step(n=8)"),
            ("told", "unchecked", "suite.step(n=16)"),
        ]
        assert of(answer, "correctness")[1].reason == why

    def test_what_was_checked_in_the_base_has_to_be_checked(self) -> None:
        assert found(measured(), again(error=None)) == [("not measured", "not checked")]

    def test_a_rule_may_leave_a_benchmark_out(self) -> None:
        assert found(measured(), again(**wrong()), {"rules": [{"bench": "step", "correctness": None}]}) == []


class TestFailures:
    OUT_OF_MEMORY: ClassVar[dict[str, Any]] = {
        "status": "out of memory in the latency pass: 3 GiB",
        "times": {},
        "memory": {},
        "correctness": {},
    }

    def test_a_failure_that_the_base_had_not(self) -> None:
        (one,) = of(ask(measured(), again(**self.OUT_OF_MEMORY)), "correctness")
        assert (one.outcome, one.word, one.crashed) == ("failed", "failed", True)
        assert one.reason == self.OUT_OF_MEMORY["status"]

    def test_one_round_that_failed_is_enough(self) -> None:
        rounds = again()
        bad = again(**self.OUT_OF_MEMORY)[0]
        assert found(measured(), [bad, *rounds[1:]]) == [("failed", "failed")]

    def test_a_failure_of_both_is_told(self) -> None:
        answer = ask(measured(**self.OUT_OF_MEMORY), again(**self.OUT_OF_MEMORY))
        assert words(of(answer, "correctness")) == [("told", "failed before and after")]

    def test_what_is_gone_is_not_measured(self) -> None:
        answer = ask([*measured(), *measured("suite.gone", seed=7)], again())
        assert words(of(answer, "correctness")) == [("not measured", "not measured"), ("passed", "right")]
        assert answer.outcome == "not measured"

    def test_what_was_skipped_on_both_sides_is_told(self) -> None:
        skip: dict[str, Any] = {
            "status": "skipped: no such card",
            "times": {},
            "memory": {},
            "correctness": {},
        }
        assert found(measured(**skip), again(**skip)) == [("told", "not measured")]
        assert found(measured(), again(**skip)) == [("not measured", "not measured")]

    def test_a_new_benchmark_is_judged_by_itself(self) -> None:
        new = again("suite.new", seed=8, **wrong())
        answer = ask(measured(), [*again(), *new])
        assert [(one.word, one.name) for one in of(answer, "correctness")] == [
            ("wrong result", "suite.new"),
            ("right", "suite.step"),
        ]


class TestWhichMeasurementsCount:
    def test_those_of_an_older_session_that_is_no_longer_used_do_not(self) -> None:
        old = [one.to_dict() for one in measured(**wrong(), session="old")]
        new = [one.to_dict() for one in measured(session="new")]
        assert checked([*old, *new], {"new"}).wrong == ""
        assert checked([*old, *new], {"old", "new"}).wrong.startswith("wrong result")

    def test_the_newest_session_counts_though_nothing_was_taken_from_it(self) -> None:
        old = [one.to_dict() for one in measured(session="old")]
        new = [one.to_dict() for one in measured(**wrong(), session="quick")]
        assert checked([*old, *new], {"old"}).wrong.startswith("wrong result")

    def test_those_judged_by_an_earlier_reference_do_not(self) -> None:
        old = [one.to_dict() for one in measured(**wrong(), session="s")]
        versions = {**measured()[0].versions, "max_error": "2"}
        new = [one.to_dict() for one in measured(session="s", versions=versions)]
        assert checked([*old, *new], {"s"}).wrong == ""

    def test_the_largest_error_of_all_rounds_is_the_error(self) -> None:
        lines = [one.to_dict() for error in (1e-5, 3e-5, 2e-5) for one in measured(error=error, rounds=1)]
        assert checked(lines, ()).error == 3e-5
