"""The text of a file that may be compressed, cut, or damaged, a piece at a time."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

#: Bytes that are unpacked at once, and that a piece has at most.
_PACKED = 1 << 15
_PIECE = 1 << 17
_GZIP = b"\x1f\x8b"


def decoded(file: BinaryIO, faults: list[str]) -> Iterator[str]:
    """All text that can be had; `faults` gets a sentence on what cannot."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    start = file.read(2)
    file.seek(0)
    pieces = _decompressed(file, faults) if start == _GZIP else iter(lambda: file.read(_PIECE), b"")
    for piece in chain(filter(None, pieces), (b"",)):
        try:
            text = decoder.decode(piece, not piece)
        except UnicodeDecodeError:
            faults.append("the file has bytes that are not UTF-8: replaced")
            decoder.errors = "replace"
            text = decoder.decode(piece, not piece)
        if text:
            yield text


def _decompressed(file: BinaryIO, faults: list[str]) -> Iterator[bytes]:
    """All that can be had of a gzip file of any number of members."""
    unpacker = zlib.decompressobj(wbits=31)
    while packed := file.read(_PACKED):
        if unpacker.eof:
            packed = packed.lstrip(b"\0")  # padding
        while packed:
            if unpacker.eof:
                packed += file.read(len(_GZIP) - len(packed)) if len(packed) < len(_GZIP) else b""
                if not packed.startswith(_GZIP):
                    faults.append("something that is not compressed follows the compressed file: left out")
                    return
                unpacker = zlib.decompressobj(wbits=31)
            before = unpacker.copy()
            try:
                yield unpacker.decompress(packed, _PIECE)
            except zlib.error as fault:
                yield _salvaged(before, packed)
                faults.append(f"the compressed file is damaged: {fault}")
                return
            packed = unpacker.unused_data.lstrip(b"\0") if unpacker.eof else unpacker.unconsumed_tail
    yield unpacker.flush()
    if not unpacker.eof:
        faults.append("the compressed file was cut")


def _salvaged(unpacker: zlib._Decompress, packed: bytes) -> bytes:
    """What comes before the byte that zlib stumbles over; it tells nothing of that in one go."""
    found = []
    for at in range(len(packed)):
        try:
            found.append(unpacker.decompress(packed[at : at + 1]))
        except zlib.error:
            break
    return b"".join(found)
