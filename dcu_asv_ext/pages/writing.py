"""Data files of the published pages: strict JSON, compressed, in a script that a page loads."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

_LETTERS = 60
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def slug(name: str) -> str:
    """A short file name of a benchmark; two names never share one."""
    told = hashlib.blake2s(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{_UNSAFE.sub('_', name)[:_LETTERS].strip('.') or '_'}-{told}"


def packed(value: Any) -> str:
    """Base64 of gzip of JSON; the same value gives the same text. Raises ValueError for NaN and infinity."""
    return packed_text(json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False))


def packed_text(text: str) -> str:
    """The same of JSON that is written already."""
    data = gzip.compress(text.encode("utf-8", "surrogatepass"), compresslevel=6, mtime=0)
    return base64.b64encode(data).decode()


class Out:
    """A folder of data files. bytes: written so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bytes = 0

    def put(self, key: str, value: Any) -> None:
        self.put_packed(key, packed(value))

    def put_packed(self, key: str, text: str) -> None:
        """key: letters, digits, `._-` and slashes."""
        place = self.folder / f"{key}.js"
        place.parent.mkdir(parents=True, exist_ok=True)
        data = f'dcu.data("{key}","{text}");\n'.encode()
        place.write_bytes(data)
        self.bytes += len(data)

    def put_page(self, name: str, text: str) -> int:
        """A page of its own, below the folder; its bytes."""
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode("utf-8", "surrogatepass")
        place.write_bytes(data)
        self.bytes += len(data)
        return len(data)
