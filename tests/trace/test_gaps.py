"""Gaps between device rows, by cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.gaps import Gaps
from dcu_asv_ext.trace.waits import CAUSES, COPY, HOST_LATE, SCHEDULING, STREAM, SYNC, UNKNOWN
from tests.trace.building import Building


def gaps_of(made: Building, folder: Path) -> Gaps:
    """Checked: their sum is the idle time."""
    analysis = made.analysis(folder)
    idle = sum(one.idle_time for one in analysis.activities)
    assert sum(analysis.gaps.time_by_cause().values()) == idle
    assert all(gap.length > 0 for gap in analysis.gaps)
    return analysis.gaps


def told(gaps: Gaps) -> list[tuple[str, int, int]]:
    return [(gap.cause, gap.begin, gap.end) for gap in gaps]


def test_a_row_submitted_after_the_device_ran_dry(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(3): step", 0, 100)
    made.launch(0, 10, 20)
    made.launch(50, 60, 70)
    (gap,) = gaps_of(made, tmp_path)
    assert (gap.device, gap.begin, gap.end, gap.cause) == (0, 20_000, 60_000, HOST_LATE)
    assert (gap.before, gap.after, gap.call, gap.length) == (0, 1, 1, 40_000)
    assert gap.source == "train.py:3 step"


def test_a_row_submitted_in_time(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 30, 40)
    made.launch(6, 43, 50)
    (gap,) = gaps_of(made, tmp_path)
    assert (gap.cause, gap.call, gap.source) == (SCHEDULING, -1, "")


def test_a_call_that_was_still_under_way_when_the_device_ran_dry(tmp_path: Path) -> None:
    """Loading a module takes milliseconds, inside the launch."""
    made = Building()
    made.launch(0, 10, 50)
    made.launch(10, 905, 910, took=890)
    made.launch(902, 911, 920)
    assert told(gaps_of(made, tmp_path)) == [(HOST_LATE, 50_000, 905_000), (SCHEDULING, 910_000, 911_000)]


def test_a_call_begun_just_before_the_device_ran_dry(tmp_path: Path) -> None:
    """On an idle device it takes 10 us from call to row here: a call 4 us before the end is late by 6 us."""
    made = Building()
    made.launch(0, 10, 20, took=2)
    for begin in (100, 200, 300):
        made.launch(begin, begin + 10, begin + 20, took=2)
    made.launch(316, 326, 400, took=2)
    made.launch(380, 410, 420, took=2)
    causes = [gap.cause for gap in gaps_of(made, tmp_path)]
    assert causes == [HOST_LATE, HOST_LATE, HOST_LATE, HOST_LATE, SCHEDULING]


def test_after_a_synchronisation(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(3): step", 0, 100)
    made.launch(0, 10, 40)
    made.call("hipDeviceSynchronize", 6, 44)
    made.launch(60, 70, 80)
    (gap,) = gaps_of(made, tmp_path)
    assert (gap.cause, gap.call, gap.source) == (SYNC, 1, "train.py:3 step")


@pytest.mark.parametrize(
    ("begin", "end"), [(2, 20), (45, 50)], ids=["over before the device ran dry", "begun after it"]
)
def test_a_synchronisation_that_cut_nothing(tmp_path: Path, begin: int, end: int) -> None:
    made = Building()
    made.launch(0, 10, 40, took=1)
    made.call("hipStreamSynchronize", begin, end)
    made.launch(60, 70, 80)
    assert [gap.cause for gap in gaps_of(made, tmp_path)] == [HOST_LATE]


def test_a_wait_on_another_thread_explains_a_late_launch_where_its_own_has_none(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 10, 40)
    made.call("hipStreamSynchronize", 6, 44)
    made.launch(60, 70, 80, thread=200)
    made.call("hipDeviceSynchronize", 61, 84)
    made.call("hipStreamSynchronize", 66, 83, thread=200)
    made.launch(95, 105, 110, thread=200)
    first, second = gaps_of(made, tmp_path)
    trace = made.analysis(tmp_path).trace
    assert (first.cause, second.cause) == (SYNC, SYNC)
    assert trace.calls.thread[first.call] != trace.calls.thread[second.call]
    assert trace.names[trace.calls.name[second.call]] == "hipStreamSynchronize"


def test_a_wait_of_its_own_thread_comes_before_one_of_another(tmp_path: Path) -> None:
    """The thread that stands first in the file is looked at first, that of the launch last."""
    made = Building()
    made.launch(0, 10, 40)
    made.call("hipStreamSynchronize", 6, 44)
    made.call("hipDeviceSynchronize", 7, 45, thread=200)
    made.launch(60, 70, 80)
    (gap,) = gaps_of(made, tmp_path)
    assert gap.call == 1


def test_a_wait_that_was_not_over_when_the_row_was_submitted(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 10, 40)
    made.call("hipDeviceSynchronize", 6, 90, thread=200)
    made.launch(60, 70, 80)
    assert [gap.cause for gap in gaps_of(made, tmp_path)] == [HOST_LATE]


def test_a_blocking_copy(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 10, 40)
    made.copies("Memcpy DtoH (Device -> Host)", (6, 55), (45, 50))
    made.launch(60, 70, 80)
    gaps = gaps_of(made, tmp_path)
    assert told(gaps) == [(SCHEDULING, 40_000, 45_000), (COPY, 50_000, 70_000)]
    assert gaps[1].call == 1


def test_a_copy_and_a_synchronisation_in_one_operator(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 10, 40)
    made.operator("aten::nonzero", 4, 60)
    made.copies("Memcpy DtoH (Device -> Pinned)", (6, 8), (42, 44), call="cudaMemcpyAsync")
    made.call("cudaStreamSynchronize", 9, 50)
    made.launch(70, 80, 90)
    assert [gap.cause for gap in gaps_of(made, tmp_path)] == [SCHEDULING, COPY]


def test_the_same_without_an_operator_around_both(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 10, 40)
    made.copies("Memcpy DtoH (Device -> Pinned)", (6, 8), (42, 44), call="cudaMemcpyAsync")
    made.call("cudaStreamSynchronize", 9, 50)
    made.launch(70, 80, 90)
    assert [gap.cause for gap in gaps_of(made, tmp_path)] == [SCHEDULING, SYNC]


def test_an_item_that_copies_nothing_is_a_synchronisation(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 10, 40)
    made.operator("aten::item", 5, 52)
    made.operator("aten::_local_scalar_dense", 6, 50)
    made.call("hipStreamSynchronize", 7, 45)
    made.launch(70, 80, 90)
    assert [gap.cause for gap in gaps_of(made, tmp_path)] == [SYNC]


def streams(made: Building, waits: bool) -> Building:
    made.launch(0, 10, 40, took=2, stream=1)
    if waits:
        made.call("hipStreamWaitEvent", 3, 4)
    made.launch(6, 45, 60, took=2, stream=2)
    return made


def test_a_row_that_waited_for_another_stream(tmp_path: Path) -> None:
    (gap,) = gaps_of(streams(Building(), waits=True), tmp_path)
    assert (gap.cause, gap.call) == (STREAM, 1)


def test_a_row_of_another_stream_that_waited_for_nothing(tmp_path: Path) -> None:
    made = streams(Building(), waits=False)
    made.call("hipStreamWaitEvent", 70, 71)  # this tracer shows them
    assert [gap.cause for gap in gaps_of(made, tmp_path)] == [SCHEDULING]


def test_a_row_held_up_by_another_stream_where_the_tracer_shows_no_events(tmp_path: Path) -> None:
    """Called for at 6, on a stream that was free: 34 us before the other stream's row ended."""
    (gap,) = gaps_of(streams(Building(), waits=False), tmp_path)
    assert (gap.cause, gap.call) == (STREAM, -1)


