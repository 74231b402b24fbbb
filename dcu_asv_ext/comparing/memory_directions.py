"""The allocator's peak went one way and the whole card's the other: four things to check, and what is known of each.

A card's peak is looked at from outside and now and then; it holds what the allocator does not (the context, code,
libraries' workspaces) and what others hold. So the two can move apart without the code having changed its memory.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..stats.verdicts import NO_CHANGE
from . import figures
from .fields import at, group_of, is_number, number
from .model import Key, ResultSet, Row, Side

_ALLOCATOR = ("peak_allocated", "peak_reserved")
_CARD = "peak_card"
#: A smaller change has no direction.
_LEAST = 0.01
#: Words in the names of a cold start's parts that are loading.
_LOADING = ("import", "extension", "build", "load", "compil")
_CONTENDED = (("memory", "card", "contended"), ("state", "contended"))
_NOTHING = "the evidence tells nothing"

Record = Mapping[str, Any]


@dataclass(frozen=True)
class _Told:
    """A row, and the evidence lines of its two sides' rounds."""

    row: Row
    before: Sequence[Record]
    after: Sequence[Record]


def notes(rows: Iterable[tuple[Row, ResultSet, ResultSet]]) -> Iterator[str]:
    """One note a benchmark, on the parameters whose card moved most. rows: each with its sides' result sets."""
    groups: dict[tuple[str, str, tuple[str, ...]], dict[str, tuple[Row, ResultSet, ResultSet]]] = defaultdict(
        dict
    )
    for row, before, after in rows:
        if row.key.metric in (*_ALLOCATOR, _CARD):
            groups[row.env, row.key.benchmark, row.key.params][row.key.metric] = (row, before, after)
    found: dict[tuple[str, str], list[tuple[float, Row, _Told]]] = defaultdict(list)
    for (env, benchmark, _), metrics in groups.items():
        opposite = _opposite({name: one[0] for name, one in metrics.items()})
        if opposite is not None:
            card, before, after = metrics[_CARD]
            told = _Told(card, _lines(before, card.key, card.before), _lines(after, card.key, card.after))
            found[env, benchmark].append((_size(card), opposite, told))
    for several in found.values():
        _, allocator, told = max(several, key=lambda one: one[0])
        yield _note(allocator, told, len(several) - 1)


def _opposite(metrics: Mapping[str, Row]) -> Row | None:
    """The allocator's row that moved against the card's."""
    card = _direction(metrics.get(_CARD))
    against = (metrics[name] for name in _ALLOCATOR if card * _direction(metrics.get(name)) < 0)
    return next(against, None)


def _direction(row: Row | None) -> int:
    """1: up, -1: down, 0: neither, or not known."""
    if row is None or row.comparison is None or row.verdict == NO_CHANGE:
        return 0
    ratio = row.comparison.ratio
    return int(ratio > 1 + _LEAST) - int(ratio < 1 / (1 + _LEAST))


def _size(row: Row) -> float:
    assert row.comparison is not None
    return abs(row.comparison.after - row.comparison.before)


def _lines(one: ResultSet, key: Key, side: Side | None) -> list[Record]:
    """The evidence of a side's rounds."""
    used = {(each.session, each.number) for each in side.rounds} if side is not None else set()
    return [
        record
        for record in one.records
        if record["benchmark"] == key.benchmark
        and tuple(record["params"].values()) == key.params
        and (str(record["session"] or ""), record["round"]) in used
    ]


# ---- what is said


def _note(allocator: Row, told: _Told, more: int) -> str:
    name = figures.name(told.row.key, told.row.series)
    others = f" (and of {figures.count(more, 'more set')} of parameters)" if more else ""
    checks = [
        ("sampling time", _sampling),
        ("extension loading", _loading),
        ("first library initialisation", _libraries),
        ("other processes", _processes),
    ]
    lines = "; ".join(
        f"({number}) {what}: {_both(told, tell)}" for number, (what, tell) in enumerate(checks, 1)
    )
    return (
        f"{name}{others}: {allocator.key.metric} went {_way(allocator)} and the whole card went {_way(told.row)}; "
        f"four things to check: {lines}"
    )


