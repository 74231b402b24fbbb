"""The events of a Chrome trace, streamed: bounded memory whatever the file's size, compressed or not, whole or cut.

The array of events is cut into pieces at the borders of events, and each piece is parsed at once. What cannot be
parsed so (a border that lies inside an event, the end of the array, damage) is read event by event.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .decoding import decoded
from .errors import TraceError

#: Characters: of a piece at least (one that fits a processor's cache is parsed a quarter faster than a large one),
#: before the array of events or behind it, and of a single event.
_PIECE = 1 << 16
_MOST_HEADER = 1 << 26
_MOST_EVENT = 1 << 26
_ARRAY = re.compile(r'"traceEvents"\s*:\s*\[')
_SPACE = re.compile(r"[\s,]*")
#: What writers in C++ make of numbers that JSON does not have.
_NO_NUMBER = re.compile(
    r'("\s*:\s*|[\[,]\s*)[-+]?(?:inf(?:inity)?|nan(?:\([^)"]*\))?)(?=\s*[,}\]])', re.IGNORECASE
)
#: Where the next event surely begins, behind one that cannot be read.
_NEXT = re.compile(r'\}\s*,\s*(?=\{\s*"(?:ph|cat|name|pid|tid|ts|dur|id|bp|args|s)"\s*:)')

Event = dict[str, Any]


class EventReader:
    """Iterating gives lists of events; `header` (the other entries of the file), `count` (of the events) and `faults`
    (sentences) are complete when it ends. Raises TraceError for what is no trace."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, Any] = {}
        self.faults: list[str] = []
        self.count = 0
        self._decoder = json.JSONDecoder(strict=False)
        self._source: Iterator[str] = iter(())
        self._text = ""
        self._ended = self._in_object = False
        self._damaged = self._no_objects = 0

    def __iter__(self) -> Iterator[list[Event]]:
        try:
            with self.path.open("rb") as file:
                self._source = decoded(file, self.faults)
                self._find_array()
                yield from self._events()
        except OSError as fault:
            raise TraceError(f"{self.path} cannot be read: {fault.strerror or fault}") from fault
        self._tell()

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
            self._text = self._text.lstrip("\ufeff \t\r\n")
            if self._text.startswith("["):  # the format that is only an array
                self._text = self._text[1:]
                return
            if self._text and not self._text.startswith("{"):
                raise TraceError(f"{self.path} is no Chrome trace: it is not JSON")
            found = _ARRAY.search(self._text)
            if found is not None:
                self._in_object = True
                self._keep_header(self._text[: found.start()].rstrip().rstrip(",") + "}")
                self._text = self._text[found.end() :]
                return
            if len(self._text) > _MOST_HEADER:
                break
        if not self._text:
            raise TraceError("; ".join([f"{self.path} is empty", *self.faults]))
        try:
            self._decoder.decode(self._text)
        except (ValueError, RecursionError) as fault:
            raise TraceError(
                f"{self.path} is no Chrome trace, or is cut before its first event: {fault}"
            ) from fault
        raise TraceError(f'{self.path} is no Chrome trace: it has no list "traceEvents"')

    def _keep_header(self, text: str) -> str:
        """What follows the header in the text."""
        try:
            entries, end = self._decoder.raw_decode(_NO_NUMBER.sub(r"\1null", text))
        except (ValueError, RecursionError):
            self.faults.append("the entries beside the events cannot be read, or are cut")
            return ""
        self.header |= entries
        return text[end:]

    def _events(self) -> Iterator[list[Event]]:
        wanted = _PIECE
        while True:
            while len(self._text) < wanted and self._more():
                pass
            found = self._piece()
            if found is None:
                found, closed = self._one_by_one()
                if closed:
                    yield self._objects(found)
                    self._read_trailer()
                    return
            yield self._objects(found)
            if self._ended and not self._text:
                break
            if len(self._text) > _MOST_EVENT:
                break
            # An event that is longer than a piece: twice as much at a time, lest each time begin anew.
            wanted = max(_PIECE, 2 * len(self._text))
        self.faults.append(
            f"the file ends, or cannot be read on, after its event {self.count}: what follows is lost"
        )

    def _objects(self, entries: list[Any]) -> list[Event]:
        if set(map(type, entries)) != {dict}:
            some = len(entries)
            entries = [one for one in entries if type(one) is dict]
            self._no_objects += some - len(entries)
        self.count += len(entries)
        return entries

    def _piece(self) -> list[Any] | None:
        """The next events, all at once; None where the border of an event was not found."""
        end = _last_border(self._text)
        if not end:
            return None
        begin = _SPACE.match(self._text).end()  # type: ignore[union-attr]
        try:
            events = self._decoder.decode(f"[{self._text[begin:end]}]")
        except (ValueError, RecursionError):
            return None
        self._text = self._text[end:]
        return events  # type: ignore[no-any-return]

    def _one_by_one(self) -> tuple[list[Any], bool]:
        """Every complete event of the text, and whether the array's end was met."""
        text, at = _NO_NUMBER.sub(r"\1null", self._text), 0
        events: list[Any] = []
        while True:
            at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
            if text.startswith("]", at):
                self._text = text[at + 1 :]
                return events, True
            if at == len(text):
                break
            try:
                event, at = self._decoder.raw_decode(text, at)
                events.append(event)
            except (ValueError, RecursionError) as fault:
                if not self._ended and _may_be_cut(fault, text):
                    break
                following = _NEXT.search(text, at)
                if following is None:
                    at = len(text) if self._ended else at
                    break
                self._damaged += 1
                at = following.end()
        self._text = text[at:]
        return events, False

    def _read_trailer(self) -> None:
        while len(self._text) < _MOST_HEADER and self._more():
            pass
        rest = self._text.strip()
        if self._in_object and not rest:
            self.faults.append("the file is cut behind its events")
        elif self._in_object:
            rest = self._keep_header("{" + rest.lstrip(",")).strip()
        if rest.strip("\0"):
            self.faults.append("something follows the trace in the file: left out")

    def _tell(self) -> None:
        if self._damaged:
            places = "1 place" if self._damaged == 1 else f"{self._damaged} places"
            self.faults.append(f"the file is damaged in {places}: the events there are lost")
        if self._no_objects:
            self.faults.append(f"{self._no_objects} of the events are no objects: left out")


def _last_border(text: str) -> int:
    """Just behind the last `}` that a comma and a `{` follow; 0 where there is none."""
    end = len(text)
    for _ in range(1000):
        end = text.rfind("}", 0, end)
        if end < 0:
            return 0
        comma = text[end + 1 : end + 40].lstrip()
        if comma.startswith(",") and comma[1:].lstrip().startswith("{"):
            return end + 1
    return 0


def _may_be_cut(fault: Exception, text: str) -> bool:
    """Whether what cannot be read could be whole with the text that follows."""
    return isinstance(fault, json.JSONDecodeError) and (
        fault.msg.startswith("Unterminated string") or fault.pos > len(text) - 16
    )
