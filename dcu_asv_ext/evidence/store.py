"""The append-only store: one JSON line per measurement, beside asv's result file of the same stem.

Evidence has one name, `<stem>.evidence.jsonl`, in whatever form it lies there: plain, or packed (packing.py).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import packing
from .packing import replace_text as replace_text
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

    A first line that follows a torn one (a killed writer) starts on a line of its own. A packed file is unpacked.
    """
    if packing.packed_path(path).exists():
        unpack(path)
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
    """The lines of a file, plain, packed or both (a line that both have is given once).

    Raises FileNotFoundError where it is in neither form, OSError for a damaged packed one.
    """
    packed = packing.packed_path(path)
    if not packed.exists():
        with open(path, encoding="utf-8", errors="replace") as stream:
            yield from stream
        return
    plain = Path(path)
    both = plain.exists()
    known = set()
    for line in packing.iter_packed(packed):
        if both:
            known.add(line)
        yield line
    if both:
        with open(plain, encoding="utf-8", errors="replace") as stream:
            yield from (line for line in stream if line not in known)


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether there is such evidence, plain or packed."""
    return os.path.isfile(path) or packing.packed_path(path).is_file()


def remove(path: str | os.PathLike[str]) -> None:
    for one in (Path(path), packing.packed_path(path)):
        with suppress(FileNotFoundError):
            one.unlink()


def pack(path: str | os.PathLike[str]) -> None:
    """Compress the file in place. A reader finds it whole at every moment. Raises OSError."""
    text = "".join(iter_lines(path))
    packing.replace_bytes(packing.packed_path(path), packing.packed(text))
    with suppress(FileNotFoundError):
        Path(path).unlink()


def unpack(path: str | os.PathLike[str]) -> None:
    """The plain form again; nothing to do where it is not packed. Raises OSError."""
    packed = packing.packed_path(path)
    if packed.exists():
        replace_text(path, "".join(iter_lines(path)))
        packed.unlink()


def list_evidence(folder: Path) -> list[Path]:
    """Evidence of a folder, plain or packed, by its one name (which need not be a file), in the order of names."""
    names = {entry.name.removesuffix(packing.GZ) for entry in os.scandir(folder)}
    return [folder / name for name in sorted(names) if name.endswith(SUFFIX)]


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
    """Replace a file's measurements atomically; with none left the file goes. A packed file becomes plain."""
    text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    if not text:
        remove(path)
        return
    # First: a packed form left behind would bring back what was taken out.
    unpack(path)
    replace_text(path, text)
