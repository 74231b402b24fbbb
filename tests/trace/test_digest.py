"""What is kept of a trace: figures of one call counted by hand, tables that add up, reasons for what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.metrics import GROUPS
from dcu_asv_ext.trace.digest import MOST_LETTERS, digest
from dcu_asv_ext.trace.digest_tables import MOST, REST, capped

from .building import Building

COUNTS = ("kernel_count", "sync_count", "copy_count_htod", "copy_count_dtoh", "copy_count_dtod")


def step(made: Building, number: int, begin: float, kernels: int = 2) -> None:
    """A call of 1000 us: kernels of 10 us each 20 us, a copy of 4 KiB, two waits, and the harness's own."""
    made.span(f"ProfilerStep#{number}", begin, begin + 1000)
    made.span("dcu_asv_ext.wait", begin + 900, begin + 1000)
    for one in range(kernels):
        at = begin + 100 + 20 * one
        made.launch(at - 50, at, at + 10)
    copied = (begin + 300, begin + 310)
    made.copies("Memcpy HtoD (Host -> Device)", (begin + 290, begin + 312), copied, size=4096)
    made.call("hipStreamSynchronize", begin + 320, begin + 330)
    made.call("hipDeviceSynchronize", begin + 910, begin + 990)


def told(made: Building, folder: Path, steps: int, **more: Any) -> dict[str, Any]:
    return digest(made.analysis(folder), steps, **more)


def test_figures_of_one_call(tmp_path: Path) -> None:
    made = Building()
    for number in range(4):
        step(made, number, 2000 * number)
        # The harness's work between calls, and its wait.
        made.launch(2000 * number + 1100, 2000 * number + 1200, 2000 * number + 1900)
        made.call("hipDeviceSynchronize", 2000 * number + 1890, 2000 * number + 1910)
    found = told(made, tmp_path, 4)
    per_call = found["per_call"]
    assert {name: per_call[name] for name in COUNTS} == {
        **dict.fromkeys(COUNTS, 0),
        "kernel_count": 2,
        # The blocking copy, and the wait for the stream.
        "sync_count": 2,
        "copy_count_htod": 1,
    }
    assert per_call["copy_bytes_htod"] == 4096
    assert per_call["profiled_device_time"] == pytest.approx(30e-6)
    # From the first row at 100 to the last row's end at 310, 30 us of them busy; the time between calls is none.
    assert per_call["idle_share"] == pytest.approx(1 - 30 / 210)
    assert per_call["overlap_share"] == 0
    assert found["varies"] == {} and found["missing"] == {} and set(per_call) == set(GROUPS["profile"])


def test_tables_are_of_all_calls_and_without_the_harness(tmp_path: Path) -> None:
    made = Building()
    for number in range(3):
        step(made, number, 2000 * number)
    found = told(made, tmp_path, 3)
    assert [row[:4] for row in found["kernels"]] == [["work", "", 6, pytest.approx(60e-6)]]
    assert [row[:4] for row in found["copies"]] == [["HtoD", 3, 3 * 4096, pytest.approx(30e-6)]]
    assert sorted(row[:3] for row in found["syncs"]) == [
        ["copy", "hipMemcpyWithStream", 3],
        ["stream", "hipStreamSynchronize", 3],
    ]
    # Gaps of the calls: two each, and none between two calls.
    assert sum(row[1] for row in found["gaps"]) == 2 * 3
    assert sum(row[2] for row in found["gaps"]) == pytest.approx(3 * 180e-6)
    json.dumps(found, allow_nan=False)


def test_counts_that_differ_are_a_mean_and_are_told(tmp_path: Path) -> None:
    made = Building()
    step(made, 0, 0, kernels=2)
    step(made, 1, 2000, kernels=5)
    found = told(made, tmp_path, 2)
    assert found["per_call"]["kernel_count"] == 3.5 and found["varies"] == {"kernel_count": [2, 5]}


def test_a_call_without_rows_counts_as_one(tmp_path: Path) -> None:
    made = Building()
    step(made, 0, 0)
    made.span("ProfilerStep#1", 2000, 3000)
    found = told(made, tmp_path, 2)
    assert found["per_call"]["kernel_count"] == 1 and found["varies"]["kernel_count"] == [0, 2]
    assert found["per_call"]["idle_share"] == pytest.approx(1 - 30 / 210)


def test_streams_that_overlap(tmp_path: Path) -> None:
    made = Building()
    made.span("ProfilerStep#0", 0, 1000)
    made.launch(10, 100, 200, stream=0)
    made.launch(20, 150, 250, stream=1)
    assert told(made, tmp_path, 1)["per_call"]["overlap_share"] == pytest.approx(50 / 150)


