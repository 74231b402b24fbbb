"""Locks between runs: one per card, one per result file. The kernel drops them when their process ends."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

#: The first one that is set holds: HIP reads both.
_HIP_LISTS = ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")


class Held(Exception):
    """Somebody else holds the lock; the text says who, as far as is known."""


class FileLock:
    """An exclusive lock on a file, held until `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream: IO[str] | None = None

    def acquire(self, wait: Callable[[str], None] | None = None) -> None:
        """Take the lock. Held by another: call `wait` with the holder's note once and wait, or raise Held."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        told = False
        while True:
            stream = self._open()
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = self.holder()
                if wait is None:
                    stream.close()
                    raise Held(holder) from None
                if not told:
                    wait(holder)
                    told = True
                fcntl.flock(stream, fcntl.LOCK_EX)
            if self._still_the_file(stream):
                self._stream = stream
                self._note()
                return
            stream.close()

    def _open(self) -> IO[str]:
        return os.fdopen(self._descriptor(), "r+", encoding="utf-8")

    def _descriptor(self) -> int:
        """Never O_CREAT on a file that is there: in a shared sticky folder Linux refuses that to all but its owner
        (fs.protected_regular).
        """
        while True:
            with suppress(FileNotFoundError):
                return os.open(self.path, os.O_RDWR | os.O_NOFOLLOW)
            with suppress(FileExistsError):
                made = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
                os.fchmod(made, 0o666)
                return made

    def _still_the_file(self, stream: IO[str]) -> bool:
        """The path may have been replaced between opening and locking."""
        try:
            return os.path.samestat(os.fstat(stream.fileno()), os.stat(self.path))
        except FileNotFoundError:
            return False

    def _note(self) -> None:
        assert self._stream is not None
        self._stream.seek(0)
        self._stream.truncate()
        self._stream.write(f"process {os.getpid()}\n")
        self._stream.flush()

    def holder(self) -> str:
        with suppress(OSError):
            text = self.path.read_text(encoding="utf-8").strip()
            if re.fullmatch(r"process \d+", text):
                return text
        return "another process"

    def release(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def lock_folder() -> Path:
    """One folder for every user of the machine (or container).

    Not below TMPDIR, which job schedulers make each job's own: two jobs have to see each other.
    DCU_ASV_LOCKS names another place.
    """
    folder = Path(os.environ.get("DCU_ASV_LOCKS") or "/tmp/dcu-asv-locks")
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(PermissionError):
        os.chmod(folder, 0o1777)
    return folder


def result_lock(evidence: Path) -> FileLock:
    """The lock of one result file (machine, commit, environment), found from its evidence's path."""
    return _lock_of("result", evidence)


def site_lock(folder: Path) -> FileLock:
    """The lock of a folder that a site is published to."""
    return _lock_of("site", folder)


def _lock_of(kind: str, path: Path) -> FileLock:
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    return FileLock(lock_folder() / f"{kind}-{name}.lock")


def card_lock(kind: str, environ: Mapping[str, str]) -> FileLock | None:
    """The lock of the card that a run will use; None for the CPU, which is shared by nature."""
    if kind == "cpu":
        return None
    name = re.sub(r"[^0-9A-Za-z]+", "-", physical_card(kind, environ))
    return FileLock(lock_folder() / f"card-{name}.lock")


def physical_card(kind: str, environ: Mapping[str, str]) -> str:
    """What the selected card is called outside this process, as far as the environment tells.

    HIP's (or CUDA's) list counts within the list of the runtime below it, ROCR's. An identifier stays one.
    """
    wanted = environ.get("DCU_ASV_DEVICE", "")
    name = wanted.rpartition(":")[2] if re.fullmatch(r"\w+:\d+", wanted) else "0"
    if kind == "sim":
        return f"sim-{name}"
    upper = next((one for one in _HIP_LISTS if environ.get(one)), None)
    for variable in (upper, "ROCR_VISIBLE_DEVICES"):
        entries = [one.strip() for one in environ.get(variable or "", "").split(",") if one.strip()]
        if name.isdigit() and int(name) < len(entries):
            name = entries[int(name)]
    return f"gpu-{name}"
