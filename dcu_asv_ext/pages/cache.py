"""What was worked out at an earlier publish, found again by the content that it was made of.

A key is a hash of all that the value hangs on, and of a number that is raised by hand where the way of making it
changes: so a value is never out of date, and the folder may be deleted at any time, which costs time alone.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

#: Of the file itself: "dcuC", and the number of its layout.
_APPLICATION, _LAYOUT = 0x64637543, 1
_NAME = "site.sqlite3"
#: Seconds that a process waits for another one that writes.
_PATIENCE = 60
#: Bytes of values that are kept back to be written together.
_TOGETHER = 4 << 20
#: Bytes of the sum that tells a damaged value.
_SUM = 8

_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Made anew when it is missing: it may be deleted.\n"
_TABLES = """
PRAGMA auto_vacuum = INCREMENTAL;
BEGIN;
CREATE TABLE value (key BLOB PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE used (key BLOB PRIMARY KEY) WITHOUT ROWID;
PRAGMA application_id = {application};
PRAGMA user_version = {layout};
COMMIT;
"""


def digest(kind: str, form: int, *parts: str | bytes) -> bytes:
    """The key of what `kind` makes of the parts. form: raised by hand where what it makes changes."""
    made = hashlib.blake2b(digest_size=16)
    for part in (kind, str(form), *parts):
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        made.update(len(data).to_bytes(8, "little"))
        made.update(data)
    return made.digest()


#: What reads results: of values that are made of what it read.
READERS = (
    "asv_plugin/asv_file.py",
    "asv_plugin/result_files.py",
    "comparing",
    "evidence",
    "metrics.py",
    "stats",
)


@functools.cache
def code_of(*names: str) -> bytes:
    """Digest of the source of some of this project's packages and modules: of values that any change of it may
    change."""
    root = Path(__file__).parent.parent
    files = [
        file
        for name in names
        for file in ((root / name).rglob("*") if (root / name).is_dir() else [root / name])
    ]
    told = sorted(file for file in files if file.suffix in (".py", ".js", ".css"))
    return digest("code", 1, *(part for file in told for part in (file.name, file.read_bytes())))


class Cache:
    """One process's hold of the cache; several processes may have one of the same folder. It never fails: what is
    wrong with the file is told once, in `notes`, and from then on nothing is found, or nothing is kept.

    folder: None: nothing is kept at all.
    """

    def __init__(self, folder: Path | None) -> None:
        self.notes: list[str] = []
        self._path = folder / _NAME if folder is not None else None
        self._connection: sqlite3.Connection | None = None
        self._used: set[bytes] = set()
        self._waiting: dict[bytes, bytes] = {}
        self._bytes = 0
        self._keeps = True
        if folder is not None:
            self._open(folder)

    # ---- for the builders

    def get(self, key: bytes) -> bytes | None:
        if key in self._waiting:
            return self._waiting[key]
        if self._connection is None:
            return None
        try:
            row = self._connection.execute("SELECT data FROM value WHERE key = ?", (key,)).fetchone()
        except _errors() as fault:
            self._damaged(str(fault))
            return None
        if row is None:
            return None
        data = bytes(row[0])
        if data[:_SUM] != _sum(key, data[_SUM:]):
            self._damaged("a value is not as it was written")
            return None
        self._used.add(key)
        return data[_SUM:]

    def put(self, key: bytes, data: bytes) -> None:
        if self._connection is None or not self._keeps:
            return
        self._used.add(key)
        self._waiting[key] = data
        self._bytes += len(data)
        if self._bytes > _TOGETHER:
            self.flush()

    def made(self, key: bytes, make: Callable[[], bytes]) -> bytes:
        """The value that is kept, or is made and kept from now on."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    # ---- for the publish

    def begin(self) -> None:
        """Nothing is used yet. Before other processes take hold of the same folder."""
        self._write(lambda connection: connection.execute("DELETE FROM used"))

    def flush(self) -> None:
        """Write what waits, and what was used."""
        values = [(key, _sum(key, data) + data) for key, data in self._waiting.items()]
        used = [(key,) for key in self._used]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO value VALUES (?, ?)", values)
            connection.executemany("INSERT OR IGNORE INTO used VALUES (?)", used)

        if values or used:
            self._write(write)
        self._waiting.clear()
        self._used.clear()
        self._bytes = 0

    def prune(self) -> None:
        """Drop what no process has used since `begin`. When all of them have closed theirs."""
        self.flush()
        self._write(lambda one: one.execute("DELETE FROM value WHERE key NOT IN (SELECT key FROM used)"))
        if self._connection is not None and self._keeps:
            with suppress(*_errors()):
                # Not `execute`, which would give back one page.
                self._connection.executescript("PRAGMA incremental_vacuum;")

    def close(self) -> None:
        self.flush()
        self._drop()

    # ---- the file

    def _open(self, folder: Path) -> None:
        assert self._path is not None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _TAG)):
                if not (folder / name).exists():
                    (folder / name).write_text(text)
        except OSError as fault:
            self._nothing_kept(fault.strerror or str(fault))
            if not self._path.is_file():
                return
        try:
            self._connection = _connect(self._path)
        except _errors() as fault:
            self._anew(str(fault))

    def _anew(self, reason: str) -> None:
        assert self._path is not None
        self.notes.append(f"the cache {self._path} cannot be used ({reason}) and was made anew")
        _remove(self._path)
        try:
            self._connection = _connect(self._path)
        except _errors() as fault:
            self.notes.pop()
            self._nothing_kept(str(fault))

    def _damaged(self, reason: str) -> None:
        """Found while it was read. Nothing of it is trusted any more; the next publish makes a new one."""
        assert self._path is not None
        self.notes.append(f"the cache {self._path} is damaged ({reason}) and was deleted")
        self._drop()
        _remove(self._path)

    def _nothing_kept(self, reason: str) -> None:
        if self._keeps:
            self._keeps = False
            self.notes.append(
                f"the cache {self._path} cannot be written ({reason}): the next publish takes as long"
            )

    def _write(self, change: Callable[[sqlite3.Connection], object]) -> None:
        connection = self._connection
        if connection is None or not self._keeps:
            return
        try:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                change(connection)
        except _errors() as fault:
            self._nothing_kept(str(fault))

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._waiting.clear()
        self._used.clear()


def _connect(path: Path) -> sqlite3.Connection:
    """A connection to a file of this layout, made where there is none. Raises sqlite3.Error, OSError."""
    import sqlite3

    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        # A file that a fault of the power left damaged is made anew; waiting for the disk would protect nothing else.
        connection.execute("PRAGMA synchronous = OFF")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (layout,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            connection.executescript(_TABLES.format(application=_APPLICATION, layout=_LAYOUT))
        elif (application, layout) != (_APPLICATION, _LAYOUT):
            raise sqlite3.DatabaseError("it is another program's, or another version's")
        connection.execute("SELECT 1 FROM value, used LIMIT 0")
    except BaseException:
        connection.close()
        raise
    return connection


def _remove(path: Path) -> None:
    for end in ("", "-journal", "-wal", "-shm"):
        with suppress(OSError):
            os.unlink(f"{path}{end}")


def _sum(key: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(data, key=key, digest_size=_SUM).digest()


def _errors() -> tuple[type[Exception], ...]:
    import sqlite3

    return sqlite3.Error, OSError
