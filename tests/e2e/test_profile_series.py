"""Counts of nothing and shares near nothing, through every command of asv's and ours that divides."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext import cli
from dcu_asv_ext.evidence.record import Measurement
from tests.gates.candidates import Candidates, measured

pytestmark = pytest.mark.e2e

#: metric -> (before, after)
FIGURES = {
    "sync_count": (0, 2),
    "copy_count_htod": (2, 0),
    "copy_count_dtoh": (0, 0),
    "copy_bytes_htod": (0, 4096),
    "kernel_count": (12.5, 12.5),
    "idle_share": (0.001, 0.018),
    "launch_bound_share": (0.10, 0.45),
    "overlap_share": (0.40, 0.0),
}
METRICS = list(FIGURES)


def records(side: int, **changes: Any) -> list[Measurement]:
    figures = {name: both[side] for name, both in FIGURES.items()}
    made = measured("suite.step", hours=float(side), seed=50 * side, rounds=3, **changes)
    for one in made:
        one.metrics = [*one.metrics, *METRICS]
        one.versions = dict.fromkeys(one.metrics, "1")
        one.profile = {"steps": 2, "per_call": figures}
    return made


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Candidates:
    made = Candidates(tmp_path_factory.mktemp("two"))
    made.keep(made.base, records(0))
    made.keep(made.candidate, records(1))
    return made


VERDICTS = {
    "sync_count": "regression",
    "copy_count_htod": "improvement",
    "copy_count_dtoh": "no change",
    "copy_bytes_htod": "regression",
    "kernel_count": "no change",
    "idle_share": "no change",
    "launch_bound_share": "regression",
    "overlap_share": "regression",
}


class Dcu:
    """`dcu-asv` in the folder of a project's suite."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, made: Candidates, *arguments: str, code: int = 0) -> str:
        self.monkeypatch.chdir(made.suite)
        self.monkeypatch.setenv("COLUMNS", "140")
        self.capsys.readouterr()
        found = cli.main(list(arguments))
        shown = self.capsys.readouterr()
        assert found == code, shown.err
        return shown.out


@pytest.fixture
def dcu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dcu:
    return Dcu(monkeypatch, capsys)


def no_nonsense(text: str) -> None:
    assert not re.search(r"\b(inf|nan|Infinity|NaN)\b", text), text


def test_compare(two: Candidates, dcu: Dcu) -> None:
    found = json.loads(dcu(two, "compare", two.base, two.candidate, "--json", "--fail-on", "none"))
    rows = {row["metric"]: row for row in found["rows"] if row["metric"] in METRICS}
    assert {name: row["verdict"] for name, row in rows.items()} == VERDICTS
    assert (rows["sync_count"]["ratio"], rows["sync_count"]["no_ratio"]) == (None, "it was 0 before")
    assert (rows["copy_count_htod"]["ratio"], rows["copy_count_htod"]["no_ratio"]) == (0.0, None)
    share = rows["launch_bound_share"]
    assert (share["ratio"], share["no_ratio"]) == (None, "a share is judged by its difference")
    assert share["difference"] == pytest.approx(0.35)
    text = dcu(two, "compare", two.base, two.candidate, "--all", "--fail-on", "none")
    assert "from 0" in text and "10 %" in text and "45 %" in text and "+35.0 points" in text
    no_nonsense(text)
    no_nonsense(dcu(two, "compare", two.base, two.candidate, "--markdown", "--fail-on", "none"))


def test_asvs_own_table(two: Candidates) -> None:
    out = two.asv("compare", two.base, two.candidate)
    marks = {}
    for line in out.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and cells[5].startswith("suite.step."):
            marks[cells[5].removeprefix("suite.step.")] = cells[1]
    signs = {"regression": "+", "improvement": "-", "no change": ""}
    assert {name: marks[name] for name in METRICS} == {name: signs[one] for name, one in VERDICTS.items()}
    no_nonsense(out)
    for sort in ("name", "ratio"):
        two.asv("compare", "--sort", sort, two.base, two.candidate)


