"""Rows packed into lanes and levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dcu_asv_ext.trace.picture_lanes import lanes, pack

from .building import Building


def everything(table: Any) -> Any:
    return np.ones(len(table), bool)


def test_nested_rows_get_their_depth_and_later_ones_the_top() -> None:
    start = np.array([0, 1, 2, 5, 10])
    end = np.array([9, 8, 3, 7, 12])
    assert pack(start, end).tolist() == [0, 1, 2, 2, 0]


def test_overlapping_rows_lie_beside_one_another() -> None:
    assert pack(np.array([0, 5, 8]), np.array([6, 9, 12])).tolist() == [0, 1, 0]


def test_rows_without_a_length_do_not_need_a_level_of_their_own() -> None:
    assert pack(np.array([0, 0, 1]), np.array([0, 0, 2])).tolist() == [0, 0, 0]


def test_what_is_too_deep_is_told_and_not_drawn(tmp_path: Path) -> None:
    built = Building()
    for depth in range(20):
        built.operator("aten::deep", depth, 100 - depth)
    (lane,) = lanes(built.analysis(tmp_path).trace, everything)
    assert lane.levels == 12 and lane.hidden == 8 and len(lane.row) == 13


def test_of_rows_that_begin_together_the_longest_is_outside(tmp_path: Path) -> None:
    built = Building()
    built.events.clear()
    built.operator("aten::inside", 10, 20)
    built.operator("aten::outside", 10, 50)
    trace = built.analysis(tmp_path).trace
    (lane,) = lanes(trace, everything)
    names = [trace.names[one] for one in trace.operators.name[lane.row]]
    assert list(zip(names, lane.level.tolist(), strict=True)) == [("aten::outside", 0), ("aten::inside", 1)]


def test_threads_with_calls_come_first_and_streams_by_number(tmp_path: Path) -> None:
    built = Building()
    built.operator("aten::loader", 0, 10, thread=5)
    built.launch(0, 10, 20, thread=9, stream=10)
    built.launch(20, 30, 40, thread=9, stream=2)
    built.launch(40, 50, 60, thread=9, stream=2, device=1)
    found = lanes(built.analysis(tmp_path).trace, everything)
    assert [(lane.kind, lane.group, lane.label) for lane in found] == [
        ("calls", "thread 9", ""),
        ("operators", "thread 5", ""),
        ("operators", "thread 100", ""),
        ("stream", "0", "2"),
        ("stream", "0", "10"),
        ("stream", "1", "2"),
    ]


def test_spans_stand_above_their_operators_and_steps_are_none(tmp_path: Path) -> None:
    built = Building()
    built.events.clear()
    built.span("ProfilerStep#0", 0, 100)
    built.operator("aten::mm", 10, 20)
    built.span("forward", 5, 50)
    (lane,) = lanes(built.analysis(tmp_path).trace, everything)
    assert lane.table.tolist() == [0, 1] and lane.level.tolist() == [0, 1]
    assert lane.column(lambda table: table.start).tolist() == [5_000, 10_000]
