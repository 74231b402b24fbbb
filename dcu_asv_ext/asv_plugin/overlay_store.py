"""The commit environments below one base folder: who uses them, which are complete, which may go.

<base>/.lock                       held alone by whoever checks out, installs or removes
<base>/<commit[:12]>/.lock         held shared by every asv that uses the environment; its time is the last use
<base>/<commit[:12]>/installed.json  written last, so an interrupted install has none
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_COMMIT_FOLDER = re.compile(r"[0-9a-f]{12}")


class InUse(Exception):
    """Another asv uses the commit's environment."""


@dataclass
class Lease:
    """The right to use one commit's environment, which lasts until `release`.

    record: what was written when its install was complete; {} while it is being installed.
    """

    folder: Path
    record: dict[str, Any]
    descriptor: int

    def release(self) -> None:
        if self.descriptor >= 0:
            # Explicitly: a forked process may hold the same open file, and closing ours would not unlock it.
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)
            os.close(self.descriptor)
            self.descriptor = -1


class CommitStore:
    """Environments of one base folder. Every method but `lease`, `announce` and `announced` wants `exclusive`."""

    def __init__(self, base: Path) -> None:
        self.base = base

    def folder(self, commit: str) -> Path:
        return self.base / commit[:12]

    @contextmanager
    def exclusive(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Nobody else checks out, installs or removes meanwhile. `waiting` is called once if someone does."""
        descriptor = os.open(self.base / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def lease(self, commit: str, checksum: str) -> Lease | None:
        """Use a commit's environment, if it is complete and was made with this checksum."""
        folder = self.folder(commit)
        try:
            descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        record = _read(folder / "installed.json") if _still_there(folder / ".lock", descriptor) else {}
        if record.get("commit") != commit or record.get("checksum") != checksum:
            os.close(descriptor)
            return None
        os.utime(descriptor)
        return Lease(folder, record, descriptor)

    def begin(self, commit: str) -> Lease:
        """An empty folder for a commit, in place of whatever was there. Raises InUse."""
        for left_over in self.base.glob(".trash-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        folder = self.folder(commit)
        self._discard(folder)
        folder.mkdir(parents=True)
        descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        return Lease(folder, {}, descriptor)

    def complete(self, lease: Lease, record: dict[str, Any]) -> None:
        """Mark a commit's environment as usable. Atomic."""
        write_atomically(lease.folder / "installed.json", json.dumps(record, indent=1))
        lease.record = record

    def prune(self, keep: int) -> None:
        """Remove the least recently used environments beyond `keep`, except those in use."""
        found = [p for p in self.base.iterdir() if _COMMIT_FOLDER.fullmatch(p.name)]
        for folder in sorted(found, key=_last_used, reverse=True)[keep:]:
            try:
                self._discard(folder)
            except InUse:
                continue

    def _discard(self, folder: Path) -> None:
        if not folder.exists():
            return
        trash = self.base / f".trash-{folder.name}-{os.getpid()}"
        try:
            descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            folder.rename(trash)
        else:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Renamed while locked: who waits for the lock finds another file, or none, in its place.
                folder.rename(trash)
            except BlockingIOError:
                raise InUse from None
            finally:
                os.close(descriptor)
        shutil.rmtree(trash)

    def announce(self, owner: int, name: str, commit: str) -> None:
        """Tell process `owner` that its environment `name` has this commit installed now."""
        write_atomically(self.base / f".active-{owner}-{name}", commit)

    def announced(self, name: str) -> str | None:
        """The commit that was announced to this process, once."""
        path = self.base / f".active-{os.getpid()}-{name}"
        try:
            commit = path.read_text()
        except FileNotFoundError:
            return None
        path.unlink()
        return commit


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's content; a reader sees the old or the new one, whole."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def _still_there(path: Path, descriptor: int) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _last_used(folder: Path) -> float:
    try:
        return os.stat(folder / ".lock").st_mtime
    except FileNotFoundError:
        return 0.0