def test_a_row_whose_own_stream_was_busy_until_then(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 10, 38, took=2, stream=2)
    made.launch(3, 12, 40, took=2, stream=1)
    made.launch(6, 45, 60, took=2, stream=2)
    assert [gap.cause for gap in gaps_of(made, tmp_path)] == [SCHEDULING]


def test_a_wait_for_an_event_belongs_to_the_next_row_of_its_stream(tmp_path: Path) -> None:
    made = streams(Building(), waits=True)
    made.launch(9, 62, 70, took=2, stream=1)
    made.launch(12, 75, 80, took=2, stream=2)
    assert [gap.cause for gap in gaps_of(made, tmp_path)] == [STREAM, SCHEDULING, SCHEDULING]


def test_a_wait_for_what_was_over_already(tmp_path: Path) -> None:
    """The row before ran in the same stream: the wait for an event of another one held up nothing."""
    made = Building()
    made.launch(0, 10, 40, took=2)
    made.call("hipStreamWaitEvent", 3, 4)
    made.launch(6, 45, 60, took=2)
    assert [gap.cause for gap in gaps_of(made, tmp_path)] == [SCHEDULING]


def test_rows_of_one_graph_launch(tmp_path: Path) -> None:
    made = Building()
    made.call("hipGraphLaunch", 0, 100, correlation=1)
    made.kernel(20, 30, correlation=1)
    made.kernel(35, 40, correlation=1)
    assert [gap.cause for gap in gaps_of(made, tmp_path)] == [SCHEDULING]


