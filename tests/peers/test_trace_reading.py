"""The traces that the reader is compared on are whole ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcu_asv_ext.trace import load, summarize
from peers.trace_reading import plain, stacked, write


@pytest.mark.parametrize("make", [plain, stacked])
def test_whole(make: type, tmp_path: Path) -> None:
    path = tmp_path / "rank0.json"
    assert write(path, make(1700)) == path.stat().st_size
    assert json.loads(path.read_text())["traceEvents"] == list(make(1700))
    totals, trace = summarize(path), load(path)
    assert (totals["faults"], totals["missing"], totals["unlaunched"], totals["rank"]) == ([], {}, 0, 0)
    assert totals["events"] == 1700 and 0.1 < totals["idle_share"] < 0.5
    assert (len(trace.frames), len(trace.memory)) == ((1000, 200) if make is stacked else (0, 0))
