"""A result set's extract, and the form in which it is kept until the next publish."""

from __future__ import annotations

import json
import math
import statistics
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..comparing.facts import all_facts, is_figure, record_facts
from ..comparing.history import value_of
from ..comparing.identity import Identity, of_facts
from ..comparing.model import MISSING, OK, Key, ResultSet, Series, Side
from .cache import READERS, Cache, code_of, digest
from .model import Extract, Shape

#: To be raised where the form changes in which extracts are kept. What is in them, the code tells that reads results.
FORM = 1
_CODE = (*READERS, "pages/extracts.py")

#: Groups of facts that are a benchmark's, not the machine's.
_OF_ONE_BENCHMARK = frozenset({"input", "boundary", "switches", "state", "sampled"})


#: What a column of medians holds.
_LARGEST = 3e38


class Extracts:
    """Makes extracts, and finds those of earlier publishes. Equal shapes and facts are one object."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._shapes: dict[bytes, Shape] = {}
        self._facts: dict[str, dict[str, str]] = {}
        self._set_ups: dict[str, Identity] = {}

    def find(self, content: bytes) -> Extract | None:
        """The extract of what has this digest, if it is kept."""
        kept = self._cache.get(_key(content))
        if kept is None:
            return None
        head, _, figures = kept.partition(b"\n")
        about = json.loads(head)
        shape = self._kept_shape(bytes.fromhex(about["shape"]))
        return None if shape is None else self._unpacked(shape, about, figures)

    def make(self, content: bytes, results: ResultSet) -> Extract:
        """Of a result set that was read without cutting anything; it is kept as that of this digest."""
        keys = tuple(key for key in results.sides if key in results.series)
        sides = [results.sides[key] for key in keys]
        packed_shape = _packed_shape(keys, [results.series[key] for key in keys], sides)
        name = digest("shape", FORM, packed_shape)
        self._cache.put(name, packed_shape)
        made = _extract(self._shape(name, packed_shape), sides, results, self._shared(_facts(results)))
        about = {
            "shape": name.hex(),
            "medians": len(made.medians),
            "reasons": [[at, *told] for at, told in made.reasons.items()],
            "facts": made.facts,
            "date": made.date,
            "dirty": made.dirty,
            "notes": made.notes,
        }
        figures = b"".join(one.tobytes() for one in (made.values, made.counts, made.ends, made.medians))
        self._cache.put(_key(content), json.dumps(about).encode() + b"\n" + figures)
        return made

    def _kept_shape(self, name: bytes) -> Shape | None:
        # Asked for although it may be known, since the cache keeps what was asked for.
        kept = self._cache.get(name)
        return None if kept is None else self._shape(name, kept)

    def _shape(self, name: bytes, kept: bytes) -> Shape:
        if name not in self._shapes:
            told = json.loads(kept)
            keys = tuple(Key(benchmark, metric, tuple(params)) for benchmark, metric, params in told["keys"])
            set_ups = [self._set_up(facts) for facts in told["set_ups"]]
            self._shapes[name] = Shape(
                keys,
                tuple(Series(one[0], tuple(one[1]), *one[2:]) for one in told["series"]),
                tuple(told["versions"]),
                tuple(told["protocols"]),
                tuple(None if number is None else set_ups[number] for number in told["set_up"]),
                {key: at for at, key in enumerate(keys)},
            )
        return self._shapes[name]

    def _set_up(self, facts: Mapping[str, str]) -> Identity:
        made = of_facts(facts)
        return self._set_ups.setdefault(made.digest, made)

    def _shared(self, facts: dict[str, str]) -> dict[str, str]:
        return self._facts.setdefault(json.dumps(facts), facts)

    def _unpacked(self, shape: Shape, about: Mapping[str, Any], figures: bytes) -> Extract:
        values: array[float] = array("d")
        medians: array[float] = array("f")
        counts: array[int] = array("I")
        ends: array[int] = array("I")
        start = 0
        for column in (values, counts, ends, medians):
            length = about["medians"] if column is medians else len(shape.keys)
            stop = start + length * column.itemsize
            column.frombytes(figures[start:stop])
            start = stop
        return Extract(
            shape,
            values,
            counts,
            medians,
            ends,
            {at: (state, reason) for at, state, reason in about["reasons"]},
            self._shared(about["facts"]),
            about["date"],
            about["dirty"],
            tuple(about["notes"]),
        )


def _key(content: bytes) -> bytes:
    return digest("extract", FORM, sys.byteorder, code_of(*_CODE), content)


def _extract(shape: Shape, sides: Sequence[Side], results: ResultSet, facts: Mapping[str, str]) -> Extract:
    values: array[float] = array("d")
    medians: array[float] = array("f")
    counts: array[int] = array("I")
    ends: array[int] = array("I")
    reasons = {}
    for at, side in enumerate(sides):
        value = value_of(side)
        if value is None:
            state = side.state if side.state != OK else MISSING
            reasons[at] = state, side.reason if side.state != OK else "its value is no finite number"
        rounds = [] if value is None else _medians(side)
        values.append(math.nan if value is None else value)
        counts.append(len(rounds))
        if any(one != value for one in rounds):
            medians.extend(rounds)
        ends.append(len(medians))
    notes = tuple(results.notes)
    return Extract(shape, values, counts, medians, ends, reasons, facts, results.date, results.dirty, notes)


def _medians(side: Side) -> list[float]:
    found = (statistics.median(one.samples) for one in side.rounds if one.samples)
    return [one for one in found if abs(one) < _LARGEST]


def _packed_shape(keys: Iterable[Key], series: Iterable[Series], sides: Sequence[Side]) -> bytes:
    numbers: dict[str, int] = {}
    facts: list[Mapping[str, str]] = []
    for side in sides:
        if side.identity is not None and side.identity.digest not in numbers:
            numbers[side.identity.digest] = len(facts)
            facts.append(dict(side.identity.facts))
    told = {
        "keys": [[key.benchmark, key.metric, key.params] for key in keys],
        "series": [
            [one.asv_name, one.param_names, one.unit, one.better, one.exact, one.kind] for one in series
        ],
        "versions": [side.version for side in sides],
        "protocols": [side.protocol for side in sides],
        "set_ups": facts,
        "set_up": [None if one.identity is None else numbers[one.identity.digest] for one in sides],
    }
    return json.dumps(told, separators=(",", ":")).encode()


def _facts(results: ResultSet) -> dict[str, str]:
    """Of asv's file and the newest measurement."""
    # The line of a process that crashed describes no device.
    told = (one for one in reversed(results.records) if "simulated" in one["device"])
    newest = next(told, None)
    found = all_facts(results.facts, {} if newest is None else record_facts(newest))
    return {
        name: value
        for name, value in sorted(found.items())
        if name.partition(".")[0] not in _OF_ONE_BENCHMARK and not is_figure(name)
    }
