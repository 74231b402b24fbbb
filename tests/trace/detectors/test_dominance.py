"""A dominant kernel, on made-up programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.detectors.dominance import KIND, detect

from .programs import Program, taken


@pytest.mark.parametrize(
    ("names", "length", "said"), [("abcd", 400, True), ("abcd", 200, False), ("ab", 4000, False)]
)
def test_more_than_half_of_the_time(tmp_path: Path, names: str, length: float, said: bool) -> None:
    program = Program()
    with program.step(), program.function("net.py(2): forward"):
        for name in names:
            program.run(100, kernel=f"kernel_{name}")
        program.run(length, name="aten::conv2d", kernel="kernel_a")
    found = program.found(tmp_path, detect)
    assert len(found) == said
    if said:
        (one,) = found
        assert one.kind == KIND and one.seconds == 0 and taken(one) == 500 and one.events == 2
        assert "kernel_a" in one.text and "62 %" in one.text and "no fault in itself" in one.text
        assert one.source == "net.py:2 forward" and one.data["operators"] == ["aten::mm", "aten::conv2d"]
