"""What reads the trace of the profile pass: loaded by who wants a profile, and its faults are nobody else's."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.devices import select
from dcu_asv_ext.measure.request import Options, ProfileRequest, Request
from dcu_asv_ext.measure.session import measure
from dcu_asv_ext.metrics import GROUPS

from .test_profiling import METRICS, inputs, record, work
from .virtual_runs import spec_of


def test_without_one_nothing_that_reads_traces_is_loaded(tmp_path: Path) -> None:
    """It would cost every measurement a tenth of a second."""
    program = f"""
        import sys
        from pathlib import Path
        from tests.measure.test_profiling import Path, record, work
        for name in [one for one in sys.modules if one.startswith("dcu_asv_ext.trace")]:
            del sys.modules[name]
        told = record(work, Path({str(tmp_path)!r}), metrics=("latency", "host_time", "memory_growth"))
        assert told["status"] == "ok", told
        print([one for one in sys.modules if one.startswith("dcu_asv_ext.trace")])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["[]"]


@pytest.mark.parametrize("broken", ["tracing.load", "tracing.clean"])
def test_a_fault_of_the_reader_is_not_told_as_the_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def fails(*given: Any) -> Any:
        raise IndexError("row 7\nof 3")

    monkeypatch.setattr(f"dcu_asv_ext.measure.{broken}", fails)
    told = record(work, tmp_path)
    why = "its trace could not be read (IndexError: row 7)"
    assert told["status"] == "ok" and told["times"]["latency"]
    assert told["missing"] == dict.fromkeys(GROUPS["profile"], why) and told["notes"] == [why]
    only = record(work, tmp_path, profile=ProfileRequest(only=True, trace=tmp_path / "mine.json"))
    assert only["status"].endswith(f"UnreadTrace: {why}") and "IndexError" in only["error"]["traceback"]


def test_a_name_too_long_for_a_file_costs_only_the_trace(tmp_path: Path) -> None:
    spec = replace(spec_of(work, setup=inputs, metrics=METRICS), family="suite." + 300 * "n")
    options = Options(repeat=3, evidence=tmp_path / "c-e.evidence.jsonl")
    request = Request(spec, {}, {}, options=options, cache_root=tmp_path / "cache")
    profile = measure(request, select("cpu")).record.profile
    assert profile["trace"] is None and "File name too long" in profile["missing"]["trace"]
    assert profile["operators"] and not list((tmp_path / "c-e.traces").iterdir())