def _way(row: Row) -> str:
    assert row.comparison is not None
    before, after = figures.pair(row.comparison.before, row.comparison.after, row.series.unit)
    return f"{'up' if _direction(row) > 0 else 'down'} ({before} to {after})"


def _both(told: _Told, tell: Callable[[Sequence[Record]], str]) -> str:
    before, after = tell(told.before), tell(told.after)
    if before == after:
        return f"{before} on both sides" if before else _NOTHING
    return f"{before or _NOTHING} before, {after or _NOTHING} after"


def _sampling(records: Sequence[Record]) -> str:
    readings, interval = (_middle(records, "memory", "card", name) for name in ("readings", "interval"))
    spans = [one["spans"]["memory"] for one in records if _is_span(at(one, "spans", "memory"))]
    sources = {str(source) for one in records if (source := at(one, "memory", "card", "source"))}
    parts = []
    if readings is not None:
        parts.append(figures.count(round(readings), "reading"))
    if interval is not None:
        parts.append(f"every {figures.quantity(interval, 'seconds')}")
    if spans:
        length = statistics.median(end - begin for begin, end in spans)
        parts.append(f"in a pass of {figures.quantity(length, 'seconds')}")
    if sources:
        parts.append(f"from {' and '.join(sorted(sources))}")
    return " ".join(parts)


def _loading(records: Sequence[Record]) -> str:
    parts = []
    caches = [cache for one in records if isinstance(cache := at(one, "switches", "cache"), Mapping)]
    if caches:
        empty = sum(bool(one.get("was_empty")) for one in caches)
        wrote = sum(bool(one.get("wrote")) for one in caches)
        parts.append(
            f"caches empty in {empty} and written in {wrote} of {figures.count(len(caches), 'round')}"
        )
    names = {name for one in records for name in group_of(one, "parts") if _is_loading(name)}
    for name in sorted(names):
        seconds = _middle(records, "parts", name)
        if seconds is not None:
            parts.append(f"{name.replace('_', ' ')} {figures.quantity(seconds, 'seconds')}")
    return ", ".join(parts)


def _libraries(records: Sequence[Record]) -> str:
    parts = []
    outside = _middle(records, "memory", "outside_allocator")
    if outside is not None:
        parts.append(f"{figures.quantity(outside, 'bytes')} outside the allocator")
    first = _middle(records, "memory", "first", "peak_reserved")
    steady = _middle(records, "memory", "peak_reserved")
    if first is not None and steady is not None:
        parts.append(
            f"the first call reserved {figures.quantity(first, 'bytes')}, a steady one "
            f"{figures.quantity(steady, 'bytes')}"
        )
    return ", ".join(parts)


def _processes(records: Sequence[Record]) -> str:
    """The most that was seen in any round."""
    seen = [
        others
        for one in records
        for others in (at(one, "memory", "card", "others"), at(one, "state", "others"))
        if isinstance(others, Mapping) and is_number(others.get("count"))
    ]
    if not seen:
        shared = any(at(one, *path) for one in records for path in _CONTENDED)
        return "others used the card" if shared else ""
    most = max(seen, key=lambda one: (one["count"], one.get("mib") or 0))
    if not most["count"]:
        return "none"
    held = f" with {most['mib']:,.0f} MiB" if is_number(most.get("mib")) else ""
    return f"{figures.count(round(most['count']), 'other')}{held}"


# ---- reading the evidence


def _middle(records: Iterable[Record], *path: str) -> float | None:
    values = [value for one in records if (value := number(one, *path)) is not None]
    return statistics.median(values) if values else None


def _is_span(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value))


def _is_loading(name: str) -> bool:
    return not name.startswith("process_") and any(word in name for word in _LOADING)
