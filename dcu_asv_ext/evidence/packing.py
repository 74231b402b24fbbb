"""Files written whole or not at all, and evidence compressed by gzip (`<stem>.evidence.jsonl.gz`)."""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GZ = ".gz"


def packed_path(path: str | os.PathLike[str]) -> Path:
    """Where the packed form of a file lies."""
    return Path(os.fspath(path) + GZ)


def iter_packed(packed: Path) -> Iterator[str]:
    """Raises OSError, which names the file, where it is damaged: then none of its lines can be trusted to be all."""
    try:
        with gzip.open(packed, "rt", encoding="utf-8", errors="replace", newline="\n") as stream:
            yield from stream
    except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
        raise OSError(f"{packed} is damaged ({fault}); take it from a copy, or remove it") from fault


def packed(text: str) -> bytes:
    """The same text gives the same bytes, so that packing twice is no change to a repository."""
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def replace_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file whole or not at all."""
    replace_bytes(path, text.encode())


def replace_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    with replacing(Path(path)) as temporary, temporary.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """An empty file beside `target`, which takes its place when the block ends well, and goes when it does not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="." + target.name + ".", suffix=".tmp", dir=target.parent)
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
