"""One kept profile of a measurement as tables of figures of a call, by what a row is."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..evidence.summary import outcome
from .fields import group_of, is_number, number
from .model import OK

#: What is below the longest rows of a table, as the digest of a trace names it.
REST = "(rest)"


@dataclass(frozen=True, order=True)
class RowKey:
    """name (of a copy its direction, of a gap its cause), and what tells rows of one name apart: a kernel's launch
    shape, a wait's kind; source: the line of code, "" where nothing tells it."""

    name: str
    detail: str = ""
    source: str = ""


@dataclass(frozen=True)
class Row:
    """Of a call. seconds: on the device, or of the host; bytes: of a copy; None where they are not told.
    operators: of torch's, that made it, as far as they are known."""

    count: float
    seconds: float | None
    bytes: float | None = None
    operators: frozenset[str] = frozenset()


Table = Mapping[RowKey, Row]


@dataclass(frozen=True)
class Profiled:
    """One profile. busy, idle: seconds of a call on the device, None where there are no rows of one. gaps: idle time
    by cause. capped: tables whose short rows are one, so that what is missing may only be short. first: of a first
    call."""

    steps: int
    first: bool = False
    overhead: float | None = None
    busy: float | None = None
    idle: float | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    kernels: Table = field(default_factory=dict)
    operators: Table = field(default_factory=dict)
    copies: Table = field(default_factory=dict)
    syncs: Table = field(default_factory=dict)
    gaps: Table = field(default_factory=dict)
    capped: frozenset[str] = frozenset()
    faults: tuple[str, ...] = ()


def profiled(record: Mapping[str, Any]) -> Profiled | None:
    """What a measurement keeps of its profile; None where it has none, or none that can be read."""
    given = group_of(record, "profile")
    steps = given.get("steps")
    if not is_number(steps) or not isinstance(steps, int) or steps < 1:
        return None
    faults = given.get("faults")
    figures = {
        str(name): float(value)
        for name, value in group_of(given, "per_call").items()
        if is_number(value) and math.isfinite(value)
    }
    busy, share = figures.get("profiled_device_time"), figures.get("idle_share")
    idle = None if busy is None or share is None or not 0 <= share < 1 else busy * share / (1 - share)
    overhead = number(given, "overhead")
    tables: dict[str, dict[RowKey, Row]] = {}
    for name, read in _READERS.items():
        tables[name] = _table(given.get(name), read, steps)
    return Profiled(
        steps,
        bool(given.get("first")),
        overhead if overhead is not None and math.isfinite(overhead) and overhead > 0 else None,
        busy,
        idle,
        figures,
        **tables,
        capped=frozenset(name for name, table in tables.items() if any(key.name == REST for key in table)),
        faults=tuple(one for one in faults if isinstance(one, str)) if isinstance(faults, list) else (),
    )


def latency_of(record: Mapping[str, Any]) -> float | None:
    """Seconds of a call: the median of the measurement's samples; None where there are none."""
    if "latency" not in (record.get("metrics") or ()):
        return None
    found = outcome(dict(record), "latency")
    return statistics.median(found.samples) if found.state == OK else None


# ---- the rows of the tables


def _table(
    given: Any, read: Callable[[Sequence[Any]], tuple[RowKey, Row] | None], steps: int
) -> dict[RowKey, Row]:
    """Rows of one key are one; of a table that is none, and of rows that are none, nothing is there."""
    found: dict[RowKey, Row] = {}
    for one in given if isinstance(given, list) else ():
        made = read(one) if isinstance(one, (list, tuple)) else None
        if made is None:
            continue
        key, row = made
        row = Row(row.count / steps, _each(row.seconds, steps), _each(row.bytes, steps), row.operators)
        found[key] = _sum(found[key], row) if key in found else row
    return found


def _each(value: float | None, steps: int) -> float | None:
    return None if value is None else value / steps


def _sum(one: Row, other: Row) -> Row:
    def add(first: float | None, second: float | None) -> float | None:
        return None if first is None or second is None else first + second

    return Row(
        one.count + other.count,
        add(one.seconds, other.seconds),
        add(one.bytes, other.bytes),
        one.operators | other.operators,
    )


