"""The overview: heads of branches at each place, what they are compared with, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.comparing.model import Key
from dcu_asv_ext.comparing.reading import Entries, Recorded, read_results
from dcu_asv_ext.pages import overview
from dcu_asv_ext.pages.comparisons import Pair
from dcu_asv_ext.pages.model import Work
from tests.e2e.prepared import ENV, rounds_of
from tests.gates.candidates import Candidates, measured, wrong
from tests.pages_data.works import data, opened

PLAIN = "other-env"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Candidates:
    """main: four measured commits and one that is not; a branch "next" from the second on with a slower step; four
    tags, one of a commit that was never measured; another suite's results of main's first commit alone."""
    project = Candidates(tmp_path_factory.mktemp("overview"))
    hashes = [project.base, project.candidate, *project.commits(2)]
    for number, commit in enumerate(hashes):
        project.keep(commit, records(number))
        project.git("tag", f"v{number}", commit)
    unmeasured = project.commit({"step": "not measured"})
    project.git("tag", "v9", unmeasured)
    project.write(hashes[0], {}, {"plain.time_x": rounds_of(0.02, 1, 20)[0]}, env=PLAIN)
    project.git("checkout", "-q", "-b", "next", hashes[1])
    project.keep(project.commit({"step": "next"}), [*records(9, 1.5), *broken()])
    project.git("checkout", "-q", "main")
    project.set_up(branches=["main", "next"])
    return project


def records(number: int, slower: float = 1.0) -> list[Any]:
    seed = 100 * number
    return [
        *measured("suite.step", latency=0.010 * slower, seed=seed, hours=number),
        *measured("suite.part", kind="micro", seed=seed + 60, hours=number),
    ]


def broken() -> list[Any]:
    return [
        *measured("suite.wrong", params={"n": "64"}, hours=9, **wrong()),
        *measured("suite.crash", status="out of memory: 3 GiB", times={}, memory={}, hours=9),
    ]


@pytest.fixture(scope="module")
def work(made: Candidates, tmp_path_factory: pytest.TempPathFactory) -> Work:
    found = opened(made.suite, tmp_path_factory.mktemp("site"))
    overview.build(found)
    return found


@pytest.fixture
def heads(work: Work) -> dict[tuple[str, str], dict[str, Any]]:
    """By branch and environment."""
    told = data(work.out.folder, "overview")
    return {
        (branch["name"], work.places[one["place"]].env): one
        for branch in told["branches"]
        for one in branch["heads"]
    }


def named(work: Work, head: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["kind"], one["name"]) for one in head["bases"]]


def test_each_branch_has_its_newest_measured_commit_at_each_place(
    work: Work, heads: dict[tuple[str, str], dict[str, Any]], made: Candidates
) -> None:
    assert set(heads) == {("main", ENV), ("next", ENV), ("main", PLAIN), ("next", PLAIN)}
    assert work.commits[heads["main", ENV]["commit"]].hash == made.git("rev-parse", "v3").strip()
    assert work.commits[heads["main", PLAIN]["commit"]].hash == made.base
    assert [heads["main", env]["age"] for env in (ENV, PLAIN)] == [1, 4]
    assert heads["next", ENV]["age"] == 0


def test_it_is_compared_with_its_predecessor_the_newest_tags_and_the_other_branches(
    work: Work, heads: dict[tuple[str, str], dict[str, Any]]
) -> None:
    """Its own tag is none of them, nor one that was not measured."""
    main, other = heads["main", ENV], heads["next", ENV]
    assert named(work, main) == [
        ("predecessor", work.commits[main["bases"][0]["commit"]].short),
        *(("tag", f"v{number}") for number in (2, 1, 0)),
        ("branch", "next"),
    ]
    assert main["bases"][0]["commit"] == work.tags["v2"]
    assert other["bases"][0]["commit"] == work.tags["v1"]
    assert [name for kind, name in named(work, other) if kind == "tag"] == ["v3", "v2", "v1"]
    made = {
        (head["place"], base["commit"], head["commit"]) for head in (main, other) for base in head["bases"]
    }
    assert made == set(work.comparisons)


def test_a_base_tells_what_its_comparison_says(
    work: Work, heads: dict[tuple[str, str], dict[str, Any]]
) -> None:
    head = heads["next", ENV]
    base = next(one for one in head["bases"] if one["name"] == "main")
    pair = Pair(head["place"], base["commit"], head["commit"])
    before, after = (work.commits[one].short for one in pair[1:])
    file = data(work.out.folder, f"c/{pair.place}/{before}-{after}")
    assert (base["comparison"], base["reason"], base["gate_error"]) == (True, None, None)
    assert base["counts"] == file["counts"]
    assert base["counts"]["regression"] == 1
    assert base["rows"] == [row for row in file["rows"] if row["verdict"] != "no change"]
    assert base["rows"][0]["benchmark"] == "suite.step"
    assert base["gate"]["outcome"] == "failed"
    assert base["gate"]["gates"] == {name: one["outcome"] for name, one in file["gates"]["gates"].items()}


def test_a_closed_gate_names_what_closed_it_what_failed_first(
    heads: dict[tuple[str, str], dict[str, Any]],
) -> None:
    found = heads["next", ENV]["bases"][0]["gate"]["failed"]
    assert {(one["gate"], one["outcome"], one["word"], one["benchmark"]) for one in found} >= {
        ("correctness", "failed", "wrong result", "suite.wrong"),
        ("correctness", "failed", "failed", "suite.crash"),
        ("performance", "failed", "regression", "suite.step"),
    }
    order = [one["outcome"] for one in found]
    assert order == sorted(order, key=lambda one: one != "failed")
    assert all(one["reason"] for one in found if one["word"] != "heavier")


def test_of_many_findings_the_first_are_told_and_the_others_counted() -> None:
    def finding(number: int, outcome: str) -> dict[str, Any]:
        about = {"benchmark": f"b{number}", "metric": "latency", "params": [], "reason": "because"}
        return {"outcome": outcome, "finding": "word", **about}

    findings = [
        finding(number, ["inconclusive", "failed", "told", "passed"][number % 4]) for number in range(80)
    ]
    answer = {
        "outcome": "failed",
        "conclusion": "it failed",
        "gates": {"performance": {"outcome": "failed", "findings": findings}},
    }
    found = overview.gate(answer)
    assert [one["outcome"] for one in found["failed"]] == ["failed"] * 20 + ["inconclusive"] * 10
    assert found["more"] == 10


def test_without_a_predecessor_it_says_so(heads: dict[tuple[str, str], dict[str, Any]]) -> None:
    (base,) = heads["main", PLAIN]["bases"]
    assert (base["kind"], base["commit"], base["comparison"]) == ("predecessor", None, False)
    assert base["reason"] == f"no commit of main before it was measured on box in {PLAIN}"


def test_wrong_results_and_failures_of_the_head_are_told_once(
    heads: dict[tuple[str, str], dict[str, Any]],
) -> None:
    assert heads["main", ENV]["wrong"] == heads["main", ENV]["failed"] == []
    head = heads["next", ENV]
    (told,) = head["wrong"]
    assert (told["function"], told["params"]) == ("suite.wrong", {"n": "64"})
    assert told["reason"].startswith("3 of 100 elements differ")
    assert head["failed"] == [
        {"function": "suite.crash", "params": {}, "reason": "out of memory: 3 GiB"},
    ]


def test_a_head_that_cannot_be_read_says_why(made: Candidates, tmp_path: Path) -> None:
    work = opened(made.suite, tmp_path)
    path = made.results_dir / f"box/{made.git('rev-parse', 'next').strip()[:8]}-{ENV}.json"
    text = path.read_text()
    path.write_text("[]")
    try:
        overview.build(work)
    finally:
        path.write_text(text)
    told = data(tmp_path, "overview")["branches"]
    (head,) = [one for one in told[1]["heads"] if work.places[one["place"]].env == ENV]
    assert path.name in head["reason"]
    assert all(path.name in base["reason"] and not base["comparison"] for base in head["bases"])
    json.dumps(told, allow_nan=False)


def test_a_failure_without_evidence_has_the_reason_that_there_is() -> None:
    key = Key("suite.step", "latency")
    found = read_results("box", "a" * 40, "env", entries=Entries({key: Recorded(None)}))
    assert overview.faults(found) == {
        "wrong": [],
        "failed": [{"function": "suite.step", "params": {}, "reason": "it failed, and asv keeps no reason"}],
    }


def test_a_branch_that_was_not_measured_has_no_heads(made: Candidates, tmp_path: Path) -> None:
    made.git("checkout", "-q", "--orphan", "fresh")
    made.commit({"step": "fresh"})
    made.git("checkout", "-q", "main")
    made.set_up(branches=["main", "fresh"])
    try:
        overview.build(opened(made.suite, tmp_path))
    finally:
        made.set_up(branches=["main", "next"])
    assert data(tmp_path, "overview")["branches"][1] == {"name": "fresh", "heads": []}
