from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.analysis import Analysis
from dcu_asv_ext.trace.loading import load
from dcu_asv_ext.trace.table_rows import Selection
from dcu_asv_ext.trace.table_text import WIDTH, render

from .real import TRACES
from .tabling import CPU, Tabling, a_step


@pytest.fixture
def step(tmp_path: Path) -> Analysis:
    return a_step(tmp_path)


def test_a_line_for_each_operator_with_what_it_means_below(step: Analysis) -> None:
    head, table, missing, asked = render(step, overhead=1.31).split("\n\n")
    assert head == "Times under the profiler, which makes a call take 1.31 times as long as without it."
    assert table.splitlines() == [
        "operator                   calls  self device          device   a call  self CPU    waits",
        "aten::addmm                    1      50.0 us   57 %  50.0 us  50.0 us   66.0 us        0",
        "(no operator)                  -      15.0 us   17 %  15.0 us        -         -  20.0 us",
        "aten::add                      2      14.0 us   16 %  14.0 us  14.0 us   33.0 us        0",
        "aten::_local_scalar_dense      1      8.00 us  9.2 %  8.00 us  8.00 us   10.0 us  30.0 us",
        "    waits for the device: 40.0 us of the host (21 % of its time in operators) in 1 call against 8.00",
        "    us on the device, which is idle 71 % of its span; 30.0 us of it waits for the device: a",
        "    synchronisation.",
        "aten::linear                   1            0    0 %  50.0 us  50.0 us   20.0 us        0",
        "aten::item                     1            0    0 %  8.00 us  8.00 us   10.0 us  30.0 us",
        "aten::empty                    2            0    0 %        0        0   6.00 us        0",
    ]
    assert missing == "No memory: the trace has no rows of the device's memory (profile_memory)."
    assert asked.startswith("Before a kernel is written for aten::addmm (57 % of the device's time):\n")


def test_without_a_measured_overhead_that_is_said(step: Analysis) -> None:
    first = "Times under the profiler; what it costs was not measured."
    assert render(step).splitlines()[0] == first
    assert render(step, kernels=True).splitlines()[0] == first


def test_kernels(step: Analysis) -> None:
    assert render(step, Selection(top=2), kernels=True).split("\n\n")[1].splitlines() == [
        "kernel  count     time           each  longest",
        "gemm        1  40.0 us  51 %  40.0 us  40.0 us",
        "    grid 4x1x1 block 256x1x1, from aten::addmm",
        "python      1  15.0 us  19 %  15.0 us  15.0 us",
        "and 2 more rows",
    ]


def test_by_shape_each_row_has_its_shapes_and_nothing_is_asked(step: Analysis) -> None:
    text = render(step, Selection(match="aten::add$"), by_shape=True)
    assert "\n    [[8]]\n" in text
    assert "\n    [[2]]" in text
    assert "Before a kernel" not in text


def test_filtered_cut_and_nothing_left(step: Analysis) -> None:
    assert "and 1 more row\n" in render(step, Selection(match="ADD", top=1))
    assert "No operator of this name." in render(step, Selection(match="conv"))
    assert "No kernel of this name." in render(step, Selection(match="conv"), kernels=True)


def test_a_trace_of_the_host_alone_has_its_columns_and_says_what_it_cannot_tell(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::linear", 0, 310)
    made.operator("aten::addmm", 5, 305)
    made.memory(10, 1 << 20, 1, kind=CPU)
    _, table, missing = render(made.analysis(tmp_path)).split("\n\n")
    assert table.splitlines() == [
        "operator      calls  self CPU            CPU  a call      peak",
        "aten::addmm       1    300 us   97 %  300 us  300 us  1.00 MiB",
        "    few calls and long: 1 call of 300 us takes 97 % of the operators' time on the host: one operator",
        "    worth work.",
        "aten::linear      1   10.0 us  3.2 %  310 us  310 us  1.00 MiB",
    ]
    assert missing.splitlines() == [
        "No times on a device: the trace has no rows of a device.",
        "No waits: the trace has no calls of the device's runtime.",
        "No input shapes: shapes were not recorded (record_shapes).",
        "Memory is the host's.",
    ]
    assert "The trace has no kernels." in render(made.analysis(tmp_path), kernels=True)


def test_no_operators_at_all(tmp_path: Path) -> None:
    made = Tabling()
    made.frame("a.py(1): f", 0, 10)
    assert "The trace has no operators." in render(made.analysis(tmp_path))


def test_the_line_of_code_stands_with_what_a_row_means(tmp_path: Path) -> None:
    made = Tabling()
    made.frame("/home/x/model.py(10): forward", 0, 500)
    made.operator("aten::mm", 10, 20)
    made.runs("gemm", 12, 20, 400)
    made.operator("aten::relu", 420, 430)
    text = render(made.analysis(tmp_path))
    assert "\n    from model.py:10 forward\n    few calls and long: " in text
    assert text.count("model.py") == 1


@pytest.mark.parametrize("path", sorted(TRACES.glob("*.json.gz")), ids=lambda path: path.name)
@pytest.mark.parametrize("by_shape", [False, True])
def test_real_traces_fit_the_terminal(path: Path, by_shape: bool) -> None:
    analysis = Analysis(load(path))
    for text in (render(analysis, by_shape=by_shape, overhead=1.2), render(analysis, kernels=True)):
        assert max(map(len, text.splitlines())) <= WIDTH
