"""Which line of the user's code a row comes from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.trace.building import MAIN, Building


def at(building: Building, folder: Path, *asked: tuple[int, float]) -> list[str]:
    """Lines at (thread, microseconds)."""
    trace = building.analysis(folder).trace
    labels = {label: number for number, label in enumerate(trace.threads)}
    threads = np.array([labels[f"thread {thread}"] for thread, _ in asked])
    return building.analysis(folder).sources.of(threads, np.array([int(time * 1000) for _, time in asked]))


def test_the_innermost_frame_of_user_code(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(3): <module>", 0, 100)
    made.frame("train.py(10): step", 10, 60)
    made.frame("torch/nn/modules/module.py(1755): _call_impl", 20, 50)
    made.frame("nn.Module: Linear_0", 22, 48)
    made.frame("<built-in function linear>", 25, 40)
    told = at(made, tmp_path, (MAIN, 5), (MAIN, 12), (MAIN, 30), (MAIN, 55), (MAIN, 80))
    assert told == [
        "train.py:3 <module>",
        "train.py:10 step",
        "train.py:10 step",
        "train.py:10 step",
        "train.py:3 <module>",
    ]


def test_after_the_last_frame_and_on_other_threads_there_is_none(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(3): f", 10, 20)
    made.frame("worker.py(7): g", 10, 40, thread=200)
    assert at(made, tmp_path, (MAIN, 30), (200, 30), (MAIN, 5)) == ["", "worker.py:7 g", ""]


def test_frames_with_the_same_start_nest_by_length(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(20): inner", 10, 20)
    made.frame("train.py(3): outer", 10, 30)
    assert at(made, tmp_path, (MAIN, 15), (MAIN, 25)) == ["train.py:20 inner", "train.py:3 outer"]


@pytest.mark.parametrize(
    "frame",
    [
        "torch/_tensor.py(40): backward",
        "/opt/conda/lib/python3.10/site-packages/torch/_tensor.py(40): backward",
        "triton/runtime/jit.py(330): run",
        "threading.py(975): run",
        "contextlib.py(81): inner",
        "/usr/lib/python3.10/importlib/__init__.py(12): import_module",
        "dcu_asv_ext/measure/passes.py(12): call",
        "asv_runner/benchmarks/_base.py(12): run",
        "<frozen importlib._bootstrap>(1165): _find_and_load",
        "<eval_with_key>.5(4): forward",
        "/tmp/torchinductor_somebody/ab/cabc.py(99): call",
        "<built-in method item of Tensor object at 0x7f2b39c9a710>",
        "nn.Module: Linear_0",
        "no frame at all",
    ],
)
def test_what_is_no_code_of_the_user(tmp_path: Path, frame: str) -> None:
    made = Building()
    made.frame("train.py(3): step", 0, 30)
    made.frame(frame, 10, 20)
    assert at(made, tmp_path, (MAIN, 15)) == ["train.py:3 step"]


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        ("/home/somebody/secret/train.py(3): step", "train.py:3 step"),
        ("models/bert/modeling_bert.py(181): forward", "models/bert/modeling_bert.py:181 forward"),
        ("lib/models/bert/modeling_bert.py(181): forward", "models/bert/modeling_bert.py:181 forward"),
        (
            "/usr/lib/python3/dist-packages/vision/ops/boxes.py(8): nms",
            "vision/ops/boxes.py:8 nms",
        ),
        ("C:\\work\\train.py(3): step", "train.py:3 step"),
        ("<ipython-input-3-0123>(2): <lambda>", "<ipython-input-3-0123>:2 <lambda>"),
        ("benchmarks/matmul.py(9): matmul", "benchmarks/matmul.py:9 matmul"),
    ],
)
def test_how_a_line_is_written(tmp_path: Path, frame: str, text: str) -> None:
    made = Building()
    made.frame(frame, 0, 30)
    assert at(made, tmp_path, (MAIN, 15)) == [text]


def test_of_calls_and_operators(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(3): step", 10, 30)
    made.operator("aten::mul", 12, 20)
    made.operator("aten::mul", 40, 50)
    made.launch(14, 20, 30)
    sources = made.analysis(tmp_path).sources
    assert sources.of_calls(np.array([0, -1])) == ["train.py:3 step", ""]
    assert sources.of_operators(np.array([1, 0, -1])) == ["", "train.py:3 step", ""]


def test_the_line_of_the_statement_where_the_trace_has_it(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(3): <module>", 0, 100, **{"Caller line": 0})
    made.frame("train.py(10): step", 10, 60, **{"Caller line": 30})
    made.frame("torch/nn/modules/module.py(1755): _call_impl", 20, 30, **{"Caller line": 12})
    made.frame("<built-in function linear>", 22, 28, **{"Caller line": 116})
    made.frame("<built-in method item of Tensor object at 0x7f2b39c9a710>", 40, 50, **{"Caller line": 14})
    told = at(made, tmp_path, (MAIN, 15), (MAIN, 21), (MAIN, 25), (MAIN, 45), (MAIN, 80))
    assert told == [
        "train.py:10 step",  # nothing tells where in it
        "train.py:12 step",
        "train.py:12 step",
        "train.py:14 step",
        "train.py:3 <module>",
    ]


def test_functions_that_end_together_and_some_without_a_line(tmp_path: Path) -> None:
    made = Building()
    made.frame("train.py(10): step", 10, 60)
    made.frame("torch/nn/modules/module.py(1755): _call_impl", 20, 60, **{"Caller line": 12})
    made.frame("<built-in function linear>", 30, 60, **{"Caller line": 116})
    made.frame("train.py(70): other", 70, 90)
    made.frame("<built-in function linear>", 75, 90)
    assert at(made, tmp_path, (MAIN, 40), (MAIN, 80)) == ["train.py:12 step", "train.py:70 other"]


def test_lines_of_two_functions_in_the_same_place(tmp_path: Path) -> None:
    """The line that one has may be that on which the other begins."""
    made = Building()
    made.frame("train.py(10): step", 0, 50)
    made.frame("<built-in function linear>", 10, 20, **{"Caller line": 12})
    made.frame("train.py(12): step", 60, 90)
    made.frame("<built-in function linear>", 70, 80, **{"Caller line": 15})
    told = at(made, tmp_path, (MAIN, 5), (MAIN, 15), (MAIN, 65), (MAIN, 75))
    assert told == ["train.py:10 step", "train.py:12 step", "train.py:12 step", "train.py:15 step"]


STACK = "torch/nn/functional.py(1848): linear;net.py(31): forward;train.py(12): step;train.py(3): <module>"


def test_the_stack_of_an_operator(tmp_path: Path) -> None:
    """As torch before 1.12 wrote it, with the lines of the statements, the innermost first."""
    made = Building()
    made.operator("aten::linear", 10, 50, **{"Call stack": STACK})
    made.operator("aten::addmm", 12, 40, **{"Call stack": "torch/nn/functional.py(1848): linear;"})
    made.operator("aten::expand", 14, 16)
    made.launch(20, 30, 40)
    made.launch(60, 70, 80)
    sources = made.analysis(tmp_path).sources
    assert sources.of_operators(np.array([0, 1, 2])) == ["net.py:31 forward"] * 3
    assert sources.of_calls(np.array([0, 1])) == ["net.py:31 forward", ""]


def test_a_stack_knows_the_line_that_a_frame_does_not(tmp_path: Path) -> None:
    made = Building()
    made.frame("net.py(30): forward", 0, 60)
    made.operator("aten::linear", 10, 50, **{"Call stack": STACK})
    made.operator("aten::mul", 52, 55)
    assert made.analysis(tmp_path).sources.of_operators(np.array([0, 1])) == [
        "net.py:31 forward",
        "net.py:30 forward",
    ]


def test_a_backward_pass_has_the_stack_of_its_forward_operator(tmp_path: Path) -> None:
    made = Building()
    made.operator("aten::mm", 10, 20, **{"Call stack": STACK, "Sequence number": 7, "Fwd thread id": 0})
    assert backward_line(backward(made, 7), tmp_path) == "net.py:31 forward"


def backward(made: Building, sequence: int | None, forward_thread: int | None = 1) -> Building:
    """A kernel launched by a backward pass on a thread of its own."""
    told = {"Sequence number": sequence, "Fwd thread id": forward_thread} if sequence is not None else {}
    made.operator("autograd::engine::evaluate_function: MmBackward0", 100, 150, 200, **told)
    made.operator("MmBackward0", 101, 149, 200, **told)
    made.operator("aten::mm", 102, 148, 200)
    made.launch(110, 120, 130, thread=200)
    return made


def forward(*lines: tuple[int, int, int]) -> Building:
    """Operators at (time, sequence, thread), each in a function that begins on line `time`."""
    made = Building()
    for time, sequence, thread in lines:
        made.frame(f"train.py({time}): f", time, time + 9, thread)
        made.operator(
            "aten::mm", time + 1, time + 8, thread, **{"Sequence number": sequence, "Fwd thread id": 0}
        )
    return made


def backward_line(made: Building, folder: Path) -> str:
    analysis = made.analysis(folder)
    (line,) = analysis.sources.of_calls(np.array([0]))
    trace = analysis.trace
    inner = np.flatnonzero(trace.operators.start == 102_000)
    assert analysis.sources.of_operators(inner) == [line]
    return line


def test_a_backward_pass_has_the_line_of_its_forward_operator(tmp_path: Path) -> None:
    made = forward((10, 6, MAIN), (20, 7, MAIN), (30, 7, MAIN), (40, 8, MAIN))
    assert backward_line(backward(made, 7), tmp_path) == "train.py:30 f"


@pytest.mark.parametrize(
    ("lines", "sequence", "forward_thread"),
    [
        ([(10, 6, MAIN), (20, 8, MAIN)], 7, 1),
        ([(10, 7, MAIN), (20, 7, 300)], 7, 1),
        ([(170, 7, MAIN)], 7, 1),
        ([(10, 7, MAIN)], None, None),
        ([(10, 7, MAIN)], 7, 0),
    ],
    ids=[
        "no such number",
        "two forward threads",
        "after the backward pass",
        "no number",
        "not a backward pass",
    ],
)
def test_a_backward_pass_whose_forward_operator_is_not_sure(
    tmp_path: Path, lines: list[tuple[int, int, int]], sequence: int | None, forward_thread: int | None
) -> None:
    assert backward_line(backward(forward(*lines), sequence, forward_thread), tmp_path) == ""


def test_code_of_the_user_inside_a_backward_pass(tmp_path: Path) -> None:
    made = backward(forward((10, 7, MAIN)), 7)
    made.frame("train.py(50): backward", 101, 149, 200)
    assert backward_line(made, tmp_path) == "train.py:50 backward"


def test_a_trace_without_stacks_has_no_lines(tmp_path: Path) -> None:
    made = Building()
    made.launch(14, 20, 30)
    assert made.analysis(tmp_path).sources.of_calls(np.array([0])) == [""]
