from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.analysis import Analysis
from dcu_asv_ext.trace.operators import NO_OPERATOR, OperatorRow, memory_place, operators

from .tabling import CPU, Tabling, a_step

US = 1000
MIB = 1 << 20


@pytest.fixture
def step(tmp_path: Path) -> Analysis:
    return a_step(tmp_path)


def by_name(analysis: Analysis) -> dict[str, OperatorRow]:
    return {row.name: row for row in analysis.operators}


def test_every_operator_has_a_row_the_longest_on_the_device_first(step: Analysis) -> None:
    assert [row.name for row in step.operators] == [
        "aten::addmm",
        NO_OPERATOR,
        "aten::add",
        "aten::_local_scalar_dense",
        "aten::linear",
        "aten::item",
        "aten::empty",
    ]


def test_device_time_is_that_of_what_it_launched_itself_and_with_what_is_inside(step: Analysis) -> None:
    rows = by_name(step)
    assert (rows["aten::addmm"].self_device, rows["aten::addmm"].kernels) == (50 * US, 2)
    assert rows["aten::addmm"].device == 50 * US
    assert (rows["aten::linear"].self_device, rows["aten::linear"].device) == (0, 50 * US)
    assert rows["aten::linear"].kernels == 0
    assert (rows["aten::item"].self_device, rows["aten::item"].device) == (0, 8 * US)
    assert (rows["aten::empty"].device, rows["aten::empty"].kernels) == (0, 0)


def test_self_times_add_up_to_the_device_rows(step: Analysis) -> None:
    assert sum(row.self_device for row in step.operators) == step.trace.device.duration.sum()
    assert sum(row.kernels for row in step.operators) == len(step.trace.device)


def test_host_time_leaves_out_operators_and_calls_of_the_runtime_inside(step: Analysis) -> None:
    rows = by_name(step)
    assert (rows["aten::linear"].self_cpu, rows["aten::linear"].cpu) == (20 * US, 100 * US)
    assert rows["aten::addmm"].self_cpu == (80 - 4 - 8 - 2) * US
    assert rows["aten::addmm"].runtime == 10 * US
    assert rows["aten::empty"].self_cpu == 6 * US
    assert rows["aten::linear"].runtime == 0


def test_an_operator_inside_itself_is_a_call_but_its_time_is_not_added_twice(step: Analysis) -> None:
    row = by_name(step)["aten::add"]
    assert (row.calls, row.outermost) == (2, 1)
    assert (row.self_device, row.device) == (14 * US, 14 * US)
    assert row.cpu == 40 * US
    assert row.self_cpu == (40 - 2 - 2 - 20 + 20 - 3) * US
    assert row.device_per_call == 14 * US
    assert row.cpu_per_call == 40 * US


