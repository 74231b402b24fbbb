"""Which call launched a row, and which operator made a call: sure, or unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.trace import load
from dcu_asv_ext.trace.model import Trace

from .building import Building
from .synthetic import FLAVOURS, QUIRKS, Run
from .writing import write


def calls_of(trace: Trace) -> list[int]:
    """Start in us of each device row's call, -1 where it is unknown; in the order of the rows."""
    starts = trace.calls.start.tolist()
    return [starts[call] // 1000 if call >= 0 else -1 for call in trace.device.call.tolist()]


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize(
    "quirks", [(), *((one,) for one in QUIRKS), ("dup_corr", "drop_runtime"), QUIRKS], ids="+".join
)
def test_links_are_right_or_unknown(flavour: str, quirks: tuple[str, ...], tmp_path: Path) -> None:
    for seed in range(5):
        run = Run(flavour, quirks, seed=seed)
        trace = load(write(tmp_path / "trace.json", json.dumps(run.document())))
        truth, lost = run.truth.launched, {one.call_begin for one in run.work if one.lost}
        unknown = 0
        for row in range(len(trace.device)):
            device = trace.lanes[trace.device.lane[row]].device
            call = int(trace.device.call[row])
            right = truth[device, int(trace.device.start[row])]
            if call < 0:
                unknown += 1
            else:
                assert trace.calls.start[call] == right
        assert unknown == len(lost) or ("dup_corr" in quirks and unknown > len(lost))
        if "dup_corr" not in quirks:
            assert operators_of(trace) == expected_operators(run, trace)


def operators_of(trace: Trace) -> list[int]:
    return [int(trace.operators.external[one]) if one >= 0 else -1 for one in trace.device.operator]


def expected_operators(run: Run, trace: Trace) -> list[int]:
    """A lost call leaves the External id, which rows without arguments do not have."""
    numbers = {number for *_, number in run.operators}
    work = sorted(run.work, key=lambda one: one.begin)
    bare = run.flavour == "roctracer"
    return [one.operator if one.operator in numbers and not (bare and one.lost) else -1 for one in work]


def test_as_many_rows_as_calls_share_a_number(tmp_path: Path) -> None:
    trace = Building()
    for number in range(3):
        trace.call("hipLaunchKernel", 10 + number, 10.5 + number, correlation=5)
        trace.kernel(20 + number, 20.5 + number, correlation=5)
    assert calls_of(trace.analysis(tmp_path).trace) == [10, 11, 12]


@pytest.mark.parametrize(
    "changed",
    [
        {"call": {"tid": 7}},  # of two threads
        {"row": {"tid": 1, "args": {"device": 0, "stream": 1, "correlation": 5}}},  # on two streams
        {"call": {"name": "hipGraphLaunch"}},  # one of them may have launched both
        {"call": {"cat": "blink"}},  # lost
        {"row": {"cat": "blink"}},
    ],
    ids=str,
)
def test_which_of_several_is_not_guessed(changed: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    trace = Building()
    for number in range(2):
        trace.call("hipLaunchKernel", 10 + number, 10.5 + number, correlation=5)
        trace.kernel(20 + number, 20.5 + number, correlation=5)
    trace.events[-2] |= changed.get("call", {})
    trace.events[-1] |= changed.get("row", {})
    loaded = trace.analysis(tmp_path)
    assert set(calls_of(loaded.trace)) == {-1}
    rows = len(loaded.trace.device)
    assert loaded.totals["faults"] == [
        f"{rows} of {rows} device rows share their correlation, and nothing tells which call launched which"
    ]


def test_a_graph_launches_all_its_rows(tmp_path: Path) -> None:
    trace = Building()
    trace.call("hipGraphLaunch", 10, 15, correlation=5)
    for begin in (20, 30, 40):
        trace.kernel(begin, begin + 5, stream=begin % 20, correlation=5)
    trace.copy("Memcpy DtoD (Device -> Device)", 50, 60, correlation=5, bytes=8)
    assert calls_of(trace.analysis(tmp_path).trace) == [10] * 4


def test_a_lone_launch_does_not_get_two_kernels(tmp_path: Path) -> None:
    trace = Building()
    trace.call("hipLaunchKernel", 10, 15, correlation=5)
    trace.kernel(20, 30, correlation=5)
    trace.kernel(40, 50, correlation=5)
    assert calls_of(trace.analysis(tmp_path).trace) == [-1, -1]


def test_a_kernel_is_not_of_the_copy_that_shares_its_number(tmp_path: Path) -> None:
    trace = Building()
    trace.call("hipMemcpyAsync", 10, 15, correlation=5)
    trace.copy("Memcpy HtoD (Host -> Device)", 20, 30, correlation=5)
    trace.kernel(40, 50, correlation=5)
    assert calls_of(trace.analysis(tmp_path).trace) == [10, -1]


def test_a_call_may_fill_in_several_kernels(tmp_path: Path) -> None:
    trace = Building()
    trace.call("hipMemsetAsync", 10, 15, correlation=5, bytes="100")
    for begin in (20, 30):
        trace.kernel(begin, begin + 5, correlation=5)
        trace.events[-1]["name"] = "__amd_rocclr_fillBufferAligned"
    loaded = trace.analysis(tmp_path).trace
    assert calls_of(loaded) == [10, 10]
    assert loaded.device.bytes.tolist() == [-1, -1]  # those of the call are of both together


def test_bytes_and_direction_of_a_copy_are_those_of_its_call(tmp_path: Path) -> None:
    trace = Building()
    trace.call("hipMemcpyAsync", 10, 15, correlation=5, size="4096", kind="2")
    trace.copy("Memcpy ? (? -> ?)", 20, 30, correlation=5)
    trace.call("hipMemcpyAsync", 40, 45, correlation=6, size="1", kind="2")
    trace.copy("Memcpy HtoD (Host -> Device)", 50, 60, correlation=6, bytes=7)  # what the row says holds
    copies = trace.analysis(tmp_path).totals["copies"]
    assert {name: (one["count"], one["bytes"]) for name, one in copies.items()} == {
        "DtoH": (1, 4096),
        "HtoD": (1, 7),
    }


def test_bare_rows_that_begin_together_are_not_told_apart(tmp_path: Path) -> None:
    trace = Building()
    for number in (1, 2):
        trace.call("hipLaunchKernel", 10 * number, 10 * number + 5, correlation=number)
        trace.kernel(40, 45)
        trace.events[-1]["args"] = None
        trace.events.append(
            {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": number, "pid": 0, "tid": 0, "ts": 40}
        )
    assert calls_of(trace.analysis(tmp_path).trace) == [-1, -1]
    trace.events[-2]["dur"] = 4  # nor does it help that they differ in length
    assert calls_of(trace.analysis(tmp_path).trace) == [-1, -1]
    trace.events[-2]["ts"] = trace.events[-1]["ts"] = 50
    assert calls_of(trace.analysis(tmp_path).trace) == [10, 20]


@pytest.mark.parametrize(
    ("rows", "arrows", "expected"), [(2, [1], [-1, -1]), (1, [1, 2], [-1]), (1, [1, 1], [10])]
)
def test_arrows_that_do_not_tell_one_row(
    rows: int, arrows: list[int], expected: list[int], tmp_path: Path
) -> None:
    trace = Building()
    for number in (1, 2):
        trace.call("hipLaunchKernel", 10 * number, 10 * number + 5, correlation=number)
    for _ in range(rows):
        trace.kernel(40, 45)
        trace.events[-1]["args"] = None
    for number in arrows:
        trace.events.append(
            {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": number, "pid": 0, "tid": 0, "ts": 40}
        )
    assert calls_of(trace.analysis(tmp_path).trace) == expected


def test_several_processes_count_alike(tmp_path: Path) -> None:
    """Of a merged trace: equal correlations, told apart by External ids where these differ."""
    for externals, expected in (((7, 8), [10, 12]), ((7, 7), [-1, -1])):
        trace = Building()
        for process, external in enumerate(externals):
            trace.call(
                "hipLaunchKernel",
                10 + 2 * process,
                11 + 2 * process,
                correlation=5,
                **{"External id": external},
            )
            trace.events[-1]["pid"] = 100 + process
            trace.kernel(
                20 + 2 * process, 21 + 2 * process, device=process, correlation=5, **{"External id": external}
            )
        assert calls_of(trace.analysis(tmp_path).trace) == expected


def test_calls_of_backward_threads(tmp_path: Path) -> None:
    trace = Building()
    trace.operator("aten::mm", 10, 50, thread=100, **{"External id": 1})
    trace.operator("MmBackward0", 12, 40, thread=200, **{"External id": 2})
    trace.operator("aten::mm", 15, 30, thread=200, **{"External id": 3})
    trace.launch(20, 60, 70, thread=200)
    trace.launch(35, 80, 90, thread=200)
    trace.launch(45, 100, 110, thread=100)
    trace.launch(55, 120, 130, thread=300)
    assert operators_of(trace.analysis(tmp_path).trace) == [3, 2, 1, -1]


def test_an_operator_is_over_at_its_end(tmp_path: Path) -> None:
    trace = Building()
    trace.operator("a", 10, 20, **{"External id": 1})
    trace.operator("b", 20, 30, **{"External id": 2})
    trace.launch(20, 40, 50)
    trace.launch(30, 60, 70)
    assert operators_of(trace.analysis(tmp_path).trace) == [2, -1]
    # In whole microseconds a call may seem to begin when its operator ends: there its number tells.
    for event, number in zip(
        [one for one in trace.events if one.get("cat") == "cuda_runtime"], (1, 2), strict=True
    ):
        event["args"]["External id"] = number
    assert operators_of(trace.analysis(tmp_path).trace) == [1, 2]


def test_numbers_that_are_used_again_say_nothing(tmp_path: Path) -> None:
    trace = Building()
    for number in (7, 7, 8, 0):
        trace.operator("a", 10 + number, 10.5 + number, **{"External id": number})
    for begin, number in ((20, 7), (30, 8), (40, 0), (50, 9)):
        trace.kernel(begin, begin + 5, **{"External id": number})
    assert operators_of(trace.analysis(tmp_path).trace) == [-1, 8, -1, -1]


def test_a_number_of_another_time_or_thread_does_not_hold(tmp_path: Path) -> None:
    trace = Building()
    trace.operator("early", 10, 20, **{"External id": 1})
    trace.operator("elsewhere", 25, 45, thread=7, **{"External id": 2})
    trace.operator("around", 25, 45, **{"External id": 3})
    for begin, number in ((30, 1), (40, 2)):
        trace.launch(begin, begin + 50, begin + 55, took=2)
        trace.events[-2]["args"]["External id"] = number
    assert operators_of(trace.analysis(tmp_path).trace) == [3, 3]


def test_the_operator_around_an_operator(tmp_path: Path) -> None:
    trace = Building()
    for name, begin, end, thread in (
        ("outer", 10, 100, 1), ("same", 10, 100, 1), ("inner", 20, 40, 1), ("innermost", 30, 40, 1),
        ("next", 40, 60, 1), ("after", 100, 120, 1), ("elsewhere", 25, 35, 2), ("crossing", 90, 110, 1),
    ):  # fmt: skip
        trace.operator(name, begin, end, thread)
    loaded = trace.analysis(tmp_path).trace
    name = [loaded.name(one) for one in loaded.operators.name]
    parent = {
        one: name[up] if up >= 0 else None for one, up in zip(name, loaded.operators.parent, strict=True)
    }
    assert parent == {
        "outer": None, "same": "outer", "inner": "same", "innermost": "inner", "next": "same", "after": None,
        "elsewhere": None, "crossing": None,
    }  # fmt: skip
