"""A dominant kernel, on made-up programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.detectors.dominance import KIND, detect

from .programs import Program, taken


def test_one_launch_that_was_held_up_makes_no_kernel_dominant(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for _ in range(3):
            for name in "abcd":
                program.run(100, kernel=f"kernel_{name}")
        program.run(2000, kernel="kernel_a")
    assert program.found(tmp_path, detect) == []


@pytest.mark.parametrize(
    ("names", "more", "said"), [("abcd", 6, True), ("abcd", 2, False), ("ab", 40, False)]
)
def test_more_than_half_of_the_time(tmp_path: Path, names: str, more: int, said: bool) -> None:
    program = Program()
    with program.step(), program.function("net.py(2): forward"):
        for name in names:
            program.run(100, kernel=f"kernel_{name}")
        for _ in range(more):
            program.run(100, name="aten::conv2d", kernel="kernel_a")
    found = program.found(tmp_path, detect)
    assert len(found) == said
    if said:
        (one,) = found
        assert one.kind == KIND and one.seconds == 0 and taken(one) == 700 and one.events == 7
        assert "kernel_a" in one.text and "70 %" in one.text and "no fault in itself" in one.text
        assert one.source == "net.py:2 forward" and one.data["operators"] == ["aten::conv2d", "aten::mm"]


def test_the_share_is_that_of_all_kernels_also_where_they_overlap(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for stream in range(6):
            program.run(1000, kernel="kernel_a", stream=stream)
        for name in "bcd":
            program.run(500, kernel=f"kernel_{name}", stream=ord(name))
    (one,) = program.found(tmp_path, detect)
    assert "80 % of all kernels' time" in one.text and one.share <= 1


def test_a_collective_that_waits_for_others_is_none(tmp_path: Path) -> None:
    program = Program()
    with program.step():
        for name in "abcd":
            program.run(100, kernel=f"kernel_{name}")
        for _ in range(3):
            program.run(2000, kernel="ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)")
    assert program.found(tmp_path, detect) == []
