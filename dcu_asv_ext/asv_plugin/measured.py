"""Results with the place of their raw data: of commits, of a range of them, or of named files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..comparing.matrix import Measured
from .result_files import NO_RESULTS, Match, ResultFile, ResultsError, file_of, load_benchmarks, read_file
from .results import NoResults, Project

_RANGE = ".."


def of_files(paths: Sequence[str], match: Match | None = None) -> tuple[list[Measured], list[str]]:
    """Each result once, though both of its files are named, and what was passed over. Raises ResultsError."""
    files: dict[tuple[str, str], ResultFile] = {}
    notes = []
    for path in paths:
        if os.path.basename(path) in NO_RESULTS:
            notes.append(f"passed over: {path} holds no results")
            continue
        one = file_of(path)
        files.setdefault((os.path.realpath(os.path.dirname(path) or "."), one.stem), one)
    if not files:
        raise NoResults("none of the files holds results")
    found = []
    for (folder, _), one in files.items():
        benchmarks = load_benchmarks(Path(folder).parent)
        found.append(Measured(read_file(one, benchmarks, match=match), _place(one)))
    return found, notes


def of_commits(
    project: Project,
    commits: Iterable[str],
    called: str,
    machine: str | None = None,
    env: str | None = None,
    match: Match | None = None,
) -> list[Measured]:
    """Results of commits (full hashes), in their order; of one machine, or of every one that has some.

    called: what was asked for, for a sentence. env: an environment's name, or a part of it. A file that cannot be
    read is passed over, and told in the project's notes. Raises NoResults where there is none, ResultsError for an
    unknown machine or environment.
    """
    names = [project.machine(machine)] if machine is not None else project.machines()
    files = [one for name in names for one in project.files(name)]
    if env is not None:
        files = _of_environment(files, env)
    found = []
    for commit in commits:
        for one in files:
            if not commit.startswith(one.prefix):
                continue
            try:
                results = read_file(one, project.benchmarks, match=match)
            except ResultsError as fault:
                project.notes.append(f"passed over: {fault}")
                continue
            if results.commit == commit:
                found.append(Measured(results, _place(one)))
    if not found:
        why = f" ({project.notes[-1]})" if project.notes else ""
        raise NoResults(f"there are no results of {called}{f' on {machine}' if machine else ''}{why}")
    return found


def _of_environment(files: Sequence[ResultFile], env: str) -> list[ResultFile]:
    wanted = [one for one in files if one.env == env] or [
        one for one in files if env.lower() in one.env.lower()
    ]
    if not wanted:
        known = ", ".join(sorted({one.env for one in files}))
        raise ResultsError(f"there are no results of an environment {env!r}; there are of: {known}")
    return wanted


def _place(file: ResultFile) -> str:
    """Below the results folder: `machine/file`."""
    path = file.evidence or file.result
    assert path is not None
    return f"{path.resolve().parent.name}/{path.name}"


def commits_of(project: Project, revision: str) -> list[str]:
    """Full hashes, oldest first: of one revision, or of `A..B` as git takes it (what B has and A has not; an end that
    is left out is HEAD; first parents only). Without a repository a range goes by the dates in the results.

    Raises ResultsError.
    """
    before, dots, after = revision.partition(_RANGE)
    if not dots:
        return [project.resolve(revision)]
    if after.startswith("."):
        raise ResultsError(
            f"{revision}: write a range with two dots, {before or 'HEAD'}..{after[1:] or 'HEAD'}"
        )
    ends = [project.resolve(end or "HEAD") for end in (before, after)]
    if project.repo is None:
        known = [one.hash for one in project.commits()]
        first, last = (known.index(end) for end in ends)
        return known[first + 1 : last + 1]
    from asv.util import ProcessError

    try:
        found = project.repo.get_hashes_from_range(project.repo.get_range_spec(*ends))
    except ProcessError:
        raise ResultsError(f"{revision}: the repository does not have both ends") from None
    return list(reversed(found))


def newest(project: Project, machine: str | None = None) -> str:
    """The newest commit of the first branch that has results; where none of it has, the newest that has any.

    Raises NoResults where there are none.
    """
    project.machine(machine or next(iter(project.machines()), None))  # has a sentence for no results at all
    names = [machine] if machine is not None else project.machines()
    heads = {one.head() for name in names for one in project.files(name)}
    measured = {commit for commit, _ in heads}
    for one in reversed(project.commits()):
        if one.hash in measured:
            return one.hash
    commit, _ = max(heads, key=lambda head: (head[1], head[0]))
    branch = project.branches[0] or "the default branch"
    project.notes.append(f"no commit of {branch} has results; these are the newest of any other")
    return commit
