from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace import patterns as module
from dcu_asv_ext.trace.analysis import Analysis
from dcu_asv_ext.trace.patterns import patterns

from .tabling import CPU, Tabling, a_step

MIB = 1 << 20


def told(analysis: Analysis) -> dict[str, dict[str, str]]:
    """Operator -> kind of pattern -> its sentence, of those that have one."""
    found = zip(analysis.operators, patterns(analysis, analysis.operators), strict=True)
    return {row.name: {one.kind: one.text for one in some} for row, some in found if some}


def kernels(made: Tabling, name: str, count: int, length: float, *, begin: float, every: float) -> None:
    """Calls of an operator that each launch one kernel of this length."""
    for number in range(count):
        at = begin + number * every
        made.operator(name, at, at + 8)
        made.runs("k", at + 2, at + 4, at + 4 + length)


def test_one_long_kernel_is_worth_work(tmp_path: Path) -> None:
    made = Tabling()
    kernels(made, "aten::mm", 2, 400, begin=0, every=401)
    kernels(made, "aten::add", 1, 200, begin=803, every=300)
    assert told(made.analysis(tmp_path)) == {
        "aten::mm": {
            module.HEAVY: "2 device rows of 400 us each take 80 % of the device's time: one operator worth work."
        },
        "aten::add": {
            module.HEAVY: "1 device row of 200 us takes 20 % of the device's time: worth work, as others are."
        },
    }


@pytest.mark.parametrize(("length", "other"), [(99, 0), (200, 801)])
def test_neither_a_short_one_nor_a_small_share(tmp_path: Path, length: float, other: float) -> None:
    made = Tabling()
    kernels(made, "aten::mm", 1, length, begin=0, every=300)
    if other:
        kernels(made, "aten::sort", 9, other / 9, begin=length, every=other / 9)
    assert told(made.analysis(tmp_path)) == {}


def test_many_short_kernels_on_an_idle_device_are_bound_by_launches(tmp_path: Path) -> None:
    made = Tabling()
    kernels(made, "aten::mul", 20, 4, begin=0, every=10)
    (text,) = [one[module.MANY_SHORT] for one in told(made.analysis(tmp_path)).values()]
    assert text.startswith(
        "20 device rows of 4.00 us each, 100 % of the device's time, while the device is idle 59 % of its span: "
        "bound by launches."
    )


def test_many_short_kernels_on_a_busy_device_write_intermediates(tmp_path: Path) -> None:
    made = Tabling()
    kernels(made, "aten::mul", 20, 9, begin=0, every=9.1)
    (text,) = [one[module.MANY_SHORT] for one in told(made.analysis(tmp_path)).values()]
    assert text == (
        "20 device rows of 9.00 us each, 100 % of the device's time: each writes an intermediate tensor that the "
        "next reads. Fusing them saves that traffic."
    )


@pytest.mark.parametrize(("count", "length"), [(19, 4), (20, 10)])
def test_neither_few_nor_longer_ones(tmp_path: Path, count: int, length: float) -> None:
    made = Tabling()
    kernels(made, "aten::mul", count, length, begin=0, every=12)
    assert told(made.analysis(tmp_path)) == {}


def host_bound(folder: Path, calls: int, *, wait: bool = False, every: float = 20) -> Analysis:
    made = Tabling()
    for number in range(calls):
        at = every * number
        made.operator("aten::nonzero", at, at + 16)
        if wait:
            made.call("hipStreamSynchronize", at + 2, at + 14)
        made.operator("aten::add", at + 17, at + 19)
        made.runs("k", at + 18, at + 18.5, at + 19.5, took=0.5)
    return made.analysis(folder)


def test_a_busy_host_and_an_idle_device_that_is_waited_for(tmp_path: Path) -> None:
    found = told(host_bound(tmp_path, 5, wait=True))
    assert found == {
        "aten::nonzero": {
            module.WAITING: "80.0 us of the host (89 % of its time in operators) in 5 calls against 0 on the device, "
            "which is idle 94 % of its span; 60.0 us of it waits for the device: a synchronisation."
        }
    }


def test_a_busy_host_without_waits_is_a_loop_or_the_operators_own_work(tmp_path: Path) -> None:
    few = told(host_bound(tmp_path, 5))["aten::nonzero"]
    assert few[module.HOST_BOUND].endswith(": 16.0 us a call of the operator's own work on the host.")
    many = told(host_bound(tmp_path, 20))["aten::nonzero"]
    assert many[module.HOST_BOUND].endswith(
        ": 16.0 us a call and hardly a wait, as a loop in Python makes them."
    )


def test_a_busy_host_costs_nothing_while_the_device_is_busy(tmp_path: Path) -> None:
    made = Tabling()
    for number in range(5):
        made.operator("aten::nonzero", 20 * number, 20 * number + 16)
        made.operator("aten::add", 20 * number + 17, 20 * number + 19)
        made.runs("k", 20 * number + 18, 20 * number + 20, 20 * number + 39)
    assert told(made.analysis(tmp_path)) == {}


