"""`dcu-asv matrix` over results that were written down, without asv run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext import read_matrix
from dcu_asv_ext.evidence.matrix import COLUMNS
from dcu_asv_ext.evidence.store import pack
from tests.commands.running import Run, runner
from tests.e2e.prepared import ENV, Prepared, rounds_of

#: A commit that no repository has.
ELSEWHERE = "f00d" * 10


@dataclass
class Results:
    """commits: six, of which the third and the last have no results."""

    made: Prepared
    commits: list[str]

    def file(self, commit: str, suffix: str = ".json") -> str:
        return f"results/box/{commit[:8]}-{ENV}{suffix}"


def write(made: Prepared, commit: str, place: int, **more: Any) -> None:
    ours = {f"suite.{name}": rounds_of(1e-3, seed=10 * place + at) for at, name in enumerate(("one", "two"))}
    made.write(commit, ours, {"plain.time_it": [2e-3, 2.1e-3]}, hours=place / 120, **more)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    made = Prepared(tmp_path_factory.mktemp("matrix"))
    commits = made.commits(6)
    for place in (0, 1, 3, 4):
        write(made, commits[place], place)
    write(made, ELSEWHERE, 9, date=1_600_000_000_000)
    made.git("tag", "v1", commits[1])
    return Results(made, commits)


@pytest.fixture
def run(results: Results, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner("matrix", results.made.suite, monkeypatch, capsys)


def commits_in(out: str) -> list[str]:
    return list(dict.fromkeys(row["commit"] for row in read_matrix(out)))


def test_without_a_word_the_newest_commit_with_results(results: Results, run: Run) -> None:
    code, out, err = run()
    assert (code, err) == (0, "")
    assert out.startswith(f"commit       {results.commits[4][:8]}\nmachine      box\n")
    assert "matrix       3 rows of 3 benchmarks" in out
    assert "5 x 5" in out and "plain.time_it" in out and "2.05 ms" in out


def test_a_range_is_what_git_takes_it_for(results: Results, run: Run) -> None:
    all_of = results.commits
    first, second, fourth, fifth = (all_of[place] for place in (0, 1, 3, 4))
    for what, expected in {
        f"{first}..": [second, fourth, fifth],
        f"{second[:9]}..main": [fourth, fifth],
        f"v1..{fourth}": [fourth],
        f"v1~1..{fourth}": [second, fourth],
        "v1": [second],
    }.items():
        code, out, _ = run(what, "--json")
        assert (code, commits_in(out)) == (0, expected), what
    assert commits_in(run(fifth, "v1", "--json")[1]) == [fifth, second]
    assert commits_in(run(f"{first}..", f"v1~1..{fourth}", "--csv")[1]) == [second, fourth, fifth]


def test_csv_and_json_hold_the_same_rows(results: Results, run: Run) -> None:
    for more in ([], ["--times"]):
        csv_out = run("v1..", "--csv", *more)[1]
        json_out = run("v1..", "--json", *more)[1]
        rows = read_matrix(csv_out)
        assert rows == read_matrix(json_out) and len(rows) == 6
        assert all(tuple(row) == COLUMNS for row in rows)
        assert all((row["times"] is None) == (not more) for row in rows)
    ours = next(row for row in rows if row["benchmark"] == "suite.one")
    evidence = results.made.suite / "results" / ours["evidence"][0]["file"]
    kept = [json.loads(line) for line in evidence.read_text().splitlines()]
    kept = [line for line in kept if line["benchmark"] == "suite.one"]
    assert ours["times"] == {"latency": [line["times"]["latency"] for line in kept]}
    assert [one["round"] for one in ours["evidence"]] == [line["round"] for line in kept] == [1, 2, 3, 4, 5]
    assert {one["session"] for one in ours["evidence"]} == {line["session"] for line in kept}


def test_json_has_the_experiments(results: Results, run: Run) -> None:
    _, out, _ = run("v1..", "--json")
    found = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    short = [results.commits[place][:8] for place in (3, 4)]
    assert [one["sentence"] for one in found["experiments"]] == [
        f"single-variable: commit was {short[0]}, is {short[1]}"
    ] * 3
    assert found["experiments"][0]["rows"] == [0, 1] and found["exit_code"] == 0


def test_markdown(run: Run) -> None:
    code, out, _ = run("v1..", "--markdown")
    assert code == 0 and out.startswith("### Experiment matrix: 6 rows of 3 benchmarks")


def test_benchmarks_are_chosen_with_all_that_is_known_of_them(run: Run) -> None:
    _, out, _ = run("--json", "--bench", r"one\.latency", "--bench", "plain")
    assert [row["benchmark"] for row in read_matrix(out)] == ["plain.time_it", "suite.one"]
    code, out, err = run("--bench", "nothing like it")
    assert (code, out) == (3, "") and "no benchmark of these results matches --bench nothing like it" in err


def test_functions_may_be_variants(run: Run) -> None:
    _, out, _ = run("--json", "--functions", r"suite\.(one|two)")
    (one,) = json.loads(out)["experiments"]
    assert one["sentence"] == "single-variable: function was suite.one, is suite.two"


def test_result_files_need_no_project(results: Results, run: Run, tmp_path: Path, monkeypatch: Any) -> None:
    first, second = results.commits[0], results.commits[4]
    before = run(first, second, "--csv")[1]
    # Both files of one result are one result; asv's own files beside them are none.
    files = [results.file(one, end) for one in (first, second) for end in (".json", ".evidence.jsonl")]
    code, out, err = run(*files, "results/box/machine.json", "--csv")
    assert code == 0 and out == before
    assert err == "dcu-asv matrix: note: passed over: results/box/machine.json holds no results\n"
    away = tmp_path / "away"
    away.mkdir()
    for name in files[:2]:
        shutil.copy(results.made.suite / name, away)
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(f"away/{Path(files[1]).name}", "--json")
    rows = read_matrix(out)
    assert code == 0 and {row["benchmark"] for row in rows} == {"plain.time_it", "suite.one", "suite.two"}
    assert rows[1]["evidence"][0]["file"] == f"away/{Path(files[1]).name}"


def test_a_commit_that_only_the_results_have(run: Run) -> None:
    code, out, _ = run(ELSEWHERE[:6], "--json")
    assert code == 0 and commits_in(out) == [ELSEWHERE]
    code, _, err = run(f"{ELSEWHERE[:6]}..", "--json")
    assert code == 3 and "the repository does not have both ends" in err


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["HEAD"], 4, "there are no results of HEAD"),
        (["HEAD..v1"], 4, "there are no results of HEAD..v1"),
        (["v1..v1"], 4, "there are no results of v1..v1"),
        (["nothing"], 3, "there is no commit nothing"),
        (["v1..nothing"], 3, "there is no commit nothing"),
        (["v1...HEAD"], 3, "write a range with two dots, v1..HEAD"),
        (["--machine", "other"], 3, "there are no results of machine 'other'; there are of: box"),
        (["--env", "other"], 3, f"there are no results of an environment 'other'; there are of: {ENV}"),
        (["--bench", "("], 3, "--bench is no regular expression"),
        (["--functions", "("], 3, "--functions is no regular expression"),
        (["--times"], 3, "--times needs --csv or --json"),
        (["--csv", "--json"], 3, "not allowed with argument"),
        (["--json", "--markdown"], 3, "not allowed with argument"),
        (["results/box/none.json"], 3, "there is no file results/box/none.json"),
        (["results/box/machine.json"], 4, "none of the files holds results"),
        (["asv.conf.json"], 3, "asv.conf.json"),
        (["v1", "results/box/x.json"], 3, "results/box/x.json is a file, and v1 is none"),
        (
            ["results/box/x.json", "--machine", "box"],
            3,
            "--machine and --env choose among the results of commits",
        ),
    ],
)
def test_wrong_use_is_one_sentence(run: Run, arguments: list[str], code: int, sentence: str) -> None:
    found, out, err = run(*arguments)
    assert found == code and out == ""
    told = err.splitlines()[-1]
    assert told.startswith("dcu-asv matrix: ") and sentence in told and "Traceback" not in err


# ---- results that changed


@pytest.fixture
def own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[Results, Run]:
    made = Prepared(tmp_path)
    commits = made.commits(2)
    for place, commit in enumerate(commits):
        write(made, commit, place)
    return Results(made, commits), runner("matrix", made.suite, monkeypatch, capsys)


def test_a_file_that_is_no_evidence(own: tuple[Results, Run]) -> None:
    results, run = own
    (results.made.suite / "notes.evidence.jsonl").write_text("no evidence\n")
    code, out, err = run("notes.evidence.jsonl")
    assert (code, out) == (3, "") and "notes.evidence.jsonl holds no readable evidence" in err


def test_packed_evidence_is_read_and_called_by_its_one_name(own: tuple[Results, Run]) -> None:
    results, run = own
    before = run("--csv", "--times")[1]
    path = results.made.suite / results.file(results.commits[1], ".evidence.jsonl")
    pack(path)
    packed = f"{path}.gz"
    assert not path.exists()
    assert run("--csv", "--times")[1] == run(packed, "--csv", "--times")[1] == before


def test_torn_lines_are_counted(own: tuple[Results, Run]) -> None:
    results, run = own
    path = results.made.suite / results.file(results.commits[1], ".evidence.jsonl")
    path.write_text(path.read_text()[:-40])
    code, out, _ = run()
    assert code == 0 and "has lines that could not be read: 1" in out
    rows = read_matrix(run("--json")[1])
    assert next(row for row in rows if row["benchmark"] == "suite.one")["rounds"] == 5


def test_a_result_file_that_cannot_be_read_is_passed_over_and_told(own: tuple[Results, Run]) -> None:
    results, run = own
    (results.made.suite / results.file(results.commits[0])).write_text("{")
    code, out, err = run("HEAD", "HEAD~1", "--csv")
    assert code == 0 and commits_in(out) == [results.commits[1]] and "note: passed over: " in err
    (results.made.suite / results.file(results.commits[1])).write_text("{")
    code, out, err = run("HEAD", "HEAD~1")
    assert (code, out) == (4, "") and "there are no results of HEAD, HEAD~1 (passed over: " in err


def test_an_older_protocol_is_never_mixed_in(own: tuple[Results, Run]) -> None:
    results, run = own
    path = results.made.suite / results.file(results.commits[1], ".evidence.jsonl")
    old = [json.loads(line) for line in path.read_text().splitlines()]
    old = [{**line, "protocol": 0, "session": "old", "times": {"latency": [9.0, 9.0]}} for line in old]
    path.write_text("".join(json.dumps(line) + "\n" for line in old) + path.read_text())
    rows = [row for row in read_matrix(run("--json")[1]) if row["benchmark"] == "suite.one"]
    assert [row["protocol"] for row in rows] == [1, 0]
    assert rows[0]["latency_max"] < 0.01 and rows[1]["latency_median"] == 9.0
    assert "protocol     1, 0" in run()[1]


def test_all_machines_are_shown_and_the_machine_is_a_variable(own: tuple[Results, Run]) -> None:
    results, run = own
    folder = results.made.results_dir
    shutil.copytree(folder / "box", folder / "box2")
    for path in (folder / "box2").iterdir():
        path.write_text(path.read_text().replace('"box"', '"box2"'))
    found = json.loads(run("--json")[1])
    ours = [row for row in found["rows"] if row["benchmark"] == "suite.one"]
    assert [row["machine"] for row in ours] == ["box", "box2"]
    short = results.commits[1][:8]
    assert [row["variant"] for row in ours] == [f"{short}, box", f"{short}, box2"]
    assert found["experiments"][-1]["sentence"] == "single-variable: machine.machine was box, is box2"
    rows = read_matrix(run("--json", "--machine", "box2")[1])
    assert {row["machine"] for row in rows} == {"box2"}


def test_values_of_asv_s_matrix_env_are_variants(own: tuple[Results, Run]) -> None:
    results, run = own
    commit = results.commits[1]
    for threads in ("4", "8"):
        env = f"{ENV}-OMP_NUM_THREADS{threads}"
        write(results.made, commit, 5, env=env)
        path = results.made.results_dir / "box" / f"{commit[:8]}-{env}.json"
        path.write_text(
            path.read_text().replace('"env_vars": {}', f'"env_vars": {{"OMP_NUM_THREADS": "{threads}"}}')
        )
    found = json.loads(run("--json", "--env", "OMP", "--bench", "suite.one")[1])
    short = commit[:8]
    assert [row["variant"] for row in found["rows"]] == [f"{short}, OMP_NUM_THREADS={one}" for one in "48"]
    assert [one["sentence"] for one in found["experiments"]] == [
        "single-variable: environment.OMP_NUM_THREADS was 4, is 8"
    ]


def test_without_a_repository_a_range_goes_by_date(own: tuple[Results, Run]) -> None:
    results, run = own
    results.made.configure(plugins=[".dcu_asv_ext.asv_plugin"], repo="../gone", project="none")
    older = results.commits[0]
    write(results.made, ELSEWHERE, 5, date=4_000_000_000_000)
    code, out, err = run(f"{older[:8]}..{ELSEWHERE[:8]}", "--json")
    assert code == 0, err
    assert older not in commits_in(out) and commits_in(out)[-1] == ELSEWHERE


def test_no_results_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Prepared(tmp_path)
    code, out, err = runner("matrix", made.suite, monkeypatch, capsys)()
    assert (code, out) == (4, "") and "there are no results in " in err


def test_what_is_written_is_utf_8_on_any_terminal(own: tuple[Results, Run]) -> None:
    results, _ = own
    path = results.made.suite / results.file(results.commits[1], ".evidence.jsonl")
    path.write_text(
        path.read_text().replace('"kind":"cpu"', '"kind":"cpu","product":"海光"'), encoding="utf-8"
    )
    environ = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "dcu_asv_ext.cli", "matrix", "--csv"]
    done = subprocess.run(command, cwd=results.made.suite, capture_output=True, env=environ, check=True)
    rows = read_matrix(done.stdout.decode("utf-8"))
    assert {row["device_product"] for row in rows} == {None, "海光"}
