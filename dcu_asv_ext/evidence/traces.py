"""Kept traces: `<stem>.traces/<module.function>[-<combination>].json.gz` beside `<stem>.evidence.jsonl`.

One for each benchmark and parameters: that of the newest round. What was read from a trace is in the evidence.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .packing import replacing
from .store import SUFFIX

FOLDER = ".traces"
ENDING = ".json.gz"
#: Of one trace, and commits per machine and environment whose traces are kept, where the configuration says nothing.
TRACE_LIMIT_MB = 16
KEEP_TRACES = 20


class TooLarge(Exception):
    """A trace above the limit; the text is a reason."""


@dataclass(frozen=True)
class KeptTrace:
    """benchmark: `module.function`; index: asv's number of the combination of parameters, None without."""

    path: Path
    benchmark: str
    index: int | None


def folder_of(evidence: Path) -> Path:
    """Where the traces of an evidence file lie."""
    return evidence.with_name(evidence.name.removesuffix(SUFFIX) + FOLDER)


def trace_path(evidence: Path, benchmark: str, index: int | None) -> Path:
    return folder_of(evidence) / f"{benchmark}{'' if index is None else f'-{index}'}{ENDING}"


def kept(evidence: Path) -> list[KeptTrace]:
    """The traces of an evidence file, by name."""
    try:
        names = sorted(os.listdir(folder_of(evidence)))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [_kept(folder_of(evidence) / name) for name in names if name.endswith(ENDING) and name[0] != "."]


def _kept(path: Path) -> KeptTrace:
    stem = path.name.removesuffix(ENDING)
    benchmark, _, index = stem.rpartition("-")
    if benchmark and index.isdecimal():
        return KeptTrace(path, benchmark, int(index))
    return KeptTrace(path, stem, None)


def keep(source: Path, target: Path, limit: int | None) -> None:
    """Put a copy of a finished trace in its place, whole or not at all. limit: bytes, None for any.

    Raises TooLarge, and then no older one is left that would be taken for it; OSError (full disk, read-only folder).
    """
    size = source.stat().st_size
    if limit is not None and size > limit:
        with suppress(FileNotFoundError):
            target.unlink()
        raise TooLarge(
            f"it has {size / (1 << 20):.1f} MiB, more than the {limit / (1 << 20):.3g} MiB that are kept"
        )
    with replacing(target) as temporary:
        shutil.copyfile(source, temporary)


def remove(evidence: Path, benchmarks: Iterable[str] | None = None) -> None:
    """The traces of an evidence file (of these benchmarks); a folder that becomes empty goes too."""
    chosen = None if benchmarks is None else set(benchmarks)
    if chosen is None:
        shutil.rmtree(folder_of(evidence), ignore_errors=True)
        return
    for one in kept(evidence):
        if one.benchmark in chosen:
            one.path.unlink(missing_ok=True)
    with suppress(OSError):
        folder_of(evidence).rmdir()


def size(evidence: Path) -> int:
    """Bytes of the traces of an evidence file."""
    return sum(one.path.stat().st_size for one in kept(evidence))