def test_what_the_device_lies_idle_between_steps_is_not_the_hosts(tmp_path: Path) -> None:
    made = Tabling()
    for step in range(3):
        at = 1000 * step
        made.span(f"ProfilerStep#{step}", at, at + 60)
        made.operator("aten::nonzero", at, at + 16)
        made.operator("aten::add", at + 17, at + 19)
        made.runs("k", at + 18, at + 20, at + 50)
    assert told(made.analysis(tmp_path)) == {}


def test_workspace_is_what_a_call_needs_and_does_not_leave(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::linear", 0, 50)
    made.operator("aten::addmm", 5, 45)
    made.memory(10, MIB, 1, total=11 * MIB)
    made.memory(11, 7 * MIB, 2, total=18 * MIB)
    made.runs("gemm", 20, 21, 30)
    made.memory(40, -7 * MIB, 2, total=11 * MIB)
    found = told(made.analysis(tmp_path))
    assert found == {
        "aten::addmm": {
            module.WORKSPACE: "A call allocates up to 8.00 MiB and leaves 1.00 MiB (the trace's peak is 18.0 MiB): "
            "workspace, which a kernel of one's own may not need."
        }
    }


@pytest.mark.parametrize("extra", [2, 3])
def test_an_output_is_no_workspace(tmp_path: Path, extra: int) -> None:
    made = Tabling()
    made.operator("aten::mm", 0, 50)
    made.memory(10, MIB, 1)
    made.memory(11, extra * MIB, 2)
    made.runs("gemm", 20, 21, 30)
    made.memory(40, -extra * MIB, 2)
    assert (module.WORKSPACE in told(made.analysis(tmp_path)).get("aten::mm", {})) == (extra >= 3)


def keeping(folder: Path, kept: int, steps: int = 4) -> Analysis:
    made = Tabling()
    for step in range(steps):
        at = 100 * step
        made.span(f"ProfilerStep#{step}", at, at + 90)
        made.operator("aten::mm", at, at + 20)
        made.operator("aten::empty", at + 1, at + 4)
        made.memory(at + 2, 2 * MIB, 10 + step)
        made.runs("gemm", at + 5, at + 6, at + 60)
        if step >= kept:
            made.memory(at + 80, -2 * MIB, 10 + step)
    return made.analysis(folder)


def test_memory_that_every_step_leaves_behind_is_told(tmp_path: Path) -> None:
    found = told(keeping(tmp_path, kept=3))
    assert found == {
        "aten::mm": {
            module.GROWING: "6.00 MiB that 3 steps allocated in it are not freed when the trace ends: what it "
            "returns lives on (a list, a graph, a cache)."
        }
    }


@pytest.mark.parametrize(("kept", "steps"), [(2, 4), (3, 7)])
def test_a_first_step_may_keep_something(tmp_path: Path, kept: int, steps: int) -> None:
    assert told(keeping(tmp_path, kept=kept, steps=steps)) == {}


def shapes(folder: Path, count: int, first: float = 20) -> Analysis:
    made = Tabling()
    for number in range(count):
        at = 60 * number
        made.operator("aten::mm", at, at + 8, **{"Input Dims": [[number]]})
        made.runs("k", at + 2, at + 4, at + 4 + (first if number == 0 else 20))
    return made.analysis(folder)


def test_many_shapes_of_which_none_is_most(tmp_path: Path) -> None:
    assert told(shapes(tmp_path, 8)) == {
        "aten::mm": {
            module.MANY_SHAPES: "8 input shapes in 8 calls, of which the largest takes 12 % of its time: a kernel "
            "for one shape will not cover it."
        }
    }


@pytest.mark.parametrize(("count", "first"), [(7, 20), (8, 140)])
def test_few_shapes_or_one_that_takes_half(tmp_path: Path, count: int, first: float) -> None:
    assert told(shapes(tmp_path, count, first)) == {}


def test_on_the_host_alone_a_heavy_operator_is_told_by_its_own_time(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::linear", 0, 310)
    made.operator("aten::addmm", 5, 305)
    made.memory(10, MIB, 1, kind=CPU)
    made.operator("aten::relu", 400, 420)
    assert told(made.analysis(tmp_path)) == {
        "aten::addmm": {
            module.HEAVY: "1 call of 300 us takes 91 % of the operators' time on the host: one operator worth "
            "work."
        }
    }


def test_a_plain_step_is_nothing_special(tmp_path: Path) -> None:
    found = told(a_step(tmp_path))
    assert all(module.WAITING in one for one in found.values())
    assert set(found) <= {"aten::_local_scalar_dense"}


def test_a_copy_is_asked_whether_it_is_needed(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::copy_", 0, 10)
    made.runs("copy", 2, 20, 420)
    made.operator("aten::mm", 10, 20)
    made.runs("mm", 12, 420, 820)
    analysis = made.analysis(tmp_path)
    found = dict(
        zip([row.name for row in analysis.operators], patterns(analysis, analysis.operators), strict=True)
    )
    (copy,) = found["aten::copy_"]
    assert copy.kind == module.LAYOUT and "50 % of the device's time copies" in copy.text
    (mm,) = found["aten::mm"]
    assert mm.kind == module.HEAVY and mm.text.endswith("worth work, as others are.")
