"""`asv compare`, `continuous` and `publish` with our verdicts, over results that were written down."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from .prepared import Prepared, rounds_of
from .workbench import Workbench

pytestmark = pytest.mark.e2e

FUNCTIONS = ("suite.steady", "suite.slower", "suite.faster", "suite.noisy")
LEVELS = {"suite.steady": 1.0, "suite.slower": 1.2, "suite.faster": 0.9, "suite.noisy": 1.04}


def write(made: Prepared, commits: list[str], **of_second: Any) -> None:
    """Two commits, interleaved; `noisy` has rounds that differ by more than its change."""
    for second, commit in enumerate(commits):
        ours = {}
        for place, name in enumerate(FUNCTIONS):
            level = 1e-3 * (LEVELS[name] if second else 1.0)
            spread = 0.08 if name == "suite.noisy" else 0.002
            ours[name] = rounds_of(level, spread=spread, seed=10 * place + second)
        made.write(commit, ours, hours=second / 120, **(of_second if second else {}))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Prepared, list[str]]:
    made = Prepared(tmp_path_factory.mktemp("two"))
    commits = made.commits(2)
    write(made, commits)
    return made, commits


def marks(out: str) -> dict[str, str]:
    """Benchmark -> asv's mark, and a "~" where the ratio has one."""
    found = {}
    for line in out.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and cells[5].startswith("suite."):
            found[cells[5].removesuffix(".latency")] = cells[1] + ("~" if cells[4].startswith("~") else "")
    return found


class TestCompare:
    def test_marks_and_the_rule_under_the_table(self, two: tuple[Prepared, list[str]]) -> None:
        made, commits = two
        out = made.asv("compare", *commits)
        assert marks(out) == {
            "suite.steady": "",
            "suite.slower": "+",
            "suite.faster": "-",
            "suite.noisy": "~",
        }
        assert "Decided by dcu-asv" in out
        assert "beyond 1 %" in out
        assert "1 worse, 1 better, 1 no change, 1 inconclusive" in out
        assert f"dcu-asv compare {commits[0][:8]} {commits[1][:8]}" in out

    def test_only_changed_and_split_are_asvs(self, two: tuple[Prepared, list[str]]) -> None:
        made, commits = two
        assert marks(made.asv("compare", "--only-changed", *commits)) == {
            "suite.slower": "+",
            "suite.faster": "-",
        }
        out = made.asv("compare", "--split", *commits)
        assert out.index("have improved") < out.index("suite.faster") < out.index("stayed the same")
        assert out.index("stayed the same") < out.index("suite.noisy") < out.index("have got worse")
        assert out.index("have got worse") < out.index("suite.slower")

    def test_a_factor_is_the_margin(self, two: tuple[Prepared, list[str]]) -> None:
        made, commits = two
        out = made.asv("compare", "--factor", "1.15", *commits)
        assert marks(out)["suite.slower"] == "+"
        assert marks(out)["suite.faster"] == "", "within the margin of 15 %"
        assert "beyond 15 % (--factor), no change one surely within 15 %" in out
        out = made.asv("compare", "--factor", "0.5", *commits, code=1)
        assert "--factor must be a number of at least 1" in out
        assert "Traceback" not in out

    def test_a_hash_that_only_the_results_know(self, two: tuple[Prepared, list[str]]) -> None:
        made, commits = two
        stranger = "beef" * 10
        made.write(stranger, {"suite.slower": rounds_of(1.2e-3, seed=5)}, date=0)
        try:
            out = made.asv("compare", commits[0], "beefbe", code=None)
        finally:
            for path in made.results_dir.glob("box/beefbeef*"):
                path.unlink()
        assert marks(out)["suite.slower"] == "+", out

    @pytest.mark.parametrize("how", ["--no-stats", "verdict"])
    def test_asvs_own_rule(self, two: tuple[Prepared, list[str]], how: str) -> None:
        made, commits = two
        options = ["--no-stats"] if how == "--no-stats" else []
        made.set_up(plugins=[])
        plain = made.asv("compare", *options, *commits)
        made.set_up(dcu={"verdict": "asv"} if how == "verdict" else {})
        try:
            ours = made.asv("compare", *options, *commits)
        finally:
            made.set_up()
        assert ours.startswith(plain.rstrip("\n"))
        said = ours[len(plain.rstrip("\n")) :].strip()
        assert re.fullmatch(rf"Decided by asv's own rule \(.*{how}.*\)\.", said)

    def test_a_machine_that_changed_is_no_regression(self, tmp_path: Path) -> None:
        made = Prepared(tmp_path)
        commits = made.commits(2)
        write(made, commits, device={"driver": "6.2"})
        write(made, commits[:1])
        for path in made.results_dir.glob(f"box/{commits[0][:8]}*.jsonl"):
            path.write_text(path.read_text().replace('"simulated"', '"driver":"5.1","simulated"'))
        out = made.asv("compare", *commits)
        assert set(marks(out).values()) == {"x"}
        assert "4 not comparable" in out
        assert out.count("the machine changed: device.driver was 5.1, is 6.2") == 1

    def test_another_version_is_not_compared(self, tmp_path: Path) -> None:
        made = Prepared(tmp_path)
        commits = made.commits(2)
        write(made, commits, version="2")
        out = made.asv("compare", *commits)
        assert set(marks(out).values()) == {"x"}
        assert "the benchmark changed" in out

    def test_other_suites_are_decided_from_asvs_samples(self, tmp_path: Path) -> None:
        """6 against 6 samples, a hundred times slower: asv's own rule cannot tell."""
        made = Prepared(tmp_path)
        commits = made.commits(2)
        names = [f"suite.time_{letter}" for letter in "abcdefgh"]
        for second, commit in enumerate(commits):
            samples = {name: rounds_of(1e-3, 1, 6, seed=10 * i + second)[0] for i, name in enumerate(names)}
            if second:
                samples[names[0]] = [100 * one for one in samples[names[0]]]
            made.write(commit, {}, samples)
        out = made.asv("compare", *commits)
        assert marks(out)[names[0]] == "+"
        assert "8 of 8 without rounds of ours" in out
        assert "+" not in {mark for name, mark in marks(out).items() if name != names[0]}


