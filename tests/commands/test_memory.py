"""`dcu-asv memory` over results that were written down, without asv run."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.commands.running import Run, runner
from tests.comparing.memories import ALIVE as WHO
from tests.comparing.memories import FIRST, LINE, MIB, STEADY, quiet
from tests.e2e.prepared import ENV, Prepared, rounds_of

OTHER = "overlay-py4"


@dataclass
class Results:
    """commits: one without memory's new figures, one with them, and one without results."""

    made: Prepared
    commits: list[str]

    def evidence(self, commit: str, env: str = ENV) -> Path:
        return self.made.results_dir / "box" / f"{commit[:8]}-{env}.evidence.jsonl"


def write(results: Results, commit: str, memory: dict[str, dict[str, Any]], env: str = ENV) -> None:
    """memory: of each function, the same in two rounds."""
    results.made.write(commit, {name: rounds_of(1e-3, rounds=2) for name in memory}, env=env)
    path = results.evidence(commit, env)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(one | {"memory": memory[one["benchmark"]]}) + "\n" for one in lines))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    made = Prepared(tmp_path_factory.mktemp("memory"))
    found = Results(made, made.commits(3))
    old, new, _ = found.commits
    before = {name: STEADY[name] for name in ("baseline_allocated", "peak_allocated", "after_allocated")}
    write(found, old, {"suite.scores": before})
    everything = STEADY | {"first": FIRST, "alive": WHO, "growth": quiet(4096.0)}
    write(found, new, {"suite.scores": everything, "suite.small": STEADY | {"peak_allocated": 130 * MIB}})
    write(found, new, {"suite.scores": everything}, OTHER)
    made.git("tag", "v1", old)
    return found


@pytest.fixture
def run(results: Results, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner("memory", results.made.suite, monkeypatch, capsys)


def test_the_newest_commit_with_results_all_its_environments(results: Results, run: Run) -> None:
    code, out, err = run()
    assert (code, err) == (0, "")
    titles = [line for line in out.splitlines() if "box, overlay" in line]
    assert titles == [
        f"{results.commits[1][:8]}  box, {ENV}: cpu, 2 rounds",
        f"{results.commits[1][:8]}  box, {OTHER}: cpu, 2 rounds",
    ]
    assert out.index("suite.scores") < out.index("suite.small")
    assert f"1. alive at the peak: begin with {LINE} (48 MiB)" in out
    # A reserve that grows is no leak.
    assert "LEAK" not in out and "no leak over 1,000 calls" in out


def test_one_environment_and_one_function(run: Run) -> None:
    code, out, _ = run("--env", OTHER, "--bench", "scores")
    assert code == 0 and ENV not in out and "suite.small" not in out
    assert "suite.scores" not in run("--bench", r"\.small$")[1]


def test_a_named_commit_with_old_evidence(results: Results, run: Run) -> None:
    code, out, err = run("v1", "--machine", "box")
    assert (code, err) == (0, "") and out.startswith(
        f"v1 ({results.commits[0][:8]})  box, {ENV}: cpu, 2 rounds"
    )
    assert "allocated    128 MiB  192 MiB  128 MiB" in out
    assert "reserved" not in out and "the first call" not in out and "1. shorten lifetimes" in out


def test_json_has_every_byte(results: Results, run: Run) -> None:
    code, out, _ = run("--json", "--env", ENV)
    (found,) = json.loads(out)["results"]
    assert code == 0 and (found["commit"], found["machine"]) == (results.commits[1], "box")
    scores, small = found["functions"]
    assert scores["steady"]["allocated"] == {
        "before": STEADY["baseline_allocated"],
        "peak": STEADY["peak_allocated"],
        "after": STEADY["after_allocated"],
    }
    assert scores["first"]["whole_card"] == {"before": 700 * MIB, "peak": None, "after": 1382 * MIB}
    assert scores["first"]["process"]["peak"] == FIRST["rss_peak"]
    assert (scores["rounding"], scores["cache"], scores["outside_by_first_call"]) == (
        MIB,
        320 * MIB,
        300 * MIB,
    )
    assert scores["alive"]["holders"][0]["where"] == LINE and scores["growth"]["leak"] is False
    assert [each["kind"] for each in scores["advice"]][:2] == ["alive at the peak", "shorten lifetimes"]
    assert small["alive"] is None and small["outside_allocator"] is None and scores["ranges"] == {}


def test_an_evidence_file(results: Results, run: Run) -> None:
    code, out, _ = run(str(results.evidence(results.commits[1], OTHER)))
    assert code == 0 and OTHER in out
    code, _, err = run(str(results.evidence(results.commits[1])), "--machine", "box")
    assert code == 3 and "not of files" in err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("nope",), 3, "there is no commit nope"),
        (("HEAD",), 4, "there are no results of HEAD"),
        (("HEAD~1", "--machine", "bux"), 3, "there are no results of machine 'bux'"),
        (("--machine", "bux"), 3, "there are no results of machine 'bux'"),
        (("v1", "--env", "py9"), 3, "has no results of an environment 'py9'"),
        (("--bench", "("), 3, "--bench is no regular expression"),
        (("--bench", "scroes"), 3, "no function matches --bench scroes; there are suite.scores, suite.small"),
        (("nowhere.evidence.jsonl",), 3, "there is no commit nowhere.evidence.jsonl"),
        (("./nowhere.evidence.jsonl",), 3, "there is no file"),
    ],
)
def test_bad_input_is_one_sentence(arguments: tuple[str, ...], code: int, told: str, run: Run) -> None:
    found, out, err = run(*arguments)
    assert (found, out) == (code, "") and told in err and err.count("\n") == 1


def test_nothing_measured_is_exit_4(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    results = Results(Prepared(tmp_path), [])
    monkeypatch.chdir(results.made.suite)
    code, out, err = run()
    assert (code, out) == (4, "") and "there are no results" in err
    (commit,) = results.commits = results.made.commits(1)
    results.made.write(commit, {}, {"plain.time_it": 2e-3})
    code, out, err = run()
    assert (code, out) == (4, "") and "have no evidence" in err
    write(results, commit, {"suite.scores": {}})
    code, out, err = run()
    assert (code, err) == (4, "") and "no figures: suite.scores: the evidence has no figures" in out


def test_heavy_modules_are_not_imported(results: Results) -> None:
    code = (
        "import sys, dcu_asv_ext.cli as cli\n"
        "cli.main(['memory'])\n"
        "print([name for name in ('torch', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=results.made.suite, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")
