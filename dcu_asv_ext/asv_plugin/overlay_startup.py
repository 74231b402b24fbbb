"""What every Python of a commit's environment runs before anything else.

This file's text, followed by one call of `start`, is written into the environment's site-packages as a module
of its own. It stands alone (standard library only): the commit may bring a dcu_asv_ext of its own.
"""

from __future__ import annotations

import os
import site
import sys

TYPE_CHECKING = False  # typing costs more to import than all of this does
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: Exit status of a process whose asv is gone: that of one ended by SIGKILL.
ORPHANED = 137


class ProjectFinder:
    """First in sys.meta_path: modules of the project come from this environment, or not at all.

    own: dotted names that the commit's install provides, each with everything below it.
    withheld: dotted names of the project that only the parent's copy of it provides.
    distrusted: finders that the parent's packages added; they are not asked for `own` names.
    """

    def __init__(self, own: Sequence[str], withheld: Sequence[str] = ()) -> None:
        self.distrusted: list[Any] = []
        self.set_names(own, withheld)

    def set_names(self, own: Sequence[str], withheld: Sequence[str]) -> None:
        self.own = frozenset(own)
        self.withheld = frozenset(withheld)
        self._tops = {name.partition(".")[0] for name in (*own, *withheld)}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] not in self._tops:
            return None
        if self._under(name, self.withheld):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if not self._under(name, self.own):
            return None
        for finder in sys.meta_path:
            if finder is self or any(finder is other for other in self.distrusted):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        # Falling through would let the parent's hooks lend a module that this commit does not have.
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    def _under(self, name: str, roots: frozenset[str]) -> bool:
        while name:
            if name in roots:
                return True
            name = name.rpartition(".")[0]
        return False


def start(
    *,
    sources: Sequence[str] = (),
    inherited: Sequence[str] = (),
    parents: Sequence[str] = (),
    own: Sequence[str] = (),
    withheld: Sequence[str] = (),
    dropped: Sequence[str] = (),
) -> None:
    """Put the project first, the parent's packages behind it, and tie this process's life to asv's.

    sources: folders of a project without packaging.
    inherited: the parent's PYTHONPATH, as plain folders.
    parents: the parent's site-packages; their .pth files count.
    dropped: folders that the parent's editable install of this same project adds; taken off the path.
    """
    die_with_asv()
    # This environment's own site-packages is already on the path, and stays in front of all of these.
    sys.path.extend(folder for folder in (*sources, *inherited) if folder not in sys.path)
    finder = ProjectFinder(own)
    sys.meta_path.insert(0, finder)
    add_parents(parents, finder)
    # Only now: a .pth of the parent's copy may import a module of that copy, and would complain on stderr.
    finder.set_names(own, withheld)
    if dropped:
        unwanted = {os.path.realpath(folder) for folder in dropped}
        sys.path[:] = [p for p in sys.path if not p or os.path.realpath(p) not in unwanted]


def add_parents(parents: Sequence[str], finder: ProjectFinder) -> None:
    """addsitedir for each, after which import hooks that pushed in front stand behind the normal finders."""
    before = list(sys.meta_path)
    for folder in parents:
        site.addsitedir(folder)
    added = [f for f in sys.meta_path if not any(f is old for old in before)]
    finder.distrusted = added
    # The distutils of setuptools must come before the standard library's; it lends nothing else.
    front = [f for f in added if type(f).__module__ == "_distutils_hack"]
    behind = [f for f in added if not any(f is other for other in front)]
    sys.meta_path[:] = [*before[:1], *front, *before[1:], *behind]


def die_with_asv() -> None:
    """Let the kernel end this process when asv ends, if it is asv's own child. Linux only.

    DCU_ASV_PARENT_PID names asv. A process that asv did not start itself is left alone, unless asv is gone.
    """
    text = os.environ.get("DCU_ASV_PARENT_PID", "")
    if not text.isdigit() or not sys.platform.startswith("linux"):
        return
    asv = int(text)
    if os.getppid() != asv:
        if not _alive(asv):
            os._exit(ORPHANED)
        return
    if not _kill_at_parents_death():
        return
    if os.getppid() != asv:  # asv ended before the kernel was asked
        os._exit(ORPHANED)
    if "run_server" in sys.orig_argv:
        _arm_forked_benchmarks()


def _arm_forked_benchmarks() -> None:
    """asv's fork server forks one process a benchmark, and a fork forgets the kernel's promise."""
    server = os.getpid()
    armed = False

    def arm() -> None:
        nonlocal armed
        if armed:  # forked by a benchmark, not by the server: the benchmark's own affair
            return
        armed = True
        _kill_at_parents_death()
        if os.getppid() != server:
            os._exit(ORPHANED)

    os.register_at_fork(after_in_child=arm)


def _kill_at_parents_death() -> bool:
    try:
        import ctypes
    except ImportError:  # a Python built without libffi
        return False
    pr_set_pdeathsig, sigkill = 1, 9
    return bool(ctypes.CDLL(None).prctl(pr_set_pdeathsig, sigkill, 0, 0, 0) == 0)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and not ours
        return True
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        return True
