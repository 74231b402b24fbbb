"""An asv project's results: which commits, machines and environments have some, and reading them for comparing."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..comparing.history import Commit
from ..comparing.model import ResultSet
from .result_files import (
    Match,
    ResultFile,
    ResultsError,
    list_files,
    load_benchmarks,
    load_file,
    one_line,
    read_file,
)

__all__ = ["Match", "NoResults", "Project", "ResultFile", "ResultsError", "load_file", "read_file"]

_HASH = re.compile(r"[0-9a-f]{4,40}", re.IGNORECASE)

#: Commits named in a sentence that says which have results.
_NAMED = 5


class NoResults(ResultsError):
    """What was asked for is understood, and nothing was measured of it."""


@dataclass
class Project:
    """An asv project as far as its results go. folder: where its configuration lies; repo: asv's object, or None
    with the reason in `no_repo`; git_dir: its place if it is git's. notes: result files that were passed over."""

    folder: Path
    results_dir: Path
    branches: list[str | None]
    repo: Any = None
    no_repo: str = ""
    git_dir: Path | None = None
    notes: list[str] = field(default_factory=list)
    _listed: dict[str, list[ResultFile]] = field(default_factory=dict)

    @classmethod
    def open(cls, config_path: str | os.PathLike[str] | None = None) -> Project:
        """From asv.conf.json of the current folder, or the given file. Raises ResultsError."""
        conf = load_config(config_path)
        folder = Path(config_path).resolve().parent if config_path is not None else Path.cwd()
        repo, place, reason = _repository(conf, folder)
        git_dir = place if repo is not None and repo.dvcs == "git" else None
        return cls(folder, folder / conf.results_dir, list(conf.branches), repo, reason, git_dir)

    @cached_property
    def benchmarks(self) -> dict[str, Any]:
        """What asv knows of each benchmark; empty where it left no benchmarks.json."""
        return load_benchmarks(self.results_dir)

    # ---- what there is

    def machines(self) -> list[str]:
        """Names of the machines that have results."""
        if not self.results_dir.is_dir():
            return []
        folders = sorted(one.name for one in self.results_dir.iterdir() if one.is_dir())
        return [name for name in folders if self.files(name)]

    def machine(self, name: str | None = None) -> str:
        """The machine that is meant. Raises NoResults where none has any, ResultsError where several have and none
        is named.
        """
        known = self.machines()
        if not known:
            raise NoResults(f"there are no results in {self.results_dir}; `asv run` makes some")
        if name is None:
            if len(known) > 1:
                raise ResultsError(
                    f"there are results of several machines ({', '.join(known)}); name one: --machine"
                )
            return known[0]
        if name not in known:
            raise ResultsError(f"there are no results of machine {name!r}; there are of: {', '.join(known)}")
        return name

    def files(self, machine: str) -> list[ResultFile]:
        """The machine's result files, in no order of commits."""
        if machine not in self._listed:
            self._listed[machine] = list_files(self.results_dir / machine)
        return self._listed[machine]

    def environments(self, machine: str) -> list[str]:
        """Names of the environments that have results (asv's hash of it where a name is very long)."""
        return sorted({one.env for one in self.files(machine)})

    def resolve(self, revision: str) -> str:
        """The full hash of a commit, branch or tag; one that only the results know is found by its hash's beginning.

        Raises ResultsError.
        """
        if ".." in revision:
            raise ResultsError(f"{revision} is a range of commits; name one commit a side")
        found = self._in_repository(revision)
        if found is not None:
            return found
        files = [one for name in self.machines() for one in self.files(name)]
        commits: set[str] = set()
        if _HASH.fullmatch(revision):
            wanted = revision.lower()
            near = [one for one in files if one.prefix.startswith(wanted[:8])]
            commits = {commit for commit, _ in (one.head() for one in near) if commit.startswith(wanted)}
        if len(commits) > 1:
            raise ResultsError(
                f"{revision} may be any of {', '.join(sorted(commits))}; write more of the hash"
            )
        if not commits:
            where = f"{self.no_repo}, and" if self.no_repo else "the repository does not know it, and"
            raise ResultsError(
                f"there is no commit {revision}: {where} no result has it{self._newest(files)}"
            )
        return commits.pop()

    def _in_repository(self, revision: str | None) -> str | None:
        """revision: None: asv's default branch."""
        if self.repo is None:
            return None
        from asv.repo import NoSuchNameError
        from asv.util import ProcessError

        try:
            found = str(self.repo.get_hash_from_name(revision))
        except (NoSuchNameError, ProcessError):
            return None
        # git answers what looks like an option by repeating it.
        return found if _HASH.fullmatch(found) else None

    def commits(self, branch: str | None = None) -> list[Commit]:
        """Every commit of a branch, measured or not, oldest first; first parents only.

        branch: a branch, tag or commit (None: the configuration's first branch). Without a repository: the commits
        that have results, by date, up to `branch` where it is one of them. Raises ResultsError for an unknown branch.
        """
        if self.repo is None:
            measured = self._measured()
            ends = [place for place, one in enumerate(measured, 1) if one.hash == branch]
            return measured[: ends[0]] if ends else measured
        name = branch if branch is not None else self.branches[0]
        tip = self._in_repository(name)
        if tip is None:
            raise ResultsError(f"the repository has no branch {name}{self._near(str(name))}")
        if self.git_dir is None:
            return [Commit(one) for one in reversed(self.repo.get_branch_commits(tip))]
        log = ["log", "--first-parent", "--reverse", "-z", "--format=%H%x09%at%x09%s", tip, "--"]
        told = subprocess.run(["git", "-C", self.git_dir, *log], capture_output=True, check=True)
        lines = told.stdout.decode(errors="replace").rstrip("\0").split("\0")
        parts = [line.split("\t", 2) for line in lines]
        return [Commit(commit, 1000 * int(date), subject) for commit, date, subject in parts]

    def known_commits(self, hashes: Iterable[str]) -> set[str]:
        """Those of the (full) hashes that the repository has, on whatever branch."""
        asked = [*dict.fromkeys(hashes)]
        command = ["git", "-C", str(self.git_dir), "cat-file", "--batch-check=%(objectname) %(objecttype)"]
        told = subprocess.run(
            command,
            input="".join(f"{one}^{{commit}}\n" for one in asked),
            capture_output=True,
            text=True,
            check=True,
        )
        return {line.partition(" ")[0] for line in told.stdout.splitlines() if line.endswith(" commit")}

    def _near(self, name: str) -> str:
        """ "; did you mean a or b?", of branches and tags with a similar name."""
        if self.git_dir is None:
            return ""
        refs = ["for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags"]
        told = subprocess.run(["git", "-C", self.git_dir, *refs], capture_output=True, text=True, check=True)
        close = difflib.get_close_matches(name, told.stdout.split())
        return f"; did you mean {' or '.join(close)}?" if close else ""

    def _measured(self) -> list[Commit]:
        heads = {one.head() for name in self.machines() for one in self.files(name)}
        return [Commit(commit, date) for commit, date in sorted(heads, key=lambda head: (head[1], head[0]))]

    # ---- reading

    def result_sets(
        self,
        commit: str,
        machine: str | None = None,
        env: str | None = None,
        *,
        match: Match | None = None,
        steady: bool = True,
    ) -> list[ResultSet]:
        """All results of a commit (a full hash). machine: one, or None for every machine that has some.

        env: an environment's name, or a part of it. match: which keys are wanted. Raises NoResults where there are
        none, ResultsError where a machine or environment is not known or a file cannot be read.
        """
        names = [self.machine(machine)] if machine is not None else self.machines()
        files = [one for name in names for one in self.files(name)]
        near = [one for one in files if commit.startswith(one.prefix)]
        found = [self._read(one, match, steady) for one in near]
        found = [one for one in found if commit == one.commit]
        if not found:
            where = f" on {machine}" if machine is not None else ""
            raise NoResults(f"there are no results of {commit[:8]}{where}{self._newest(files)}")
        if env is None:
            return found
        wanted = [one for one in found if one.env == env] or [
            one for one in found if env.lower() in one.env.lower()
        ]
        if not wanted:
            known = ", ".join(sorted(one.env for one in found))
            raise ResultsError(f"{commit[:8]} has no results of an environment {env!r}; it has of: {known}")
        return wanted

    def history(
        self,
        machine: str | None = None,
        env: str | None = None,
        branch: str | None = None,
        *,
        match: Match | None = None,
        newest: int | None = None,
    ) -> list[ResultSet]:
        """Results of a branch's commits in commit order, first parents only; without a repository all, by date.

        branch: a branch, tag or commit (None: the configuration's first branch). env: as `result_sets`; None: all.
        newest: no more than so many commits. A file that cannot be read is passed over, and told in `notes`.
        Raises ResultsError for an unknown branch.
        """
        name = self.machine(machine)
        files = self.files(name)
        if env is not None:
            exact = [one for one in files if one.env in (env, _file_env(env))]
            files = exact or [one for one in files if env.lower() in one.env.lower()]
        order = {one.hash: place for place, one in enumerate(self.commits(branch))}
        prefixes = {commit[:8] for commit in order}
        files = [one for one in files if one.prefix in prefixes]
        if newest is not None:
            measured = {one.prefix for one in files}
            last = set([commit[:8] for commit in order if commit[:8] in measured][-newest:])
            files = [one for one in files if one.prefix in last]
        found = [one for one in self._readable(files, match) if one.commit in order]
        return sorted(found, key=lambda one: (order[one.commit], one.env))

    def _readable(self, files: Iterable[ResultFile], match: Match | None) -> list[ResultSet]:
        found = []
        for one in files:
            try:
                found.append(self._read(one, match, steady=False))
            except ResultsError as fault:
                self.notes.append(f"passed over: {fault}")
        return found

    def _read(self, file: ResultFile, match: Match | None, steady: bool) -> ResultSet:
        return read_file(file, self.benchmarks, match=match, steady=steady)

    def _newest(self, files: Iterable[ResultFile]) -> str:
        """ "; there are results of a, b, c", the newest commits first."""
        heads = {one.head() for one in files}
        named = [commit[:8] for commit, _ in sorted(heads, key=lambda head: (-head[1], head[0]))]
        if not named:
            return ""
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        return f"; there are results of {', '.join(named[:_NAMED])}{more}"


