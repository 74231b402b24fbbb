"""Streams that run in turn, on made-up programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.detectors.streams import KIND, detect

from .programs import Program, us


def in_turn(program: Program, traced: bool = False) -> None:
    for _ in range(4):
        program.run(200)
        program.stream_waits(1, 0, traced)
        program.run(150, stream=1)
        program.stream_waits(0, 1, traced)


@pytest.mark.parametrize("traced", [False, True])
def test_found_with_what_it_could_save(tmp_path: Path, traced: bool) -> None:
    program = Program()
    with program.step(), program.function("train.py(7): epoch"):
        in_turn(program, traced)
    (one,) = program.found(tmp_path, detect)
    # At best the shorter stream's time lies wholly within the longer's.
    assert one.kind == KIND and us(one) == pytest.approx(4 * 150, rel=0.1) and us(one) <= 4 * 150
    assert one.source == "train.py:7 epoch" and one.data["streams"] == [0, 1]
    assert ("the trace does not tell which" in one.text) != traced


def test_one_wait_holds_back_all_that_comes_after_it(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.step():
            for _ in range(5):
                program.run(200)
            program.stream_waits(1, 0)
            for _ in range(4):
                program.run(150, stream=1)
            program.wait(call="hipDeviceSynchronize", own=True)
    (one,) = program.found(tmp_path, detect)
    assert us(one) == 3 * 4 * 150 and one.data["handovers"] == 3


def test_waits_that_are_in_the_trace_must_stand_before_the_row(tmp_path: Path) -> None:
    """The device is full: the rows take turns, and the only wait for an event is elsewhere."""
    program = Program()
    with program.step():
        program.call("hipStreamWaitEvent", program.now, program.now + 1)
        program.now += 2
        program.run(10, stream=1)
        program.run(10)
        in_turn(program)
    assert program.found(tmp_path, detect) == []


def test_silent_where_they_overlap(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(8):
            program.run(200)
            program.run(150, stream=1)
    assert program.found(tmp_path, detect) == []


def test_a_few_turns_among_much_overlap_are_no_pattern(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(7):
            program.run(200)
            program.run(150, stream=1)
        program.stream_waits(1, 0)
        program.run(150, stream=1)
        program.stream_waits(0, 1)
        program.run(200)
    assert program.found(tmp_path, detect) == []


def test_silent_where_the_host_submits_one_after_the_other(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for number in range(8):
            program.run(200, stream=number % 2)
            program.wait()
    assert program.found(tmp_path, detect) == []


def test_a_kernel_must_wait_for_the_copy_of_its_input(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        with program.step():
            program.copy_in(200, blocking=False, stream=1)
            program.stream_waits(0, 1)
            program.run(300)
            program.wait(call="hipDeviceSynchronize", own=True)
    assert program.found(tmp_path, detect) == []


def test_one_buffer_makes_copies_and_kernels_take_turns(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(5):
            program.copy_in(200, blocking=False, stream=1)
            program.stream_waits(0, 1)
            program.run(300)
            program.stream_waits(1, 0)
    (one,) = program.found(tmp_path, detect)
    assert us(one) <= 5 * 200 and one.share > 0.2


def test_one_stream_has_nothing_to_overlap_with(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(8):
            program.run(200)
    assert program.found(tmp_path, detect) == []


def test_silent_where_the_clocks_differ(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        in_turn(program)
    for event in program.events:
        if event["cat"] == "kernel":
            event["ts"] -= 300
    assert program.found(tmp_path, detect) == []


@pytest.mark.parametrize(
    "kernel", ["ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", "rcclGenericKernel<1, false>"]
)
def test_collectives_wait_for_data_and_not_for_streams(tmp_path: Path, kernel: str) -> None:
    """Gradients are exchanged when the backward pass has made them, and the optimiser needs them."""
    program = Program()
    for _ in range(4):
        with program.step():
            for _ in range(8):
                program.run(100)
            program.stream_waits(1, 0)
            for _ in range(3):
                program.run(150, "c10d::allreduce_", stream=1, kernel=kernel)
            program.stream_waits(0, 1)
            program.run(100)
    assert program.found(tmp_path, detect) == []