def test_one_whose_only_content_is_its_like_is_one_call(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::sum", 10, 50, **{"Input Dims": [[8]]})
    made.operator("aten::sum", 15, 45, **{"Input Dims": [[4]]})
    made.operator("aten::sum", 20, 40, **{"Input Dims": [[2]]})
    made.operator("aten::empty", 21, 22)
    made.operator("aten::fill_", 23, 24)
    analysis = made.analysis(tmp_path)
    row = by_name(analysis)["aten::sum"]
    assert (row.calls, row.outermost, row.cpu, row.self_cpu) == (1, 1, 40 * US, 38 * US)
    (sums,) = [one for one in operators(analysis, by_shape=True) if one.name == "aten::sum"]
    assert (sums.shapes, sums.calls, sums.cpu, sums.self_cpu) == (("[[8]]",), 1, 40 * US, 38 * US)


def test_of_two_that_begin_together_the_longer_is_outside(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::addmm", 0, 50)
    made.operator("aten::linear", 0, 100)
    rows = by_name(made.analysis(tmp_path))
    assert (rows["aten::linear"].self_cpu, rows["aten::addmm"].self_cpu) == (50 * US, 50 * US)


def test_what_reaches_beyond_an_operator_is_not_inside_it(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::linear", 0, 100)
    made.operator("aten::addmm", 10, 20)
    made.call("hipLaunchKernel", 15, 25)
    rows = by_name(made.analysis(tmp_path))
    assert (rows["aten::addmm"].self_cpu, rows["aten::addmm"].runtime) == (10 * US, 0)
    assert (rows["aten::linear"].self_cpu, rows["aten::linear"].runtime) == (80 * US, 10 * US)


def test_a_call_of_the_runtime_beside_its_like_makes_two_calls(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::sum", 10, 50)
    made.call("hipGetDevicePropertiesR0600", 11, 12)
    made.operator("aten::sum", 15, 45)
    assert by_name(made.analysis(tmp_path))["aten::sum"].calls == 2


def test_waits_are_those_inside_and_those_it_made_itself(step: Analysis) -> None:
    rows = by_name(step)
    assert (rows["aten::item"].waits, rows["aten::item"].self_waits) == (30 * US, 0)
    inner = rows["aten::_local_scalar_dense"]
    assert (inner.waits, inner.self_waits) == (30 * US, 30 * US)
    assert rows["aten::addmm"].waits == 0


def test_what_no_operator_made_has_a_row_of_its_own(step: Analysis) -> None:
    row = by_name(step)[NO_OPERATOR]
    assert (row.self_device, row.device, row.kernels, row.waits) == (15 * US, 15 * US, 1, 20 * US)
    assert (row.calls, row.cpu, row.device_per_call, row.cpu_per_call) == (0, 0, None, None)


def test_no_such_row_where_nothing_ran_outside(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::add", 0, 20)
    made.runs("add", 5, 10, 12)
    assert [row.name for row in made.analysis(tmp_path).operators] == ["aten::add"]


def test_the_harness_waits_are_not_the_programs(tmp_path: Path) -> None:
    made = Tabling()
    made.span("ProfilerStep#0", 0, 100)
    made.operator("aten::add", 0, 20)
    made.runs("add", 5, 10, 12)
    made.span("dcu_asv_ext.wait", 50, 90)
    made.call("hipDeviceSynchronize", 60, 80)
    assert [row.name for row in made.analysis(tmp_path).operators] == ["aten::add"]


def test_device_rows_without_a_call_belong_to_the_operator_of_their_number(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::mm", 0, 20, **{"External id": 7})
    made.kernel(10, 40, **{"External id": 7})
    row = by_name(made.analysis(tmp_path))["aten::mm"]
    assert (row.self_device, row.kernels) == (30 * US, 1)


def test_threads_do_not_lie_in_each_other(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::linear", 0, 100)
    made.operator("AddmmBackward0", 10, 60, thread=200)
    made.operator("aten::mm", 20, 50, thread=200)
    made.runs("gemm", 30, 40, 70, thread=200)
    rows = by_name(made.analysis(tmp_path))
    assert rows["aten::linear"].self_cpu == 100 * US
    assert rows["aten::linear"].device == 0
    assert rows["AddmmBackward0"].device == 30 * US
    assert rows["AddmmBackward0"].self_cpu == 20 * US


def test_spans_are_no_operators_and_take_their_time_with_them(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("Mine", 0, 100)
    made.span("a part", 10, 60)
    made.operator("aten::mm", 20, 50)
    made.runs("gemm", 30, 40, 70)
    rows = by_name(made.analysis(tmp_path))
    assert set(rows) == {"Mine", "aten::mm"}
    assert (rows["Mine"].self_cpu, rows["Mine"].runtime) == (50 * US, 0)
    assert rows["Mine"].device == 30 * US


def test_bookkeeping_of_the_profiler_is_left_out_and_its_time_stays_with_the_operator_around(
    tmp_path: Path,
) -> None:
    made = Tabling()
    made.operator("aten::linear", 0, 100)
    made.operator("aten::is_leaf", 10, 40)
    made.operator("aten::detach", 20, 25)
    rows = by_name(made.analysis(tmp_path))
    assert set(rows) == {"aten::linear", "aten::detach"}
    assert rows["aten::linear"].self_cpu == 95 * US


def test_input_shapes_the_most_frequent_first(tmp_path: Path) -> None:
    made = Tabling()
    for number, shape in enumerate([[2], [8], [8], [4], [8], [4]]):
        args = {"Input Dims": [shape], "Input type": ["float"]}
        made.operator("aten::relu", 10 * number, 10 * number + 5, **args)
    analysis = made.analysis(tmp_path)
    row = by_name(analysis)["aten::relu"]
    assert row.shapes == ("[[8]]", "[[4]]", "[[2]]")
    assert (row.distinct_shapes, row.types) == (3, ("float",))
    by_shape = {one.shapes: one for one in operators(analysis, by_shape=True)}
    assert {shapes: one.calls for shapes, one in by_shape.items()} == {
        ("[[8]]",): 3,
        ("[[4]]",): 2,
        ("[[2]]",): 1,
    }
    assert by_shape[("[[4]]",)].cpu == 10 * US
    assert by_shape[("[[4]]",)].distinct_shapes == 1


def test_by_shape_an_operator_inside_its_like_of_another_shape_is_a_row_of_its_own(step: Analysis) -> None:
    rows = {(row.name, row.shapes): row for row in operators(step, by_shape=True)}
    outer, inner = rows["aten::add", ("[[8]]",)], rows["aten::add", ("[[2]]",)]
    assert (outer.calls, outer.self_device, outer.device, outer.cpu) == (1, 10 * US, 14 * US, 40 * US)
    assert (inner.calls, inner.self_device, inner.device, inner.cpu) == (1, 4 * US, 4 * US, 20 * US)


def test_at_most_five_shapes_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    made = Tabling()
    for number in range(7):
        made.operator("aten::relu", 10 * number, 10 * number + 5, **{"Input Dims": [[number]]})
    row = by_name(made.analysis(tmp_path))["aten::relu"]
    assert (len(row.shapes), row.distinct_shapes) == (5, 7)


def memory_step(folder: Path, kind: int = 6) -> Analysis:
    made = Tabling()
    for step in range(3):
        at = 100 * step
        made.span(f"ProfilerStep#{step}", at, at + 99)
        made.operator("aten::linear", at, at + 50)
        made.operator("aten::addmm", at + 10, at + 40)
        made.operator("aten::empty", at + 12, at + 16)
        made.memory(at + 13, 2 * MIB, 1000 + step, total=2 * MIB, kind=kind)  # the output: lives
        made.memory(at + 20, 8 * MIB, 77, total=10 * MIB, kind=kind)
        made.memory(at + 30, -8 * MIB, 77, total=2 * MIB, kind=kind)
        if kind:
            made.runs("gemm", at + 25, at + 26, at + 45)
    made.memory(290, -2 * MIB, 1000, kind=kind)
    return made.analysis(folder)


def test_memory_of_an_operator_itself_with_what_is_inside_and_at_its_highest(tmp_path: Path) -> None:
    rows = by_name(memory_step(tmp_path))
    assert [rows[name].self_bytes for name in ("aten::linear", "aten::addmm", "aten::empty")] == [
        0,
        0,
        6 * MIB,
    ]
    assert [rows[name].net_bytes for name in ("aten::linear", "aten::addmm")] == [6 * MIB, 6 * MIB]
    assert [rows[name].peak_bytes for name in ("aten::linear", "aten::empty")] == [10 * MIB, 2 * MIB]


def test_what_is_not_freed_is_told_of_the_operator_that_the_program_called(tmp_path: Path) -> None:
    rows = by_name(memory_step(tmp_path))
    assert (rows["aten::linear"].held_bytes, rows["aten::linear"].holding) == (4 * MIB, 2)
    assert (rows["aten::addmm"].held_bytes, rows["aten::addmm"].holding) == (0, 0)


def test_memory_of_the_host_counts_only_where_nothing_ran_on_a_device(tmp_path: Path) -> None:
    analysis = memory_step(tmp_path, kind=CPU)
    assert memory_place(analysis) == "host"
    assert by_name(analysis)["aten::linear"].peak_bytes == 10 * MIB
    made = Tabling()
    made.operator("aten::add", 0, 20)
    made.memory(5, MIB, 1, kind=CPU)
    made.runs("add", 10, 11, 12)
    analysis = made.analysis(tmp_path)
    assert memory_place(analysis) == ""
    row = by_name(analysis)["aten::add"]
    assert (row.self_bytes, row.peak_bytes, row.held_bytes, row.holding) == (None, None, None, None)


def test_memory_of_an_operator_inside_itself_is_not_added_twice(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::add", 0, 50)
    made.memory(5, 2 * MIB, 1)
    made.operator("aten::add", 10, 30)
    made.memory(15, MIB, 2)
    row = by_name(made.analysis(tmp_path))["aten::add"]
    assert (row.self_bytes, row.net_bytes, row.peak_bytes) == (3 * MIB, 3 * MIB, 3 * MIB)
    assert (row.held_bytes, row.holding) == (3 * MIB, 1)


def test_several_calls_of_a_step_hold_in_one_step(tmp_path: Path) -> None:
    made = Tabling()
    made.span("ProfilerStep#0", 0, 90)
    for number in range(3):
        made.operator("aten::add", 20 * number, 20 * number + 10)
        made.memory(20 * number + 5, MIB, number + 1)
    row = by_name(made.analysis(tmp_path))["aten::add"]
    assert (row.held_bytes, row.holding) == (3 * MIB, 1)


def test_an_address_that_is_given_out_again_had_been_freed(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::add", 0, 20)
    made.memory(5, 2 * MIB, 1)
    made.memory(15, MIB, 1)
    assert by_name(made.analysis(tmp_path))["aten::add"].held_bytes == MIB


def test_an_address_that_is_used_again_was_freed_in_between(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::add", 0, 20)
    made.memory(5, MIB, 1)
    made.memory(10, -MIB, 1)
    made.memory(15, MIB, 1)
    assert by_name(made.analysis(tmp_path))["aten::add"].held_bytes == MIB


def test_the_line_that_most_calls_come_from(tmp_path: Path) -> None:
    made = Tabling()
    made.frame("/home/x/model.py(10): forward", 0, 100)
    made.frame("/home/x/model.py(50): backward", 200, 300)
    for at in (10, 210, 220):
        made.operator("aten::add", at, at + 5)
    row = by_name(made.analysis(tmp_path))["aten::add"]
    assert row.source == "model.py:50 backward"
    assert row.sources == ("model.py:50 backward", "model.py:10 forward")


def test_a_trace_without_operators_has_one_row(tmp_path: Path) -> None:
    made = Tabling()
    made.runs("gemm", 0, 10, 30)
    rows = made.analysis(tmp_path).operators
    assert [(row.name, row.self_device) for row in rows] == [(NO_OPERATOR, 20 * US)]


def test_deep_recursion(tmp_path: Path) -> None:
    made = Tabling()
    depth = 300
    for level in range(depth):
        made.operator("f", level, 1000 - level)
        made.operator("g", level + 0.5, level + 0.7)
    made.runs("k", 500, 501, 511)
    row = by_name(made.analysis(tmp_path))["f"]
    assert (row.calls, row.outermost, row.cpu, row.device) == (depth, 1, 1000 * US, 10 * US)
