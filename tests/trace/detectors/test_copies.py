"""Copies between host and device, on made-up programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.detectors import copies, synchronisations
from dcu_asv_ext.trace.detectors.copies import BLOCKING, PAGEABLE, SMALL, detect

from .programs import Program, taken, us

PINNED = "Memcpy HtoD (Pinned -> Device)"
UNTOLD = "Memcpy HtoD (Host -> Device)"


def batches(program: Program, name: str, blocking: bool, steps: int = 3) -> None:
    for _ in range(steps):
        with program.step(), program.function("train.py(7): epoch"):
            for _ in range(2):
                program.copy_in(100, name=name, blocking=blocking)
                program.run(150)
                program.run(150)
            program.wait(call="hipDeviceSynchronize", own=True)


def test_pageable_ones_with_the_gaps_that_they_make(tmp_path: Path) -> None:
    program = Program()
    batches(program, "Memcpy HtoD (Pageable -> Device)", blocking=True)
    (one,) = program.found(tmp_path, detect)
    # 1 us until the call returns, 5 in the operator, 8 until the kernel starts.
    assert one.kind == PAGEABLE and us(one) == taken(one) == 6 * (100 + 14)
    assert one.source == "train.py:7 epoch" and "6.00 MiB" in one.text and "2 in each step" in one.text
    assert one.data["bytes"] == 6 << 20 and one.data["idle_seconds"] == pytest.approx(6 * 14e-6)


def test_nobody_else_claims_those_gaps(tmp_path: Path) -> None:
    program = Program()
    batches(program, UNTOLD, blocking=True)
    assert program.found(tmp_path, synchronisations.detect) == []


def test_blocking_ones_where_the_trace_does_not_tell_the_memory(tmp_path: Path) -> None:
    program = Program()
    batches(program, UNTOLD, blocking=True)
    (one,) = program.found(tmp_path, detect)
    assert one.kind == BLOCKING and us(one) == 6 * (100 + 14)
    assert "does not tell whether the host's memory is pinned" in one.text


@pytest.mark.parametrize("name", [PINNED, UNTOLD])
def test_asynchronous_ones_are_fine(tmp_path: Path, name: str) -> None:
    program = Program()
    batches(program, name, blocking=False)
    assert program.found(tmp_path, detect) == []


def test_copies_beside_kernels_change_nothing_and_say_so(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        program.run(5000)
        for _ in range(4):
            program.copy_in(100, blocking=False, stream=1)
        program.wait(call="hipDeviceSynchronize", own=True)
    (one,) = program.found(tmp_path, detect)
    assert one.kind == PAGEABLE and not one.end_to_end and one.seconds == 0 and taken(one) == 400
    assert "the copies run while kernels do" in one.text


@pytest.mark.parametrize(("count", "size", "said"), [(20, 256, True), (6, 256, False), (20, 1 << 20, False)])
def test_many_small_ones(tmp_path: Path, count: int, size: int, said: bool) -> None:
    program = Program()
    with program.step():
        for _ in range(count):
            program.copy_in(8, size=size, name=PINNED, blocking=False)
        program.run(100)
        program.wait(call="hipDeviceSynchronize", own=True)
    found = program.found(tmp_path, detect)
    assert [one.kind for one in found] == ([SMALL] if said else [])


def test_small_ones_among_large_ones_are_not_the_point(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(10):
            program.copy_in(8, size=256, name=PINNED, blocking=False)
            program.copy_in(8, size=1 << 20, name=PINNED, blocking=False)
        program.wait(call="hipDeviceSynchronize", own=True)
    assert program.found(tmp_path, detect) == []


def test_what_is_copied_between_steps_is_not_the_programs(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        program.copy_in(500)
        with program.step():
            program.run(100)
            program.wait(call="hipDeviceSynchronize", own=True)
    assert program.found(tmp_path, detect) == []


def test_a_value_that_is_read_back_is_the_synchronisations(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(5):
            program.run(200)
            program.copy_in(2, 4, "Memcpy DtoH (Device -> Pageable)")
            program.host(40)
        program.run(200)
    assert program.found(tmp_path, copies.detect) == []
    (one,) = program.found(tmp_path, synchronisations.detect)
    assert one.data["operator"] == "aten::to" and "Keep the value on the device" in one.next_step


def test_small_values_from_the_host_are_made_on_the_device(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(5):
            program.copy_in(2, 12)
            program.run(200)
    (one,) = program.found(tmp_path, detect)
    assert one.kind == PAGEABLE and "make the values on the device" in one.next_step


def test_the_copy_of_an_item_is_the_synchronisations(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(5):
            program.run(200)
            program.copy_in(2, 4, "Memcpy DtoH (Device -> Host)", operator="aten::item")
            program.host(40)
        program.run(200)
    assert program.found(tmp_path, copies.detect) == []
    (one,) = program.found(tmp_path, synchronisations.detect)
    assert one.data["operator"] == "aten::item"
