"""Allocations, on made-up programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.detectors import allocations, host
from dcu_asv_ext.trace.detectors.allocations import BLOCKING, TEMPORARIES, detect

from .programs import Program, us


def training(program: Program, call: str, first: int, steps: int = 4) -> None:
    """From step number `first` on, each allocates for 300 us before its last kernel."""
    for number in range(steps):
        with program.step(), program.function("train.py(7): epoch"):
            program.run(100)
            program.run(100)
            if number >= first:
                program.allocate(call, 300)
            program.run(100)
            program.wait(call="hipDeviceSynchronize", own=True)


def test_the_runtime_still_allocates_in_steady_steps(tmp_path: Path) -> None:
    program = Program()
    training(program, "hipMalloc", first=0)
    (one,) = program.found(tmp_path, detect)
    # The device has work for 188 us of the 300; of the first step's nothing is said.
    assert one.kind == BLOCKING and us(one) == pytest.approx(3 * 112) and one.data["calls"] == 3
    assert "hipMalloc" in one.text and one.source == "train.py:7 epoch"


def test_a_first_step_may_allocate(tmp_path: Path) -> None:
    program = Program()
    for number in range(4):
        with program.step():
            program.run(100)
            if not number:
                program.allocate("hipMalloc", 300)
            program.run(100)
            program.wait(call="hipDeviceSynchronize", own=True)
    assert program.found(tmp_path, detect) == []


def test_a_free_waits_for_the_device_and_has_the_whole_gap(tmp_path: Path) -> None:
    program = Program()
    training(program, "hipFree", first=1)
    (one,) = program.found(tmp_path, detect)
    assert us(one) == 3 * (112 + 8)


def test_without_steps_those_of_a_start_are_left_out(tmp_path: Path) -> None:
    program = Program()
    for _ in range(5):
        program.allocate("hipMalloc", 300)
        program.run(100)
    for _ in range(40):
        program.run(100)
    assert program.found(tmp_path, detect) == []


def test_nobody_else_claims_that_time(tmp_path: Path) -> None:
    program = Program()
    training(program, "hipFree", first=1)
    assert program.found(tmp_path, host.detect) == []
    program = Program()
    training(program, "hipMalloc", first=1)
    assert program.found(tmp_path, host.detect) == []


def temporaries(program: Program, count: int, size: int, kept: bool = False) -> None:
    for _ in range(3):
        with program.step(), program.function("net.py(2): mix"):
            for number in range(count):
                program.memory(size, 1000 + number)
                program.run(20)
                if not kept:
                    program.memory(-size, 1000 + number)
            program.wait(call="hipDeviceSynchronize", own=True)
        for number in range(count if kept else 0):
            program.memory(-size, 1000 + number)
            program.host(1)


def test_many_temporaries_of_one_line(tmp_path: Path) -> None:
    program = Program()
    temporaries(program, 20, 4 << 20)
    (one,) = program.found(tmp_path, detect)
    assert one.kind == TEMPORARIES and not one.end_to_end and one.seconds == 0
    assert one.data == {"bytes_each": 4 << 20, "count": 60, "bytes": 60 * (4 << 20)}
    assert one.source == "net.py:2 mix" and "would not change the end-to-end time" in one.text


@pytest.mark.parametrize(
    ("count", "size", "kept"), [(10, 4 << 20, False), (20, 1 << 10, False), (20, 4 << 20, True)]
)
def test_few_small_and_kept_ones_are_fine(tmp_path: Path, count: int, size: int, kept: bool) -> None:
    program = Program()
    temporaries(program, count, size, kept)
    assert program.found(tmp_path, allocations.detect) == []


def test_temporaries_of_one_size_among_thousands(tmp_path: Path) -> None:
    """As a run with inputs of changing length makes them."""
    program = Program()
    with program.step():
        program.run(100)
        for size in [(1 << 20) + number for number in range(2000)] + [1 << 21] * 20:
            program.memory(size, 1)
            program.host(1)
            program.memory(-size, 1)
            program.host(1)
    (one,) = program.found(tmp_path, detect)
    assert one.kind == TEMPORARIES and one.events == 20 and one.data["bytes_each"] == 1 << 21