STEPS = {"suite.steady": 1.0, "suite.slower": 1.2, "suite.faster": 0.9}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Prepared, list[str]]:
    """Twenty commits; `slower` and `faster` change at the eleventh, and a benchmark of another suite at the sixth."""
    made = Prepared(tmp_path_factory.mktemp("history"))
    commits = made.commits(20)
    for place, commit in enumerate(commits):
        ours = {
            name: rounds_of(1e-3 * (level if place >= 10 else 1.0), seed=100 * i + place)
            for i, (name, level) in enumerate(STEPS.items())
        }
        plain = {"suite.time_plain": rounds_of(2e-3 if place >= 5 else 1e-3, 1, seed=900 + place)[0]}
        made.write(commit, ours, plain, hours=place)
    return made, commits


def regressions(made: Prepared) -> dict[str, list[Any]]:
    """Benchmark -> (commit before, or None where it is the one before; commit after; value before; best after)."""
    html = made.suite / "html"
    index = json.loads((html / "index.json").read_text())["revision_to_hash"]
    found = {}
    for name, _, _, _, _, _, jumps in json.loads((html / "regressions.json").read_text())["regressions"]:
        found[name] = [[index.get(str(a)), index[str(b)], old, new] for a, b, old, new in jumps]
    return found


class TestPublish:
    def test_the_regressions_are_our_change_points(self, history: tuple[Prepared, list[str]]) -> None:
        made, commits = history
        out = made.asv("publish", "--no-pull")
        assert "Steps are the change points of dcu-asv" in out
        found = regressions(made)
        assert {name: jumps[0][:2] for name, jumps in found.items()} == {
            "suite.slower.latency": [None, commits[10]],
            "suite.time_plain": [None, commits[5]],
        }
        before, after = found["suite.slower.latency"][0][2:]
        assert before == pytest.approx(1e-3, rel=0.01)
        assert after == pytest.approx(1.2e-3, rel=0.01)
        assert "suite.slower.latency" in (made.suite / "html" / "regressions.xml").read_text()

    def test_thresholds_are_asvs(self, history: tuple[Prepared, list[str]]) -> None:
        made, _ = history
        made.set_up(regressions_thresholds={".*latency": 0.25})
        try:
            made.asv("publish", "--no-pull")
        finally:
            made.set_up()
        assert set(regressions(made)) == {"suite.time_plain"}

    def test_asvs_own_steps(self, history: tuple[Prepared, list[str]]) -> None:
        made, _ = history
        made.set_up(plugins=[])
        made.asv("publish", "--no-pull")
        plain = regressions(made)
        made.set_up(dcu={"verdict": "asv"})
        try:
            out = made.asv("publish", "--no-pull")
        finally:
            made.set_up()
        assert "change points of dcu-asv" not in out
        assert regressions(made) == plain

    def test_one_function_of_three_is_a_regression_in_all_its_metrics(self, tmp_path: Path) -> None:
        """Five metrics of one function are a third of this suite's lines, and memory that never moves is more."""
        times = ("latency", "device_time", "cold_start", "host_time", "process_wall")
        made = Prepared(tmp_path)
        commits = made.commits(14)
        for place, commit in enumerate(commits):
            figures: dict[str, float] = {}
            for i, name in enumerate(("slow", "other", "third")):
                level = 1.3e-3 if name == "slow" and place >= 7 else 1e-3
                for j, metric in enumerate(times):
                    seed = 1000 * i + 100 * j + place
                    figures[f"suite.{name}.{metric}"] = rounds_of(level, 1, 1, seed=seed)[0][0]
                figures[f"suite.{name}.peak_allocated"] = 4096.0
            made.write(commit, {}, figures)
        made.asv("publish", "--no-pull")
        found = regressions(made)
        assert {name: jumps[0][1] for name, jumps in found.items()} == {
            f"suite.slow.{metric}": commits[7] for metric in times
        }


