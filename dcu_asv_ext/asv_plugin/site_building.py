"""A site is built beside the old one and put in its place when it is whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .locks import FileLock, site_lock
from .swapping import swap

_MAKING = ".publishing-"


class BuildError(Exception):
    """The site cannot be written; the text is one sentence, and the old site is as it was."""


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """A path that does not exist yet, beside `target`; what is made there replaces `target` when the block ends well.

    Whatever goes wrong, or is interrupted, before that leaves the old site whole. Waits for another publish of the
    same folder. Raises BuildError.
    """
    target = target.resolve()
    lock: FileLock = site_lock(target)
    lock.acquire(wait=lambda holder: None)
    try:
        folder = _room(target)
        try:
            yield folder / "site"
            _put(folder / "site", target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        lock.release()


def _room(target: Path) -> Path:
    if target.exists() and not target.is_dir():
        raise BuildError(f"{target} is a file, and the site needs a folder: choose another html_dir")
    if os.path.ismount(target):
        raise BuildError(
            f"{target} is a mount point, which cannot be replaced: choose a folder below it as html_dir"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Whoever made them is gone: the lock is ours.
        for left in target.parent.glob(f".{target.name}{_MAKING}*"):
            shutil.rmtree(left, ignore_errors=True)
        return Path(tempfile.mkdtemp(prefix=f".{target.name}{_MAKING}", dir=target.parent))
    except OSError as fault:
        raise BuildError(_cannot(target, fault)) from fault


def _put(made: Path, target: Path) -> None:
    try:
        swap(made, target)
    except OSError as fault:
        raise BuildError(_cannot(target, fault)) from fault


def _cannot(target: Path, fault: OSError) -> str:
    reason = fault.strerror or str(fault)
    return (
        f"the site cannot be put at {target} ({reason}); its parent folder must be writable, since a site is built "
        "beside the old one: make that writable, or choose another folder (asv publish --html-dir FOLDER)"
    )