def test_launch_bound_calls_and_one_kernel_after_each_wait_are_told_apart(tmp_path: Path) -> None:
    made = Building()
    made.span("ProfilerStep#0", 0, 1000)
    for number in range(8):
        made.launch(100 * number, 100 * number + 8, 100 * number + 18)
    bound = told(made, tmp_path, 1)["per_call"]["launch_bound_share"]
    assert bound > 0.9
    made = Building()
    for number in range(8):
        # The harness waits between the calls, which makes nothing launch-bound.
        made.span(f"ProfilerStep#{number}", 100 * number, 100 * number + 50)
        made.launch(100 * number + 1, 100 * number + 8, 100 * number + 18)
        made.call("hipDeviceSynchronize", 100 * number + 17, 100 * number + 19)
    assert told(made, tmp_path, 8)["per_call"]["launch_bound_share"] == 0


def test_without_device_rows_everything_is_missing_with_the_reason(tmp_path: Path) -> None:
    made = Building()
    made.span("ProfilerStep#0", 0, 1000)
    made.operator("aten::mm", 10, 20)
    found = told(made, tmp_path, 1)
    assert found["per_call"] == {} and found["kernels"] == []
    assert found["missing"] == dict.fromkeys(GROUPS["profile"], "the trace has no rows of a device")
    assert [row[:2] for row in found["operators"]] == [["aten::mm", 1]]


def test_where_the_device_is_known_to_be_recorded_nothing_ran(tmp_path: Path) -> None:
    made = Building()
    made.span("ProfilerStep#0", 0, 1000)
    made.operator("aten::mm", 10, 20)
    found = told(made, tmp_path, 1, device_seen=True)
    assert set(found["per_call"].values()) == {0}
    assert set(found["missing"]) == {"idle_share", "overlap_share", "launch_bound_share"}


def test_only_device_rows(tmp_path: Path) -> None:
    made = Building()
    made.kernel(10, 20)
    made.copy("Memcpy DtoH (Device -> Host)", 30, 40)
    found = told(made, tmp_path, 1)
    assert found["per_call"]["kernel_count"] == 1 and found["per_call"]["copy_count_dtoh"] == 1
    assert "no calls of the device's runtime" in found["missing"]["sync_count"]
    assert "bytes of 1 of 1 copies" in found["missing"]["copy_bytes_dtoh"]
    assert found["per_call"]["copy_bytes_htod"] == 0
    assert "launching call" in found["missing"]["launch_bound_share"]


def test_copies_of_an_untold_direction(tmp_path: Path) -> None:
    made = Building()
    made.copy("Memcpy ? (? -> ?)", 30, 40)
    found = told(made, tmp_path, 1)
    assert "direction of 1 of 1 copies" in found["missing"]["copy_count_htod"]
    assert not [name for name in found["per_call"] if name.startswith("copy")]


def test_lost_steps_and_faults_of_the_file_are_told(tmp_path: Path) -> None:
    made = Building()
    step(made, 0, 0)
    found = told(made, tmp_path, 3)
    assert "the trace has 1 of 3 profiled calls" in found["faults"]
    assert found["per_call"]["kernel_count"] == 2


def test_long_names_and_long_tables_are_cut_and_still_add_up(tmp_path: Path) -> None:
    made = Building()
    made.span("ProfilerStep#0", 0, 1e6)
    for number in range(100):
        made.launch(100 * number, 100 * number + 10, 100 * number + 11 + number)
        made.events[-1]["name"] = f"kernel_{number}_{'x' * 300}"
        made.operator(f"suite::op{number}", 100 * number, 100 * number + 50)
    found = told(made, tmp_path, 1)
    for table, count, seconds in (("kernels", 2, 3), ("operators", 6, 2)):
        rows = found[table]
        assert len(rows) == MOST[table] + 1 and rows[-1][0] == REST
        assert sum(row[count] for row in rows) == 100
        assert sum(row[seconds] for row in rows) == pytest.approx(sum(range(1, 101)) * 1e-6)
    assert max(len(row[0]) for row in found["kernels"]) <= MOST_LETTERS


def test_a_rest_of_what_is_not_told_is_not_told() -> None:
    rows = [["HtoD", 1, 10, 1.0, "", ""], ["DtoH", 1, None, 2.0, "", ""], ["DtoD", 2, 5, 3.0, "", ""]]
    assert capped("copies", rows, 1)[1] == [REST, 3, None, 5.0, "", ""]
    assert capped("copies", rows, 3) == rows
    assert capped("kernels", [["a", "", 1, "no number"], ["b"]], 0)[0] == [REST, "", None, None, []]
