"""Kept traces: where they lie, what is too large, and that none is ever half there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dcu_asv_ext.evidence import traces
from dcu_asv_ext.evidence.traces import KeptTrace, TooLarge

MIB = 1 << 20


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    return tmp_path / "12345678-overlay-py3.11.evidence.jsonl"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "made"
    path.write_bytes(b"new trace")
    return path


def put(evidence: Path, *names: str) -> None:
    for name in names:
        benchmark, _, index = name.partition("-")
        path = traces.trace_path(evidence, benchmark, int(index) if index else None)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"old")


def test_each_benchmark_and_combination_has_a_name_beside_the_evidence(evidence: Path) -> None:
    folder = evidence.parent / "12345678-overlay-py3.11.traces"
    assert traces.folder_of(evidence) == folder
    assert traces.trace_path(evidence, "bench.gemm.matmul", None) == folder / "bench.gemm.matmul.json.gz"
    assert traces.trace_path(evidence, "bench.gemm.matmul", 3) == folder / "bench.gemm.matmul-3.json.gz"


def test_what_is_kept_is_listed_by_benchmark_and_combination(evidence: Path) -> None:
    assert traces.kept(evidence) == [] and traces.size(evidence) == 0
    put(evidence, "suite.a", "suite.b-0", "suite.b-12")
    (traces.folder_of(evidence) / ".suite.c.json.gz.x.tmp").write_text("")
    (traces.folder_of(evidence) / "note.txt").write_text("")
    told = [(one.benchmark, one.index) for one in traces.kept(evidence)]
    assert told == [("suite.a", None), ("suite.b", 0), ("suite.b", 12)]
    assert traces.kept(evidence)[1] == KeptTrace(traces.trace_path(evidence, "suite.b", 0), "suite.b", 0)
    assert traces.size(evidence) == 9


def test_a_number_that_no_combination_has_is_part_of_the_name(evidence: Path) -> None:
    traces.folder_of(evidence).mkdir()
    (traces.folder_of(evidence) / "suite.a-\u00b2.json.gz").write_text("")
    assert [(one.benchmark, one.index) for one in traces.kept(evidence)] == [("suite.a-\u00b2", None)]


def test_the_newest_takes_the_place_of_the_older(evidence: Path, made: Path) -> None:
    target = traces.trace_path(evidence, "suite.a", None)
    put(evidence, "suite.a")
    traces.keep(made, target, None)
    assert target.read_bytes() == b"new trace" and made.exists()
    assert os.listdir(target.parent) == [target.name]
    assert target.stat().st_mode & 0o777 == 0o644


def test_one_above_the_limit_is_not_kept_and_neither_is_the_one_it_would_have_replaced(
    evidence: Path, made: Path
) -> None:
    put(evidence, "suite.a")
    target = traces.trace_path(evidence, "suite.a", None)
    traces.keep(made, target, made.stat().st_size)
    with made.open("wb") as file:
        file.truncate(20 * MIB + MIB // 2)
    with pytest.raises(TooLarge, match=r"it has 20\.5 MiB, more than the 16 MiB that are kept"):
        traces.keep(made, target, 16 * MIB)
    assert not target.exists()
    with pytest.raises(TooLarge):
        traces.keep(made, target, 16 * MIB)


def test_a_full_disk_leaves_the_older_one_whole(
    evidence: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(evidence, "suite.a")
    target = traces.trace_path(evidence, "suite.a", None)

    def half(source: Path, place: str) -> None:
        Path(place).write_bytes(b"new")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(traces.shutil, "copyfile", half)
    with pytest.raises(OSError, match="No space"):
        traces.keep(made, target, None)
    assert target.read_bytes() == b"old" and os.listdir(target.parent) == [target.name]


def test_those_of_a_benchmark_or_all_of_them_are_removed(evidence: Path) -> None:
    put(evidence, "suite.a", "suite.b-0", "suite.b-1")
    traces.remove(evidence, ["suite.b", "suite"])
    assert [one.benchmark for one in traces.kept(evidence)] == ["suite.a"]
    traces.remove(evidence, ["suite.a"])
    assert not traces.folder_of(evidence).exists()
    traces.remove(evidence, ["suite.a"])
    put(evidence, "suite.a")
    traces.remove(evidence)
    assert not traces.folder_of(evidence).exists()
    traces.remove(evidence)
