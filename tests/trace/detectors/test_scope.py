"""Which steps of a trace findings are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.detectors import copies, host, synchronisations
from dcu_asv_ext.trace.ranking import ranked

from .programs import Program


def stepped(first: float, others: float, steps: int = 4) -> Program:
    """Each step works, waits, copies and reads back; `first`, `others`: us of the host in each."""
    program = Program()
    for number in range(steps):
        with program.step():
            for _ in range(5):
                program.run(50)
                program.host(first if number == 0 else others)
            program.copy_in(100)
            program.run(50)
            program.wait("aten::item")
            program.host(60)
    return program


def test_a_start_is_no_finding(tmp_path: Path) -> None:
    analysis = stepped(first=5000, others=0).analysis(tmp_path)
    found = {one.kind: one for one in ranked(analysis)}
    assert found.keys() == {copies.PAGEABLE, synchronisations.KIND}
    assert all("3 times, 1 in each step" in one.text for one in found.values())
    assert "first step took 25.3 ms" in analysis.findings_note and "others alone" in analysis.findings_note
    assert analysis.scope.total < 5_000_000


@pytest.mark.parametrize(("first", "others", "steps"), [(150, 100, 4), (5000, 5000, 4), (5000, 0, 2)])
def test_a_first_step_that_is_as_the_others_counts(
    tmp_path: Path, first: float, others: float, steps: int
) -> None:
    analysis = stepped(first, others, steps).analysis(tmp_path)
    assert analysis.findings_note == "" and len(analysis.scope.steps) == steps


def test_without_device_rows_nothing_is_left_out(tmp_path: Path) -> None:
    program = Program()
    for length in (1000, 10, 10):
        with program.step():
            program.host(length)
    assert program.analysis(tmp_path).findings_note == ""


def test_steps_without_length_are_none(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.step():
            pass
        program.run(100)
        program.host(500)
    analysis = program.analysis(tmp_path)
    assert len(analysis.trace.steps) == 3 and analysis.findings_note == ""
    assert [one.kind for one in ranked(analysis)] == [host.WORK]


@pytest.mark.parametrize("call", ["hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize"])
def test_a_wait_at_the_end_of_a_step_may_be_a_clock(tmp_path: Path, call: str) -> None:
    program = Program()
    for _ in range(4):
        with program.step():
            for _ in range(5):
                program.run(100)
            program.wait(call=call)
            program.host(90)
    assert ranked(program.analysis(tmp_path)) == []
