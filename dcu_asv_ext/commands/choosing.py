"""Which results a command's words mean: commits, machines and environments, or two files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..comparing import figures
from ..comparing.deciding import HISTORY
from ..comparing.model import Key, ResultSet

if TYPE_CHECKING:
    from ..asv_plugin.results import Project

Match = Callable[[Key], bool]

_RESULT_FILE = re.compile(r"\.(json|jsonl|jsonl\.gz)$")
_HASH = re.compile(r"[0-9a-f]{4,40}")


class WrongUse(Exception):
    """One sentence: what was asked for does not exist, or could mean several things."""


class NothingComparable(Exception):
    """One sentence: what was asked for is understood, and there is nothing of it to compare."""


@dataclass
class Chosen:
    """Both sides, and the results before them in commit order."""

    before: list[ResultSet]
    after: list[ResultSet]
    history: list[ResultSet] = field(default_factory=list)


@dataclass(frozen=True)
class Wanted:
    """machines, envs: none, one for both sides, or one for each."""

    before: str
    after: str | None = None
    machines: Sequence[str] = ()
    envs: Sequence[str] = ()
    history: bool = True

    @property
    def files(self) -> bool:
        """Whether both sides are result files. Raises WrongUse where only one is."""
        given = [name for name in (self.before, self.after) if name is not None]
        files = [is_file(name) for name in given]
        if not any(files):
            return False
        if len(given) == 1 or not all(files):
            raise WrongUse(f"{given[files.index(True)]} is a result file; compare it with a second one")
        if self.machines or self.envs:
            raise WrongUse("--machine and --env choose among the results of commits, not of files")
        return True


def is_file(name: str) -> bool:
    """Whether a word means a result file, not a revision."""
    return _RESULT_FILE.search(name) is not None and (os.sep in name or os.path.isfile(name))


def matcher(benches: Sequence[str], metrics: Sequence[str]) -> Match | None:
    """A key's test for --bench (a regular expression found in `module.function.metric(params)`) and --metric."""
    try:
        patterns = [re.compile(one) for one in benches]
    except re.error as error:
        raise WrongUse(f"--bench is no regular expression: {error}") from None
    if not patterns and not metrics:
        return None

    def wanted(key: Key) -> bool:
        if metrics and key.metric not in metrics:
            return False
        text = figures.full_name(key)
        return not patterns or any(pattern.search(text) for pattern in patterns)

    return wanted


def check_selected(sides: Sequence[ResultSet], match: Match | None) -> None:
    """Raises WrongUse where --bench and --metric leave nothing of what there is."""
    keys = {key for one in sides for key in one.sides}
    if match is None or not keys or any(match(key) for key in keys):
        return
    metrics = ", ".join(sorted({key.metric for key in keys}))
    raise WrongUse(f"no benchmark of these results has a match (metrics that there are: {metrics})")


def from_files(wanted: Wanted) -> Chosen:
    from ..asv_plugin.results import load_file

    assert wanted.after is not None
    if os.path.realpath(wanted.before) == os.path.realpath(wanted.after):
        raise WrongUse(f"both sides are the same file, {wanted.before}")
    return Chosen([load_file(wanted.before)], [load_file(wanted.after)])


def from_project(project: Project, wanted: Wanted) -> Chosen:
    """Raises WrongUse, NothingComparable, and ResultsError for a name that is no commit."""
    commit = project.resolve(wanted.before)
    if wanted.after is None:
        machine = _machine(project, wanted.machines, (commit, wanted.before))
        other = _newest(project, commit, wanted.before, machine[-1])
        after_name = other[:8]
    else:
        other, after_name = project.resolve(wanted.after), wanted.after
        machine = _machine(project, wanted.machines, (commit, wanted.before), (other, wanted.after))
    before = _results(project, commit, wanted.before, machine[0], _of(wanted.envs, 0))
    after = _results(project, other, after_name, machine[-1], _of(wanted.envs, -1))
    before, after = _common_envs(before, after, project.notes)
    same = {_identity(one) for one in before} & {_identity(one) for one in after}
    if same:
        raise WrongUse(
            f"both sides are the results of {commit[:8]}; "
            f"dcu-asv compare --self {wanted.before} compares one commit with itself"
        )
    return Chosen(before, after, _history(project, before) if wanted.history else [])


