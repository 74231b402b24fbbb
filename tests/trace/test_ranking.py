"""All findings of a trace together."""

from __future__ import annotations

import gzip
import json
import random
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


def test_several_waits_share_what_a_host_gains_that_no_longer_waits(tmp_path: Path) -> None:
    """Each alone could hide as much of the host's work as it waits; both together no more than that."""
    program = Program()
    for _ in range(4):
        with program.step():
            for operator in ("aten::item", "aten::nonzero"):
                program.run(80)
                program.wait(operator)
                program.host(90)
    analysis = program.analysis(tmp_path)
    waits = [one for one in ranked(analysis) if one.kind == "unexpected synchronisation"]
    each = [one.data["seconds_taken"] for one in waits]
    assert len(waits) == 2 and max(each) < analysis.scope.slack * 1e-9 < sum(each)
    assert sum(one.seconds for one in waits) == pytest.approx(analysis.scope.slack * 1e-9)
    assert waits[1].seconds < waits[0].seconds and "larger findings" in waits[1].text


def test_what_larger_findings_give_back_already_is_no_gain(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        with program.step():
            for operator in ("aten::item", "aten::nonzero", "aten::item"):
                program.run(20 if operator == "aten::nonzero" else 40)
                program.wait(operator)
                program.host(95)
    *_, last = ranked(program.analysis(tmp_path))
    assert last.data["operator"] == "aten::nonzero" and last.data["seconds_taken"] > 0
    assert last.seconds == 0 and not last.end_to_end and "would not change the end-to-end time" in last.text


@pytest.mark.parametrize("seed", range(40))
def test_all_together_give_back_no_more_than_there_is(tmp_path: Path, seed: int) -> None:
    """Of programs made up by chance, some of them over two devices."""
    chance = random.Random(seed)
    program = Program()
    parts = [chance.choice(("run", "long", "host", "copy", "item", "other")) for _ in range(8)]
    for _ in range(3):
        with program.step():
            for part in parts * 2:
                if part in ("run", "long"):
                    program.run(400 if part == "long" else 10, device=chance.choice((0, 0, 1)))
                elif part == "host":
                    program.host(chance.choice((50, 900)))
                elif part == "copy":
                    program.copy_in(chance.choice((20, 300)), stream=chance.choice((0, 9)))
                elif part == "item":
                    program.wait("aten::item")
                else:
                    program.stream_waits(3, 0)
                    program.run(60, stream=3)
                    program.stream_waits(0, 3)
    analysis = program.analysis(tmp_path)
    found, scope = ranked(analysis), analysis.scope
    of_kernels = ("unfused element-wise operators", "streams that do not overlap")
    assert sum(one.seconds for one in found) <= scope.total * 1e-9 + 1e-12
    others = sum(one.seconds for one in found if one.kind not in of_kernels)
    assert others <= scope.not_computing * 1e-9 + 1e-12
    for one in found:
        assert one.seconds >= 0 and (one.seconds == 0 or one.end_to_end) and one.share <= 1


def test_two_devices_that_lie_idle_together_lose_that_time_once(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(5):
            program.run(50, stream=0, device=0)
            program.run(50, stream=1, device=1)
            program.host(1000)
    analysis = program.analysis(tmp_path)
    assert sum(one.seconds for one in ranked(analysis)) == pytest.approx(4 * 960e-6, rel=0.02)
