"""Synchronisations by kind, line and operator."""

from __future__ import annotations

from pathlib import Path

from tests.trace.building import MAIN, Building


def test_groups_with_what_they_cost(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(3): step", 0, 300)
    for begin in (0, 100):
        made.launch(begin, begin + 10, begin + 40)
        made.operator("aten::item", begin + 5, begin + 60)
        made.operator("aten::_local_scalar_dense", begin + 6, begin + 58)
        made.call("hipStreamSynchronize", begin + 7, begin + 45)
    made.launch(200, 210, 220)
    made.call("hipDeviceSynchronize", 206, 224)
    told = made.analysis(tmp_path).syncs
    assert [(one.kind, one.name, one.count, one.operator) for one in told] == [
        ("stream", "hipStreamSynchronize", 2, "aten::item"),
        ("device", "hipDeviceSynchronize", 1, ""),
    ]
    first, last = told
    assert (first.nanoseconds, first.idle, first.calls) == (76_000, 140_000, (1, 3))
    assert (last.nanoseconds, last.idle) == (18_000, 0)
    assert first.source == last.source == "train.py:3 step"


def test_a_blocking_copy_is_a_synchronisation(tmp_path: Path) -> None:
    made = Building()
    made.copies("Memcpy DtoH (Device -> Host)", (0, 20), (5, 15))
    made.launch(40, 50, 60)
    (told,) = made.analysis(tmp_path).syncs
    assert (told.kind, told.name, told.idle) == ("copy", "hipMemcpyWithStream", 35_000)


def test_the_operator_that_a_program_called(tmp_path: Path) -> None:
    """Not what it is made of, nor what the backward pass puts around it."""
    made = Building()
    made.operator("autograd::engine::evaluate_function: IndexBackward0", 0, 100)
    made.operator("IndexBackward0", 1, 99)
    made.operator("aten::index", 2, 98)
    made.operator("aten::nonzero", 3, 97)
    made.call("cudaStreamSynchronize", 5, 10)
    made.operator("my_module", 200, 300)
    made.call("cudaStreamSynchronize", 205, 210)
    made.operator("outer", 400, 500)
    made.operator("my::op", 401, 499)
    made.call("cudaStreamSynchronize", 405, 410)
    told = made.analysis(tmp_path).syncs
    assert sorted(one.operator for one in told) == ["aten::index", "my::op", "my_module"]


def test_operators_on_other_threads_do_not_count(tmp_path: Path) -> None:
    made = Building()
    made.operator("aten::item", 0, 100, thread=200)
    made.call("cudaEventSynchronize", 5, 10)
    (told,) = made.analysis(tmp_path).syncs
    assert (told.kind, told.operator) == ("event", "")


def own_of(made: Building, folder: Path) -> dict[int, bool]:
    """By the call's start in microseconds."""
    analysis = made.analysis(folder)
    starts = analysis.trace.calls.start // 1000
    return {int(starts[call]): one.own for one in analysis.syncs for call in one.calls}


def test_the_harness_and_what_lies_outside_the_steps(tmp_path: Path) -> None:
    made = Building()
    made.span("ProfilerStep#1", 10, 100)
    made.span("dcu_asv_ext.wait", 50, 90)
    made.span("dcu_asv_ext.wait", 50, 200, thread=200)
    made.span("ProfilerStep#2", 120, 200)
    for begin in (5, 20, 60, 110, 130, 210):
        made.call("hipDeviceSynchronize", begin, begin + 2)
    assert own_of(made, tmp_path) == {5: True, 20: False, 60: True, 110: True, 130: False, 210: True}


def test_without_steps_only_the_profilers_own_code_is_known(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(3): main", 0, 200)
    made.frame("torch/cuda/__init__.py(905): synchronize", 10, 20)
    made.frame("torch/profiler/profiler.py(300): stop", 100, 150)
    made.frame("torch/autograd/profiler.py(400): __exit__", 101, 149)
    made.call("hipDeviceSynchronize", 12, 15)
    made.call("hipDeviceSynchronize", 110, 115)
    assert own_of(made, tmp_path) == {12: False, 110: True}


def test_own_calls_are_not_mixed_with_others(tmp_path: Path) -> None:
    made = Building()
    made.span("ProfilerStep#1", 10, 100)
    for begin in (20, 110):
        made.call("hipDeviceSynchronize", begin, begin + 2)
    told = made.analysis(tmp_path).syncs
    assert [(one.count, one.own) for one in told] in ([(1, False), (1, True)], [(1, True), (1, False)])


def test_what_idles_is_not_known_where_the_clocks_differ(tmp_path: Path) -> None:
    made = Building()
    for begin in (1000, 1100):
        made.launch(begin, begin - 500, begin - 480)
        made.call("hipDeviceSynchronize", begin + 10, begin + 30, MAIN)
    (told,) = made.analysis(tmp_path).syncs
    assert (told.count, told.nanoseconds, told.idle) == (2, 40_000, None)


def test_no_calls(tmp_path: Path) -> None:
    assert made_without_calls(tmp_path) == []


def made_without_calls(folder: Path) -> object:
    made = Building()
    made.kernel(10, 20)
    return made.analysis(folder).syncs
