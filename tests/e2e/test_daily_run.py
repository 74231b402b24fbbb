"""`dcu-asv run` on a real small repository: what it finds, what it exits with, and that it leaves nothing behind."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.asv_plugin.overlay_project import PACKAGE_PARENT, write

from .workbench import Workbench

PROJECT = """
import os
import time

def work(x):
    time.sleep({seconds} * (2 if os.environ.get("TINY_SLOW") else 1))
    return x * 2.0
"""

BASE = PROJECT.format(seconds=0.004)
#: Slower by half, by a module that git does not know yet.
SLOWER = BASE.replace("time.sleep(0.004", "from .extra import SECONDS; time.sleep(SECONDS")

OURS = """
import torch
import dcu_asv_ext as dcu
import tinyproj

OURS = {"setup": lambda device, n: torch.ones(n, device=device), "params": {"n": [8, 16]}, "repeat": 7}

@dcu.benchmark(**OURS, metrics=["latency"])
def step(x):
    return tinyproj.work(x)

@dcu.benchmark(**OURS, metrics=["latency"])
def twice(x):
    return tinyproj.work(tinyproj.work(x))
"""

#: In a module of its own, which is measured without importing torch.
PLAIN = """
import tinyproj

def time_plain():
    tinyproj.work(1.0)

def time_twice():
    tinyproj.work(tinyproj.work(1.0))
