"""What becomes of rows: their columns, their tables, the runtime that wrote them."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.trace import TraceError, load
from dcu_asv_ext.trace.columns import (
    Cached,
    Columns,
    Numbered,
    can_be,
    microseconds,
    nanoseconds,
    whole_numbers,
)
from dcu_asv_ext.trace.kinds import DIRECTIONS
from dcu_asv_ext.trace.model import Lane, Table, Trace

from .building import Building
from .synthetic import FLAVOURS, Run
from .writing import write


def read(rows: list[dict[str, Any]], folder: Path, **header: Any) -> Trace:
    return load(write(folder / "trace.json", json.dumps({**header, "traceEvents": rows})))


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_every_table_of_every_flavour(flavour: str, tmp_path: Path) -> None:
    run = Run(flavour)
    trace = load(write(tmp_path / "trace.json", json.dumps(run.document())))
    assert len(trace.device) == len(run.work) and len(trace.operators) == len(run.operators)
    assert len(trace.calls) == len(run.work) + len(run.syncs)
    assert [trace.name(one) for one in trace.spans.name[trace.steps]] == [name for name, _, _ in run.marks]
    assert trace.flavour == ("cuda" if flavour == "cuda" else "hip")
    assert trace.lanes == [Lane(0, 7), Lane(0, 0)] and trace.devices == [0]
    assert trace.events == len(run.events())
    for table in (trace.device, trace.calls, trace.operators, trace.spans):
        check_table(table)
    correlations = sorted(one.correlation for one in run.work)
    assert sorted(trace.device.correlation.tolist()) == correlations


def check_table(table: Table) -> None:
    for name, column in vars(table).items():
        assert column.dtype == np.int64 and len(column) == len(table), name
    assert (np.diff(table.start) >= 0).all() and (table.start >= 0).all() and (table.duration >= 0).all()


def test_an_empty_table_has_columns_too(tmp_path: Path) -> None:
    trace = read([{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "a"}}], tmp_path)
    for table in (trace.device, trace.calls, trace.operators, trace.frames, trace.spans, trace.memory):
        check_table(table)
    assert (trace.begin, trace.flavour, trace.devices, trace.steps.tolist()) == (0, "unknown", [], [])


def test_the_columns_of_an_operator(tmp_path: Path) -> None:
    trace = Building()
    args = {
        "External id": 5, "Input Dims": [[2, 3], []], "Input type": ["float", "Scalar"], "Sequence number": 9,
        "Fwd thread id": 1,
    }  # fmt: skip
    trace.operator("aten::add", 10, 20, **args)
    trace.operator("aten::mul", 30, 40)
    found = trace.analysis(tmp_path).trace
    table = found.operators
    assert [found.name(one) for one in table.name] == ["aten::add", "aten::mul"]
    assert [found.name(one) for one in table.shapes] == ["[[2, 3], []]", ""]
    assert [found.name(one) for one in table.types] == ["float, Scalar", ""]
    assert (table.external.tolist(), table.sequence.tolist()) == ([5, -1], [9, -1])
    assert table.forward_thread.tolist() == [1, 0]


def test_the_columns_of_a_device_row(tmp_path: Path) -> None:
    trace = Building()
    trace.kernel(
        10, 20, stream=3, device=1, grid=[64, 1, 1], block=[256, 1, 1], correlation=7, **{"External id": 8}
    )
    trace.copy("Memcpy HtoD (Host -> Device)", 30, 40, bytes="4096")
    found = trace.analysis(tmp_path).trace
    table = found.device
    assert [found.name(one) for one in table.shape] == ["grid 64x1x1 block 256x1x1", ""]
    assert [found.lanes[one].label for one in table.lane] == ["device 1 stream 3", "device 0 stream 0"]
    assert (table.correlation.tolist(), table.external.tolist()) == ([7, -1], [8, -1])
    assert (table.bytes.tolist(), table.direction.tolist()) == ([-1, 4096], [-1, DIRECTIONS.index("HtoD")])
    assert found.on(1).tolist() == [True, False]


def test_the_columns_of_memory_rows(tmp_path: Path) -> None:
    def row(ts: float, **args: Any) -> dict[str, Any]:
        args = {"Bytes": 512, "Addr": 2**47, "Device Type": 1, "Device Id": 2, "Total Allocated": 5, **args}
        return {
            "ph": "i",
            "cat": "cpu_instant_event",
            "name": "[memory]",
            "pid": 1,
            "tid": 2,
            "ts": ts,
            "args": args,
        }

    rows = [row(5.5), row(4, Bytes=-512, **{"Device Type": 0, "Device Id": -1, "Total Reserved": 9})]
    rows.append({**row(6), "name": "[OutOfMemory]"})
    rows.append({**row(7), "args": None})
    trace = read(rows, tmp_path)
    table = trace.memory
    check_table(table)
    assert (table.start.tolist(), table.end.tolist(), trace.begin) == ([0, 1500], [0, 1500], 4000)
    assert (table.bytes.tolist(), table.on_cpu.tolist(), table.device.tolist()) == (
        [-512, 512],
        [1, 0],
        [-1, 2],
    )
    assert (table.allocated.tolist(), table.reserved.tolist()) == ([5, 5], [9, -1])
    assert table.address.tolist() == [2**47] * 2
    assert trace.faults == ["1 row that cannot be read: left out"]


def test_threads_have_their_names(tmp_path: Path) -> None:
    trace = Building()
    trace.events.append(
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 100, "args": {"name": "thread 100 (python) "}}
    )
    trace.operator("a", 10, 20, thread=100)
    trace.operator("b", 10, 20, thread=7)
    found = trace.analysis(tmp_path).trace
    assert found.threads == ["thread 100 (python)", "thread 7"]


def test_written_differently_a_lane_is_the_same(tmp_path: Path) -> None:
    trace = Building()
    for device, stream in ((0, 7), (0, "7"), ("0", 7), ("GPU 0", "0x7"), (1, 7), ("GPU 1", 7)):
        trace.events.append(
            {"ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": stream, "ts": 10, "dur": 1}
        )
    found = trace.analysis(tmp_path).trace
    assert found.lanes == [Lane(0, 7), Lane(1, 7)] and found.devices == [0, 1]


@pytest.mark.parametrize(
    ("header", "call", "flavour", "runtime"),
    [
        ({"hip_runtime_version": 6}, "cudaLaunchKernel", "hip", "hip_runtime_version 6"),
        ({"rocprofiler-sdk_version": 1}, "", "hip", "rocprofiler-sdk_version 1"),
        ({"cuda_runtime_version": 12}, "hipLaunchKernel", "hip", "names of its calls"),
        ({"cuda_runtime_version": 12}, "", "cuda", "cuda_runtime_version 12"),
        ({}, "cuLaunchKernel", "cuda", "names of its calls"),
        ({}, "simLaunchKernel", "unknown", "nothing in the file"),
    ],
)
def test_the_runtime(header: dict[str, Any], call: str, flavour: str, runtime: str, tmp_path: Path) -> None:
    row = {"ph": "X", "cat": "cuda_runtime", "name": call, "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    trace = read([row] if call else [{"ph": "M"}], tmp_path, **header)
    assert (trace.flavour, trace.runtime) == (flavour, runtime)


@pytest.mark.parametrize(
    "category",
    ["cuda_runtime", "cuda_driver", "privateuse1_runtime", "xpu_runtime", "Runtime", "HIP_RUNTIME"],
)
def test_calls_of_every_runtime(category: str, tmp_path: Path) -> None:
    row = {"ph": "X", "cat": category, "name": "xLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    assert len(read([row], tmp_path).calls) == 1


def test_annotations_and_synchronisations_on_the_device_are_no_work(tmp_path: Path) -> None:
    """`gpu_user_annotation` and `cuda_sync` rows stand for stretches of time on a stream, not for work."""
    rows = [
        {
            "ph": "X",
            "cat": category,
            "name": "a",
            "pid": 0,
            "tid": 7,
            "ts": 1,
            "dur": 1,
            "args": {"device": 0},
        }
        for category in ("gpu_user_annotation", "cuda_sync", "overhead", "Trace")
    ]
    assert len(read(rows, tmp_path).device) == 0


def test_garbage_is_collected_again_when_a_file_was_read(tmp_path: Path) -> None:
    assert gc.isenabled()
    load(write(tmp_path / "trace.json", '[{"ph": "M"}]'))
    assert gc.isenabled()
    with pytest.raises(TraceError):
        load(write(tmp_path / "trace.json", ""))
    assert gc.isenabled()


def test_numbers_of_values() -> None:
    numbered: Numbered[str] = Numbered()
    assert [numbered["a"], numbered["b"], numbered["a"], numbered.number("c")] == [0, 1, 0, 2]
    assert numbered.all == ["a", "b", "c"]
    asked: list[int] = []

    def double(value: int) -> int:
        asked.append(value)
        return 2 * value

    cached = Cached(double)
    assert (cached[4], cached[4], asked) == (8, 8, [4])


def test_columns_take_all_values_of_a_batch_or_none() -> None:
    table = Columns(("start",), ("name", "kind"))
    table.extend([5.5, 3], [1, 2], [7, 8])
    for bad in (([1.5], [1], ["x"]), ([1.5], ["x"], [1]), (["x"], [1], [1]), ([1.5], [2**70], [1])):
        with pytest.raises((TypeError, OverflowError)):
            table.extend(*bad)
    assert (len(table), table.numbers) == (2, ["name", "kind"])
    assert table.time("start").tolist() == [5.5, 3.0]
    assert (table.number("name").tolist(), table.number("kind").tolist()) == ([1, 2], [7, 8])


def test_times_and_numbers() -> None:
    def times(*values: Any) -> list[int]:
        return nanoseconds(np.array(microseconds(list(values)))).tolist()

    assert times(1, 2.0004, "3.25", -1.5, 1712867402348256) == [1000, 2000, 3250, -1500, 1712867402348256000]
    for bad in (None, "x", [1], 10**400):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            microseconds([1, bad])
    odd = np.array([1.5, float("nan"), float("inf"), 1e17, -1e17])
    assert can_be(odd).tolist() == [True, False, False, False, False]
    assert list(whole_numbers([1, -2])) == [1, -2]
    assert list(whole_numbers(["7", "0x10", 3.0, None, 2**63, -(2**63), 1.5, [1]])) == [
        7,
        16,
        3,
        -1,
        -1,
        -(2**63),
        -1,
        -1,
    ]
