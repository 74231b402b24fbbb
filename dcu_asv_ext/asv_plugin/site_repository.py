"""The commits, branches and tags that the pages name, from the project's repository."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..comparing import figures
from ..comparing.history import Commit
from ..pages.model import Branch
from .results import Project, ResultsError

_LINE = "--format=%H%x09%at%x09%s"
_TAG_FIELDS = ("objecttype", "objectname", "authordate:unix", "contents:subject")
#: Commits named in a note.
_NAMED = 3


@dataclass
class History:
    """commits: oldest first. branches, tags: by name, with positions in them. notes: what was left out."""

    commits: list[Commit] = field(default_factory=list)
    branches: dict[str, Branch] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def history_of(project: Project, measured: Mapping[str, int]) -> History:
    """measured: full hashes of the commits that have results -> asv's date of them in milliseconds."""
    notes: list[str] = []
    lines = _lines(project, measured, notes)
    tags = _tags(project)
    known = {one.hash: one for one in tags.values()}
    known |= {one.hash: one for line in lines.values() for one in line}
    elsewhere = [one for one in measured if one not in known]
    known |= _looked_up(project, elsewhere)
    notes += _gone([one for one in elsewhere if one not in known], project)
    heads = [line[-1].hash for line in lines.values() if line]
    named = {*measured, *heads, *(one.hash for one in tags.values())}
    commits = _ordered([_dated(known.get(one, Commit(one)), measured) for one in named], lines.values())
    places = {one.hash: place for place, one in enumerate(commits)}
    branches = {}
    for name, line in lines.items():
        here = [number for number, one in enumerate(line) if one.hash in places]
        branches[name] = Branch(name, line, [places[line[number].hash] for number in here], here)
    return History(commits, branches, {name: places[one.hash] for name, one in tags.items()}, notes)


def line_of(project: Project, commit: str) -> list[str] | None:
    """The first parents of a commit and itself, oldest first; None where the repository does not know it."""
    try:
        return [one.hash for one in project.commits(commit)] if project.repo is not None else None
    except ResultsError:
        return None


def _lines(project: Project, measured: Mapping[str, int], notes: list[str]) -> dict[str, list[Commit]]:
    """The first parents of each branch, measured or not, oldest first."""
    if project.repo is None:
        notes.append(f"{project.no_repo}: all commits that have results are taken, by date")
        ordered = sorted(measured.items(), key=lambda item: (item[1], item[0]))
        return {"": [Commit(one, date) for one, date in ordered]}
    found = {}
    for branch in project.branches:
        try:
            found[str(project.repo.get_branch_name(branch))] = project.commits(branch)
        except ResultsError as fault:
            notes.append(str(fault))
    return found


def _tags(project: Project) -> dict[str, Commit]:
    """Tags of commits, by name."""
    if project.git_dir is None:
        return {} if project.repo is None else _slow_tags(project)
    # An annotated tag tells its commit's fields with an asterisk, and has none of them of its own.
    own, peeled = ("%00".join(f"%({mark}{one})" for one in _TAG_FIELDS) for mark in ("", "*"))
    told = _git(project, ["for-each-ref", "refs/tags", f"--format=%(refname:strip=2)%00{own}%00{peeled}"])
    found = {}
    for each in told.split("\n"):
        name, *values = each.split("\0")
        for start in range(0, len(values), len(_TAG_FIELDS)):
            kind, commit, date, subject = values[start : start + len(_TAG_FIELDS)]
            if kind == "commit":
                found[name] = Commit(commit, 1000 * int(date or 0), subject)
    return found


def _slow_tags(project: Project) -> dict[str, Commit]:
    repo = project.repo
    return {name: Commit(one, int(repo.get_date_from_name(one))) for name, one in repo.get_tags().items()}


def _looked_up(project: Project, hashes: Sequence[str]) -> dict[str, Commit]:
    """Those of the commits that the repository has, on whatever branch."""
    if not hashes or project.git_dir is None:
        return {}
    there = [one for one in project.known_commits(hashes) if one in set(hashes)]
    if not there:
        return {}
    told = _git(project, ["log", "--no-walk=unsorted", "-z", _LINE, "--stdin"], "\n".join(there))
    parts = [one.split("\t", 2) for one in told.rstrip("\0").split("\0")]
    return {one: Commit(one, 1000 * int(date), subject) for one, date, subject in parts}


def _gone(commits: Sequence[str], project: Project) -> list[str]:
    """Of measured commits that the repository does not know, which lie on no branch."""
    if not commits or project.repo is None:
        return []
    told = ", ".join(sorted(one[:8] for one in commits)[:_NAMED])
    more = f" and {len(commits) - _NAMED} more" if len(commits) > _NAMED else ""
    what = figures.count(len(commits), "measured commit")
    return [f"not in the repository any more, so that no branch shows them: {what} ({told}{more})"]


def _dated(commit: Commit, measured: Mapping[str, int]) -> Commit:
    """Where the repository tells no date, asv's file does."""
    return commit if commit.date else replace(commit, date=measured.get(commit.hash, 0))


def _git(project: Project, arguments: Sequence[str], given: str | None = None) -> str:
    command = ["git", "-C", str(project.git_dir), *arguments]
    told = subprocess.run(
        command, input=None if given is None else given.encode(), capture_output=True, check=True
    )
    return told.stdout.decode(errors="replace")


def _ordered(commits: Iterable[Commit], lines: Iterable[Sequence[Commit]]) -> list[Commit]:
    """By date, but never against the order of a branch, whose dates may go back. Branches that meet are one line from
    there on back, so that what an earlier one says of it holds for all."""
    keys: dict[str, tuple[int, int, int]] = {}
    for number, line in enumerate(lines):
        latest = 0
        for place, one in enumerate(line):
            if one.hash in keys:
                latest = keys[one.hash][0]
                continue
            latest = max(latest, one.date)
            keys[one.hash] = latest, number, place
    return sorted(commits, key=lambda one: keys.get(one.hash, (one.date, len(keys), 0)) + (one.hash,))
