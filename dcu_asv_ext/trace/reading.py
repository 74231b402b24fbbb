"""The events of a Chrome trace, streamed: bounded memory whatever the file's size, compressed or not, whole or cut.

The array of events is cut into pieces of a few megabytes at the borders of events, and each piece is parsed at once.
A cut that turns out to lie inside an event cannot be parsed, and is then read event by event.
"""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from .errors import TraceError

_PIECE = 1 << 21
#: Characters that may come before the array of events, and that a single event may have.
_MOST_HEADER = 1 << 26
_MOST_EVENT = 1 << 24
_ARRAY = re.compile(r'"traceEvents"\s*:\s*\[')
_SPACE = re.compile(r"[\s,]*")
#: What writers of C++ make of numbers that JSON does not have.
_NO_NUMBER = re.compile(r"(:\s*)[-+]?(?:inf(?:inity)?|nan(?:\([^)]*\))?)\b", re.IGNORECASE)
_GZIP = b"\x1f\x8b"

Event = dict[str, Any]


class EventReader:
    """Iterating gives lists of events; `header` (the other entries of the file) and `faults` (sentences) are complete
    when it ends. Raises TraceError for what is no trace."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, Any] = {}
        self.faults: list[str] = []
        self.count = 0
        self._decoder = json.JSONDecoder(strict=False)
        self._source: Iterator[str] = iter(())
        self._text = ""
        self._ended = False

    def __iter__(self) -> Iterator[list[Event]]:
        try:
            with self.path.open("rb") as file:
                self._source = _decoded(file, self.faults)
                yield from self._all()
        except OSError as fault:
            raise TraceError(f"{self.path} cannot be read: {fault.strerror or fault}") from fault

    def _all(self) -> Iterator[list[Event]]:
        self._find_array()
        while True:
            events = self._piece()
            if events is None:
                break
            self.count += len(events)
            yield events
        events, closed = self._one_by_one()
        self.count += len(events)
        yield events
        while not closed and not self._ended and self._more():
            events, closed = self._one_by_one()
            self.count += len(events)
            yield events
            if not events and len(self._text) > _MOST_EVENT:
                break
        if closed:
            self._read_trailer()
        else:
            self.faults.append(
                f"the file ends, or is damaged, after its event {self.count}: what follows is lost"
            )

    def _more(self) -> bool:
        """Add to the text; False at the end of the file."""
        piece = next(self._source, None)
        if piece is None:
            self._ended = True
            return False
        self._text += piece
        return True

    def _find_array(self) -> None:
        """Drop the text up to the first event, and keep the header's entries before it."""
        while self._more():
            stripped = self._text.lstrip("\ufeff \t\r\n")
            if stripped.startswith("["):  # the format that is only an array
                self._text = stripped[1:]
                return
            if stripped and not stripped.startswith("{"):
                raise TraceError(f"{self.path} is no Chrome trace: it is not JSON")
            found = _ARRAY.search(self._text)
            if found is not None:
                self._keep_header(self._text[: found.start()].rstrip().rstrip(",") + "}")
                self._text = self._text[found.end() :]
                return
            if len(self._text) > _MOST_HEADER:
                break
        if not self._text.strip():
            raise TraceError(f"{self.path} is empty")
        try:
            self._decoder.decode(self._text)
        except ValueError as fault:
            raise TraceError(
                f"{self.path} is no Chrome trace, or is cut before its first event: {fault}"
            ) from fault
        raise TraceError(f'{self.path} is no Chrome trace: it has no "traceEvents"')

    def _keep_header(self, text: str) -> None:
        try:
            entries = self._decoder.decode(_NO_NUMBER.sub(r"\1null", text))
        except ValueError:
            self.faults.append("the entries beside the events cannot be read")
            return
        if isinstance(entries, dict):
            self.header |= entries

    def _piece(self) -> list[Event] | None:
        """The next events, all at once; None where the border of an event was not found."""
        while len(self._text) < _PIECE and self._more():
            pass
        if self._ended:
            return None
        end = _last_border(self._text)
        if end < 0:
            return None
        whole = "[" + self._text[:end].lstrip(", \r\n\t") + "]"
        try:
            events = self._decoder.decode(whole)
        except ValueError:
            return None
        self._text = self._text[end:]
        return [one for one in events if type(one) is dict]

    def _one_by_one(self) -> tuple[list[Event], bool]:
        """Every complete event at the beginning of the text, and whether the array's end was met."""
        text, at = self._text, 0
        events: list[Event] = []
        repaired = False
        while True:
            at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
            if text.startswith("]", at):
                self._text = text[at + 1 :]
                return events, True
            try:
                event, at = self._decoder.raw_decode(text, at)
            except ValueError:
                mended = text[:at] + _NO_NUMBER.sub(r"\1null", text[at:]) if not repaired else text
                repaired = True
                if mended != text:
                    text = mended
                    continue
                break
            if type(event) is dict:
                events.append(event)
        self._text = text[at:]
        return events, False

    def _read_trailer(self) -> None:
        while self._more():
            if len(self._text) > _MOST_HEADER:
                return
        rest = self._text.strip().lstrip(",").strip()
        if rest not in ("", "}"):
            self._keep_header("{" + rest)


def _last_border(text: str) -> int:
    """Where the last `}` is that a comma and a `{` follow: just behind it; -1 where there is none."""
    end = len(text)
    for _ in range(1000):
        end = text.rfind("}", 0, end)
        if end < 0:
            return -1
        comma = text[end + 1 : end + 40].lstrip()
        if comma.startswith(",") and comma[1:].lstrip().startswith("{"):
            return end + 1
    return -1


def _decoded(file: BinaryIO, faults: list[str]) -> Iterator[str]:
    """The file's text, decompressed; letters that are not UTF-8 are replaced."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    start = file.read(2)
    file.seek(0)
    pieces = _decompressed(file, faults) if start == _GZIP else iter(lambda: file.read(_PIECE), b"")
    for piece in pieces:
        text = decoder.decode(piece)
        if text:
            yield text
    rest = decoder.decode(b"", final=True)
    if rest:
        yield rest


def _decompressed(file: BinaryIO, faults: list[str]) -> Iterator[bytes]:
    """All that can be had of a gzip file, also of one that was cut."""
    unpacker = zlib.decompressobj(wbits=31)
    while True:
        packed = file.read(_PIECE // 8)
        if not packed:
            break
        while packed:
            if unpacker.eof:
                if not packed.startswith(_GZIP):
                    return  # padding behind the last member
                unpacker = zlib.decompressobj(wbits=31)
            try:
                out = unpacker.decompress(packed, _PIECE)
            except zlib.error as fault:
                faults.append(f"the compressed file is damaged: {fault}")
                return
            packed = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if out:
                yield out
    if not unpacker.eof:
        faults.append("the compressed file was cut")
