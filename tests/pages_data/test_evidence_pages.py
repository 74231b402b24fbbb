"""Whose evidence is published, in which files, and that nothing is worked out twice."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext import cli
from dcu_asv_ext.evidence import store
from dcu_asv_ext.pages import evidence_choice, evidence_pages, matrices
from dcu_asv_ext.pages.evidence_choice import chosen
from dcu_asv_ext.pages.model import Unreadable, Work
from dcu_asv_ext.pages.writing import slug
from tests.comparing.measured import read, record
from tests.pages import history
from tests.pages.history import CHINESE, FUSED, MATMUL, SCRIPT, TRAIN
from tests.pages_data.works import data, keys, opened


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> history.History:
    return history.write(tmp_path_factory.mktemp("history"))


@pytest.fixture(scope="module")
def kept(made: history.History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has the evidence of all that is published by default; copied before it is used."""
    folder = tmp_path_factory.mktemp("kept")
    work = opened(made.suite, folder / "out", folder / "cache")
    work.published_evidence = 3
    evidence_pages.build(work)
    work.cache.close()
    return folder


@pytest.fixture
def work(made: history.History, kept: Path, tmp_path: Path) -> Iterator[Work]:
    shutil.copytree(kept / "cache", tmp_path / "cache")
    found = opened(made.suite, tmp_path / "out", tmp_path / "cache")
    found.published_evidence = 3
    yield found
    found.cache.close()


def place_of(work: Work, machine: str, env: str = history.ENV) -> int:
    return next(at for at, one in enumerate(work.places) if (one.machine, one.env) == (machine, env))


def commit_of(work: Work, name: str) -> int:
    return next(at for at, one in enumerate(work.commits) if one.hash == name)


def not_read(entry: object) -> Any:
    raise AssertionError(f"{entry} is read again")


# ---- which


def test_the_newest_of_each_place_and_each_branch_are_published(work: Work, made: history.History) -> None:
    place = place_of(work, "dcu-1")
    found = [one.commit for one in chosen(work) if one.place == place]
    tags = [made.main[at] for at in history.TAGS.values()]
    assert found == [commit_of(work, one) for one in [*reversed(made.side), made.main[-1], *reversed(tags)]]
    assert [one.needed for one in chosen(work) if one.place == place] == [True] * 4 + [False] * 2
    assert place_of(work, "box", history.PLAIN_ENV) not in {one.place for one in chosen(work)}


def test_both_sides_of_a_change_are_published(work: Work) -> None:
    place = place_of(work, "dcu-1")
    has = work.measured(place)
    work.change_pairs = [(place, has[6], has[7]), (place + 1, has[1], has[2])]
    found = {one.commit for one in chosen(work) if one.place == place}
    assert {has[6], has[7]} <= found
    assert not {has[1], has[2]} & found


