"""Which parts of a large trace a picture holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dcu_asv_ext.trace.finding import Finding
from dcu_asv_ext.trace.model import Trace
from dcu_asv_ext.trace.picture_window import windows

from .building import Building


def steps(folder: Path, rows: list[int], steps_told: bool = True) -> Trace:
    """A step of 1 ms each, with so many operators."""
    found = Building()
    found.events.clear()
    for step, count in enumerate(rows):
        if steps_told:
            found.span(f"ProfilerStep#{step}", step * 1000, step * 1000 + 900)
        for number in range(count):
            found.operator("aten::add", step * 1000 + number, step * 1000 + number + 1)
    return found.analysis(folder).trace


def about(begin: int) -> Finding:
    """A finding that begins at this microsecond."""
    return Finding("", 1.0, "", "", 0.1, begin * 1000, begin * 1000 + 1, 1)


def test_a_small_trace_is_whole(tmp_path: Path) -> None:
    trace = steps(tmp_path, [10, 10])
    found = windows(trace, [], most=22)
    assert (found.begin.tolist(), found.end.tolist()) == ([0], [1_900_000])
    assert (found.rows, found.left_out) == (22, 0)


def test_whole_steps_the_first_and_those_of_the_findings(tmp_path: Path) -> None:
    trace = steps(tmp_path, [10] * 10)
    found = windows(trace, [about(7500)], most=33)
    # Room for three steps of 11 rows: the first, that of the finding, and the next in order.
    assert found.steps
    assert found.begin.tolist() == [0, 7_000_000]
    assert found.end.tolist() == [2_000_000, 8_000_000]
    assert (found.rows, found.left_out) == (110, 77)
    assert found.holds(trace.operators).sum() == 30


def test_the_longest_step_is_there(tmp_path: Path) -> None:
    built = Building()
    built.events.clear()
    for number, begin in enumerate((0, 1000, 2000, 3000, 9000)):
        built.span(f"ProfilerStep#{number}", begin, begin + 500)
        for row in range(9):
            built.operator("aten::add", begin + row, begin + row + 1)
    found = windows(built.analysis(tmp_path).trace, [], most=20)
    assert found.begin.tolist() == [0, 3_000_000]


def test_a_trace_without_steps_is_cut_into_even_parts(tmp_path: Path) -> None:
    trace = steps(tmp_path, [200] * 10, steps_told=False)
    found = windows(trace, [about(9100)], most=500)
    assert not found.steps
    kept = found.holds(trace.operators)
    assert 400 <= kept.sum() <= 520
    assert kept[0]
    assert kept[np.searchsorted(trace.operators.start, 9_100_000)]
    assert found.left_out == 2000 - kept.sum()


def test_a_step_that_is_too_large_is_cut(tmp_path: Path) -> None:
    trace = steps(tmp_path, [300, 300])
    found = windows(trace, [], most=200)
    assert not found.steps
    assert 100 <= found.holds(trace.operators).sum() <= 210


def test_a_row_that_reaches_into_a_window_is_there(tmp_path: Path) -> None:
    built = Building()
    built.events.clear()
    built.operator("aten::long", 500, 5000)
    for step in range(10):
        built.span(f"ProfilerStep#{step}", step * 1000, step * 1000 + 900)
        for number in range(10):
            built.operator("aten::add", step * 1000 + number, step * 1000 + number + 1, thread=7)
    trace = built.analysis(tmp_path).trace
    found = windows(trace, [about(4500)], most=24)
    names = [trace.names[one] for one in trace.operators.name[found.holds(trace.operators)]]
    assert found.begin.tolist() == [0, 4_000_000] and "aten::long" in names
