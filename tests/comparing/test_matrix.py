"""The rows of a matrix: which rounds they are of, what they tell, and what they are called."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dcu_asv_ext.comparing.matrix import Matrix, Measured, matrix
from dcu_asv_ext.comparing.model import Key, ResultSet, Series
from dcu_asv_ext.comparing.reading import Entries, Recorded, read_results
from dcu_asv_ext.evidence.matrix import ASV, EVIDENCE, MatrixRow

from .measured import FAMILY, LATENCY, failed, read, record, recorded

FILE = "host/aaaaaaaa-env.evidence.jsonl"


def rows(*sets: ResultSet, **more: Any) -> list[MatrixRow]:
    return matrix([Measured(one, FILE) for one in sets], **more).rows


def only(records: list[dict[str, Any]], entries: dict[Key, Recorded] | None = None, **more: Any) -> MatrixRow:
    (row,) = rows(read(records, entries), **more)
    return row


def test_a_row_tells_what_was_measured_and_on_what() -> None:
    changes: dict[str, Any] = {
        "seed": 7,
        "kind": "micro",
        "input": {"tensors": ["float32[256, 256]", "float32[256]"], "bytes": 263168, "sets": 2},
        "boundary": {"outside": ["setup"], "inputs_on": ["cuda:0"]},
        "batch": {"latency": 4},
        "memory": {
            "peak_allocated": 4096, "baseline_allocated": 1024, "outside_allocator": 99,
            "card": {"before": 10, "peak": 30, "after": 20}, "peak_card": 30,
            "missing": {"retries": "torch does not count them"},
        },
        "correctness": {"max_error": 2e-7, "mean_error": 1e-8},
        "project": {"package_size": 1234, "files": 5},
    }  # fmt: skip
    row = only([record(1, (1.0, 2.0, 3.0), **changes), record(2, (3.0, 5.0), **changes)])
    assert (row.benchmark, row.params) == (FAMILY, {"n": "256", "dtype": "'float32'"})
    assert (row.variant, row.commit, row.machine, row.env, row.status, row.source) == (
        "aaaaaaaa", "a" * 40, "host", "env", "ok", EVIDENCE
    )  # fmt: skip
    assert (row.device_kind, row.device_product, row.driver, row.runtime) == (
        "dcu", "K100_AI", "hycu 6.3.8", "hip 6.3.1"
    )  # fmt: skip
    assert (row.torch, row.python, row.kind, row.seed) == ("2.4.1", "3.10.12", "micro", 7)
    assert row.inputs == ["float32[256, 256]", "float32[256]"] and row.input_sets == 2
    assert row.boundary["inputs_on"] == ["cuda:0"] and row.batch == {"latency": [4, 4]}
    assert (row.rounds, row.samples["latency"], row.cut) == (2, [3, 2], [0, 0])
    assert row.cache == {"mode": "session", "was_empty": [True, True], "wrote": [None, None]}
    latency = row.figures["latency"]
    assert (latency.median, latency.least, latency.most) == (3.0, 1.0, 5.0)
    assert row.figures["peak_allocated"].median == 4096
    assert row.memory == {
        "baseline_allocated": 1024, "baseline_card": 10, "after_card": 20, "outside_allocator": 99
    }  # fmt: skip
    assert row.missing["retries"] == "torch does not count them"
    assert row.facts["device.product"] == "K100_AI" and row.facts["machine.machine"] == "host"
    assert row.conditions == {"host.load_1min": "0.5"} and "host.load_1min" not in row.facts
    assert row.evidence == [{"file": FILE, "session": "s1", "round": number} for number in (1, 2)]
    assert row.package_size == 1234
    assert row.times is None and row.protocol == 1


def test_figures_that_the_benchmark_does_not_report_are_told_where_they_were_taken() -> None:
    row = only([record(1, correctness={"max_error": 3e-7, "mean_error": 1e-8})])
    assert row.figures["mean_error"].median == 1e-8 and row.figures["max_error"].median == 3e-7


def test_times_are_kept_whole_where_they_are_asked_for() -> None:
    row = only([record(1, (1.0, None, 3.0)), record(2, (2.0,))], times=True)
    assert row.times is not None and row.times["latency"] == [[1.0, None, 3.0], [2.0]]
    assert row.times["cold"] == [[0.5], [0.5]]


def test_the_rounds_are_those_that_asv_s_file_is_made_of() -> None:
    old = [record(number, (float(number),) * 2, session="old") for number in (1, 2)]
    new = [record(number, (10.0 * number,) * 2, session="new") for number in (1, 2)]
    entry = recorded((1.0, 1.0, 2.0, 2.0))
    row = only([*old, *new], {LATENCY: entry})
    assert row.figures["latency"].median == 1.5
    assert [one["session"] for one in row.evidence] == ["old", "old"]
    assert any("newer rounds" in note for note in row.notes)


def test_a_figure_that_is_missing_has_its_reason() -> None:
    row = only([record(1, missing={"device_time": "no events here"})])
    assert row.missing["device_time"] == "no events here" and "device_time" not in row.figures


def test_a_failure_is_a_row_with_its_status() -> None:
    row = only([failed(1), failed(2)])
    assert row.status == "out of memory: 3 GiB" and row.figures == {} and row.rounds == 2
    assert row.device_product == "K100_AI"


def test_rounds_with_different_ends_are_counted() -> None:
    row = only([failed(1), record(2)])
    # asv forgets the rounds before one without a number; its row is of the rounds that are left.
    assert row.status == "ok" and row.rounds == 1
    row = only([record(1), record(2, status="wrong result: 3 elements")])
    assert row.status == "ok (1 of 2 rounds); wrong result: 3 elements (1 of 2 rounds)"


def test_another_protocol_is_a_row_of_its_own() -> None:
    old = record(1, (5.0, 5.0), protocol=0, session="s0")
    first, second = rows(read([old, record(1, (1.0, 1.0))]))
    assert (first.protocol, second.protocol) == (1, 0)
    assert (first.figures["latency"].median, second.figures["latency"].median) == (1.0, 5.0)
    assert second.notes[0] == "measured by protocol 0; no part of the result that asv's file has now"
    assert (first.variant, second.variant) == ("aaaaaaaa, protocol 1", "aaaaaaaa, protocol 0")
    found = matrix([Measured(read([old, record(1, (1.0, 1.0))]), FILE)])
    assert found.experiments[0].sentence == "single-variable: protocol was 1, is 0"


def test_a_contradiction_between_the_files_is_a_note() -> None:
    row = only([record(1, (1.0, 1.0))], {LATENCY: recorded((9.0, 9.0))})
    assert any(note.startswith("the evidence contradicts asv's file") for note in row.notes)
    assert row.figures["latency"].median == 9.0


def plain(value: float | None, samples: tuple[float, ...] = (), **more: Any) -> ResultSet:
    key = Key("suite.time_it", "time", ("1",))
    entries = Entries(
        {key: Recorded(value, samples, "1")}, {key: Series("suite.time_it", ("n",), "seconds")}, **more
    )
    facts = {"requirement.torch": "2.4", "requirement.python": "3.10", "environment.OMP_NUM_THREADS": "8"}
    return read_results("host", "b" * 40, "env", entries=entries, facts=facts)


def test_another_suite_s_benchmark_is_told_as_far_as_asv_knows() -> None:
    (row,) = rows(plain(2.0, (1.0, 3.0, 2.0, 2.0), rounds={"suite.time_it": 2}), times=True)
    assert (row.benchmark, row.params, row.source, row.unit) == ("suite.time_it", {"n": "1"}, ASV, "seconds")
    assert row.figures["value"].median == 2.0 and set(row.figures) == {"value"}
    assert row.times == {"value": [(1.0, 3.0), (2.0, 2.0)]} and row.rounds == 2
    assert (row.torch, row.python, row.env_vars) == ("2.4", "3.10", {"OMP_NUM_THREADS": "8"})
    assert row.variant == "bbbbbbbb, OMP_NUM_THREADS=8" and row.kind is None and row.protocol is None
    (failing,) = rows(plain(None))
    assert failing.status == "it failed, and asv keeps no reason" and failing.figures == {}
    (absent,) = rows(plain(math.nan))
    assert absent.status == "no number: n/a in asv's file"


def test_a_variant_is_called_by_what_tells_it_apart() -> None:
    one, other = read([record(1, variant="eager")]), read([record(1, variant="eager")])
    other.env = "env2"
    assert [row.variant for row in rows(one, other)] == ["aaaaaaaa, eager, env", "aaaaaaaa, eager, env2"]
    other.env, other.machine = "env", "host2"
    assert [row.variant for row in rows(one, other)] == ["aaaaaaaa, eager, host", "aaaaaaaa, eager, host2"]
    changed = read([record(1, dirty=True, head="c" * 40)])
    assert rows(changed)[0].variant == "aaaaaaaa with uncommitted changes"


def test_rows_stand_by_benchmark_and_by_asv_s_order_of_parameters() -> None:
    made = [
        record(1, benchmark=name, params={"n": n}, param_index=index)
        for name, n, index in (("b.b", "1024", 1), ("b.b", "256", 0), ("a.a", "x", 0))
    ]
    other = [record(1, benchmark="b.b", params={"n": n}, param_index=None) for n in ("1024", "256")]
    found = rows(read(made), read(other))
    assert [(row.benchmark, *row.params.values()) for row in found] == [
        ("a.a", "x"), ("b.b", "256"), ("b.b", "256"), ("b.b", "1024"), ("b.b", "1024")
    ]  # fmt: skip


def test_numbers_stand_by_their_size_where_asv_s_order_is_not_known() -> None:
    made = [record(1, params={"n": n}, param_index=None) for n in ("1024", "256", "x")]
    assert [row.params["n"] for row in rows(read(made))] == ["256", "1024", "x"]


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"seed": 2}, "the rounds were not measured with one seed"),
        ({"variant": "b"}, "the rounds have different variant= names"),
    ],
)
def test_rounds_that_are_not_alike_are_told(changes: dict[str, Any], note: str) -> None:
    row = only([record(1, seed=1, variant="a"), record(2, **{"seed": 1, "variant": "a", **changes})])
    assert note in row.notes and (row.seed is None) == ("seed" in changes)


def test_facts_that_are_mixed_say_so() -> None:
    devices = [{"kind": "dcu", "product": "K100_AI", "driver": driver} for driver in ("6.3", "6.4")]
    row = only([record(number, device=device) for number, device in enumerate(devices, 1)])
    assert row.driver == "mixed: 6.3; 6.4"


def test_notes_of_the_results_come_once() -> None:
    broken = read([record(1)], torn=2)
    found: Matrix = matrix([Measured(broken), Measured(broken)], notes=["passed over: x"])
    torn = "the evidence of aaaaaaaa (env) has lines that could not be read: 2"
    assert found.notes[0] == "passed over: x" and found.notes.count(torn) == 1
