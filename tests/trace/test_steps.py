"""The rows of profiled calls alone: by the call that launched them, whatever the device's clock says."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dcu_asv_ext.trace.model import Trace
from dcu_asv_ext.trace.steps import each_step, outermost, step_of_calls, step_of_rows, within_steps

from .building import Building


def two_steps() -> Building:
    """Steps from 100 to 200 and from 300 to 400 us, with work before, between and in them."""
    made = Building()
    for begin in (100, 300):
        made.span(f"ProfilerStep#{begin // 200}", begin, begin + 100)
        made.span("dcu_asv_ext.wait", begin + 80, begin + 100)
        made.operator("aten::mm", begin + 10, begin + 30)
        made.frame("suite.py(3): call", begin + 1, begin + 79)
    made.operator("aten::mul", 210, 240)
    made.launch(10, 20, 30)
    made.launch(112, 120, 170)
    made.launch(215, 220, 290)
    made.launch(312, 320, 350)
    made.launch(340, 405, 410)
    made.frame("outer.py(1): main", 0, 500)
    return made


def read(made: Building, folder: Path) -> Trace:
    return made.analysis(folder).trace


def test_only_rows_that_were_called_for_in_a_step_stay(tmp_path: Path) -> None:
    trace = within_steps(read(two_steps(), tmp_path))
    assert (trace.device.start / 1000).tolist() == [120, 320, 405]
    assert (trace.calls.start / 1000).tolist() == [112, 312, 340]
    assert [trace.name(one) for one in trace.operators.name] == ["aten::mm", "aten::mm"]
    # What goes on around the steps stays, as the code that makes the calls.
    assert [trace.name(one) for one in trace.frames.name] == ["outer.py(1): main"] + ["suite.py(3): call"] * 2


def test_rows_still_know_their_calls_operators_and_steps(tmp_path: Path) -> None:
    trace = within_steps(read(two_steps(), tmp_path))
    assert trace.device.call.tolist() == [0, 1, 2]
    assert trace.device.operator.tolist() == [0, 1, -1] == trace.calls.operator.tolist()
    assert trace.operators.parent.tolist() == [-1, -1]
    assert [trace.name(one) for one in trace.spans.name[trace.steps]] == ["ProfilerStep#0", "ProfilerStep#1"]
    assert step_of_rows(trace).tolist() == step_of_calls(trace).tolist() == [0, 1, 1]
    assert within_steps(trace).device.start.tolist() == trace.device.start.tolist()


def test_each_step_has_its_own_device_rows(tmp_path: Path) -> None:
    steps = each_step(within_steps(read(two_steps(), tmp_path)))
    assert [(one.device.start / 1000).tolist() for one in steps] == [[120], [320, 405]]


def test_a_device_clock_far_off_changes_nothing(tmp_path: Path) -> None:
    made = Building()
    made.span("ProfilerStep#0", 100, 200)
    made.launch(110, 9000, 9010)
    made.launch(250, 9020, 9030)
    trace = within_steps(read(made, tmp_path))
    assert (trace.device.start / 1000).tolist() == [9000] and trace.faults == []


def test_rows_without_a_call_go_by_their_own_time_and_those_outside_are_told(tmp_path: Path) -> None:
    made = Building()
    made.span("ProfilerStep#0", 100, 200)
    made.kernel(110, 120)
    made.kernel(205, 220)
    trace = within_steps(read(made, tmp_path))
    assert (trace.device.start / 1000).tolist() == [110]
    assert trace.faults[-1].startswith("1 device rows without a launching call lie outside")


def test_a_trace_without_steps_stays_as_it_is(tmp_path: Path) -> None:
    made = Building()
    made.launch(10, 20, 30)
    trace = read(made, tmp_path)
    assert within_steps(trace) is trace
    assert [len(one.device) for one in each_step(trace)] == [1] and step_of_calls(trace).tolist() == [0]


def test_steps_that_touch_or_overlap_are_told_apart(tmp_path: Path) -> None:
    """As in a loop with torch's own schedule, whose steps follow each other without a break."""
    made = Building()
    made.span("ProfilerStep#4", 100, 200)
    made.span("ProfilerStep#5", 200, 301)
    made.span("ProfilerStep#6", 300, 400)
    for called in (150, 200, 300.5):
        made.launch(called, called + 1, called + 2, took=0.1)
    assert step_of_rows(read(made, tmp_path)).tolist() == [0, 1, 2]


def test_steps_within_a_step_are_the_codes_own(tmp_path: Path) -> None:
    made = two_steps()
    for begin, end in ((105, 130), (130, 200), (300, 400)):
        made.span("ProfilerStep#7", begin, end)
    trace = read(made, tmp_path)
    assert (trace.spans.start[trace.steps] / 1000).tolist() == [100, 300]
    assert (trace.spans.end[trace.steps] / 1000).tolist() == [200, 400]
    assert step_of_rows(trace).tolist() == [-1, 0, -1, 1, 1]


def test_steps_that_touch_or_overlap_are_steps() -> None:
    start, end = np.array([5, 0, 5, 8, 12, 2]), np.array([9, 5, 5, 12, 12, 4])
    assert outermost(start, end).tolist() == [True, True, False, True, True, False]
    assert outermost(start[:0], end[:0]).tolist() == []
