"""A folder replaced by a changed copy of itself, all or nothing."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from ..evidence.packing import replace_bytes

_MAKING, _BEFORE = ".merging-", ".before-merge"
_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


class Changed(Exception):
    """The folder was written to while its copy was made; nothing was replaced."""


class Unclear(Exception):
    """Two folders could each be the right one; the text names them."""


def recover(target: Path) -> bool:
    """Put back what an interrupted replacement left, and clear away unfinished copies. Whether there was any.

    To be called with no other replacement of the folder under way. Raises Unclear, and touches nothing, where the
    folder was made anew since.
    """
    before = target.with_name(f".{target.name}{_BEFORE}")
    found = False
    if before.exists():
        found = True
        if not target.exists():
            before.rename(target)
        elif _names(before) <= _names(target):
            shutil.rmtree(before)
        else:
            raise Unclear(
                f"{before} holds what an interrupted merge had moved away, and {target} was made since"
            )
    for one in target.parent.glob(f".{target.name}{_MAKING}*"):
        found = True
        shutil.rmtree(one)
    return found


def replace_folder(
    target: Path,
    files: Mapping[str, bytes],
    gone: Collection[str] = (),
    copies: Mapping[str, Path] | None = None,
) -> None:
    """files: path below `target` -> its new content; copies: -> the file to copy; gone: paths that are to be removed.

    A copy is made beside the folder (unchanged files are linked, not copied), changed, and put in its place: at every
    moment a reader finds the whole old folder or the whole new one. Raises OSError and Changed; both leave the old.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    copy = Path(tempfile.mkdtemp(prefix=f".{target.name}{_MAKING}", dir=target.parent))
    try:
        before = _listing(target)
        if target.exists():
            shutil.copytree(target, copy, copy_function=_link, symlinks=True, dirs_exist_ok=True)
        else:
            copy.chmod(0o755)
        for path, data in files.items():
            replace_bytes(copy / path, data)
        for path, source in (copies or {}).items():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy / path)
        for path in gone:
            (copy / path).unlink(missing_ok=True)
        if _listing(target) != before:
            raise Changed(f"{target} was written to meanwhile")
        swap(copy, target)
    finally:
        # Now the old folder, or the copy that did not get there.
        shutil.rmtree(copy, ignore_errors=True)


def _link(source: str, place: str) -> None:
    try:
        os.link(source, place, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, place, follow_symlinks=False)


def _names(folder: Path) -> set[str]:
    return {os.path.relpath(path, folder) for path in _listing(folder)}


def _listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of every file."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            told = os.lstat(os.path.join(place, name))
            found[os.path.join(place, name)] = (told.st_size, told.st_mtime_ns)
    return found


def swap(copy: Path, target: Path) -> None:
    """`copy` gets `target`'s place and the other way round; without a target it just moves there."""
    if not target.exists():
        copy.rename(target)
        return
    if _exchange(copy, target):
        return
    # No single step does it here; `recover` finishes what is interrupted between these two.
    before = target.with_name(f".{target.name}{_BEFORE}")
    target.rename(before)
    try:
        copy.rename(target)
    except BaseException:
        before.rename(target)
        raise
    before.rename(copy)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step (Linux). Whether that could be done."""
    if not sys.platform.startswith("linux"):
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    fault = ctypes.get_errno()
    if fault in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(fault, os.strerror(fault), os.fspath(other))