class TestImports:
    """Commands that only read results stay quick to start."""

    @pytest.mark.parametrize(
        ("command", "forbidden"),
        [
            ("show", ("numpy", "scipy", "torch")),
            ("rm -y commit_hash=0000", ("numpy", "scipy", "torch")),
            ("compare --no-stats {0} {1}", ("numpy", "scipy", "torch")),
            ("compare {0} {1}", ("scipy.stats", "torch")),
            ("publish --no-pull", ("scipy.stats", "torch")),
        ],
    )
    def test_of(self, history: tuple[Prepared, list[str]], command: str, forbidden: tuple[str, ...]) -> None:
        made, commits = history
        arguments = command.format(*commits[9:11]).split()
        out = made.asv(*arguments, PYTHONPROFILEIMPORTTIME="1")
        imported = set(re.findall(r"^import time:.*\|\s*(\S+)$", out, re.MULTILINE))
        assert {"asv.commands.run", "dcu_asv_ext.asv_plugin.hooks"} <= imported
        assert not imported & set(forbidden)


SUITE = """
import dcu_asv_ext as dcu
import tinyproj

@dcu.benchmark(metrics=["latency"], rounds=3, repeat=3)
def step():
    return tinyproj.work()
"""
PROJECT = "import time, torch\ndef work():\n    time.sleep({seconds})\n    return torch.ones(4)\n"


def test_continuous_ends_as_our_verdicts_say(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, SUITE)
    quick = bench.commit({"tinyproj.py": PROJECT.format(seconds=0.004)})
    slow = bench.commit({"tinyproj.py": PROJECT.format(seconds=0.012)})
    out = bench.asv("continuous", "--interleave-rounds", quick, slow, code=1)
    assert marks(out) == {"suite.step": "+"}
    assert "1 worse" in out
    assert "PERFORMANCE DECREASED" in out
    assert marks(bench.asv("compare", slow, quick)) == {"suite.step": "-"}