def test_matrix(two: Candidates, dcu: Dcu) -> None:
    found = json.loads(dcu(two, "matrix", two.candidate, "--json"))
    assert found["rows"][0]["sync_count_median"] == 2.0
    text = dcu(two, "matrix", two.candidate)
    assert "1.80 %" in text
    no_nonsense(text)


def test_gate(two: Candidates, dcu: Dcu, tmp_path: Path) -> None:
    """What a profile counts is gated where the configuration says so; shares never are."""
    passed = json.loads(dcu(two, "gate", two.base, two.candidate, "--json"))
    assert passed["outcome"] == "passed", "by default nothing of a profile fails a gate"
    two.gate({"resources": {"sync_count": "0", "copy_bytes_htod": "0%", "copy_count_htod": "0"}})
    try:
        junit = tmp_path / "gate.xml"
        out = dcu(two, "gate", two.base, two.candidate, "--json", "--junit", str(junit), code=1)
        found = {one["metric"]: one for one in json.loads(out)["gates"]["resources"]["findings"]}
        assert (found["sync_count"]["outcome"], found["sync_count"]["ratio"]) == ("failed", None)
        assert found["sync_count"]["no_ratio"] == "it was 0 before"
        assert found["copy_bytes_htod"]["outcome"] == "failed"
        assert (found["copy_count_htod"]["outcome"], found["copy_count_htod"]["ratio"]) == ("passed", 0.0)
        assert "idle_share" not in found and "kernel_count" not in found
        no_nonsense(out)
        no_nonsense(junit.read_text())
        no_nonsense(dcu(two, "gate", two.base, two.candidate, code=1))
    finally:
        two.set_up()


@pytest.fixture(scope="module")
def branch(tmp_path_factory: pytest.TempPathFactory) -> tuple[Candidates, list[str]]:
    """Seven commits as before, then seven as after."""
    made = Candidates(tmp_path_factory.mktemp("branch"))
    commits = [made.base, made.candidate, *made.commits(14)[2:]]
    for place, commit in enumerate(commits):
        made.keep(commit, records(int(place >= 7)))
    return made, commits


def test_history(branch: tuple[Candidates, list[str]], dcu: Dcu) -> None:
    made, commits = branch
    found = json.loads(dcu(made, "history", "--json"))
    changes = {one["metric"]: one for one in found["changes"]}
    assert {name: changes[name]["kind"] for name in METRICS if name in changes} == {
        name: one for name, one in VERDICTS.items() if one != "no change"
    }
    assert all(changes[name]["commit"] == commits[7] for name in METRICS if name in changes)
    assert (changes["sync_count"]["ratio"], changes["sync_count"]["no_ratio"]) == (None, "it was 0 before")
    assert changes["overlap_share"]["difference"] == pytest.approx(-0.4)
    text = dcu(made, "history", "--all")
    assert "from 0" in text and "-40.0 points" in text
    no_nonsense(text)


def test_publish(branch: tuple[Candidates, list[str]]) -> None:
    made, _ = branch
    made.asv("publish")
    html = made.suite / "html"
    found = json.loads((html / "regressions.json").read_text())["regressions"]
    jumps = {entry[0].removeprefix("suite.step."): entry[6][0][2:] for entry in found}
    assert {name: jumps[name] for name in METRICS if name in jumps} == {
        "sync_count": [0.0, 2.0],
        "copy_bytes_htod": [0.0, 4096.0],
        "launch_bound_share": [0.10, 0.45],
        "overlap_share": [0.40, 0.0],
    }
    no_nonsense((html / "regressions.xml").read_text())


def test_publish_by_asvs_own_rule(branch: tuple[Candidates, list[str]]) -> None:
    made, _ = branch
    made.set_up(dcu={"verdict": "asv"})
    try:
        made.asv("publish")
    finally:
        made.set_up()