def _file_env(env: str) -> str:
    """An environment's name in the names of result files: asv takes a hash of a very long one."""
    from asv.results import get_filename

    return str(get_filename("", "", env)).removesuffix(".json").partition("-")[2]


def load_config(path: str | os.PathLike[str] | None = None) -> Any:
    """asv's configuration of the current folder, or of a file. Raises ResultsError."""
    from asv import util
    from asv.config import Config

    try:
        conf = Config.load(os.fspath(path) if path is not None else None)
    except util.UserError as fault:
        hint = " Go to the folder of an asv.conf.json, or name one." if " found" in str(fault) else ""
        raise ResultsError(f"{one_line(fault)}{hint}") from None
    except (OSError, ValueError) as fault:
        raise ResultsError(f"asv's configuration cannot be read: {one_line(fault)}") from None
    for name in ("repo", "project", "results_dir", "env_dir", "html_dir", "benchmark_dir"):
        if not isinstance(getattr(conf, name), str):
            raise ResultsError(f'"{name}" in asv.conf.json must be a text, not {getattr(conf, name)!r}')
    return conf


def _repository(conf: Any, folder: Path) -> tuple[Any, Path | None, str]:
    """asv's repository object and its place, or None and the reason. Nothing is cloned to look at results."""
    from asv import util
    from asv.plugins.git import Git
    from asv.repo import get_repo

    place, mirror = folder / conf.repo, folder / conf.project
    if place.exists():
        conf.repo = os.fspath(place)
    elif Git.is_local_repo(os.fspath(mirror)):
        place = mirror
    else:
        return None, None, f"the repository {conf.repo} is not here"
    conf.project = os.fspath(mirror)
    try:
        return get_repo(conf), place, ""
    except (util.UserError, util.ProcessError, ImportError, OSError) as fault:
        return None, None, f"the repository {conf.repo} cannot be used ({one_line(fault)})"
