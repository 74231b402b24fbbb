"""The commits that the pages name: order, branches, tags, and what the repository does not have any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.asv_plugin.results import Project
from dcu_asv_ext.asv_plugin.site_repository import History, history_of, line_of
from tests.asv_plugin.result_folder import ResultFolder

GONE = "f" * 40
MINUTE = 60_000
START = 1_700_000_000_000


@pytest.fixture
def folder(tmp_path: Path) -> ResultFolder:
    return ResultFolder(tmp_path, 6)


def told(folder: ResultFolder, *measured: str) -> History:
    return history_of(Project.open(folder.root / "asv.conf.json"), dict.fromkeys(measured, START))


def commit(folder: ResultFolder, parent: str, subject: str, minutes: int, branch: str = "") -> str:
    """A commit beside main, on a branch or on none. minutes: after the first one of main."""
    ref = f"refs/heads/{branch or 'passing'}"
    when = f"committer x <x@x> {START // 1000 + 60 * minutes} +0000"
    text = f"commit {ref}\n{when}\ndata {len(subject)}\n{subject}\nfrom {parent}\n"
    folder.git("fast-import", "--quiet", text=text)
    made = folder.git("rev-parse", ref)
    if not branch:
        folder.git("update-ref", "-d", ref)
    return made


def test_measured_commits_the_head_and_tags_are_named(folder: ResultFolder) -> None:
    one, two = folder.commits[1], folder.commits[3]
    folder.git("tag", "v1", folder.commits[2])
    found = told(folder, two, one)
    assert [each.hash for each in found.commits] == [one, folder.commits[2], two, folder.commits[5]]
    assert [each.subject for each in found.commits] == ["commit 1", "commit 2", "commit 3", "commit 5"]
    assert found.commits[1].date == START + 2 * MINUTE
    main = found.branches["main"]
    assert [each.hash for each in main.line] == folder.commits
    assert (main.commits, main.numbers, main.head) == ([0, 1, 2, 3], [1, 2, 3, 5], 3)
    assert found.tags == {"v1": 1} and not found.notes


def test_tags_of_every_kind(folder: ResultFolder) -> None:
    name = "v1-'\"<script>-版本"
    folder.git("tag", name, folder.commits[0])
    who = ("-c", "user.name=x", "-c", "user.email=x@x")
    folder.git(*who, "tag", "-a", "-m", "two\nlines", "annotated", folder.commits[1])
    folder.git("tag", "a-tree", f"{folder.commits[2]}^{{tree}}")
    found = told(folder)
    assert {tag: found.commits[place].subject for tag, place in found.tags.items()} == {
        name: "commit 0",
        "annotated": "commit 1",
    }


def test_branches_that_part_keep_their_order(folder: ResultFolder) -> None:
    # Its clock is wrong: older than what it was made from.
    first = commit(folder, folder.commits[3], "beside one", -10)
    second = commit(folder, first, "beside two", -20, "side")
    folder.configure(branches=["main", "side"])
    found = told(folder, *folder.commits, first, second)
    named = [each.hash for each in found.commits]
    for branch, line in (("main", folder.commits), ("side", [*folder.commits[:4], first, second])):
        places = found.branches[branch].commits
        assert [named[place] for place in places] == line and list(places) == sorted(places)
        assert list(found.branches[branch].numbers) == list(range(6))


def test_commits_on_no_branch(folder: ResultFolder) -> None:
    lost = commit(folder, folder.commits[0], "on no branch", 1)
    found = told(folder, lost, GONE, folder.commits[5])
    by_hash = {each.hash: each for each in found.commits}
    assert by_hash[lost].subject == "on no branch" and by_hash[lost].date == START + MINUTE
    assert by_hash[GONE].subject == "" and by_hash[GONE].date == START
    assert [each.hash for each in found.commits].index(lost) not in found.branches["main"].commits
    assert found.notes == [
        "not in the repository any more, so that no branch shows them: 1 measured commit (ffffffff)"
    ]
    project = Project.open(folder.root / "asv.conf.json")
    assert line_of(project, lost) == [folder.commits[0], lost]
    assert line_of(project, GONE) is None


def test_a_branch_that_is_not_there_is_told(folder: ResultFolder) -> None:
    folder.configure(branches=["main", "mian"])
    found = told(folder, folder.commits[0])
    assert list(found.branches) == ["main"]
    assert found.notes == ["the repository has no branch mian; did you mean main?"]


def test_without_a_repository_all_results_are_taken_by_date(folder: ResultFolder) -> None:
    folder.configure(repo="https://nowhere.example/x.git")
    project = Project.open(folder.root / "asv.conf.json")
    found = history_of(project, {GONE: START + 2, "e" * 40: START + 1})
    assert [each.hash[0] for each in found.commits] == ["e", "f"]
    (branch,) = found.branches.values()
    assert branch.commits == [0, 1] and not found.tags
    assert len(found.notes) == 1 and line_of(project, GONE) is None
