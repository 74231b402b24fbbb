"""The repository that is measured, and the folders that are written."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from .check import Check, Group
from .configuration import Config

GROUP = Group("repository")
FOLDERS = Group("folders")
LEAST_FREE = 1 << 30
_GIT_SECONDS = 30


class GitFailed(Exception):
    """git's own words."""


def git(folder: Path, *arguments: str, environ: Mapping[str, str]) -> str:
    """Output of git in a folder. Raises GitFailed."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env={**environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_SECONDS,
        )
    except FileNotFoundError:
        raise GitFailed("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise GitFailed(f"git did not answer in {_GIT_SECONDS} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise GitFailed(lines[0].removeprefix("fatal: "))
    return done.stdout.strip()


def check_repository(config: Config, environ: Mapping[str, str]) -> Iterator[Check]:
    repo = config.get("repo")
    if not repo:
        yield GROUP.problem("repository", f"{config.path.name} names no repo.", 'Set "repo": ".".')
        return
    folder = config.folder / str(repo)
    if not folder.exists():
        if "://" in str(repo) or "@" in str(repo):
            yield GROUP.ok("repository", f"The repository is an address, {repo}, and is not asked now.")
        else:
            yield GROUP.problem(
                "repository",
                f"The repository {repo} does not exist.",
                'Correct "repo": it is relative to the file.',
            )
        return
    try:
        head = git(folder, "rev-parse", "HEAD", environ=environ)
    except GitFailed as failed:
        yield _refused(folder, str(failed))
        return
    yield GROUP.ok("repository", f"The repository can be read; HEAD is {head[:8]}.")
    yield _branches(config, folder, environ)
    yield _depth(folder, environ)


def _refused(folder: Path, why: str) -> Check:
    if "dubious ownership" in why:
        return GROUP.problem(
            "repository",
            f"git refuses {folder.resolve()} because another user owns it ({why}).",
            f"Run git config --global --add safe.directory {folder.resolve()}.",
        )
    if "not a git repository" in why:
        return GROUP.problem(
            "repository",
            f"{folder.resolve()} is no git repository.",
            "Run git init and commit, or correct repo.",
        )
    if "HEAD" in why:
        return GROUP.problem(
            "repository", f"{folder.resolve()} has no commit yet.", "Commit something: asv measures commits."
        )
    return GROUP.problem(
        "repository", f"git cannot read {folder.resolve()}: {why}.", "Make git rev-parse HEAD work there."
    )


def _branches(config: Config, folder: Path, environ: Mapping[str, str]) -> Check:
    wanted = config.branches
    if not wanted:
        # asv asks git's configuration, and not the repository, what the default branch is called.
        try:
            wanted = [git(folder, "config", "init.defaultBranch", environ=environ)]
        except GitFailed:
            wanted = ["master"]
    missing = []
    for branch in wanted:
        try:
            git(folder, "rev-parse", "--verify", "--quiet", f"{branch}^{{commit}}", environ=environ)
        except GitFailed:
            missing.append(branch)
    if not missing:
        return GROUP.ok("branches", f"The branches exist: {', '.join(wanted)}.")
    how = "configured" if config.branches else "taken by asv, as none is configured,"
    return GROUP.problem(
        "branches",
        f"The branch {', '.join(missing)} {how} does not exist in the repository.",
        f'Set "branches" in {config.path.name} to those that do.',
    )


def _depth(folder: Path, environ: Mapping[str, str]) -> Check:
    try:
        shallow = git(folder, "rev-parse", "--is-shallow-repository", environ=environ) == "true"
    except GitFailed as failed:
        return GROUP.warning(
            "clone-depth", f"The clone's depth is not known ({failed}).", "Use git 2.15 or later."
        )
    if not shallow:
        return GROUP.ok("clone-depth", "The clone has the whole history.")
    return GROUP.warning(
        "clone-depth",
        "The clone is shallow, so earlier commits cannot be measured or compared with.",
        "Run git fetch --unshallow (in CI: fetch depth 0).",
    )


def check_folders(
    config: Config | None,
    environ: Mapping[str, str],
    free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
) -> Iterator[Check]:
    """free: bytes left at a folder."""
    scratch = Path(environ.get("TMPDIR") or tempfile.gettempdir())
    wanted = [scratch]
    if config is not None:
        results = config.place("results_dir", "results")
        wanted = [results, config.place("env_dir", "env"), scratch]
        yield _writable(results)
    yield _space(wanted, free)


def existing(folder: Path) -> Path:
    """The folder, or what of the way to it is there."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _writable(results: Path) -> Check:
    there = existing(results)
    try:
        # Tried, not asked: access bits do not tell of read-only mounts, quotas and squashed owners.
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        return FOLDERS.problem(
            "results-folder",
            f"The results folder {os.path.normpath(results)} cannot be written ({error.strerror or error}).",
            "Make it writable, or set another results_dir.",
        )
    return FOLDERS.ok("results-folder", f"The results folder {os.path.normpath(results)} can be written.")


def _space(folders: list[Path], free: Callable[[Path], int]) -> Check:
    short = []
    for folder in folders:
        there = existing(folder)
        left = free(there)
        if left < LEAST_FREE:
            short.append(f"{there} ({left / 1e9:.1f} GB)")
    if not short:
        return FOLDERS.ok("disk-space", "At least 1 GB is free where results and environments are written.")
    return FOLDERS.warning(
        "disk-space",
        f"Less than 1 GB is free at {', '.join(dict.fromkeys(short))}.",
        "Free some space: a full disk ends a run.",
    )