def one_commit(project: Project, wanted: Wanted) -> Chosen:
    """Of `before` alone, in all its environments on one machine; there is no other side."""
    commit = project.resolve(wanted.before)
    (machine,) = _machine(project, wanted.machines, (commit, wanted.before))
    found = _results(project, commit, wanted.before, machine, _of(wanted.envs, 0))
    return Chosen(found, [], _history(project, found) if wanted.history else [])


def _of(given: Sequence[str], place: int) -> str | None:
    return given[place] if given else None


def _identity(one: ResultSet) -> tuple[str, str, str]:
    return one.machine, one.commit, one.env


def _machine(project: Project, named: Sequence[str], *commits: tuple[str, str]) -> list[str]:
    """A machine for each commit (hash, name): the named ones, else the only one that has results of all."""
    if named:
        found = [named[0], named[-1]][-len(commits) :]
        for machine, (commit, name) in zip(found, commits, strict=True):
            if project.machine(machine) not in _measured_on(project, commit):
                raise NothingComparable(f"there are no results of {_called(name, commit)} on {machine}")
        return found
    project.machine(next(iter(project.machines()), None))  # has a sentence for no results at all
    where = [_measured_on(project, commit) for commit, _ in commits]
    for machines, (commit, name) in zip(where, commits, strict=True):
        if not machines:
            raise NothingComparable(f"there are no results of {_called(name, commit)}")
    common = [machine for machine in where[0] if all(machine in other for other in where)]
    if len(common) > 1:
        raise WrongUse(f"there are results of several machines ({', '.join(common)}); choose with --machine")
    if not common:
        told = " and ".join(
            f"{_called(name, commit)} on {', '.join(machines)}"
            for machines, (commit, name) in zip(where, commits, strict=True)
        )
        raise NothingComparable(f"no machine has results of both: there are {told}")
    return common * len(commits)


def _measured_on(project: Project, commit: str) -> list[str]:
    return [
        machine
        for machine in project.machines()
        if any(commit.startswith(file.prefix) for file in project.files(machine))
    ]


def _results(project: Project, commit: str, name: str, machine: str, env: str | None) -> list[ResultSet]:
    label = name if not (_HASH.fullmatch(name) and commit.startswith(name)) else commit[:8]
    return [replace(one, label=label) for one in project.result_sets(commit, machine, env)]


def _called(name: str, commit: str) -> str:
    return commit[:8] if commit.startswith(name) else f"{name} ({commit[:8]})"


def _common_envs(
    before: list[ResultSet], after: list[ResultSet], notes: list[str]
) -> tuple[list[ResultSet], list[ResultSet]]:
    """Those that both sides have, with a note on the others; one on each side is taken whatever it is called."""
    if len(before) == 1 and len(after) == 1:
        return before, after
    envs = {one.env for one in before} & {one.env for one in after}
    if not envs:
        sides = ["; ".join(one.env for one in side) for side in (before, after)]
        raise NothingComparable(
            f"the two sides have no environment in common ({sides[0]} and {sides[1]}); "
            "name one for each with --env twice"
        )
    if left_out := sorted({one.env for one in (*before, *after)} - envs):
        notes.append(f"left out, since only one side has it: {', '.join(left_out)}")
    return [one for one in before if one.env in envs], [one for one in after if one.env in envs]


def _newest(project: Project, commit: str, name: str, machine: str) -> str:
    """The newest commit of the first branch that has results on the machine."""
    found = project.history(machine, newest=1)
    if not found:
        raise NothingComparable(f"no commit of the branch has results on {machine}; name the second one")
    if found[-1].commit == commit:
        raise WrongUse(f"{_called(name, commit)} is itself the newest with results; name the second one")
    return found[-1].commit


def _history(project: Project, sets: Sequence[ResultSet]) -> list[ResultSet]:
    """Results of the commits before those of `sets`, in commit order."""
    from ..asv_plugin.results import ResultsError

    found = []
    for one in sets:
        try:
            found += project.history(one.machine, one.env, one.commit, newest=HISTORY + 1)
        except ResultsError:  # a commit that only the results know
            found += project.history(one.machine, one.env)
    return found
