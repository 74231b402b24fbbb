"""The results before a comparison's sides, whose noise it learns from: of each only the rounds, packed small, so that
fifty of them are found in the cache and not read from their files again."""

from __future__ import annotations

import json
import struct
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

from ..comparing.deciding import HISTORY
from ..comparing.identity import Identity
from ..comparing.model import OK, Key, ResultSet, Round, Side
from ..comparing.reading import Sides
from .cache import Cache, digest
from .model import Entry, Unreadable, Work

#: Raised where `pack` keeps something else.
FORM = 1
#: Result sets kept in memory, of each place: the pairs of neighbours share all but one of theirs.
_WINDOW = HISTORY + 5


def pack(found: ResultSet) -> bytes:
    """What a result lends to the comparisons after it: the rounds of each key that has a sound figure."""
    identities: dict[str, tuple[int, Identity]] = {}
    sides = []
    samples = array("d")
    for key, side in found.sides.items():
        if side.state != OK or side.conflict or not side.rounds:
            continue
        place = -1
        if side.identity is not None:
            place = identities.setdefault(side.identity.digest, (len(identities), side.identity))[0]
        lengths = [len(one.samples) for one in side.rounds]
        sides.append([key.benchmark, key.metric, key.params, side.version, side.protocol, place, lengths])
        for one in side.rounds:
            samples.extend(one.samples)
    head = {
        "of": [found.machine, found.commit, found.env],
        "date": found.date,
        "dirty": found.dirty,
        "identities": [[one.digest, dict(one.facts)] for _, one in identities.values()],
        "sides": sides,
    }
    text = json.dumps(head, separators=(",", ":")).encode()
    return zlib.compress(struct.pack("<Q", len(text)) + text + samples.tobytes(), 1)


def keep(cache: Cache, entry: str, packed: bytes) -> None:
    """What `pack` made of the entry of this digest, for whoever compares later."""
    cache.put(_key(entry), packed)


def _key(entry: str) -> bytes:
    return digest("lent rounds", FORM, entry)


class Lenders:
    """The packed results of a project, unpacked. Those that share a set-up share its very object."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._identities: dict[str, Identity] = {}
        self._kept: OrderedDict[str, ResultSet] = OrderedDict()
        self._most = _WINDOW * max(1, len(work.places))
        self._commits = {one.hash: place for place, one in enumerate(work.commits)}
        self._lines: dict[tuple[int, str | int], tuple[list[Entry], dict[int, int]]] = {}

    def entries(self, place: int, commit: int) -> list[Entry]:
        """The newest results of a measured commit's own line, up to its own, oldest first: what `dcu-asv compare`
        takes for the history of a comparison against it."""
        for name, branch in self._work.branches.items():
            line, numbers = self._line(place, name, branch.commits)
            if commit in numbers:
                end = numbers[commit] + 1
                return line[max(0, end - HISTORY - 1) : end]
        hashes = self._work.line_of(self._work.commits[commit].hash) or ()
        known = (self._commits[one] for one in hashes if one in self._commits)
        line, _ = self._line(place, commit, list(known))
        return line[-HISTORY - 1 :]

    def _line(
        self, place: int, name: str | int, commits: Sequence[int]
    ) -> tuple[list[Entry], dict[int, int]]:
        """The results of a line at a place, and the number of each commit's. name: a branch's, or its last commit."""
        key = place, name
        if key not in self._lines:
            found = [(place, one) for one in commits if (place, one) in self._work.entries]
            entries = [self._work.entries[one] for one in found]
            self._lines[key] = entries, {one: number for number, (_, one) in enumerate(found)}
        return self._lines[key]

    def sets(self, entries: list[Entry]) -> tuple[list[ResultSet], list[str]]:
        """The results as a history, and sentences on those that were passed over."""
        found, notes = [], []
        for entry in entries:
            try:
                found.append(self._set(entry))
            except Unreadable as fault:
                notes.append(f"passed over: {fault}")
        return found, notes

    def _set(self, entry: Entry) -> ResultSet:
        if entry.digest not in self._kept:
            cache, read = self._work.cache, self._work.uncut or self._work.results
            packed = cache.made(_key(entry.digest), lambda: pack(read(entry)))
            self._kept[entry.digest] = self._unpacked(packed)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(entry.digest)
        return self._kept[entry.digest]

    def _unpacked(self, data: bytes) -> ResultSet:
        raw = zlib.decompress(data)
        (size,) = struct.unpack_from("<Q", raw)
        head = json.loads(raw[8 : 8 + size])
        samples = memoryview(raw)[8 + size :].cast("d")
        identities = [
            self._identities.setdefault(name, Identity(facts, name)) for name, facts in head["identities"]
        ]
        makers: dict[Key, Callable[[], Side]] = {}
        start = 0
        for benchmark, metric, params, version, protocol, place, lengths in head["sides"]:
            identity = identities[place] if place >= 0 else None
            key = Key(benchmark, metric, tuple(params))
            makers[key] = _later(samples, start, lengths, version, protocol, identity)
            start += sum(lengths)
        machine, commit, env = head["of"]
        return ResultSet(machine, commit, env, sides=Sides(makers), date=head["date"], dirty=head["dirty"])


def _later(
    samples: memoryview[float],
    start: int,
    lengths: list[int],
    version: str | None,
    protocol: int | None,
    identity: Identity | None,
) -> Callable[[], Side]:
    def side() -> Side:
        rounds = tuple(_rounds(samples, start, lengths))
        return Side(rounds, version=version, protocol=protocol, identity=identity)

    return side


def _rounds(samples: memoryview[float], start: int, lengths: list[int]) -> Iterator[Round]:
    for number, length in enumerate(lengths, 1):
        yield Round(tuple(samples[start : start + length]), number)
        start += length
