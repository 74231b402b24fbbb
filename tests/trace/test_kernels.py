from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace.loading import load

from .real import TRACES
from .tabling import Tabling, a_step

US = 1000


def test_by_name_and_shape_the_longest_first(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::mul", 0, 100)
    made.runs("mul", 10, 20, 30, grid=4)
    made.runs("mul", 12, 30, 36, grid=4, stream=2)
    made.runs("mul", 14, 40, 43, grid=8)
    made.operator("aten::add", 100, 200)
    made.runs("add", 110, 120, 160)
    made.runs("mul", 150, 200, 212, grid=4)
    rows = made.analysis(tmp_path).kernels
    assert [(row.name, row.shape, row.count, row.nanoseconds) for row in rows] == [
        ("add", "", 1, 40 * US),
        ("mul", "grid 4x1x1 block 256x1x1", 3, 28 * US),
        ("mul", "grid 8x1x1 block 256x1x1", 1, 3 * US),
    ]
    assert (rows[1].longest, rows[1].shortest) == (12 * US, 6 * US)
    assert rows[1].operators == ("aten::mul", "aten::add")
    assert rows[1].lanes == (0, 1)
    assert rows[2].lanes == (0,)


def test_copies_are_no_kernels_and_what_no_operator_launched_has_none(tmp_path: Path) -> None:
    rows = a_step(tmp_path).kernels
    assert {row.name for row in rows} == {"gemm", "bias", "add", "python"}
    assert next(row for row in rows if row.name == "python").operators == ()


def test_none(tmp_path: Path) -> None:
    made = Tabling()
    made.copies("Memcpy HtoD (Host -> Device)", (0, 5), (10, 20))
    assert made.analysis(tmp_path).kernels == []


@pytest.mark.parametrize("path", sorted(TRACES.glob("*.json.gz")), ids=lambda path: path.name)
def test_real_traces_add_up(path: Path) -> None:
    trace = load(path)
    from dcu_asv_ext.trace import kinds
    from dcu_asv_ext.trace.analysis import Analysis

    rows = Analysis(trace).kernels
    mine = trace.device.kind == kinds.KERNEL
    assert sum(row.count for row in rows) == mine.sum()
    assert sum(row.nanoseconds for row in rows) == trace.device.duration[mine].sum()
    assert all(row.shortest <= row.nanoseconds / row.count <= row.longest for row in rows)
    assert len({(row.name, row.shape) for row in rows}) == len(rows)
