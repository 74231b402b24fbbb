"""asv's own commands over decorated functions, in the overlay and in an existing environment."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.asv_plugin.overlay_project import PACKAGE_PARENT

from .watching import lines, strict, survivors, wait_for
from .workbench import Workbench

pytestmark = pytest.mark.e2e

SUITE = """
import torch
import dcu_asv_ext as dcu
import tinyproj

@dcu.benchmark(metrics=["latency", "cold_start", "peak_allocated"], rounds=2, repeat=2)
def step():
    return tinyproj.work()

@dcu.benchmark(metrics=["latency"], rounds=1, repeat=2)
def once():
    return tinyproj.work()
"""
PROJECT = "import time, torch\ndef work():\n    time.sleep({seconds})\n    return torch.ones(4)\n"
NAMES = ("first", "second", "third", "slow")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    made = Workbench(tmp_path_factory.mktemp("commands"), SUITE)
    for name in NAMES:
        seconds = 0.02 if name == "slow" else 0.002
        made.commit({"tinyproj.py": f"# {name}\n" + PROJECT.format(seconds=seconds)})
    return made


@pytest.fixture(scope="module")
def commits(bench: Workbench) -> dict[str, str]:
    return dict(zip(NAMES, bench.git("rev-list", "--reverse", "HEAD").split(), strict=True))


def of(bench: Workbench, commit: str, benchmark: str, environment: str = "overlay") -> list[dict[str, Any]]:
    paths = bench.folder.glob(f"{commit[:8]}-{environment}*.evidence.jsonl")
    return [one for path in paths for one in strict(path) if one["benchmark"] == f"suite.{benchmark}"]


def hash_file(bench: Workbench, *chosen: str) -> str:
    path = bench.root / "hashes"
    path.write_text("\n".join(chosen) + "\n")
    return f"HASHFILE:{path}"


def test_interleaved_rounds_over_two_commits(bench: Workbench, commits: dict[str, str]) -> None:
    chosen = [commits["third"], commits["slow"]]
    bench.asv("run", hash_file(bench, *chosen), "--interleave-rounds", "-b", "suite.step")
    order = []
    for commit in chosen:
        records = of(bench, commit, "step")
        assert Counter(one["round"] for one in records) == {1: 1, 2: 1}
        assert len({one["session"] for one in records}) == 1
        order += [(one["started_at"], commit, one["round"]) for one in records]
        row = results(bench, commit, "suite.step.latency")
        assert len(row["samples"][0]) == 4, "two rounds of two samples"
    assert [number for _, _, number in sorted(order)] == [1, 1, 2, 2], "interleaved"
    assert not list(bench.folder.glob("*.session")), "finished"


def results(bench: Workbench, commit: str, name: str) -> dict[str, Any]:
    (path,) = bench.folder.glob(f"{commit[:8]}-overlay*.json")
    data = json.loads(path.read_text())
    return dict(zip(data["result_columns"], data["results"][name], strict=False))


def test_compare_show_check_and_publish(bench: Workbench, commits: dict[str, str]) -> None:
    out = bench.asv("compare", commits["third"], commits["slow"])
    for metric in ("latency", "cold_start", "peak_allocated"):
        assert f"suite.step.{metric}" in out
    out = bench.asv("show", commits["slow"])
    assert "suite.step.latency" in out
    assert "No problems found" in bench.asv("check")
    bench.asv("publish")
    assert list((bench.suite / "html").rglob("suite.step.peak_allocated.json"))


def test_continuous_measures_both_and_compares(bench: Workbench, commits: dict[str, str]) -> None:
    before = len(lines(bench))
    out = bench.asv(
        "continuous", "-b", "suite.once", "--factor", "1.5", commits["third"], commits["slow"], code=None
    )
    assert len(lines(bench)) == before + 2
    assert [one["round"] for one in of(bench, commits["slow"], "once")] == [1]
    assert "suite.once.latency" in out
    assert "resuming" not in out


def test_find_finds_the_slow_commit(bench: Workbench, commits: dict[str, str]) -> None:
    out = bench.asv("find", f"{commits['first']}..{commits['slow']}", "suite.once.latency")
    assert f"Greatest regression found: {commits['slow'][:8]}" in out
    for name in ("second", "third", "slow"):
        assert of(bench, commits[name], "once")[-1]["status"] == "ok"


def test_profile_prints_a_table(bench: Workbench, commits: dict[str, str]) -> None:
    before = len(lines(bench))
    out = bench.asv("profile", "suite.once.latency", commits["slow"])
    assert "cumtime" in out
    assert "tinyproj.py" in out
    assert len(lines(bench)) == before, "a profiled call is no measurement"


def test_run_with_profile_keeps_evidence_and_profile(bench: Workbench, commits: dict[str, str]) -> None:
    before = of(bench, commits["slow"], "step")
    bench.asv("run", "--profile", "-a", "rounds=1", "-b", "suite.step", hash_file(bench, commits["slow"]))
    after = of(bench, commits["slow"], "step")
    assert len(after) == len(before) + 1, "one process for all metrics, with its evidence"
    for metric in ("latency", "peak_allocated"):
        assert results(bench, commits["slow"], f"suite.step.{metric}")["profile"]


def test_the_fork_server(bench: Workbench, commits: dict[str, str]) -> None:
    before = of(bench, commits["slow"], "step")
    bench.asv("run", "--launch-method", "forkserver", "-b", "suite.step", hash_file(bench, commits["slow"]))
    made = of(bench, commits["slow"], "step")[len(before) :]
    assert [(one["round"], one["status"]) for one in made] == [(1, "ok"), (2, "ok")]
    assert survivors(bench) == []


class TestExisting:
    """One installation, whatever it is: measured under a hash that the user names, and under no range."""

    @pytest.fixture
    def environ(self, bench: Workbench) -> dict[str, str]:
        # asv takes PYTHONPATH from its children, and gives them this one.
        return {"ASV_PYTHONPATH": os.pathsep.join([PACKAGE_PARENT, str(bench.repo)])}

    def test_one_process_answers_every_metric(
        self, bench: Workbench, commits: dict[str, str], environ: dict[str, str]
    ) -> None:
        commit = commits["first"]
        bench.asv("run", "-E", "existing", "--set-commit-hash", commit, "-b", "suite.step", **environ)
        records = of(bench, commit, "step", "existing")
        assert [one["round"] for one in records] == [1, 2]
        assert {one["status"] for one in records} == {"ok"}
        (path,) = bench.folder.glob(f"{commit[:8]}-existing*.json")
        assert len(json.loads(path.read_text())["results"]) == 3

    @pytest.mark.parametrize(
        "command",
        [
            ("run", "-E", "existing", "HEAD~1..HEAD"),
            ("find", "-E", "existing", "HEAD~3..HEAD", "suite.once.latency"),
            ("continuous", "-E", "existing", "HEAD~1", "HEAD"),
        ],
        ids=lambda command: command[0],
    )
    def test_several_commits_are_refused(
        self, bench: Workbench, environ: dict[str, str], command: tuple[str, ...]
    ) -> None:
        before = len(lines(bench))
        out = bench.asv(*command, code=1, **environ)
        assert "file one program under many hashes" in " ".join(out.split())
        assert "--set-commit-hash HASH" in " ".join(out.split())
        assert "Traceback" not in out
        assert len(lines(bench)) == before


def test_a_second_run_on_one_result_file_is_refused(bench: Workbench, commits: dict[str, str]) -> None:
    chosen = hash_file(bench, commits["second"])
    first = bench.start("run", "-b", "suite.once", "-a", "rounds=50", chosen)
    try:
        wait_for(lambda: list(bench.folder.glob(f"{commits['second'][:8]}-*.session")), first)
        out = bench.asv("run", "-b", "suite.once", chosen, code=1)
        assert first.poll() is None
    finally:
        first.kill()
        first.communicate()
    said = " ".join(out.split())
    assert f"process {first.pid} is writing" in said
    assert "wait for it to end, or measure another commit or environment" in said
    assert "Traceback" not in out
    assert survivors(bench) == []


CARD = """
import sys
from asv.console import log
from dcu_asv_ext.asv_plugin.running import Runs
from dcu_asv_ext.asv_plugin.settings import Settings
log.enable()
runs = Runs()
runs._take_card("dcu", Settings())
print("has it", flush=True)
sys.stdin.readline()
"""


def read_until(process: subprocess.Popen[str], text: str) -> str:
    """The output so far, once it holds the text. asv's log ends its lines only when the next one begins."""
    assert process.stdout is not None
    said = ""
    while text not in said:
        ready, _, _ = select.select([process.stdout], [], [], 30)
        part = os.read(process.stdout.fileno(), 4096).decode() if ready else ""
        assert part, f"{text!r} never came: {said!r}"
        said += part
    return said


class TestCards:
    def take(self, folder: Path, card: str) -> subprocess.Popen[str]:
        environ = {
            **os.environ,
            "TMPDIR": str(folder),
            "DCU_ASV_LOCKS": str(folder / "locks"),
            "HIP_VISIBLE_DEVICES": card,
            "PYTHONPATH": PACKAGE_PARENT,
        }
        environ.pop("DCU_ASV_DEVICE", None)
        return subprocess.Popen(
            [sys.executable, "-c", CARD],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def test_a_card_each_and_nobody_waits_but_the_second_of_one(self, tmp_path: Path) -> None:
        runs = [self.take(tmp_path, card) for card in ("0", "1", "7")]
        second = None
        try:
            for one in runs:
                assert read_until(one, "has it").strip() == "has it"
            second = self.take(tmp_path, "7")
            said = read_until(second, "waiting for it to be free")
            assert f"the card is held by process {runs[2].pid}; waiting" in said
            assert "has it" not in said
            runs[2].communicate("\n", timeout=30)
            read_until(second, "has it")
        finally:
            for one in [*runs, *([second] if second else [])]:
                one.kill()
                one.communicate()
