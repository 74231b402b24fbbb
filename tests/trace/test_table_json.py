from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dcu_asv_ext.trace.analysis import Analysis
from dcu_asv_ext.trace.operators import NO_OPERATOR
from dcu_asv_ext.trace.table_json import KERNEL_COLUMNS, OPERATOR_COLUMNS, table
from dcu_asv_ext.trace.table_rows import Selection

from .tabling import CPU, Tabling, a_step


@pytest.fixture
def step(tmp_path: Path) -> Analysis:
    return a_step(tmp_path)


def test_seconds_and_bytes_under_stable_names(step: Analysis) -> None:
    told = table(step, overhead=1.5)
    row = next(row for row in told["operators"] if row["name"] == "aten::addmm")
    assert row == {
        "name": "aten::addmm",
        "calls": 1,
        "outermost_calls": 1,
        "kernels": 2,
        "self_device_seconds": 50e-6,
        "device_seconds": 50e-6,
        "device_seconds_per_call": 50e-6,
        "self_cpu_seconds": 66e-6,
        "cpu_seconds": 80e-6,
        "cpu_seconds_per_call": 80e-6,
        "runtime_seconds": 10e-6,
        "self_waits_seconds": 0.0,
        "waits_seconds": 0.0,
        "self_bytes": None,
        "net_bytes": None,
        "peak_bytes": None,
        "held_bytes": None,
        "shapes": ["[[4], [8, 4]]"],
        "distinct_shapes": 1,
        "types": [],
        "source": "",
        "sources": [],
        "patterns": [],
    }
    assert (told["overhead"], told["by_shape"], told["memory_of"]) == (1.5, False, "")
    assert told["left_out"] == {"operators": 0, "kernels": 0}
    assert tuple(row) == OPERATOR_COLUMNS


def test_kernels(step: Analysis) -> None:
    row = table(step)["kernels"][0]
    assert row == {
        "name": "gemm",
        "short_name": "gemm",
        "shape": "grid 4x1x1 block 256x1x1",
        "count": 1,
        "seconds": 40e-6,
        "seconds_per_call": 40e-6,
        "longest_seconds": 40e-6,
        "shortest_seconds": 40e-6,
        "operators": ["aten::addmm"],
        "lanes": ["device 0 stream 0"],
    }
    assert tuple(row) == KERNEL_COLUMNS


def test_what_runs_in_no_operator_has_no_calls_and_no_host_time(step: Analysis) -> None:
    row = next(row for row in table(step)["operators"] if row["name"] == NO_OPERATOR)
    empty = {name for name, value in row.items() if value is None}
    assert {"calls", "outermost_calls", "self_cpu_seconds", "cpu_seconds", "runtime_seconds"} <= empty
    assert (row["self_device_seconds"], row["waits_seconds"]) == (15e-6, 20e-6)


def test_what_the_trace_cannot_tell_is_none_with_the_reason(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::mm", 0, 50)
    made.memory(10, 1024, 1, kind=CPU)
    told = table(made.analysis(tmp_path))
    (row,) = told["operators"]
    assert set(told["missing"]) == {name for name, value in row.items() if value is None}
    assert (row["self_device_seconds"], row["waits_seconds"], row["shapes"]) == (None, None, None)
    assert told["missing"]["self_device_seconds"] == "the trace has no rows of a device"
    assert (row["self_cpu_seconds"], row["self_bytes"], told["memory_of"]) == (50e-6, 1024, "host")
    assert told["kernels"] == []
    assert told["questions"] == []


def test_it_is_json(step: Analysis) -> None:
    for by_shape in (False, True):
        told = table(step, by_shape)
        assert json.loads(json.dumps(told)) == told


def test_patterns_and_questions_are_told(step: Analysis) -> None:
    told = table(step)
    assert told["questions"][0]["operator"] == "aten::addmm"
    assert set(told["questions"][0]["answers"][0]) == {"question", "answer", "text"}
    waiting = next(row for row in told["operators"] if row["name"] == "aten::_local_scalar_dense")
    assert [set(one) for one in waiting["patterns"]] == [{"kind", "text"}]


def test_the_selection_says_what_it_leaves_out(step: Analysis) -> None:
    told = table(step, selection=Selection(match="^aten::(add|linear)", sort="name", top=2))
    assert [row["name"] for row in told["operators"]] == ["aten::add", "aten::addmm"]
    assert told["left_out"] == {"operators": 1, "kernels": 1}
    assert all(re.match("aten::(add|linear)", " ".join(row["operators"])) for row in told["kernels"])
    assert len(told["kernels"]) == 2


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        (None, "aten::addmm"),
        ("self_device", "aten::addmm"),
        ("device", "aten::addmm"),
        ("self_cpu", "aten::addmm"),
        ("cpu", "aten::linear"),
        ("calls", "aten::add"),
        ("mean", "aten::addmm"),
        ("name", NO_OPERATOR),
    ],
)
def test_sorted(step: Analysis, sort: str | None, first: str) -> None:
    assert table(step, selection=Selection(sort=sort))["operators"][0]["name"] == first


def test_sorted_by_memory(tmp_path: Path) -> None:
    made = Tabling()
    for number, size in enumerate([10, 30, 20]):
        made.operator(f"op{number}", 20 * number, 20 * number + 10)
        made.memory(20 * number + 5, size, number + 1)
    rows = table(made.analysis(tmp_path), selection=Selection(sort="memory"))["operators"]
    assert [row["name"] for row in rows] == ["op1", "op2", "op0"]


def test_kernels_sorted(tmp_path: Path) -> None:
    made = Tabling()
    for number, name in enumerate(["b", "b", "b", "a", "c"]):
        made.runs(name, 100 * number, 100 * number + 5, 100 * number + {"a": 50, "b": 25, "c": 45}[name])
    analysis = made.analysis(tmp_path)

    def names(sort: str | None) -> list[str]:
        return [row["name"] for row in table(analysis, selection=Selection(sort=sort))["kernels"]]

    assert names(None) == names("self_cpu") == ["b", "a", "c"]
    assert names("mean") == ["a", "c", "b"]
    assert names("calls") == ["b", "a", "c"]
    assert names("name") == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"sort": "size"},
            "rows cannot be sorted by 'size': choose one of self_device, device, self_cpu, cpu, ",
        ),
        ({"match": "("}, "'(' is no regular expression: "),
        ({"top": 0}, "0 rows cannot be shown: choose a number from 1 on"),
    ],
)
def test_wrong_selections_are_refused(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        Selection(**wrong)  # type: ignore[arg-type]
    assert str(caught.value).startswith(sentence)
