"""Kept traces are those of the newest commits of each environment; what was read from them is elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.locks import result_lock
from dcu_asv_ext.asv_plugin.session import Session, marker_of
from dcu_asv_ext.asv_plugin.trace_keeping import after_session, outdated, remove_outdated
from dcu_asv_ext.evidence import traces

from .result_folder import ENV, ResultFolder

OTHER = "overlay-py3.11"


@pytest.fixture
def folder(tmp_path: Path) -> ResultFolder:
    made = ResultFolder(tmp_path, 4)
    for commit in made.commits:
        made.save(commit)
        trace(made, commit)
    return made


def trace(made: ResultFolder, commit: str, env: str = ENV) -> Path:
    evidence = made.place(commit, ".evidence.jsonl", env)
    path = traces.trace_path(evidence, "suite.step", None)
    path.parent.mkdir()
    path.write_bytes(b"12345")
    return evidence


def box(made: ResultFolder) -> Path:
    return made.results / "box"


def prefixes(found: Any) -> list[str]:
    return [one.evidence.name[:8] for one in found]


def left(made: ResultFolder, env: str = ENV) -> list[int]:
    return [
        number
        for number, commit in enumerate(made.commits)
        if traces.kept(made.place(commit, ".evidence.jsonl", env))
    ]


def test_the_newest_commits_keep_theirs(folder: ResultFolder) -> None:
    found = outdated(box(folder), 2)
    assert sorted(prefixes(found)) == sorted(commit[:8] for commit in folder.commits[:2])
    assert {one.bytes for one in found} == {5} and found[0].file.startswith("box/")
    assert outdated(box(folder), 4) == [] and len(outdated(box(folder), 0)) == 4
    assert left(folder) == [0, 1, 2, 3], "looking removes nothing"
    assert not remove_outdated(outdated(box(folder), 3))[0].held
    assert left(folder) == [1, 2, 3]


def test_each_environment_counts_by_itself(folder: ResultFolder) -> None:
    folder.save(folder.commits[0], env=OTHER)
    trace(folder, folder.commits[0], OTHER)
    remove_outdated(outdated(box(folder), 1))
    assert left(folder) == [3] and left(folder, OTHER) == [0]


def test_traces_that_no_result_lies_beside_go_first(folder: ResultFolder) -> None:
    place = trace(folder, "f" * 40)
    assert prefixes(outdated(box(folder), 20)) == ["ffffffff"]
    remove_outdated(outdated(box(folder), 20))
    assert not traces.folder_of(place).exists() and left(folder) == [0, 1, 2, 3]


def test_a_dry_run_removes_nothing(folder: ResultFolder) -> None:
    assert len(remove_outdated(outdated(box(folder), 1), dry_run=True)) == 3
    assert left(folder) == [0, 1, 2, 3]


def test_a_session_that_is_under_way_or_to_be_taken_up_keeps_its_own(folder: ResultFolder) -> None:
    first, second = (folder.place(commit, ".evidence.jsonl") for commit in folder.commits[:2])
    lock = result_lock(first)
    lock.acquire()
    marker_of(second).write_text("{}")
    done = {one.evidence: one.held for one in remove_outdated(outdated(box(folder), 1))}
    lock.release()
    assert done[first] == "a run is writing it" and done[second] == "its session is not finished"
    assert left(folder) == [0, 1, 3]


def test_a_run_removes_what_its_own_ended_sessions_kept(folder: ResultFolder) -> None:
    """Its locks are held until it ends."""
    first = folder.place(folder.commits[0], ".evidence.jsonl")
    lock = result_lock(first)
    lock.acquire()
    said: list[str] = []
    after_session(ended(folder, 3, {"trace": "x"}), 3, said.append)
    assert left(folder) == [0, 1, 2, 3] and said == []
    after_session(ended(folder, 3, {"trace": "x"}), 3, said.append, [first])
    lock.release()
    assert left(folder) == [1, 2, 3] and len(said) == 1


def ended(folder: ResultFolder, commit: int, profile: dict[str, Any] | None) -> Session:
    made = Session("s", folder.commits[commit], ENV, "box", {})
    made.evidence = folder.place(folder.commits[commit], ".evidence.jsonl")
    made.records = {("suite.step", None, 1): {"profile": profile} if profile else {}}
    return made


def test_a_session_that_kept_traces_makes_older_ones_go_and_keeps_its_own(folder: ResultFolder) -> None:
    said: list[str] = []
    after_session(ended(folder, 0, {"trace": "suite.step.json.gz"}), 2, said.append)
    assert left(folder) == [0, 2, 3]
    assert (
        len(said) == 1
        and 'the traces of 1 older commit were removed (0.0 MiB; "keep_traces" is 2)' in said[0]
    )


@pytest.mark.parametrize("profile", [None, {}, {"trace": None}, {"missing": {"rows": "no"}}])
def test_one_that_kept_none_removes_none(folder: ResultFolder, profile: Any) -> None:
    said: list[str] = []
    after_session(ended(folder, 3, profile), 1, said.append)
    assert left(folder) == [0, 1, 2, 3] and said == []


def test_what_cannot_be_removed_is_told(folder: ResultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(evidence: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(traces, "remove", refuse)
    said: list[str] = []
    after_session(ended(folder, 3, {"trace": "x"}), 1, said.append)
    assert "could not be removed" in said[0] and "Permission denied" in said[0]