def test_older_commits_are_limited(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    place = place_of(work, "dcu-1")
    has = work.measured(place)
    monkeypatch.setattr(evidence_choice, "OLDER", 1)
    work.change_pairs = [(place, before, after) for before, after in itertools.pairwise(has[:10])]
    found = [one for one in chosen(work) if one.place == place and not one.needed]
    assert len(found) == work.published_evidence
    assert found[0].commit > found[-1].commit


def test_none_are_published_where_none_are_wanted(work: Work) -> None:
    work.published_evidence = 0
    evidence_pages.build(work)
    assert chosen(work) == [] and work.evidence == {} and keys(work.out.folder) == []


# ---- files


def test_every_line_is_published_as_it_lies_in_the_file(work: Work, made: history.History) -> None:
    work.results = not_read
    evidence_pages.build(work)
    place = place_of(work, "dcu-1")
    for commit in work.evidence[place]:
        entry = work.entries[place, commit]
        assert entry.evidence is not None
        lines = (made.files.results / entry.evidence).read_text().splitlines()
        published = [line for one in entries(work, place, commit) for line in one["lines"]]
        assert sorted(published) == sorted(lines)
        of_one = [line for line in lines if json.loads(line)["benchmark"] == FUSED]
        assert [line for one in entries(work, place, commit, FUSED) for line in one["lines"]] == of_one


def entries(work: Work, place: int, commit: int, function: str | None = None) -> list[Any]:
    """As a page finds them: by what the index tells of the files."""
    found = []
    for (name, where), files in work.evidence_files.items():
        if where != place or function not in (None, name):
            continue
        for number, commits in enumerate(files):
            if commit in commits:
                told = data(work.out.folder, f"e/{slug(name)}/{place}-{number}")
                assert (told["function"], told["place"]) == (name, place)
                found += [one for one in told["commits"] if one["commit"] == work.commits[commit].hash]
    return found


def test_odd_names_and_parameters_come_back_whole(work: Work) -> None:
    evidence_pages.build(work)
    place = place_of(work, "dcu-1")
    newest = work.evidence[place][-1]
    assert {name for name, where in work.evidence_files if where == place} >= {CHINESE, SCRIPT, MATMUL, TRAIN}
    assert [one["params"] for one in entries(work, place, newest, SCRIPT)] == [
        [one] for one in history.STRANGE
    ]
    told = data(work.out.folder, f"e/{slug(SCRIPT)}/{place}-0")
    assert told["names"] == ["<i>value</i>"]
    assert all(one.isascii() and "<" not in one for one in keys(work.out.folder))


def test_a_file_has_several_commits_and_ends_where_it_is_full(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(work, "dcu-1")
    monkeypatch.setattr(evidence_pages, "FULL", 10**9)
    evidence_pages.build(work)
    (all_of_them,) = work.evidence_files[MATMUL, place]
    assert all_of_them == sorted(work.evidence[place], reverse=True)
    text = json.dumps(entries(work, place, all_of_them[0], MATMUL)[0])
    monkeypatch.setattr(evidence_pages, "FULL", 6 * len(text))
    again = replace(work, evidence={}, evidence_files={}, matrices=[])
    evidence_pages.build(again)
    files = again.evidence_files[MATMUL, place]
    assert len(files) > 2
    # Of a commit between two files each has some combinations of parameters.
    assert any(one[-1] == other[0] for one, other in itertools.pairwise(files))
    assert [one["params"] for one in entries(again, place, all_of_them[1], MATMUL)] == [
        ["256", "'float16'"], ["256", "'float32'"], ["1024", "'float16'"], ["1024", "'float32'"]
    ]  # fmt: skip


def test_evidence_without_asvs_results_and_results_without_evidence(
    work: Work, made: history.History
) -> None:
    evidence_pages.build(work)
    stopped = place_of(work, "dcu-1", history.CPU_ENV)
    (commit,) = work.evidence[stopped]
    (entry,) = entries(work, stopped, commit)
    assert entry["asv"] == {} and "no result file of asv" in entry["notes"][0]
    assert place_of(work, "box", history.PLAIN_ENV) not in work.evidence


# ---- once


def test_what_did_not_change_is_not_read_again(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even its lines."""
    work.results = not_read
    monkeypatch.setattr(evidence_pages, "iter_lines", not_read)
    evidence_pages.build(work)
    assert len(work.matrices) == sum(map(len, work.evidence.values())) == 10
    assert [one for one in work.notes if "passed over" in one] == []


def test_an_evidence_file_that_changed_is_made_anew(
    made: history.History, kept: Path, tmp_path: Path
) -> None:
    suite = tmp_path / "suite"
    shutil.copytree(made.suite, suite)
    shutil.copytree(made.suite.parent / "repo", tmp_path / "repo")
    shutil.copytree(kept / "cache", tmp_path / "cache")
    work = opened(suite, tmp_path / "out", tmp_path / "cache")
    place, head = place_of(work, "dcu-1"), commit_of(work, made.main[-1])
    entry = work.entries[place, head]
    assert entry.evidence is not None
    path = suite / "results" / entry.evidence
    lines = path.read_text().splitlines(keepends=True)
    changed = [line.replace('"notes":[]', '"notes":["again"]') for line in lines]
    path.write_text("".join(changed))
    work = opened(suite, tmp_path / "out", tmp_path / "cache")
    work.published_evidence = 3
    seen, results = [], work.results

    def counted(one: Any) -> Any:
        seen.append(one.commit)
        return results(one)

    work.results = counted
    evidence_pages.build(work)
    assert {*seen} == {head}
    told = [line for one in entries(work, place, head) for line in one["lines"]]
    assert sorted(told) == sorted(one.rstrip("\n") for one in changed)


def test_packed_evidence_is_published_as_it_was(made: history.History, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    shutil.copytree(made.suite, suite)
    shutil.copytree(made.suite.parent / "repo", tmp_path / "repo")
    file = f"dcu-2/{made.main[-1][:8]}-{history.ENV}.evidence.jsonl"
    lines = (suite / "results" / file).read_text().splitlines()
    store.pack(suite / "results" / file)
    work = opened(suite, tmp_path / "out")
    place, head = place_of(work, "dcu-2"), commit_of(work, made.main[-1])
    evidence_pages.build(only(work, place, head))
    assert sorted(line for one in entries(work, place, head) for line in one["lines"]) == sorted(lines)


def only(work: Work, place: int, commit: int) -> Work:
    """With that result alone."""
    work.entries = {(place, commit): work.entries[place, commit]}
    return work


def test_older_evidence_waits_for_a_publish_that_has_the_time(work: Work, made: history.History) -> None:
    place = place_of(work, "dcu-1")
    has = work.measured(place)
    work.change_pairs = [(place, has[6], has[7])]
    work.may_go_on = lambda: False
    evidence_pages.build(work)
    # Those of the tags are kept from before.
    assert commit_of(work, made.main[history.TAGS["v1.0"]]) in work.evidence[place]
    assert not {has[6], has[7]} & {*work.evidence[place]}
    assert (
        work.notes[-1] == "older results whose evidence is left to the next publish, since it takes long: 2"
    )
    assert work.evidence[place] == sorted(work.evidence[place])


@pytest.mark.parametrize(
    "fault", [Unreadable("x is no result file of asv"), OSError(5, "Input/output error")]
)
def test_results_that_cannot_be_read_are_passed_over_and_told(
    work: Work, made: history.History, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    place, commit = place_of(work, "dcu-1"), commit_of(work, made.main[-2])

    def raising(*_: object) -> Any:
        raise fault

    if isinstance(fault, OSError):
        monkeypatch.setattr(evidence_pages, "iter_lines", raising)
    else:
        work.results = raising
    evidence_pages.build(only(work, place, commit))
    entry = work.entries[place, commit]
    why = "x is no result file of asv"
    if isinstance(fault, OSError):
        why = f"{entry.evidence} cannot be read (Input/output error)"
    assert work.notes[-1] == f"passed over: {why}"
    assert work.evidence == {} and work.matrices == [] and keys(work.out.folder) == []


# ---- matrices


def test_a_matrix_is_what_the_command_prints(
    work: Work, made: history.History, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, commit = place_of(work, "dcu-2"), commit_of(work, made.main[-1])
    matrices.publish(work, work.entries[place, commit])
    assert work.matrices == [(place, commit)]
    monkeypatch.chdir(made.suite)
    assert cli.main(["matrix", made.main[-1], "--machine", "dcu-2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.pop("exit_code") == 0
    assert data(work.out.folder, f"m/{place}-{made.main[-1][:8]}") == told
    assert len(told["rows"]) == 2


def test_what_is_no_number_in_a_matrix_has_a_word_of_its_own() -> None:
    results = read([{**record(1), "input": {"bytes": float("nan")}}], {})
    (row,) = json.loads(matrices.text_of(results, "host/file"), parse_constant=not_read)["rows"]
    assert row["input_bytes"] == {"float": "nan"}