"""


@dataclass
class Run:
    code: int
    out: str
    err: str

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """Of `--json`, by benchmark."""
        return {row["benchmark"]: row for row in json.loads(self.out)["rows"]}


class Daily(Workbench):
    def __init__(self, root: Path, **settings: Any) -> None:
        super().__init__(root, PLAIN, **settings)
        write(self.suite, {"benchmarks/ours.py": OURS})

    def daily(self, *arguments: str, **environ: str) -> Run:
        process = self.begin(*arguments, **environ)
        try:
            out, err = process.communicate(timeout=400)
        finally:
            process.kill()
        return Run(process.returncode, out, err)

    def begin(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "dcu_asv_ext.cli", "run", *arguments],
            cwd=self.suite,
            env={**self.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def tree(self, source: str, **more: str) -> None:
        """What lies in the working tree, uncommitted."""
        write(self.repo, {"tinyproj/__init__.py": source, **more})

    def restore(self) -> None:
        self.git("reset", "-q", "--hard")
        self.git("clean", "-qfd")

    def git_state(self) -> tuple[str, ...]:
        return (
            self.git("status", "--porcelain=v2", "--branch"),
            self.git("for-each-ref"),
            self.git("stash", "list"),
            self.git("reflog"),
            self.git("diff", "--cached"),
        )

    def records(self) -> dict[str, list[dict[str, Any]]]:
        """Evidence of the last run, by file."""
        newest = max((self.suite / "env" / "dcu-run").glob("2*"))
        files = sorted(newest.glob("box/*.evidence.jsonl"))
        return {path.name: [json.loads(line) for line in path.read_text().splitlines()] for path in files}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Daily:
    made = Daily(tmp_path_factory.mktemp("daily"))
    made.project("# first\n" + BASE)
    made.project(BASE)
    return made


@pytest.fixture
def bench(shared: Daily):
    yield shared
    shared.restore()


def fast(*arguments: str, rounds: int = 3) -> list[str]:
    return [*arguments, "--rounds", str(rounds), "--max-rounds", str(rounds)]


@pytest.mark.e2e
class TestDailyRun:
    def test_a_planted_slowdown_is_found_and_nothing_is_left_behind(self, bench: Daily) -> None:
        bench.tree(SLOWER, **{"tinyproj/extra.py": "SECONDS = 0.006\n"})
        bench.git("add", "tinyproj/__init__.py")
        before = bench.git_state()
        run = bench.daily(*fast("step(8)", "time_plain", "--json"))
        assert run.code == 1, run.err
        assert bench.git_state() == before
        assert not (bench.suite / "results").exists()
        assert set(run.rows) == {"ours.step", "suite.time_plain"}
        for row in run.rows.values():
            assert row["verdict"] == "regression"
            assert 1.3 < row["ratio"] < 1.7
            assert row["rounds"] == [3, 3] and row["paired"]
        assert run.rows["ours.step"]["params"] == {"n": "8"}

        head = bench.git("rev-parse", "HEAD")
        sides = list(bench.records().values())
        (dirty,) = [side for side in sides if side[0].get("dirty")]
        (clean,) = [side for side in sides if not side[0].get("dirty")]
        assert {one["head"] for one in dirty} == {head}
        assert {one["commit"] for one in clean} == {head}
        # Who was last in one round is first in the next.
        in_time = sorted([*clean, *dirty], key=lambda one: one["started_at"])
        assert ["AB"[bool(one.get("dirty"))] for one in in_time] == list("ABBAAB")
        report = json.loads(run.out)
        assert (report["before"]["label"], report["after"]["label"]) == ("HEAD", "working tree")
        assert report["after"]["dirty"] and not report["before"]["dirty"]

    def test_an_unchanged_program_is_no_regression(self, bench: Daily) -> None:
        bench.tree(BASE + "\n# nothing that runs\n")
        run = bench.daily(*fast("time_plain"))
        assert run.code == 0, run.err
        assert "changed since" in run.err and "against HEAD (" in run.err
        assert "no change" in run.out and "regression" not in run.out

    def test_a_clean_tree_is_compared_with_its_parent(self, bench: Daily) -> None:
        run = bench.daily(*fast("time_plain", "--json"))
        assert run.code == 0, run.err
        parent = bench.git("rev-parse", "HEAD~1")
        assert json.loads(run.out)["before"]["commit"] == parent
        assert run.rows["suite.time_plain"]["verdict"] in ("no change", "inconclusive")

    def test_the_same_tree_is_installed_once(self, bench: Daily) -> None:
        bench.tree(BASE + "# once\n")
        seen = []
        for _ in range(2):
            assert bench.daily(*fast("time_plain", rounds=1)).code in (0, 4)
            (base,) = [one for one in (bench.suite / "env").iterdir() if one.name != "dcu-run"]
            seen.append({one.name for one in base.iterdir() if len(one.name) == 12})
        assert seen[0] == seen[1]

    def test_two_functions(self, bench: Daily) -> None:
        run = bench.daily(*fast("twice(8)", "--against", "ours.step", "--json", rounds=2))
        assert run.code == 1, run.err
        assert list(run.rows) == ["ours.twice"]
        row = run.rows["ours.twice"]
        assert row["verdict"] == "regression" and 1.7 < row["ratio"] < 2.3
        plain = bench.daily(*fast("time_plain", "--against", "time_twice", "--json"))
        assert plain.code == 0, plain.err
        row = plain.rows["suite.time_plain"]
        assert row["verdict"] == "improvement" and 0.4 < row["ratio"] < 0.6

    def test_two_values_of_a_variable(self, bench: Daily) -> None:
        # The user's own value must not reach the side on which it is not set.
        run = bench.daily(
            *fast("step(16)", "time_plain", "--variant", "TINY_SLOW=,1", "--json", rounds=2), TINY_SLOW="1"
        )
        assert run.code == 1, run.err
        for row in run.rows.values():
            assert row["verdict"] == "regression" and 1.7 < row["ratio"] < 2.3
        report = json.loads(run.out)
        assert (report["before"]["label"], report["after"]["label"]) == ("TINY_SLOW not set", "TINY_SLOW=1")
        (varied,) = [one for one in report["differences"] if one["name"] == "environment.TINY_SLOW"]
        assert varied["declared"]
        told = {record["variant"] for side in bench.records().values() for record in side}
        assert told == {"TINY_SLOW not set", "TINY_SLOW=1"}

    def test_a_failure_is_2_with_its_message(self, bench: Daily) -> None:
        bench.tree(BASE.replace("return x * 2.0", "raise RuntimeError('planted')"))
        run = bench.daily(*fast("time_plain", "step(8)"))
        assert run.code == 2, run.err
        assert run.err.count("RuntimeError: planted") >= 2
        assert "round 1 of" in run.err
        assert "round 2 of" not in run.err, "what failed is not measured again"

    def test_interrupted_it_prints_what_was_measured(self, bench: Daily) -> None:
        bench.tree(SLOWER, **{"tinyproj/extra.py": "SECONDS = 0.02\n"})
        process = bench.begin("time_plain", "--rounds", "200", "--max-rounds", "200")
        assert process.stderr is not None
        said = ""
        while "round 4 of" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "regression" in out and "suite.time_plain" in out
        assert "(interrupted)" in err

    def test_the_budget_ends_it(self, bench: Daily) -> None:
        bench.tree(BASE + "# budget\n")
        began = time.monotonic()
        run = bench.daily("time_plain", "--rounds", "500", "--max-rounds", "500", "--budget", "4s")
        assert run.code in (0, 1, 4, 5)
        assert "the budget of 4.0 s does not allow another" in run.err
        assert time.monotonic() - began < 120


@pytest.mark.e2e
class TestRefused:
    @pytest.mark.parametrize(
        "arguments, sentence",
        [
            (["nothing_like_it"], "no benchmark is called 'nothing_like_it'"),
            (["time_plain", "--against", "no-such"], "no commit, branch or tag .* and no function"),
            (["time_plain", "--against", "main"], "just what main .* nothing to compare"),
            (["--against", "ours.step"], "name just one \\(now 4\\)"),
            (["time_plain", "--against", "ours.step"], "do not have the same parameters"),
            (["time_plain", "--against", "time_plain"], "that is the function itself"),
            (["time_plain", "--variant", "TINY_SLOW"], "--variant NAME=A,B"),
            (["time_plain", "--variant", "HIP_VISIBLE_DEVICES=0,1"], "it chooses the device"),
            (["time_plain", "--margin", "9%"], "--equivalence"),
        ],
    )
    def test_in_one_sentence(self, bench: Daily, arguments: list[str], sentence: str) -> None:
        run = bench.daily(*arguments)
        assert run.code == 3
        assert run.out == ""
        (line,) = [one for one in run.err.splitlines() if one.startswith("dcu-asv run:")]
        assert re.search(sentence, line), line

    def test_a_tree_that_cannot_be_installed(self, bench: Daily) -> None:
        write(bench.repo, {"pyproject.toml": "this is no toml"})
        run = bench.daily("time_plain")
        assert run.code == 3
        assert "pyproject.toml of the commit cannot be read" in run.err

    def test_an_existing_environment_serves_what_needs_no_second_install(self, tmp_path: Path) -> None:
        bench = Daily(tmp_path, environment_type="existing")
        bench.project(BASE)
        # asv keeps PYTHONPATH from the processes of an existing environment, and has this for it.
        bench.environ["ASV_PYTHONPATH"] = f"{PACKAGE_PARENT}:{bench.repo}"
        run = bench.daily(*fast("time_plain", "--variant", "TINY_SLOW=,1", "--json"))
        assert run.code == 1, run.err
        assert run.rows["suite.time_plain"]["verdict"] == "regression"
        bench.tree(BASE + "# changed\n")
        run = bench.daily("time_plain", "--against", "HEAD")
        assert run.code == 3
        assert "an existing environment holds one install" in run.err
