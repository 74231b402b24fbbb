"""`dcu-asv compare` over results that were written down, without asv run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.commands import choosing
from dcu_asv_ext.comparing.model import Key
from tests.commands.running import Run, runner
from tests.e2e.prepared import ENV, Prepared, rounds_of

LEVELS = {"suite.steady": 1.0, "suite.slower": 1.2, "suite.faster": 0.9}
#: A commit that no repository has.
ELSEWHERE = "f00d" * 10


@dataclass
class Results:
    """commits: two old ones, the base, one with changes, and one without results."""

    made: Prepared
    commits: list[str]

    def file(self, commit: str) -> Path:
        return self.made.results_dir / "box" / f"{commit[:8]}-{ENV}.json"


def write(made: Prepared, commit: str, place: int, changed: bool = False, **more: Any) -> None:
    made.write(
        commit,
        {
            name: rounds_of(1e-3 * (level if changed else 1.0), seed=10 * place + number)
            for number, (name, level) in enumerate(LEVELS.items())
        },
        hours=place / 120,
        **more,
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    made = Prepared(tmp_path_factory.mktemp("compare"))
    commits = made.commits(5)
    for place, commit in enumerate(commits[:4]):
        write(made, commit, place, changed=place == 3)
    write(made, ELSEWHERE, 5, date=1_700_000_000_000)
    made.git("tag", "v1", commits[2])
    return Results(made, commits)


@pytest.fixture
def run(results: Results, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner("compare", results.made.suite, monkeypatch, capsys)


def verdicts(out: str) -> dict[str, str]:
    return {row["benchmark"]: row["verdict"] for row in json.loads(out)["rows"]}


def test_a_regression_is_exit_1(results: Results, run: Run) -> None:
    before, after = results.commits[2:4]
    code, out, err = run(before, after)
    assert code == 1 and err == ""
    assert out.splitlines()[0] == f"before  {before[:8]}, box, {ENV}"
    rows = [line for line in out.splitlines() if "latency" in line]
    assert [row.split("  ")[0] for row in rows] == ["regression", "improvement", "no change"]
    assert "suite.slower latency" in rows[0] and "5+5" in rows[0]
    assert out.endswith("1 regression, 1 improvement, 1 no change\n")


def test_json_has_the_whole_report(results: Results, run: Run) -> None:
    before, after = results.commits[2:4]
    code, out, _ = run(before, after, "--json", "--fail-on", "none")
    found = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert code == found["exit_code"] == 0
    assert verdicts(out) == {
        "suite.slower": "regression", "suite.faster": "improvement", "suite.steady": "no change"
    }  # fmt: skip
    slower = found["rows"][0]
    assert slower["metric"] == "latency" and slower["params"] == {} and slower["unit"] == "seconds"
    assert slower["ci_low"] < 1.2 < slower["ci_high"] and slower["rounds"] == [5, 5]
    assert (found["before"]["commit"], found["after"]["commit"]) == (before, after)
    assert found["settings"]["margin"] == 0.01 and found["settings"]["history"] == 2
    assert found["counts"]["regression"] == 1


def test_markdown(results: Results, run: Run) -> None:
    code, out, _ = run(*results.commits[2:4], "--markdown")
    assert code == 1 and out.startswith("### Performance: ") and "| **regression** | `suite.slower` |" in out


def test_names_of_commits(results: Results, run: Run) -> None:
    code, out, _ = run("v1", results.commits[3][:7])
    assert code == 1 and out.startswith(f"before  v1 ({results.commits[2][:8]}), box")
    assert f"after   {results.commits[3][:8]}, box" in out


def test_without_a_second_commit_the_newest_with_results_is_taken(results: Results, run: Run) -> None:
    code, out, _ = run("v1", "--json")
    assert code == 1 and json.loads(out)["after"]["commit"] == results.commits[3]


def test_a_commit_that_only_the_results_have(results: Results, run: Run) -> None:
    code, out, _ = run(results.commits[2], ELSEWHERE[:6], "--json")
    assert code == 0 and json.loads(out)["after"]["commit"] == ELSEWHERE
    assert run(ELSEWHERE, results.commits[2])[0] == 0


def test_benchmarks_and_metrics_are_chosen(results: Results, run: Run) -> None:
    code, out, _ = run(*results.commits[2:4], "--bench", "stea", "--bench", r"faster\.lat", "--json")
    assert code == 0 and set(verdicts(out)) == {"suite.steady", "suite.faster"}
    assert run(*results.commits[2:4], "--metric", "latency")[0] == 1


def test_another_suites_benchmark_goes_by_asvs_name() -> None:
    match = choosing.matcher([r"time_it\(1\)$", r"gemm\.latency$"], [])
    assert match is not None
    assert match(Key("m.time_it", "time", ("1",))) and match(Key("m.gemm", "latency"))
    assert not match(Key("m.gemm.latency", "track", ("1",)))


def test_what_is_shown_does_not_change_what_is_decided(results: Results, run: Run) -> None:
    whole = json.loads(run(*results.commits[2:4], "--json")[1])
    part = json.loads(run(*results.commits[2:4], "--json", "--bench", "steady")[1])
    assert part["rows"] == [row for row in whole["rows"] if row["benchmark"] == "suite.steady"]
    assert part["shift"] == whole["shift"]


def test_the_margin_is_the_users(results: Results, run: Run) -> None:
    code, out, _ = run(*results.commits[2:4], "--margin", "30%", "--equivalence", "40 %", "--json")
    assert code == 0 and json.loads(out)["settings"]["margin"] == 0.3
    assert set(verdicts(out).values()) <= {"no change", "inconclusive"}


def test_the_history_can_be_left_out(results: Results, run: Run) -> None:
    assert "2 earlier commits" in run(*results.commits[2:4])[1].replace("\n", " ")
    assert "earlier commit" not in run(*results.commits[2:4], "--no-history")[1].replace("\n", " ")


def test_inconclusive_is_exit_5_on_request(results: Results, run: Run) -> None:
    wide = ("--bench", "steady", "--equivalence", "0.01%", "--margin", "0.001%")
    assert run(*results.commits[2:4], *wide)[0] == 0
    assert run(*results.commits[2:4], *wide, "--fail-on", "regression,inconclusive")[0] == 5


def test_two_files_need_no_repository(
    results: Results, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for commit in results.commits[2:4]:
        folder = tmp_path / commit
        folder.mkdir()
        for one in (results.file(commit), results.file(commit).with_suffix(".evidence.jsonl")):
            shutil.copy(one, folder)
        files.append(folder / results.file(commit).name)
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(*map(str, files))
    assert code == 1 and "1 regression" in out and "--against" not in out
    evidence = [str(one.with_suffix(".evidence.jsonl")) for one in files]
    assert run(*evidence)[0] == 1
    for one in evidence:
        Path(one).unlink()
    code, out, _ = run(*map(str, files), "--json")
    # asv alone does not tell rounds apart, so these are one round a side.
    assert code == 0 and json.loads(out)["rows"][0]["source"]["before"] == "samples"


def test_another_machine_is_refused_unless_it_is_the_experiment(results: Results, run: Run) -> None:
    other = results.made.results_dir / "other"
    shutil.copytree(results.made.results_dir / "box", other)
    for one in other.glob("*.json"):
        one.write_text(one.read_text().replace('"box"', '"other"').replace('"cpu": ""', '"cpu": "Hygon C86"'))
    for one in other.glob("*.jsonl"):
        one.write_text(one.read_text().replace('"box"', '"other"'))
    try:
        code, out, err = run(*results.commits[2:4])
        assert (code, out) == (3, "") and "several machines (box, other)" in err
        assert run(*results.commits[2:4], "--machine", "other")[0] == 1
        both = ("--machine", "box", "--machine", "other")
        code, out, err = run(*results.commits[2:4], *both)
        assert code == 4 and "not comparable" in out and err.startswith("dcu-asv compare: ")
        assert len(err.splitlines()) == 1
        assert run(*results.commits[2:4], *both, "--vary", "machine")[0] == 1
        # One commit on two machines is a comparison too.
        assert run("v1", "v1", *both, "--vary", "machine")[0] == 0
    finally:
        shutil.rmtree(other)


def test_environments_are_told_apart(results: Results, run: Run) -> None:
    base = results.commits[2]
    write(results.made, base, 9, env="overlay-py3-torch2")
    try:
        code, out, _ = run(*results.commits[2:4], "--json")
        assert code == 1 and json.loads(out)["before"]["env"] == ENV
        assert "left out, since only one side has it: overlay-py3-torch2" in json.loads(out)["notes"]
        code, out, err = run(base, base, "--env", "torch2", "--env", ENV, "--json")
        assert code == 0 and json.loads(out)["before"]["env"] == "overlay-py3-torch2", err
        code, _, err = run(*results.commits[2:4], "--env", "rocm")
        assert code == 3 and "rocm" in err
    finally:
        for one in results.made.results_dir.glob("box/*torch2*"):
            one.unlink()


BAD = [
    ((), 3, "name the commit to compare against"),
    (("v1", "nonsense"), 3, "there is no commit nonsense"),
    (("v1", "v1"), 3, "--self v1"),
    (("v1", "main~0"), 4, "there are no results of main~0 ("),
    (("v1", "main~1", "--machine", "nowhere"), 3, "nowhere"),
    (("v1", "main~1", "--machine", "a", "--machine", "b", "--machine", "c"), 3, "--machine is given 3 times"),
    (("v1", "main~1", "--bench", "("), 3, "--bench is no regular expression"),
    (("v1", "main~1", "--bench", "nope"), 3, "no benchmark of these results has a match"),
    (("v1", "main~1", "--metric", "latencies"), 3, "metrics that there are: latency"),
    (("v1", "main~1", "--margin", "8%"), 3, "--equivalence (5%) has to be above 0%"),
    (("v1", "main~1", "--margin", "0%", "--equivalence", "0%"), 3, "--equivalence (0%)"),
    (("v1", "main~1", "--margin", "much"), 3, "'much' is no percentage"),
    (("v1", "main~1", "--margin=-1%"), 3, "'-1%' is no percentage"),
    (("v1", "main~1", "--margin", "nan"), 3, "'nan' is no percentage"),
    (("v1", "main~1", "--fail-on", "everything"), 3, "'everything' is none of regression"),
    (("v1", "main~1", "--fail-on", "none,failed"), 3, "none stands alone"),
    (("v1", "main~1", "--vary", "moon"), 3, "--vary moon"),
    (("v1", "main~1", "--json", "--markdown"), 3, "not allowed with argument"),
    (("v1", "main~1", "--config", "nowhere.json"), 3, "nowhere.json"),
    (("v1", "./no-such.json"), 3, "./no-such.json is a result file; compare it with a second one"),
    (("./a.json", "./no-such.json"), 3, "there is no file"),
    (("./a.json", "./b.json", "--machine", "box"), 3, "--machine and --env choose among the results of commits"),
    (("--self", "v1", "main"), 3, "--self takes the one commit"),
    (("--self", "v1", "--markdown"), 3, "--self has no --markdown"),
    (("main~1",), 3, "is itself the newest with results"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "told"), BAD)
def test_bad_input_is_one_sentence(arguments: tuple[str, ...], code: int, told: str, run: Run) -> None:
    found, out, err = run(*arguments)
    assert (found, out) == (code, ""), err
    assert told in err and "Traceback" not in err
    assert len([line for line in err.splitlines() if line.startswith("dcu-asv compare: ")]) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version": 2}', '{"results": 5, "version": 2}'])
def test_a_file_that_holds_no_results(text: str, results: Results, run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(text)
    code, out, err = run(str(bad), str(results.file(results.commits[2])))
    assert (code, out) == (3, "") and len(err.splitlines()) == 1 and "Traceback" not in err


def test_no_configuration_is_said(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run("main", "main~1")
    assert (code, out) == (3, "") and "asv.conf.json" in err and len(err.splitlines()) == 1


def test_nothing_in_common_is_exit_4(results: Results, run: Run) -> None:
    made, commit = results.made, results.commits[4]
    made.write(commit, {"suite.other": rounds_of(1e-3)})
    try:
        code, out, err = run(results.commits[2], commit, "--fail-on", "none")
        assert code == 4 and "only before" in out and "only after" in out
        assert err == "dcu-asv compare: nothing could be compared\n"
    finally:
        for one in made.results_dir.glob(f"box/{commit[:8]}*"):
            one.unlink()


@pytest.fixture
def fifth(results: Results) -> Iterator[str]:
    """The commit without results, for a test that writes some; they go with it."""
    yield results.commits[4]
    for one in results.made.results_dir.glob(f"*/{results.commits[4][:8]}*"):
        one.unlink()


def test_another_version_of_a_benchmark_is_not_comparable(results: Results, run: Run, fifth: str) -> None:
    write(results.made, fifth, 4, version="2")
    code, out, _ = run(results.commits[3], fifth)
    assert code == 4 and out.count("the benchmark changed (version 1 before, 2 after)") == 3


def test_evidence_that_contradicts_asvs_file_is_not_comparable(
    results: Results, run: Run, fifth: str
) -> None:
    write(results.made, fifth, 4)
    file = results.file(fifth).with_suffix(".evidence.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for one in lines:
        if one["benchmark"] == "suite.slower":
            one["times"]["latency"] = [2 * value for value in one["times"]["latency"]]
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    code, out, _ = run(results.commits[2], fifth, "--json", "--fail-on", "not-comparable")
    assert code == 4 and verdicts(out) == {
        "suite.slower": "not comparable", "suite.faster": "no change", "suite.steady": "no change"
    }  # fmt: skip
    assert "contradicts asv's file" in json.loads(out)["rows"][-1]["reason"]


def test_rounds_need_not_be_as_many_or_as_long(results: Results, run: Run, fifth: str) -> None:
    rounds = [one[:size] for one, size in zip(rounds_of(1e-3, 7), (5, 1, 3, 5, 2, 4, 5), strict=True)]
    results.made.write(fifth, {"suite.steady": rounds}, hours=4 / 120)
    code, out, _ = run(results.commits[2], fifth, "--json", "--bench", "steady")
    (row,) = json.loads(out)["rows"]
    assert code == 0 and row["verdict"] == "no change" and row["rounds"] == [5, 7]


def test_no_machine_has_both(results: Results, run: Run, fifth: str) -> None:
    write(results.made, fifth, 4)
    other = results.made.results_dir / "other"
    other.mkdir()
    try:
        for one in (results.made.results_dir / "box").glob(f"{fifth[:8]}*"):
            one.rename(other / one.name)
        code, out, err = run("v1", fifth)
        assert (code, out) == (4, "")
        assert f"no machine has results of both: there are v1 ({results.commits[2][:8]}) on box and" in err
    finally:
        shutil.rmtree(other)


class TestItself:
    def test_the_rates_of_a_commit(self, results: Results, run: Run) -> None:
        code, out, err = run("--self", "v1")
        assert (code, err) == (0, "") and out.startswith(
            f"self-check of v1 ({results.commits[2][:8]}), box, "
        )
        code, out, _ = run("--self", "v1", "--json", "--bench", "steady")
        found = json.loads(out)
        assert code == found["exit_code"] == 0
        assert [one["benchmark"] for one in found["benchmarks"]] == ["suite.steady"]

    def test_three_rounds_are_too_few(self, results: Results, run: Run, fifth: str) -> None:
        results.made.write(fifth, {"suite.steady": rounds_of(1e-3, 3)})
        code, out, err = run("--self", fifth)
        assert code == 4 and "no benchmark has 4 rounds" in err and "Traceback" not in out


def test_nothing_is_written(results: Results, run: Run) -> None:
    def everything() -> dict[str, int]:
        files = [one for one in results.made.root.rglob("*") if one.is_file() and ".git" not in one.parts]
        return {str(one): one.stat().st_mtime_ns for one in files}

    before = everything()
    run("v1", "main~1", "--json")
    run("v1", "nonsense")
    assert everything() == before


def test_heavy_modules_only_for_verdicts(results: Results) -> None:
    def loaded(*arguments: str) -> set[str]:
        code = (
            "import sys\nfrom dcu_asv_ext.cli import main\nmain(['compare', *sys.argv[1:]])\n"
            "print(*[name for name in ('torch', 'scipy.stats', 'scipy') if name in sys.modules])"
        )
        command = [sys.executable, "-c", code, *arguments]
        environ = results.made.environ
        done = subprocess.run(command, cwd=results.made.suite, env=environ, capture_output=True, text=True)
        return set(done.stdout.splitlines()[-1].split()) if done.stdout.strip() else set()

    assert "torch" not in loaded("v1", "main~1")
    assert loaded("v1", "main") == set()
    assert loaded("v1", "nonsense") == set()
