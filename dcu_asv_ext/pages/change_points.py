"""Change points that need not be found again: of a series they hang on nothing but its values and the rule."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from array import array

from ..comparing.history import Change, Timeline, change_of, changes_of, history_of
from ..stats import ChangePoint
from ..stats.changes import History
from .cache import Cache, code_of, digest

#: To be raised where what is kept changes. What the rule is, its source tells.
FORM = 1
#: Values by which a series may have grown for the work on it to be continued.
_GROWN = 16


class ChangePoints:
    """Finds changes as `comparing.history.changes_of` does: of a series that was seen before by asking the cache, and
    of one that has grown since by going on where that ended."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def changes_of(self, line: Timeline) -> list[Change]:
        known = self.known(line)
        return self.keep(line, found(line)) if known is None else known

    def known(self, line: Timeline) -> list[Change] | None:
        """None where the series has to be looked at from its beginning."""
        if line.few or line.negative or line.exact:
            return changes_of(line)
        keys = _keys(line)
        kept = self._cache.get(keys[0])
        if kept is None:
            kept = self._grown(line, keys)
            if kept is not None:
                self._cache.put(keys[0], kept)
        return None if kept is None else _unpacked(line, kept)

    def keep(self, line: Timeline, packed: bytes) -> list[Change]:
        """packed: what `found` gave for the series, in whatever process."""
        self._cache.put(_keys(line)[0], packed)
        return _unpacked(line, packed)

    def _grown(self, line: Timeline, keys: list[bytes]) -> bytes | None:
        for missing, key in enumerate(keys[1:], 1):
            before = self._cache.get(key)
            if before is not None:
                history = history_of(line, line.values[:-missing])
                history.resume(json.loads(before)["work"])
                for value in line.values[-missing:]:
                    history.append(value)
                return _packed(history)
        return None


def found(line: Timeline) -> bytes:
    """The changes of a series that is not known, and what it takes to go on from there, in the form of the cache."""
    return _packed(history_of(line, line.values))


def _packed(history: History) -> bytes:
    points = [dataclasses.astuple(one) for one in history.points]
    return json.dumps({"points": points, "work": history.kept()}, separators=(",", ":")).encode()


def _unpacked(line: Timeline, packed: bytes) -> list[Change]:
    return [change_of(line, ChangePoint(*one)) for one in json.loads(packed)["points"]]


def _keys(line: Timeline) -> list[bytes]:
    """Of the series, of it without its last value, without its last two, and so on."""
    about = json.dumps([line.series.better, line.series.points])
    known = hashlib.blake2b(digest_size=16)
    values = memoryview(array("d", line.values)).cast("B")
    fewest = max(len(line.values) - _GROWN, 0)
    known.update(values[: 8 * fewest])
    found = []
    for count in range(fewest, len(line.values) + 1):
        if count > fewest:
            known.update(values[8 * (count - 1) : 8 * count])
        found.append(digest("change points", FORM, _rule(), about, str(count), known.copy().digest()))
    return found[::-1]


def _rule() -> bytes:
    """Digest of all that finds change points."""
    return code_of("stats")
