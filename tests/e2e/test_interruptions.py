"""asv ended in the middle, and asked again in every way it can be: nothing is lost, nothing comes twice."""

from __future__ import annotations

import json
import signal
from collections import Counter
from typing import Any

import pytest

from .watching import evidence_files, lines, measuring, survivors, wait_for
from .workbench import Workbench

pytestmark = pytest.mark.e2e

SUITE = """
import torch
import dcu_asv_ext as dcu
import tinyproj

@dcu.benchmark(params={"n": [1, 2]}, metrics=["latency", "peak_allocated"], rounds=2, repeat=2)
def step(n):
    return tinyproj.work(n)
"""
PROJECT = "import torch\ndef work(n):\n    return torch.ones(4) * n\n"
#: One round of one parameter value: the cheapest run there is.
ONE = ("-b", r"step.*\(1\)", "-a", "rounds=1")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    made = Workbench(tmp_path_factory.mktemp("interruptions"), SUITE)
    made.commit({"tinyproj.py": PROJECT})
    return made


def keys(records: list[dict[str, Any]]) -> Counter[tuple[str, int]]:
    return Counter((one["params"]["n"], one["round"]) for one in records)


def stored(bench: Workbench) -> dict[str, str]:
    """asv's result files by name, as they are on disk."""
    return {one.name: one.read_text() for one in bench.folder.glob("*-*.json")}


def interrupted(bench: Workbench, with_signal: signal.Signals, *args: str) -> tuple[int, str]:
    """Start a run and send the signal while a measurement is in progress and one more is already kept."""
    before = len(lines(bench))
    process = bench.start("run", *args)
    try:
        wait_for(lambda: len(lines(bench)) > before and measuring(bench), process)
        process.send_signal(with_signal)
        out, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    return process.returncode, out


def test_an_interrupted_session_loses_only_the_measurement_in_progress(bench: Workbench) -> None:
    """Killed three times in three ways, taken up three times: each (parameters, round) was measured once."""
    for number, with_signal in enumerate((signal.SIGINT, signal.SIGKILL, signal.SIGTERM)):
        code, out = interrupted(bench, with_signal)
        name = with_signal.name
        assert code == (1 if with_signal == signal.SIGINT else -with_signal), out
        assert survivors(bench) == [], name
        assert ("resuming the interrupted session" in out) == (number > 0), (name, out)
        assert len(lines(bench)) >= number + 1, name
        assert not stored(bench), "asv saves a commit when it is finished"
        assert len(list(bench.folder.glob("*.session"))) == 1
    kept = len(lines(bench))
    out = bench.asv("run")
    assert "resuming the interrupted session of 2" in out
    assert f"{kept} measurements are kept" in out
    assert f"{kept} measurements were taken from the interrupted session" in out
    records = lines(bench)
    assert keys(records) == {(n, number): 1 for n in "12" for number in (1, 2)}
    assert len({one["session"] for one in records}) == 1
    assert {one["status"] for one in records} == {"ok"}
    assert [one["order"] for one in records] == sorted({one["order"] for one in records})
    assert not list(bench.folder.glob("*.session"))
    assert not list(bench.folder.glob("*.tmp"))
    (text,) = stored(bench).values()
    assert text.count("suite.step.") == 2


def test_a_finished_commit_is_measured_anew(bench: Workbench) -> None:
    before = lines(bench)
    out = bench.asv("run", *ONE)
    assert "resuming" not in out
    (made,) = lines(bench)[len(before) :]
    assert (made["params"]["n"], made["round"], made["order"]) == ("1", 1, 1)
    assert made["session"] != before[0]["session"]


def test_skip_existing_measures_nothing(bench: Workbench) -> None:
    before = lines(bench), stored(bench)
    bench.asv("run", "--skip-existing")
    assert (lines(bench), stored(bench)) == before


def test_quick_never_replaces_a_fuller_result(bench: Workbench) -> None:
    before = len(lines(bench)), stored(bench)
    out = bench.asv("run", "--quick", "-b", r"step.*\(2\)")
    assert "more samples than --quick's, and stay: suite.step.latency" in out
    (made,) = lines(bench)[before[0] :]
    assert len(made["times"]["latency"]) == 1
    (old,), (new,) = before[1].values(), stored(bench).values()
    assert samples_of(new, "suite.step.latency") == samples_of(old, "suite.step.latency")
    assert len(samples_of(new, "suite.step.latency")[1]) == 4


def test_append_samples_appends(bench: Workbench) -> None:
    kept = len(lines(bench))
    (before,) = stored(bench).values()
    bench.asv("run", "--append-samples", *ONE)
    (after,) = stored(bench).values()
    old, new = (samples_of(text, "suite.step.latency")[0] for text in (before, after))
    assert new[: len(old)] == old
    assert len(new) == len(old) + 2
    assert len(lines(bench)) == kept + 1


def test_a_dry_run_leaves_no_evidence_and_no_result(bench: Workbench) -> None:
    before = lines(bench), stored(bench), sorted(one.name for one in bench.folder.iterdir())
    out = bench.asv("run", "--dry-run", *ONE)
    assert "suite.step.latency" in out
    assert (lines(bench), stored(bench), sorted(one.name for one in bench.folder.iterdir())) == before


def test_another_attribute_is_another_session(bench: Workbench) -> None:
    before = len(lines(bench))
    code, out = interrupted(bench, signal.SIGKILL, "-b", r"step.*\(1\)", "-a", "repeat=2")
    assert code == -signal.SIGKILL, out
    out = bench.asv("run", *ONE, "-a", "repeat=3")
    assert "resuming" not in out
    made = lines(bench)[before:]
    assert len({one["session"] for one in made}) == 2
    assert len(made[-1]["times"]["latency"]) == 3
    assert made[-1]["round"] == 1


def test_what_asv_rm_removed_does_not_come_back(bench: Workbench) -> None:
    bench.asv("rm", "-y", "benchmark=suite.step.latency")
    assert all(one["metrics"] == ["peak_allocated"] for one in lines(bench))
    # An interrupted session that holds removed series must not be taken up.
    code, out = interrupted(bench, signal.SIGKILL, "-b", r"step.*\(1\)")
    assert code == -signal.SIGKILL, out
    bench.asv("rm", "-y", "benchmark=suite.step.*")
    # The series that was removed before is no more in asv's file: its new measurement stays until it is named.
    assert all(one["metrics"] == ["latency"] for one in lines(bench))
    out = bench.asv("run", *ONE)
    assert "resuming" not in out
    assert lines(bench)[-1]["metrics"] == ["latency", "peak_allocated"]
    (file,) = stored(bench)
    bench.asv("rm", "-y", f"commit_hash={file[:8]}")
    assert not stored(bench)
    assert not evidence_files(bench)
    out = bench.asv("run", *ONE)
    assert "resuming" not in out
    assert keys(lines(bench)) == {("1", 1): 1}


def samples_of(text: str, name: str) -> list[Any]:
    data = json.loads(text)
    row = dict(zip(data["result_columns"], data["results"][name], strict=False))
    return list(row["samples"])
