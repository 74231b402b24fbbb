"""Which variables differ between the rows of a matrix."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dcu_asv_ext.comparing.matrix_experiments import Experiment, experiments
from dcu_asv_ext.evidence.matrix import MatrixRow

FACTS = {
    "device.driver": "6.3.8",
    "device.product": "K100_AI",
    "software.python": "3.10.12",
    "software.torch": "2.4.1",
    "software.numpy": "1.26",
    "switches.threads": "8",
    "host.kernel": "5.15",
}


def row(commit: str = "a", facts: dict[str, str] | None = None, **changes: Any) -> MatrixRow:
    made = {
        "benchmark": "gemm.matmul",
        "params": {"n": "256"},
        "versions": {"latency": "v" * 12},
        "protocol": 1,
    }
    return MatrixRow(commit=commit * 40, facts={**FACTS, **(facts or {})}, **{**made, **changes})


def only(rows: list[MatrixRow], functions: str | None = None) -> Experiment:
    (one,) = experiments(rows, functions)
    return one


def test_two_commits_are_a_single_variable_experiment() -> None:
    one = only([row("a"), row("b")])
    assert one.single and list(one.rows) == [0, 1]
    assert one.sentence == "single-variable: commit was aaaaaaaa, is bbbbbbbb"
    assert one.as_object() == {
        "benchmark": "gemm.matmul",
        "params": {"n": "256"},
        "rows": [0, 1],
        "variables": {"commit": ["aaaaaaaa", "bbbbbbbb"]},
        "single": True,
        "part": False,
        "sentence": one.sentence,
        "also": [],
    }


def test_another_torch_is_one_variable_with_what_comes_with_it() -> None:
    other = {"software.torch": "2.5.0", "software.torch_git": "cafe", "software.hip": "6.4"}
    facts = {"software.torch_git": "beef", "software.hip": "6.3"}
    one = only([row(facts=facts), row(facts=other)])
    assert one.sentence == "single-variable: software.torch was 2.4.1, is 2.5.0"


def test_more_than_one_is_no_single_variable_experiment() -> None:
    one = only(
        [
            row("a", {"environment.OMP_NUM_THREADS": "8"}),
            row(
                "b", {"environment.OMP_NUM_THREADS": "16", "device.driver": "6.4.0", "switches.threads": "16"}
            ),
        ]
    )
    assert not one.single
    assert one.sentence == (
        "not a single-variable experiment: commit, device.driver and environment.OMP_NUM_THREADS differ"
    )


def test_a_variable_that_only_one_row_sets_is_one() -> None:
    one = only([row(), row(facts={"environment.OMP_NUM_THREADS": "4", "switches.threads": "4"})])
    assert one.variables == {"environment.OMP_NUM_THREADS": ["(not set)", "4"]}


def test_volatile_readings_are_no_variables_and_what_does_not_matter_is_told_beside() -> None:
    one = only([row("a"), row("b", {"host.load_1min": "9", "host.kernel": "6.1", "software.numpy": "2.0"})])
    assert one.single and list(one.also) == ["host.kernel", "software.numpy"]


def test_the_same_again() -> None:
    one = only([row(), row()])
    assert not one.single and one.sentence == "nothing that was recorded differs: measured again"


def test_uncommitted_changes_are_another_commit() -> None:
    one = only([row(), row(dirty=True)])
    assert one.sentence == "single-variable: commit was aaaaaaaa, is aaaaaaaa with uncommitted changes"


def test_the_benchmark_s_version_and_the_protocol_count() -> None:
    one = only([row(), row("b", versions={"latency": "w" * 12}, protocol=2)])
    assert list(one.variables) == ["commit", "benchmark.version", "protocol"]
    assert one.variables["benchmark.version"] == ["vvvvvvvv", "wwwwwwww"]
    # What only one row measured tells nothing.
    assert list(only([row(), row(versions={"cold_start": "w"}, protocol=None)]).variables) == []


def test_another_machine_is_one_variable_with_its_hardware() -> None:
    one = only(
        [
            row(facts={"machine.machine": "k100"}),
            row(facts={"machine.machine": "k100ai", "device.product": "K100", "switches.threads": "4"}),
        ]
    )
    assert one.sentence == "single-variable: machine.machine was k100, is k100ai"


def test_a_label_counts_only_where_nothing_else_does() -> None:
    assert list(only([row(label="eager"), row(label="fused")]).variables) == ["variant"]
    assert list(only([row(label="eager"), row("b", label="fused")]).variables) == ["commit"]
    assert only([row(), row(label="fused")]).variables == {"variant": ["(none)", "fused"]}


def test_functions_are_variants_where_they_were_declared_to_be() -> None:
    rows = [
        row(benchmark="a.eager", label="eager"),
        row(benchmark="a.fused", label="fused", versions={"latency": "w"}),
    ]
    assert experiments(rows) == []
    one = only(rows, "eager|fused")
    assert one.sentence == "single-variable: function was a.eager, is a.fused"
    with pytest.raises(re.error):
        experiments(rows, "(")


def test_only_rows_with_the_same_parameters_are_together() -> None:
    rows = [row(), row(params={"n": "512"}), row("b"), row("b", benchmark="other.f")]
    assert [list(one.rows) for one in experiments(rows)] == [[0, 2]]
    assert experiments(rows[:2]) == []


def test_many_values_are_counted() -> None:
    three = only([row(letter) for letter in "abc"])
    assert three.sentence == "single-variable: commit is aaaaaaaa, bbbbbbbb and cccccccc"
    assert only([row(letter) for letter in "abcdef"]).sentence == (
        "single-variable: commit has 6 values, from aaaaaaaa to ffffffff"
    )


def test_parts_of_a_group_that_differ_in_one_thing_are_experiments_of_their_own() -> None:
    rows = [row(commit, {"software.torch": torch}) for commit in "ab" for torch in ("2.4", "2.5")]
    whole, *parts = experiments(rows)
    assert whole.sentence == "not a single-variable experiment: commit and software.torch differ"
    assert [(list(one.variables), list(one.rows)) for one in parts] == [
        (["commit"], [0, 2]), (["commit"], [1, 3]), (["software.torch"], [0, 1]), (["software.torch"], [2, 3])
    ]  # fmt: skip
    assert all(one.part and one.single for one in parts) and not whole.part


def test_what_seems_one_thing_and_is_two_is_no_part() -> None:
    """The threads go with OMP_NUM_THREADS in the whole group; between the first two rows they differ without it."""

    def threads(asked: str, had: str) -> dict[str, str]:
        return {"environment.OMP_NUM_THREADS": asked, "switches.threads": had}

    whole, *parts = experiments(
        [row("a", threads("4", "4")), row("b", threads("4", "8")), row("b", threads("8", "8"))]
    )
    assert list(whole.variables) == ["commit", "environment.OMP_NUM_THREADS"]
    assert [(list(one.variables), list(one.rows)) for one in parts] == [
        (["environment.OMP_NUM_THREADS"], [1, 2])
    ]


def test_a_fact_that_the_first_row_does_not_tell_is_compared_between_the_others() -> None:
    rows = [MatrixRow("a.b", {}, commit="a"), row(benchmark="a.b", params={}, commit="a")]
    rows.append(row(benchmark="a.b", params={}, facts={"device.driver": "7"}))
    assert "device.driver" in only(rows[1:]).variables and "device.driver" in experiments(rows)[0].variables
