"""What `asv rm` removed goes from the evidence, and nothing else does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.removal import remove_all, remove_metrics
from dcu_asv_ext.evidence import traces
from dcu_asv_ext.evidence.store import read

from .fakes import METRICS, record

FOREIGN = '{"benchmark": "suite.st\n'


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    path = tmp_path / "12345678-env.evidence.jsonl"
    rows = [record(), record(benchmark="suite.other"), record(round=2)]
    lines = [json.dumps(row) + "\n" for row in rows]
    path.write_text(lines[0] + lines[1] + FOREIGN + lines[2])
    marker(path).write_text("{}")
    return path


def marker(evidence: Path) -> Path:
    return evidence.with_name("12345678-env.session")


def test_a_series_goes_from_every_round_of_its_function_alone(evidence: Path) -> None:
    remove_metrics(evidence, ["suite.step.latency"])
    records = read(evidence).records
    assert [one["benchmark"] for one in records] == ["suite.step", "suite.other", "suite.step"]
    assert records[0]["metrics"] == records[2]["metrics"] == ["cold_start", "peak_allocated"]
    assert records[1] == record(benchmark="suite.other")
    assert not marker(evidence).exists(), "an interrupted session would bring it back"


def test_a_measurement_without_any_series_left_goes_whole(evidence: Path) -> None:
    remove_metrics(evidence, [f"suite.step.{metric}" for metric in METRICS])
    assert [one["benchmark"] for one in read(evidence).records] == ["suite.other"]


def test_lines_that_are_no_evidence_stay(evidence: Path) -> None:
    remove_metrics(evidence, [f"suite.{name}.{metric}" for name in ("step", "other") for metric in METRICS])
    assert evidence.read_text() == FOREIGN


def test_the_file_goes_with_its_last_line(tmp_path: Path) -> None:
    path = tmp_path / "12345678-env.evidence.jsonl"
    path.write_text(json.dumps(record()) + "\n")
    remove_metrics(path, [f"suite.step.{metric}" for metric in METRICS])
    assert not path.exists()


def test_nothing_is_touched_where_nothing_matches(evidence: Path) -> None:
    before = evidence.read_text(), evidence.stat().st_ino
    remove_metrics(evidence, ["suite.time_plain", "suite.step.host_time", "suite.step"])
    assert (evidence.read_text(), evidence.stat().st_ino) == before
    assert marker(evidence).exists()


def test_a_removed_result_file_takes_evidence_and_session_along(evidence: Path) -> None:
    remove_all(evidence)
    assert not evidence.exists()
    assert not marker(evidence).exists()
    remove_all(evidence)
    remove_metrics(evidence, ["suite.step.latency"])


def profiled(benchmark: str) -> dict[str, Any]:
    return record(
        benchmark=benchmark,
        metrics=["latency", "kernel_count", "sync_count"],
        profile={"per_call": {"kernel_count": 3}, "trace": f"{benchmark}.json.gz"},
    )


@pytest.fixture
def with_traces(tmp_path: Path) -> Path:
    path = tmp_path / "12345678-env.evidence.jsonl"
    path.write_text("".join(json.dumps(profiled(name)) + "\n" for name in ("suite.step", "suite.other")))
    for name in ("suite.step", "suite.other"):
        kept = traces.trace_path(path, name, None)
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(b"")
    return path


def names(evidence: Path) -> list[str]:
    return [one.benchmark for one in traces.kept(evidence)]


def test_a_trace_stays_while_a_figure_of_it_does(with_traces: Path) -> None:
    remove_metrics(with_traces, ["suite.step.kernel_count", "suite.step.latency"])
    assert names(with_traces) == ["suite.other", "suite.step"]
    assert read(with_traces).records[0]["profile"]


def test_with_the_last_figure_of_it_the_profile_and_its_trace_go(with_traces: Path) -> None:
    remove_metrics(with_traces, [f"suite.step.{name}" for name in ("kernel_count", "sync_count")])
    assert names(with_traces) == ["suite.other"]
    step, other = read(with_traces).records
    assert step["metrics"] == ["latency"] and "profile" not in step and other["profile"]


def test_all_traces_go_with_the_result(with_traces: Path) -> None:
    remove_all(with_traces)
    assert not traces.folder_of(with_traces).exists()