def test_rows_without_calls(tmp_path: Path) -> None:
    made = Building()
    made.kernel(10, 20)
    made.kernel(30, 40)
    (gap,) = gaps_of(made, tmp_path)
    assert (gap.cause, gap.call) == (UNKNOWN, -1)


def test_clocks_that_differ_give_no_cause(tmp_path: Path) -> None:
    made = Building()
    for begin in (1000, 1100, 1200):
        made.launch(begin, begin - 500, begin - 480)
    assert [gap.cause for gap in gaps_of(made, tmp_path)] == [UNKNOWN, UNKNOWN]


def test_overlapping_nested_and_empty_rows(tmp_path: Path) -> None:
    made = Building()
    made.kernel(0, 0)
    made.kernel(10, 50)
    made.kernel(20, 30)
    made.kernel(40, 60, stream=1)
    made.kernel(70, 70)
    made.kernel(80, 90)
    gaps = gaps_of(made, tmp_path)
    assert [(gap.begin, gap.end) for gap in gaps] == [
        (0, 10_000),
        (60_000, 70_000),
        (70_000, 80_000),
    ]
    assert [(gap.before, gap.after) for gap in gaps] == [(0, 1), (3, 4), (4, 5)]


def test_devices_have_gaps_of_their_own(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 10, 20, device=0)
    made.launch(6, 16, 40, device=1)
    made.launch(50, 60, 70, device=1)
    made.launch(80, 90, 100, device=0)
    gaps = gaps_of(made, tmp_path)
    assert [(gap.device, gap.begin, gap.end) for gap in gaps] == [(0, 20_000, 90_000), (1, 40_000, 60_000)]


@pytest.mark.parametrize("traced", [False, True])
def test_a_device_that_waits_for_another_one(tmp_path: Path, traced: bool) -> None:
    """A model over two devices, submitted far ahead; each works when the other has done its part."""
    made = Building()
    for number in range(4):
        called, begin = 10.0 * number, 100 + 100.0 * number
        if traced:
            made.call("hipStreamWaitEvent", called, called + 1)
        made.launch(called + 2, begin, begin + 95, device=number % 2)
    gaps = gaps_of(made, tmp_path)
    assert [gap.cause for gap in gaps] == [STREAM, STREAM]


def test_rows_of_another_device_that_end_by_chance_are_no_cause(tmp_path: Path) -> None:
    made = Building()
    made.launch(0, 100, 200, device=0)
    made.launch(6, 100, 203, device=1)
    made.launch(12, 205, 300, device=0)
    made.launch(18, 206, 300, device=1)
    assert {gap.cause for gap in gaps_of(made, tmp_path)} == {SCHEDULING}


def test_no_device_rows(tmp_path: Path) -> None:
    gaps = gaps_of(Building(), tmp_path)
    assert list(gaps) == []
    assert gaps.time_by_cause() == dict.fromkeys(CAUSES, 0)


def test_the_longest_and_slices(tmp_path: Path) -> None:
    made = Building()
    for begin, end in ((0, 10), (12, 20), (50, 60), (65, 70)):
        made.kernel(begin, end)
    gaps = gaps_of(made, tmp_path)
    assert [gap.length for gap in gaps.longest(2)] == [30_000, 5_000]
    assert [gap.length for gap in gaps[1:]] == [30_000, 5_000]
    assert gaps[-1].length == 5_000
    with pytest.raises(IndexError):
        gaps[3]
