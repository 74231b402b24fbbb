"""The append-only store: one JSON line per measurement, beside asv's result file of the same stem."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .record import REQUIRED

SUFFIX = ".evidence.jsonl"


def evidence_path(result_file: str | os.PathLike[str]) -> Path:
    """The evidence beside an asv result file (`<commit8>-<env>.json`)."""
    path = Path(result_file)
    stem = path.name[: -len(".json")] if path.name.endswith(".json") else path.name
    return path.with_name(stem + SUFFIX)


def append_line(path: str | os.PathLike[str], line: str) -> None:
    """Add one line and force it to disk. Raises OSError (full disk, read-only folder) and leaves no half line
    behind where the file system lets it be taken back.

    A first line that follows a torn one (a killed writer) starts on a line of its own.
    """
    data = line.encode()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            data = b"\n" + data
        try:
            written = os.write(descriptor, data)
            if written != len(data):
                raise OSError(f"only {written} of {len(data)} bytes could be written to {path}")
            os.fsync(descriptor)
        except OSError:
            with suppress(OSError):
                os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)


def replace_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file whole or not at all."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix="." + target.name + ".", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


@dataclass
class Evidence:
    """The measurements of one file. `skipped` counts lines that are torn or not evidence."""

    records: list[dict[str, Any]] = field(default_factory=list)
    skipped: int = 0


def parse_line(line: str) -> dict[str, Any] | None:
    """The record of one line, or None where it is torn or foreign."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or any(name not in record for name in REQUIRED):
        return None
    return record


def iter_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    with open(path, encoding="utf-8", errors="replace") as stream:
        yield from stream


def read(path: str | os.PathLike[str], wanted: Callable[[str], bool] | None = None) -> Evidence:
    """All measurements of a file; a missing file has none. wanted: which lines are parsed at all (None: all)."""
    found = Evidence()
    with suppress(FileNotFoundError):
        for line in iter_lines(path):
            if not line.strip() or (wanted is not None and not wanted(line)):
                continue
            record = parse_line(line)
            if record is None:
                found.skipped += 1
            else:
                found.records.append(record)
    return found


def rewrite(path: str | os.PathLike[str], records: Iterable[dict[str, Any]]) -> None:
    """Replace a file's measurements atomically; with none left the file goes."""
    text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    if text:
        replace_text(path, text)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)
