"""All findings of a trace together."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from dcu_asv_ext.trace import TraceError, findings
from dcu_asv_ext.trace.ranking import ranked

from .detectors.programs import Program


def everything(program: Program) -> None:
    """Items, pageable copies, an unfused chain, Python work."""
    for _ in range(4):
        with program.step(), program.function("train.py(7): epoch"):
            program.copy_in(150)
            for name in ("sigmoid", "tanh", "exp", "neg"):
                program.run(200, f"aten::{name}", [[1 << 20]])
            program.wait("aten::item")
            program.host(120)
            program.run(50)
            program.host(900)
            program.run(50)
            program.wait(call="hipDeviceSynchronize", own=True)
        program.host(50)


def test_the_largest_first_and_no_time_twice(tmp_path: Path) -> None:
    program = Program()
    everything(program)
    analysis = program.analysis(tmp_path)
    found = ranked(analysis)
    assert [one.kind for one in found] == [
        "host work between launches",
        "unfused element-wise operators",
        "pageable copy",
        "unexpected synchronisation",
    ]
    assert [one.seconds for one in found] == sorted((one.seconds for one in found), reverse=True)
    assert sum(one.seconds for one in found) <= analysis.scope.total * 1e-9
    idle = analysis.scope.total - analysis.scope.busy
    assert found[0].seconds + found[3].seconds + found[2].data["idle_seconds"] <= idle * 1e-9
    for one in found:
        assert 0 <= one.begin < one.end and one.events and 0 < one.share < 1
        assert one.source == "train.py:7 epoch" and one.text.endswith(".") and one.next_step


def test_what_changes_nothing_comes_last(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        program.run(3000)
        for _ in range(8):
            program.copy_in(200, blocking=False, stream=1)
        for _ in range(3):
            program.host(1300)
            program.run(10)
    found = ranked(program.analysis(tmp_path))
    assert [(one.kind, one.end_to_end) for one in found] == [
        ("host work between launches", True),
        ("pageable copy", False),
    ]


def test_from_a_file(tmp_path: Path) -> None:
    program = Program()
    everything(program)
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": program.events}).encode()))
    assert findings(path)[0].kind == "host work between launches"
    with pytest.raises(TraceError):
        findings(tmp_path / "none.json")


@pytest.mark.parametrize(
    "categories", [{"cpu_op", "user_annotation"}, {"cpu_op", "cuda_runtime", "python_function"}]
)
def test_a_trace_without_device_rows_has_none(tmp_path: Path, categories: set[str]) -> None:
    program = Program()
    everything(program)
    program.events = [event for event in program.events if event["cat"] in categories]
    assert ranked(program.analysis(tmp_path)) == []


@pytest.mark.parametrize("without", ["python_function", "cpu_op", "user_annotation", "cuda_runtime"])
def test_less_in_the_trace_gives_fewer_findings(tmp_path: Path, without: str) -> None:
    program = Program()
    everything(program)
    whole = {one.kind: one.seconds for one in ranked(program.analysis(tmp_path))}
    program.events = [event for event in program.events if event["cat"] != without]
    less = ranked(program.analysis(tmp_path))
    for one in less:
        assert one.kind in {*whole, "gaps between kernels", "blocking copy"}
        assert without != "python_function" or one.source == ""


def test_rows_that_take_no_time_are_none(tmp_path: Path) -> None:
    program = Program()
    program.kernel(5, 5)
    assert ranked(program.analysis(tmp_path)) == []
