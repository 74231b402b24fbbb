"""Figures of a simulated device are found before a site is made of them; what a publish changes, it puts back."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin import publishing
from dcu_asv_ext.asv_plugin.publishing import simulated_files

from .fakes import record

SIMULATED = {"kind": "dcu", "simulated": True}
REAL = {"kind": "dcu", "simulated": False}
#: What stands in the line of a process that crashed.
CRASHED = {"kind": "cuda"}


def write(results: Path, name: str, *devices: Any) -> None:
    path = results / "box" / f"{name}.evidence.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({**record(), "device": one}) + "\n" for one in devices))


def test_only_files_of_a_simulated_device_are_found(tmp_path: Path) -> None:
    write(tmp_path, "a", REAL, REAL)
    write(tmp_path, "b", SIMULATED)
    write(tmp_path, "c")
    assert simulated_files(tmp_path) == ["box/b.evidence.jsonl"]


def test_a_crash_on_the_first_line_hides_nothing(tmp_path: Path) -> None:
    write(tmp_path, "a", CRASHED, {}, SIMULATED)
    write(tmp_path, "b", CRASHED, REAL)
    assert simulated_files(tmp_path) == ["box/a.evidence.jsonl"]


def test_torn_and_foreign_lines_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "a", "no mapping", SIMULATED)
    path = tmp_path / "box" / "a.evidence.jsonl"
    path.write_text('{"benchmark": "to\n[1]\n' + path.read_text())
    assert simulated_files(tmp_path) == ["box/a.evidence.jsonl"]


def test_files_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "c", SIMULATED)
    (tmp_path / "box" / "a.evidence.jsonl").mkdir()
    (tmp_path / "box" / "b.evidence.jsonl.gz").write_bytes(b"no gzip")
    assert simulated_files(tmp_path) == ["box/c.evidence.jsonl"]


def test_without_results_there_is_nothing(tmp_path: Path) -> None:
    assert simulated_files(tmp_path / "absent") == []


def test_garbage_is_looked_for_as_before_once_a_publish_has_ended() -> None:
    before = gc.get_threshold()
    with pytest.raises(KeyError), publishing._few_collections():
        assert gc.get_threshold()[0] > 10 * before[0]
        raise KeyError
    assert gc.get_threshold() == before
