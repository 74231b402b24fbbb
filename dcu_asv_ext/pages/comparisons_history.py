"""The results before a comparison's sides, whose noise it learns from: of each only the rounds, packed small, so that
fifty of them are found in the cache and not read from their files again."""

from __future__ import annotations

import itertools
import json
import struct
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from ..comparing.deciding import HISTORY
from ..comparing.identity import Identity
from ..comparing.model import Key, Lender, ResultSet
from ..stats.rounds import Run
from .cache import READERS, Cache, code_of, digest
from .model import Entry, Unreadable, Work

#: Raised where `pack` keeps something else.
FORM = 2
#: Result sets kept in memory, of each place: the pairs of neighbours share all but one of theirs.
_WINDOW = HISTORY + 5
#: Before the rest: how long both texts are, how many keys and how many rounds there are.
_SIZES = "<4Q"

#: Keys, and of each the version, protocol and set-up.
_Shape = tuple[tuple[Key, ...], list[tuple[str | None, int | None, Identity | None]]]


@dataclass(frozen=True)
class Lent:
    """A result as later comparisons see it."""

    machine: str
    commit: str
    env: str
    date: int
    dirty: bool
    lenders: tuple[tuple[Key, ...], Sequence[Lender]]


def pack(found: ResultSet) -> bytes:
    """What a result lends to the comparisons after it: the rounds of each key that has a sound figure."""
    identities: dict[str, tuple[int, Identity]] = {}
    about = []
    counts, lengths, samples = array("I"), array("I"), array("d")
    for key, lender in zip(*found.lenders, strict=True):
        if lender is None:
            continue
        place = -1
        if lender.identity is not None:
            place = identities.setdefault(lender.identity.digest, (len(identities), lender.identity))[0]
        about.append([key.benchmark, key.metric, key.params, lender.version, lender.protocol, place])
        counts.append(len(lender.run))
        lengths.extend(map(len, lender.run))
        samples.extend(itertools.chain.from_iterable(lender.run))
    # Most results of a history have it in common.
    shape = {"set_ups": [[one.digest, dict(one.facts)] for _, one in identities.values()], "of": about}
    head = [found.machine, found.commit, found.env, found.date, found.dirty]
    texts = [json.dumps(one, separators=(",", ":")).encode() for one in (shape, head)]
    sizes = struct.pack(_SIZES, *map(len, (*texts, counts, lengths)))
    return zlib.compress(b"".join([sizes, samples.tobytes(), counts.tobytes(), lengths.tobytes(), *texts]), 1)


def keep(cache: Cache, entry: str, packed: bytes) -> None:
    """What `pack` made of the entry of this digest, for whoever compares later."""
    cache.put(_key(entry), packed)


def _key(entry: str) -> bytes:
    return digest("lent rounds", FORM, code_of(*READERS), entry)


class Lenders:
    """The packed results of a project, unpacked. Those that share a set-up share its very object."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._identities: dict[str, Identity] = {}
        self._shapes: dict[bytes, _Shape] = {}
        self._kept: OrderedDict[str, Lent] = OrderedDict()
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

    def sets(self, entries: list[Entry]) -> tuple[list[Lent], list[str]]:
        """The results as a history, and sentences on those that were passed over."""
        found, notes = [], []
        for entry in entries:
            try:
                found.append(self._set(entry))
            except Unreadable as fault:
                notes.append(f"passed over: {fault}")
        return found, notes

    def _set(self, entry: Entry) -> Lent:
        if entry.digest not in self._kept:
            cache, read = self._work.cache, self._work.uncut or self._work.results
            packed = cache.made(_key(entry.digest), lambda: pack(read(entry)))
            self._kept[entry.digest] = self._unpacked(packed)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(entry.digest)
        return self._kept[entry.digest]

    def _unpacked(self, data: bytes) -> Lent:
        raw = memoryview(zlib.decompress(data))
        shape_size, head_size, keys, rounds = struct.unpack_from(_SIZES, raw)
        texts = len(raw) - shape_size - head_size
        numbers = texts - 4 * (keys + rounds)
        samples = raw[struct.calcsize(_SIZES) : numbers].cast("d")
        counts, lengths = (
            raw[numbers : numbers + 4 * keys].cast("I"),
            raw[numbers + 4 * keys : texts].cast("I"),
        )
        ends = list(itertools.accumulate(lengths))
        each = [tuple(samples[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
        known, about = self._shape(bytes(raw[texts : texts + shape_size]))
        lenders = [
            Lender(Run(each[end - count : end]), *told)
            for end, count, told in zip(itertools.accumulate(counts), counts, about, strict=True)
        ]
        machine, commit, env, date, dirty = json.loads(bytes(raw[texts + shape_size :]))
        return Lent(machine, commit, env, date, dirty, (known, lenders))

    def _shape(self, text: bytes) -> _Shape:
        if text not in self._shapes:
            shape = json.loads(text)
            set_ups = [
                self._identities.setdefault(name, Identity(facts, name)) for name, facts in shape["set_ups"]
            ]
            self._shapes[text] = (
                tuple(Key(one[0], one[1], tuple(one[2])) for one in shape["of"]),
                [(one[3], one[4], set_ups[one[5]] if one[5] >= 0 else None) for one in shape["of"]],
            )
        return self._shapes[text]
