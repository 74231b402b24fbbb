"""Gaps without a known cause and between queued kernels, on made-up programs."""

from __future__ import annotations

from pathlib import Path

from dcu_asv_ext.trace.detectors.holes import DISPATCH, UNTOLD, detect

from .programs import Program, us


def without_host(program: Program) -> Program:
    program.events = [event for event in program.events if event["cat"] == "kernel"]
    return program


def test_device_rows_alone_tell_that_but_not_why(tmp_path: Path) -> None:
    program = Program()
    for _ in range(6):
        program.run(100)
        program.host(190)
    (one,) = without_host(program).found(tmp_path, detect)
    assert one.kind == UNTOLD and us(one) == 5 * 100 and "does not tell why" in one.text


def test_skewed_clocks_tell_that_but_not_why(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(6):
            program.run(100)
            program.wait("aten::item")
            program.host(190)
        program.run(100)
    for event in program.events:
        if event["cat"] == "kernel":
            event["ts"] -= 100
    (one,) = program.found(tmp_path, detect)
    # One of six is left out: where the step's end is lies in the other clock.
    assert one.kind == UNTOLD and us(one) == 5 * (1 + 190 + 8)
    assert "clocks of host and device differ" in one.text and "aten::item (6)" in one.text


def test_gaps_between_steps_are_left_out_without_knowing_which(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        with program.step():
            for _ in range(3):
                program.run(100)
            program.wait(call="hipDeviceSynchronize", own=True)
        program.host(400)
    for event in program.events:
        if event["cat"] == "kernel":
            event["ts"] -= 1000
    assert program.found(tmp_path, detect) == []


def test_distance_between_queued_kernels(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        program.run(500)
        for _ in range(40):
            program.run(14)
            program.free[0] += 6  # the device takes so long to the next
    (one,) = program.found(tmp_path, detect)
    assert one.kind == DISPATCH and us(one) == 39 * 6 and "14.0 us" in one.text
    assert "a graph's launches" in one.next_step


def test_a_graph_is_not_told_to_become_one(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        program.call("hipGraphLaunch", program.now, program.now + 20, correlation=1)
        for number in range(40):
            begin = program.now + 30 + 20 * number
            program.kernel(begin, begin + 14, correlation=1)
        program.host(1000)
    (one,) = program.found(tmp_path, detect)
    assert one.kind == DISPATCH and "fuse" in one.next_step and "graph" not in one.next_step


def test_long_kernels_hide_it(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(40):
            program.run(100)
            program.free[0] += 6
    assert program.found(tmp_path, detect) == []
