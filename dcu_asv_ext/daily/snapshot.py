"""The working tree as a commit that no branch knows of, so that asv can install it like any other.

The user's index, files, branches and stashes are left alone: files are added to a copy of the index, and the commit
is reached from nowhere (as git's own `stash create` does it), so that git's garbage collection takes it in time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Untracked files are copied into git's objects; more than this is a data set somebody forgot to ignore.
MOST_UNTRACKED = 256 << 20

_WHO = {
    "GIT_AUTHOR_NAME": "dcu-asv",
    "GIT_AUTHOR_EMAIL": "dcu-asv@localhost",
    "GIT_COMMITTER_NAME": "dcu-asv",
    "GIT_COMMITTER_EMAIL": "dcu-asv@localhost",
}


class SnapshotError(Exception):
    """There is no working tree to measure, or git cannot read it; the text says why and what to do."""


@dataclass(frozen=True)
class Snapshot:
    """commit: HEAD itself where nothing was changed. notes: what of the working tree it does not hold."""

    commit: str
    head: str
    notes: tuple[str, ...] = ()

    @property
    def dirty(self) -> bool:
        return self.commit != self.head


def take_snapshot(repo: Path, leave_out: Iterable[Path], environ: Mapping[str, str]) -> Snapshot:
    """Changed, staged and untracked files of a repository as a commit on top of HEAD; ignored files stay out.

    leave_out: folders that are no part of the project (asv's results and environments), wherever they lie.
    The same tree on the same HEAD gives the same commit, so that its install is found again.
    Raises SnapshotError.
    """
    git = _Git(repo, dict(environ))
    head = git.head()
    folders = _inside(repo, leave_out)
    nested = _check_untracked(git, folders)
    notes = [f"{name} is a repository of its own, and is left out" for name in nested]
    notes += [f"changes inside the submodule {name} are left out" for name in git.changed_submodules()]
    with tempfile.TemporaryDirectory(prefix="dcu-asv-index-") as folder:
        index = Path(folder) / "index"
        current = Path(repo, git("rev-parse", "--git-path", "index"))
        if current.exists():
            # A copy keeps what git knows of unchanged files, so that it need not read them. With the index's own
            # time: by it git knows which files may have changed since without a trace in their own.
            shutil.copy2(current, index)
        git.environ["GIT_INDEX_FILE"] = str(index)
        # git refuses to leave out by name what it ignores anyway.
        left_out = {*folders, *nested} - git.ignored([*folders, *nested])
        excluded = [f":(exclude,top,literal){name}" for name in sorted(left_out)]
        git("add", "-A", "--", ":(top)", *excluded)
        tree = git("write-tree")
    if tree == git("rev-parse", "HEAD^{tree}"):
        return Snapshot(head, head, tuple(notes))
    if git.is_shallow():
        raise SnapshotError(
            f"{repo} is a shallow clone, of which git copies nothing but its branches, so that the changed working "
            "tree cannot be installed; fetch the rest (git fetch --unshallow), or commit first"
        )
    when = git("show", "-s", "--format=%ct +0000", "HEAD")
    git.environ |= {**_WHO, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    return Snapshot(git("commit-tree", tree, "-p", head, "-m", "The working tree"), head, tuple(notes))


class _Git:
    def __init__(self, repo: Path, environ: dict[str, str]) -> None:
        self.repo = repo
        self.environ = {**environ, "LC_ALL": "C"}
        # Set by a hook that calls us; the index is not to be the commit's that is just being made.
        self.environ.pop("GIT_INDEX_FILE", None)

    def __call__(self, *arguments: str, fine: Sequence[int] = (0,)) -> str:
        """Output of git. Raises SnapshotError with git's own words."""
        try:
            done = subprocess.run(
                ["git", "-c", "advice.addEmbeddedRepo=false", *arguments],
                cwd=self.repo,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="surrogateescape",
            )
        except OSError as fault:
            raise SnapshotError(
                f"git cannot be run in {self.repo} ({fault.strerror}); dcu-asv run needs it"
            ) from None
        if done.returncode not in fine:
            lines = done.stderr.splitlines()
            # The first one tells the cause, the last one that git gave up.
            words = [line for line in lines if line.startswith(("error:", "fatal:"))] or lines[-1:]
            raise SnapshotError(f"git {arguments[0]} failed in {self.repo}: {(words or ['no message'])[0]}")
        return done.stdout.strip()

    def head(self) -> str:
        if self("rev-parse", "--is-bare-repository") == "true":
            raise SnapshotError(f"{self.repo} is a bare repository, which has no working tree to measure")
        try:
            return self("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        except SnapshotError:
            raise SnapshotError(f"{self.repo} has no commit yet: commit something first") from None

    def is_shallow(self) -> bool:
        return self("rev-parse", "--is-shallow-repository") == "true"

    def untracked(self) -> list[str]:
        return [name for name in self("ls-files", "--others", "--exclude-standard", "-z").split("\0") if name]

    def ignored(self, names: Sequence[str]) -> set[str]:
        found = self("check-ignore", "--", *names, fine=(0, 1)) if names else ""
        return set(found.splitlines())

    def changed_submodules(self) -> list[str]:
        """Those with changed or untracked files of their own: git keeps only which commit they are at."""
        if not (self.repo / ".gitmodules").exists():
            return []
        lines = self("status", "--porcelain=v2", "--untracked-files=no").splitlines()
        fields = [line.split(" ", 8) for line in lines if line.startswith("1 ")]
        return [one[8] for one in fields if one[2].startswith("S") and one[2][2:] != ".."]


def _inside(repo: Path, folders: Iterable[Path]) -> list[str]:
    root = Path(os.path.realpath(repo))
    real = [Path(os.path.realpath(folder)) for folder in folders]
    return [str(one.relative_to(root)) for one in real if root in one.parents]


def _check_untracked(git: _Git, folders: Sequence[str]) -> list[str]:
    """The repositories nested in this one. Raises SnapshotError where the untracked files are too much to copy."""
    nested, sizes = [], {}
    for name in git.untracked():
        if any(name == one or name.startswith(f"{one}/") for one in folders):
            continue
        if name.endswith("/"):
            nested.append(name.rstrip("/"))
        else:
            sizes[name] = os.lstat(git.repo / name).st_size
    if sum(sizes.values()) > MOST_UNTRACKED:
        largest = max(sizes, key=lambda name: sizes[name])
        raise SnapshotError(
            f"{len(sizes)} untracked files of {sum(sizes.values()) / 1e6:.0f} MB would be copied into git's objects "
            f"(the largest: {largest}); name what is no source in .gitignore"
        )
    return nested
