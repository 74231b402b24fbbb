"""Chains of element-wise operators, on made-up programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.detectors.elementwise import KIND, detect
from dcu_asv_ext.trace.detectors.elementwise_operators import Traffic, traffic

from .programs import Program, us

N = 1 << 20
BYTES = 4 * N
SHAPE = [N]


def unary(program: Program, name: str, length: float = 100, **more: object) -> None:
    program.run(length, f"aten::{name}", [SHAPE], **more)  # type: ignore[arg-type]


def binary(program: Program, name: str, length: float = 100) -> None:
    program.run(length, f"aten::{name}", [SHAPE, SHAPE])


def chain(program: Program) -> None:
    """Reads and writes: 2 + 3 + 2 tensors; as one kernel 4 fewer."""
    unary(program, "sigmoid")
    binary(program, "mul")
    unary(program, "tanh")


def test_bytes_and_time_saved(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.step(), program.function("net.py(2): act"):
            program.run(300)
            chain(program)
            program.run(300)
    (one,) = program.found(tmp_path, detect)
    assert one.kind == KIND and us(one) == pytest.approx(3 * 300 * 4 / 7, abs=0.01)
    assert one.data["bytes_saved"] == 3 * 4 * BYTES and one.data["bytes_moved"] == 3 * 7 * BYTES
    assert one.data["operators"] == ["aten::sigmoid", "aten::mul", "aten::tanh"] and one.data["chains"] == 3
    assert one.source == "net.py:2 act" and "sigmoid, mul, tanh" in one.text and one.events == 9


@pytest.mark.parametrize(("names", "said"), [(["sigmoid", "tanh", "exp"], True), (["gelu"] * 3, False)])
def test_rows_that_only_a_number_ties_to_their_operators(
    tmp_path: Path, names: list[str], said: bool
) -> None:
    program = Program()
    for number, name in enumerate(names, 1):
        begin = 100.0 * number
        told = {"External id": number, "Input Dims": [SHAPE], "Input type": ["float"]}
        program.operator(f"aten::{name}", begin, begin + 10, **told)
        program.kernel(begin + 5, begin + 95, **{"External id": number})
    assert bool(program.found(tmp_path, detect)) == said


def test_what_breaks_a_chain(tmp_path: Path) -> None:
    def other_kernel(program: Program) -> None:
        program.run(10)

    def other_shape(program: Program) -> None:
        program.run(10, "aten::mul", [[2, N], [2, N]])

    def small(program: Program) -> None:
        program.run(10, "aten::mul", [[64], [64]])

    def copy(program: Program) -> None:
        program.copy_in(10, blocking=False)

    def wait(program: Program) -> None:
        program.wait("aten::item")

    for between in (other_kernel, other_shape, small, copy, wait):
        program = Program()
        with program.step():
            unary(program, "sigmoid")
            binary(program, "mul")
            between(program)
            binary(program, "add")
            unary(program, "tanh")
        assert program.found(tmp_path, detect) == [], between.__name__


def test_small_tensors_are_not_worth_it(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for name in ("sigmoid", "tanh", "exp", "neg"):
            program.run(100, f"aten::{name}", [[(1 << 18) - 1]])
    assert program.found(tmp_path, detect) == []


def test_a_new_step_begins_a_new_chain(tmp_path: Path) -> None:
    program = Program()
    program.memory(BYTES, 7)
    for _ in range(5):
        with program.step():
            unary(program, "silu")
            binary(program, "add")
    assert program.found(tmp_path, detect) == []


@pytest.mark.parametrize("names", [["gelu"], ["silu", "add"]])
def test_the_same_again_and_again_may_be_different_tensors(tmp_path: Path, names: list[str]) -> None:
    program = Program()
    for _ in range(8):
        for name in names:
            unary(program, name)
    program.wait(call="hipDeviceSynchronize")
    assert program.found(tmp_path, detect) == []


@pytest.mark.parametrize(
    ("names", "said"), [(["mul"], True), (["mul", "add"], True), (["mul_"], False), (["mul_", "add_"], False)]
)
def test_in_steps_the_same_again_is_one_tensors_way_unless_in_place(
    tmp_path: Path, names: list[str], said: bool
) -> None:
    program = Program()
    for _ in range(3):
        with program.step():
            for _ in range(10 // len(names)):
                for name in names:
                    unary(program, name)
    found = program.found(tmp_path, detect)
    assert [len(one.data["operators"]) for one in found] == ([10] if said else [])


def test_a_longer_pattern_is_a_chain_each_time(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        chain(program)
    (one,) = program.found(tmp_path, detect)
    assert one.data["chains"] == 4 and one.data["bytes_saved"] == 4 * 4 * BYTES


@pytest.mark.parametrize(("discarded", "said"), [(False, True), (True, False)])
def test_memory_rows_tell_whether_a_result_was_there_for_the_next(
    tmp_path: Path, discarded: bool, said: bool
) -> None:
    """`x = gelu(x)` again and again, whose old x goes after the next is made; and `gelu(x)` that nobody keeps."""
    program = Program()
    old = 0
    for number in range(1, 6):
        program.memory(BYTES, number)
        program.events[-1]["ts"] += 2  # inside the operator
        unary(program, "gelu")
        gone = number if discarded else old
        if gone:
            program.memory(-BYTES, gone)
        old = number
        program.host(3)
    assert bool(program.found(tmp_path, detect)) == said


def test_lists_of_tensors_and_loops_in_place_are_none(tmp_path: Path) -> None:
    program = Program()
    for _ in range(6):
        for name in ("mul_", "add_", "sqrt_", "div_"):
            unary(program, name, around="aten::_foreach_mul_")
    assert program.found(tmp_path, detect) == []
    program = Program()
    program.memory(BYTES, 7)
    for _ in range(6):
        unary(program, "mul_")
    assert program.found(tmp_path, detect) == []


def test_operators_without_shapes_are_left_alone(tmp_path: Path) -> None:
    program = Program()
    for name in ("sigmoid", "mul", "tanh", "add"):
        program.run(100, f"aten::{name}")
    assert program.found(tmp_path, detect) == []


def test_beside_a_busy_stream_it_changes_nothing_and_says_so(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        program.run(600, stream=1)
        chain(program)
    (one,) = program.found(tmp_path, detect)
    assert not one.end_to_end and one.seconds == 0 and "another stream works meanwhile" in one.text


def test_between_steps_it_is_not_the_programs(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        chain(program)
        with program.step():
            program.run(300)
    assert program.found(tmp_path, detect) == []


FLOATS = (1000, 1000)


@pytest.mark.parametrize(
    ("name", "shapes", "types", "expected"),
    [
        ("aten::relu", "[[1000, 1000]]", "float", Traffic(FLOATS, 4 * 10**6, 4 * 10**6)),
        ("aten::relu_", "[[1000, 1000]]", "c10::Half", Traffic(FLOATS, 2 * 10**6, 2 * 10**6)),
        (
            "aten::add",
            "[[1000, 1000], [1000], []]",
            "float, float, Scalar",
            Traffic(FLOATS, 4004000, 4 * 10**6),
        ),
        ("aten::mul", "[[1000, 1000], []]", "double, double", Traffic(FLOATS, 8 * 10**6 + 8, 8 * 10**6)),
        ("aten::gt", "[[1000, 1000], []]", "float, Scalar", Traffic(FLOATS, 4 * 10**6, 10**6)),
        (
            "aten::where",
            "[[1000, 1000], [1000, 1000], []]",
            "bool, float, float",
            Traffic(FLOATS, 5000004, 4 * 10**6),
        ),
        (
            "aten::copy_",
            "[[1000, 1000], [1000, 1000], []]",
            "c10::Half, float, Scalar",
            Traffic(FLOATS, 4 * 10**6, 2 * 10**6),
        ),
        ("aten::copy_", "[[1000, 1000], [1000, 1000], []]", "float, float, Scalar", None),
        ("aten::mul", "[[1000, 1], [1, 1000]]", "float, float", None),  # larger than what it reads
        ("aten::mm", "[[1000, 1000], [1000, 1000]]", "float, float", None),
        ("aten::sum", "[[1000, 1000]]", "float", None),
        ("aten::relu", "", "", None),
        ("aten::relu", "[[1000, 1000]]", "a_new_type", None),
        ("aten::relu", "[[[1000], [1000]]]", "float", None),
        ("aten::relu", "not a list", "float", None),
        ("aten::add", "[[1000], []]", "float", None),
    ],
)
def test_traffic(name: str, shapes: str, types: str, expected: Traffic | None) -> None:
    assert traffic(name, shapes, types) == expected


def test_long_runs_over_many_bytes_keep_their_sign(tmp_path: Path) -> None:
    """Nanoseconds times bytes are more than 64 bits hold."""
    program = Program()
    with program.step():
        for name in ("aten::exp", "aten::sin", "aten::tanh", "aten::abs"):
            program.run(400_000, name, [[1 << 17, 1 << 17]])
    (one,) = program.found(tmp_path, detect)
    assert us(one) == pytest.approx(1_600_000 * 6 / 8)
