"""The groups of a record's memory that are read whole: who is alive, what grew, the card, calls of empty_cache.

A group without its main figure is None, as is one that is no group at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .fields import group_of, number


@dataclass(frozen=True)
class Holder:
    """Allocations of one operator at one line of Python."""

    bytes: float
    count: int
    where: str
    what: str


@dataclass(frozen=True)
class Alive:
    """What is alive at the peak of `bytes`; `rest`: what no holder explains, nor what was there before the call."""

    bytes: float
    before_call: float
    holders: tuple[Holder, ...]
    rest: float
    method: str


@dataclass(frozen=True)
class Growth:
    """Bytes that each further call keeps. leak: the growth was shown; low, high: the slope's interval."""

    slope: float
    leak: bool
    low: float | None
    high: float | None
    calls: int | None
    reserved_slope: float | None
    grew: tuple[Holder, ...]


@dataclass(frozen=True)
class Card:
    """How the whole card was looked at. own: this process's share; others: how many other processes, and their
    bytes. None: not told."""

    source: str
    total: float | None
    interval: float | None
    readings: int | None
    own: float | None
    others: int | None
    others_bytes: float | None
    contended: bool


@dataclass(frozen=True)
class Emptied:
    """Calls of `empty_cache` in one call of the function, and the seconds that they took."""

    calls: int
    seconds: float


def alive_of(memory: Mapping[str, Any]) -> Alive | None:
    group = group_of(memory, "alive")
    size = number(group, "bytes")
    if not size:
        return None
    before, rest = number(group, "before_call") or 0.0, number(group, "rest") or 0.0
    return Alive(size, before, _holders(group, "holders"), rest, str(group.get("method", "")))


def growth_of(memory: Mapping[str, Any]) -> Growth | None:
    group = group_of(memory, "growth")
    slope = number(group, "slope")
    if slope is None:
        return None
    return Growth(
        slope,
        bool(group.get("leak")),
        number(group, "ci_low"),
        number(group, "ci_high"),
        _whole(group, "calls"),
        number(group, "reserved_slope"),
        _holders(group, "grew"),
    )


def card_of(memory: Mapping[str, Any]) -> Card | None:
    group = group_of(memory, "card")
    if "source" not in group:
        return None
    others = group_of(group, "others")
    mib = number(others, "mib")
    return Card(
        str(group["source"]),
        number(group, "total"),
        number(group, "interval"),
        _whole(group, "readings"),
        number(group, "own"),
        _whole(others, "count"),
        None if mib is None else mib * 2**20,
        bool(group.get("contended")),
    )


def emptied_of(memory: Mapping[str, Any]) -> Emptied | None:
    group = group_of(memory, "empty_cache")
    calls, seconds = _whole(group, "calls"), number(group, "seconds")
    return Emptied(calls, seconds) if calls and seconds is not None else None


def _holders(group: Mapping[str, Any], name: str) -> tuple[Holder, ...]:
    listed = group.get(name)
    return tuple(
        Holder(
            number(one, "bytes") or 0.0,
            _whole(one, "count") or 0,
            str(one.get("where", "")),
            str(one.get("what") or ""),
        )
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, Mapping)
    )


def _whole(group: Mapping[str, Any], name: str) -> int | None:
    value = number(group, name)
    return None if value is None else int(value)
