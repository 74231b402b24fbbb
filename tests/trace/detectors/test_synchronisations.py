"""Waits that cut the pipeline, on made-up programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.detectors.synchronisations import KIND, detect

from .programs import Program, us


def loop(program: Program, wait: str, times: int = 5, kernel: float = 200) -> None:
    """After each wait the host works for 40 us and launches: the device is idle from the kernel's end, which is 1 us
    before the wait's, until 8 us into the next operator."""
    for _ in range(times):
        program.run(kernel)
        program.run(kernel)
        program.wait(wait)
        program.host(40)


IDLE = 1 + 40 + 8


@pytest.mark.parametrize("operator", ["aten::item", "aten::nonzero", "aten::is_nonzero"])
def test_found_with_exact_idle_time(tmp_path: Path, operator: str) -> None:
    program = Program()
    with program.step(), program.function("train.py(7): epoch"):
        loop(program, operator)
        program.run(200)
    (one,) = program.found(tmp_path, detect)
    assert one.kind == KIND and us(one) == 5 * IDLE
    assert one.source == "train.py:7 epoch" and f"`{operator}`" in one.text and "5 times" in one.text
    assert one.data["operator"] == operator and one.data["count"] == 5
    assert one.share == pytest.approx(5 * IDLE * 1e-6 / (program.now - 10) / 1e-6, rel=0.2)


def test_each_line_has_its_own(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for line in (6, 9):
            with program.function(f"a.py({line}): f"):
                loop(program, "aten::item", times=line)
        program.run(200)
    found = program.found(tmp_path, detect)
    assert [(one.source, us(one)) for one in found] == [("a.py:9 f", 9 * IDLE), ("a.py:6 f", 6 * IDLE)]


def test_silent_without_waits_and_for_those_of_the_harness(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        with program.step():
            for _ in range(5):
                program.run(200)
            program.wait(call="hipDeviceSynchronize", own=True)
        program.host(300)
    assert program.found(tmp_path, detect) == []


def test_a_wait_at_the_end_of_a_step_cuts_nothing_that_the_harness_would_not(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        with program.step():
            for _ in range(5):
                program.run(200)
            program.wait("aten::item")
            program.wait(call="hipDeviceSynchronize", own=True)
        program.host(300)
    assert program.found(tmp_path, detect) == []


def test_nor_does_one_of_the_whole_device_that_ends_a_step(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        with program.step():
            for _ in range(5):
                program.run(200)
            program.wait(call="hipDeviceSynchronize")
        program.host(300)
    assert program.found(tmp_path, detect) == []


def test_waiting_for_the_whole_device_is_a_clock_unless_it_is_inside_a_step(tmp_path: Path) -> None:
    def made(steps: bool) -> Program:
        program = Program()
        if steps:
            with program.step():
                loop(program, "")
        else:
            loop(program, "")
        for event in program.events:
            event["name"] = event["name"].replace("hipStreamSynchronize", "hipDeviceSynchronize")
        program.run(200)
        return program

    assert made(steps=False).found(tmp_path, detect) == []
    (one,) = made(steps=True).found(tmp_path, detect)
    assert "hipDeviceSynchronize" in one.text


def test_where_the_host_is_the_bottleneck_it_changes_nothing_and_says_so(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        loop(program, "aten::item", kernel=3)
        program.run(3)
    (one,) = program.found(tmp_path, detect)
    assert not one.end_to_end and one.seconds == 0 and one.share > 0.1
    assert "would not change the end-to-end time" in one.text


def test_what_is_given_back_is_never_more_than_the_host_waited(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        loop(program, "aten::item", kernel=20)
        program.run(20)
    analysis = program.analysis(tmp_path)
    (one,) = detect(analysis)
    assert us(one) == 5 * 29 < 5 * IDLE


def test_small_ones_are_not_worth_a_word(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        loop(program, "aten::item", kernel=5000)
        program.run(5000)
    assert program.found(tmp_path, detect) == []


def test_silent_where_the_clocks_differ(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        loop(program, "aten::item")
        program.run(200)
    for event in program.events:
        if event["cat"] == "kernel":
            event["ts"] -= 150
    assert program.found(tmp_path, detect) == []


def test_the_time_before_a_copy_that_blocks_is_not_idle_because_of_it(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(5):
            program.run(200)
            program.host(250)
            program.copy_in(10, size=4, name="Memcpy DtoH (Device -> Pageable)", operator="aten::item")
            program.host(100)
        program.run(200)
    (one,) = program.found(tmp_path, detect)
    # From the copy's end: 1 us until the host goes on, 5 of its operator, 100 of its own, 8 to the next kernel.
    assert one.data["seconds_taken"] == pytest.approx(5 * (1 + 5 + 100 + 8) * 1e-6)