def _cells(given: Sequence[Any], texts: Sequence[int], numbers: Sequence[int]) -> bool:
    """Whether a row has texts and numbers in these places."""
    if len(given) <= max(*texts, *numbers):
        return False
    return all(isinstance(given[place], str) for place in texts) and all(
        is_number(given[place]) and math.isfinite(given[place]) and given[place] >= 0 for place in numbers
    )


def _more(given: Sequence[Any], place: int) -> Iterator[Any]:
    """The cell there, if the row is that long."""
    yield from given[place : place + 1]


def _text(given: Sequence[Any], place: int) -> str:
    return next((one for one in _more(given, place) if isinstance(one, str)), "")


def _named(given: Sequence[Any], place: int) -> frozenset[str]:
    """The operators there: one, or a list."""
    found = next(_more(given, place), None)
    known = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    return frozenset(one for one in known if isinstance(one, str) and one)


def _number(given: Any) -> float | None:
    return float(given) if is_number(given) and math.isfinite(given) and given >= 0 else None


def _kernel(given: Sequence[Any]) -> tuple[RowKey, Row] | None:
    """[short name, shape, count, seconds, operators...]"""
    if not _cells(given, (0, 1), (2, 3)):
        return None
    return RowKey(given[0], given[1]), Row(float(given[2]), float(given[3]), None, _named(given, 4))


def _operator(given: Sequence[Any]) -> tuple[RowKey, Row] | None:
    """[name, calls, self device seconds, device seconds, self CPU seconds, ...]; its seconds are the host's own."""
    if not _cells(given, (0,), (1, 4)):
        return None
    return RowKey(given[0]), Row(float(given[1]), float(given[4]))


def _copy(given: Sequence[Any]) -> tuple[RowKey, Row] | None:
    """[direction, count, bytes or None, seconds, source, operator]"""
    if not _cells(given, (0,), (1, 3)):
        return None
    row = Row(float(given[1]), float(given[3]), _number(given[2]), _named(given, 5))
    return RowKey(given[0], "", _text(given, 4)), row


def _sync(given: Sequence[Any]) -> tuple[RowKey, Row] | None:
    """[kind, name, count, seconds, source, operator]"""
    if not _cells(given, (0, 1), (2, 3)):
        return None
    row = Row(float(given[2]), float(given[3]), None, _named(given, 5))
    return RowKey(given[1], given[0], _text(given, 4)), row


def _gap(given: Sequence[Any]) -> tuple[RowKey, Row] | None:
    """[cause, count, seconds, source]"""
    if not _cells(given, (0,), (1, 2)):
        return None
    return RowKey(given[0], "", _text(given, 3)), Row(float(given[1]), float(given[2]))


_READERS: dict[str, Callable[[Sequence[Any]], tuple[RowKey, Row] | None]] = {
    "kernels": _kernel,
    "operators": _operator,
    "copies": _copy,
    "syncs": _sync,
    "gaps": _gap,
}


# ---- what is alike, though not the same


#: The part of a Tensile kernel's name that its problem decides; what follows is tuning.
_TENSILE = re.compile(r"^((?:Custom_)?Cijk_.*?)_MT\d")
_TILE = re.compile(r"\d+(?:x\d+)+")
_STAGES = re.compile(r"(stages?)_?\d+", re.IGNORECASE)
#: A hash has digits and letters from a to f, and is long.
_HASH = re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}(?![0-9A-Za-z])")
#: Not after a letter, where they name a type or an architecture (f32, sm80).
_NUMBER = re.compile(r"(?<![0-9A-Za-z])\d+(?:[cd]\d*)*(?:e)?(?![A-Za-z])")
_LINE = re.compile(r":\d+")


def stem(kernel: str) -> str:
    """A kernel's name without what tuning chooses: tiles, stages, hashes and running numbers."""
    found = _TENSILE.match(kernel)
    if found is not None:
        return found[1]
    text = _STAGES.sub(r"\1#", _HASH.sub("#", kernel))
    return _NUMBER.sub("#", _TILE.sub("#", text))


def place(source: str) -> str:
    """A line of code without its number, which moves with any edit above it."""
    return _LINE.sub("", source, count=1)
