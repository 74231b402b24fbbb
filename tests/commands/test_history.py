"""`dcu-asv history` over results that were written down, without asv run."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.commands.running import Run, runner
from tests.e2e.prepared import ENV, Prepared, rounds_of

COMMITS, SLOWER, FASTER = 26, 14, 23
#: Not measured, and just before the regression.
GAP = (12, 13)
ELSEWHERE = "f00d" * 10


@dataclass
class Results:
    made: Prepared
    commits: list[str]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """suite.slower has a regression after two commits without results, suite.faster an improvement that is pending,
    suite.new three commits."""
    made = Prepared(tmp_path_factory.mktemp("history"))
    commits = made.commits(COMMITS)
    for place, commit in enumerate(commits):
        if place not in GAP:
            write(made, commit, place)
    write(made, ELSEWHERE, 0, date=1_700_000_000_000)
    made.git("tag", "v1", commits[18])
    return Results(made, commits)


def write(made: Prepared, commit: str, place: int, **more: object) -> None:
    levels = {
        "suite.slower": 1e-3 * (1.2 if place >= SLOWER else 1.0),
        "suite.faster": 1e-3 * (0.7 if place >= FASTER else 1.0),
        "suite.steady": 1e-3,
        **({"suite.new": 1e-3} if place >= COMMITS - 3 else {}),
    }
    ours = {name: rounds_of(level, seed=100 * place + at) for at, (name, level) in enumerate(levels.items())}
    made.write(commit, ours, {"plain.time_it": 2e-3}, **more)


@pytest.fixture
def run(results: Results, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner("history", results.made.suite, monkeypatch, capsys)


def test_the_changes_newest_first(results: Results, run: Run) -> None:
    code, out, err = run()
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "main: 1 regression, 1 improvement, 0 machine events (1 of them pending)."
    assert lines[1].startswith(
        f"box, {ENV}: 5 series, 1 of them too short to tell, 24 measured commits of 26, "
    )
    assert lines[2] == "1 result file of commits that are not on main (first parents only) left out."
    faster, slower = (place for place, line in enumerate(lines) if "suite." in line)
    assert results.commits[FASTER][:8] in lines[faster - 1]
    assert "improvement  0.7" in lines[faster] and "1.00 ms -> 700 us" in lines[faster]
    assert lines[faster + 1].strip().startswith("pending: ")
    before, after = results.commits[GAP[0] - 1], results.commits[SLOWER]
    assert lines[slower - 1].strip() == f"can be any of 3 commits: git log {before[:8]}..{after[:8]}"
    assert results.commits[SLOWER][:8] in lines[slower - 2]
    assert "regression   1.2" in lines[slower] and "│" in lines[slower]


def test_json(results: Results, run: Run) -> None:
    code, out, _ = run("--json", "--all")
    found = json.loads(out)
    assert code == 0 and (found["commits"], found["series"], found["too_short"]) == (COMMITS, 5, 1)
    newest, oldest = found["changes"]
    assert (newest["benchmark"], newest["pending"]) == ("suite.faster", True)
    assert (oldest["benchmark"], oldest["metric"], oldest["kind"]) == (
        "suite.slower",
        "latency",
        "regression",
    )
    assert oldest["commit"] == results.commits[SLOWER] and oldest["range_commits"] == 3
    assert oldest["ci_low"] < 1.2 < oldest["ci_high"] and oldest["ratio"] == pytest.approx(1.2, rel=0.01)
    assert [len(one["values"]) for one in found["timelines"] if one["benchmark"] == "suite.new"] == [3]


def test_what_is_chosen(results: Results, run: Run) -> None:
    assert "suite.faster" not in run("--only", "regressions")[1]
    assert "suite.slower" not in run("--only", "improvements")[1]
    assert "suite.slower" not in run("--bench", r"suite\.f")[1]
    assert "suite.faster" not in run("--since", "HEAD")[1]
    out = run("--since", "v1")[1]
    assert out.startswith(f"main since {results.commits[18][:8]}: 0 regressions, 1 improvement")
    assert "suite.slower" not in out
    out = run("--metric", "time", "--all")[1]
    assert "1 series without a change point" in out and "plain.time_it" in out


def test_the_range_of_a_change_counts_for_since(results: Results, run: Run) -> None:
    """It can lie in a commit that was not measured, after the one that is named."""
    assert "suite.slower" in run("--since", results.commits[GAP[0]])[1]


def test_by_size_and_limited(results: Results, run: Run) -> None:
    out = run("--sort", "size", "--limit", "1")[1]
    assert "suite.faster" in out and "suite.slower" not in out
    assert "Not shown: 1 more (--limit 0 shows all)." in out


def test_another_branch_is_another_history(results: Results, run: Run) -> None:
    results.made.git("branch", "old", results.commits[10])
    code, out, _ = run("--branch", "old")
    assert code == 0 and out.startswith("old: 0 regressions, 0 improvements, 0 machine events.")
    assert "11 measured commits of 11" in out


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--branch", "mian"), 3, "did you mean main?"),
        (("--machine", "bux"), 3, "there are no results of machine 'bux'; did you mean box?"),
        (("--machine", "else"), 3, "there are no results of machine 'else'; there are of box"),
        (("--env", "nothing"), 3, f"there are no results of environment 'nothing'; there are of {ENV}"),
        (("--bench", "slowr"), 3, "no series matches --bench slowr; did you mean suite.slower?"),
        (("--bench", "("), 3, "--bench is no regular expression"),
        (("--metric", "latncy"), 3, "there are no results of metric 'latncy'; did you mean latency?"),
        (("--bench", "plain", "--metric", "latency"), 3, "no series matches"),
        (("--since", "nope"), 3, "there is no commit nope"),
        (("--since", ELSEWHERE[:9]), 3, "is no commit of main"),
        (("--limit", "-1"), 3, "no whole number of at least 0"),
        (("--bench", "suite.new"), 4, ""),
    ],
)
def test_bad_input_is_one_sentence(arguments: tuple[str, ...], code: int, told: str, run: Run) -> None:
    found, _, err = run(*arguments)
    assert found == code and told in err and "Traceback" not in err


def test_too_short_a_history_is_exit_4_and_no_clean_bill(run: Run) -> None:
    code, out, _ = run("--bench", "suite.new")
    assert code == 4
    assert out.startswith(
        "main: no series is long enough: a change point takes 6 values, and the longest has 3."
    )
    found = json.loads(run("--bench", "suite.new", "--json")[1])
    assert found["changes"] == [] and found["series"] == found["too_short"] == 1


def test_no_results_at_all_is_exit_4(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Prepared(tmp_path)
    (commit,) = made.commits(1)
    monkeypatch.chdir(made.suite)
    code, out, err = run()
    assert (code, out) == (4, "") and "there are no results" in err
    write(made, ELSEWHERE, 0, date=1_700_000_000_000)
    code, out, err = run()
    assert (code, out) == (4, "") and "no commit of main has a result" in err
    write(made, commit, 0)
    assert run()[0] == 4


def test_broken_descriptions_are_no_fault_of_the_result_files(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Prepared(tmp_path)
    write(made, made.commits(1)[0], 0)
    (made.results_dir / "benchmarks.json").write_text("{")
    monkeypatch.chdir(made.suite)
    code, out, err = run()
    assert (code, out) == (3, "")
    assert "benchmarks.json" in err and "passed over" not in err


def test_a_changed_tree_and_a_broken_file_are_left_out_and_told(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Prepared(tmp_path)
    commits = made.commits(9)
    for place, commit in enumerate(commits):
        write(made, commit, SLOWER if place == 7 else 0)
    dirty = next(made.results_dir.glob(f"box/{commits[7][:8]}*.evidence.jsonl"))
    dirty.write_text("".join(json.dumps({**json.loads(line), "dirty": True}) + "\n" for line in dirty.open()))
    (made.results_dir / "box" / f"{commits[8][:8]}-{ENV}.json").write_text("{")
    monkeypatch.chdir(made.suite)
    code, out, _ = run()
    assert code == 0 and "1 result file of changed working trees left out." in out
    assert "1 file passed over:" in out and "7 measured commits of 9" in out


def test_no_change_point_across_a_version(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Prepared(tmp_path)
    commits = made.commits(14)
    for place, commit in enumerate(commits):
        write(made, commit, 0 if place < 7 else SLOWER, version="1" if place < 7 else "2")
    monkeypatch.chdir(made.suite)
    code, out, _ = run()
    assert code == 0 and out.startswith("main: 0 regressions, 0 improvements, 0 machine events.")
    told = f"{commits[7][:8]}  another version of plain.time_it, suite.faster, suite.slower and 1 more"
    assert "Series that begin anew, since nothing may be compared across:" in out and told in out


def test_without_the_repository_commits_go_by_date(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Prepared(tmp_path)
    for place in range(12):
        write(
            made,
            f"{place:08x}".ljust(40, "0"),
            0 if place < 6 else SLOWER,
            date=1_700_000_000_000 + 1000 * place,
        )
    made.set_up(repo="elsewhere")
    monkeypatch.chdir(made.suite)
    code, out, _ = run()
    assert code == 0 and "is not here: all commits that have results are taken, by date." in out
    assert "2023-11-14  00000006\n" in out and "regression   1." in out


def test_heavy_modules_are_not_imported(results: Results) -> None:
    code = (
        "import sys, dcu_asv_ext.cli as cli\n"
        "cli.main(['history'])\n"
        "print([name for name in ('torch', 'scipy.stats') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=results.made.suite, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")


@pytest.fixture(scope="module")
def updated(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """The driver was updated before the tenth of twenty commits, and the code made slower at the fifteenth."""
    made = Prepared(tmp_path_factory.mktemp("updated"))
    for place, commit in enumerate(made.commits(20)):
        device = {"kind": "dcu", "driver": "hycu 6.3.30" if place >= 10 else "hycu 6.3.8"}
        levels = {"suite.driver": 1.3 if place >= 10 else 1.0, "suite.code": 1.3 if place >= 15 else 1.0}
        ours = {
            name: rounds_of(1e-3 * level, seed=50 * place + at)
            for at, (name, level) in enumerate(levels.items())
        }
        made.write(commit, ours, device=device)
    return made


def test_a_driver_s_update_is_told_at_its_commit(
    updated: Prepared, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runner("history", updated.suite, monkeypatch, capsys)
    found = json.loads(run("--json")[1])
    assert [(one["benchmark"], one["kind"]) for one in found["changes"]] == [("suite.code", "regression")]
    (told,) = found["set_ups"]
    assert told["text"] == "the machine changed here: device.driver was hycu 6.3.8, is hycu 6.3.30"
    assert [one["benchmark"] for one in told["members"]] == ["suite.driver"]
    assert "the machine changed here: device.driver was hycu 6.3.8" in run()[1]
