"""A host that is late, on made-up programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.analysis import Analysis
from dcu_asv_ext.trace.detectors.host import LAUNCH_BOUND, WORK, detect

from .programs import Program, us


def test_python_between_launches(tmp_path: Path) -> None:
    program = Program()
    with program.step(), program.function("train.py(7): epoch"):
        for _ in range(6):
            program.run(50)
            with program.function("data.py(3): augment"):
                program.host(400)
    (one,) = program.found(tmp_path, detect)
    # From one start to the next are 410 us, of which the kernel takes 50.
    assert one.kind == WORK and us(one) == 5 * 360 and one.events == 5
    assert one.source == "train.py:7 epoch" and "data.py:3 augment" in one.text and "in Python" in one.text
    assert one.data["in_operators"] == pytest.approx(8 / 360, abs=0.02)


def test_two_loops_have_a_finding_each_and_small_ones_share_one(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for line, length in ((1, 2000), (2, 1000), (3, 150), (4, 150), (5, 150)):
            with program.function(f"a.py({line}): f"):
                program.run(1)
                program.host(length)
                program.run(1)
    found = program.found(tmp_path, detect)
    assert [(us(one), one.events) for one in found] == [(2009, 1), (1009, 1), (3 * 159, 3)]
    assert all(f"a.py:{line} f" in found[2].text for line in (3, 4, 5))


def test_work_inside_an_operator_is_named(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(4):
            program.run(10)
            program.operator("aten::linalg_qr", program.now, program.now + 500)
            program.host(500)
        program.run(10)
    (one,) = program.found(tmp_path, detect)
    assert one.kind == WORK and "aten::linalg_qr" in one.text and "inside operators" in one.text


def test_short_kernels_are_launch_bound(tmp_path: Path) -> None:
    program = Program()
    with program.step(), program.function("net.py(2): forward"):
        for _ in range(20):
            program.run(4)
    (one,) = program.found(tmp_path, detect)
    assert one.kind == LAUNCH_BOUND and us(one) == 19 * 6 and one.events == 19
    assert one.source == "net.py:2 forward" and "20" not in one.text.split("kernels")[0]
    assert "profiler itself slows the host" in one.text and "stacks" in one.text


def test_silent_where_the_host_is_ahead(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        program.host(300)
        for _ in range(20):
            program.run(40)
        program.host(300)
    assert program.found(tmp_path, detect) == []


@pytest.mark.parametrize(
    ("overhead", "left"),
    # 202 us of which 80 are busy: where it takes half as long without the profiler, 21 are idle.
    [(1.0, 114), (None, 114), (2.0, 21), (2.5, None)],
)
def test_only_what_is_idle_without_the_profiler_is_counted(
    tmp_path: Path, overhead: float | None, left: float | None
) -> None:
    program = Program()
    with program.step():
        for _ in range(20):
            program.run(4)
    analysis = Analysis(program.analysis(tmp_path).trace, overhead)
    found = list(detect(analysis))
    if left is None:
        assert found == []
        return
    (one,) = found
    assert us(one) == pytest.approx(left, abs=0.02)
    assert (f"{overhead} times as long" in one.text) == (overhead is not None)


def test_gaps_in_which_another_device_works_are_nobodys(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(5):
            program.run(10)
            program.run(500, stream=9, device=1)
            program.host(480)
        program.run(10)
    # Device 0 waits for 490 us each time, in which device 1 works but for 8 us or so at its begin.
    assert program.found(tmp_path, detect) == []


def test_what_is_done_between_steps_is_not_the_programs(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        for _ in range(4):
            program.run(10)
            program.host(400)
        with program.step():
            program.run(300)
            program.wait(call="hipDeviceSynchronize", own=True)
    assert program.found(tmp_path, detect) == []


def test_a_trace_without_calls_says_nothing_of_the_host(tmp_path: Path) -> None:
    program = Program()
    for _ in range(6):
        program.run(50)
        program.host(400)
    program.events = [event for event in program.events if event["cat"] == "kernel"]
    assert program.found(tmp_path, detect) == []


def test_what_the_host_does_before_a_step_submits_is_found(tmp_path: Path) -> None:
    """As a DataLoader that is too slow; the profiler's own wait behind the last step changes nothing."""
    program = Program()
    for _ in range(4):
        with program.step(), program.function("train.py(7): epoch"):
            program.host(2000)
            for _ in range(10):
                program.run(100)
    program.wait(call="hipDeviceSynchronize")
    (one,) = program.found(tmp_path, detect)
    assert one.kind == WORK and one.events == 3 and us(one) == pytest.approx(3 * (2000 - 10 * 90), abs=30)


def test_what_the_harness_does_between_steps_is_no_finding(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        with program.step():
            for _ in range(10):
                program.run(100)
            program.wait(own=True)
        program.run(100)  # a reset between the calls
        program.host(2000)
    assert program.found(tmp_path, detect) == []
