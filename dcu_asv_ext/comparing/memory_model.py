"""What the evidence says of each measured function's memory: records in, a plain model out. Pure: no files."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..evidence.record import OK, WRONG
from .fields import group_of, number
from .memory_groups import (
    Alive,
    Card,
    Emptied,
    Growth,
    alive_of,
    card_of,
    emptied_of,
    growth_of,
)
from .sessions import sessions_of

Record = Mapping[str, Any]
_Group = TypeVar("_Group")

#: What is told side by side, from the narrowest to the widest view.
REQUESTED, ALLOCATED, RESERVED, CARD, PROCESS = "requested", "allocated", "reserved", "whole card", "process"
LEVELS = (REQUESTED, ALLOCATED, RESERVED, CARD, PROCESS)
OUTSIDE, ALIVE, GROWTH, EVENTS = "outside the allocator", "alive at the peak", "growth", "retries"

#: Level -> the evidence's names of what was before, at the peak, and after.
_NAMES = {
    REQUESTED: ("", "requested_peak", ""),
    ALLOCATED: ("baseline_allocated", "peak_allocated", "after_allocated"),
    RESERVED: ("baseline_reserved", "peak_reserved", "after_reserved"),
    PROCESS: ("rss_before", "rss_peak", "rss_after"),
}
_CARD_NAMES = ("before", "peak", "after")
#: Name of a figure in the evidence -> how it is called here.
_CALLED: dict[str, tuple[str, ...]] = {
    **{name: (level,) for level, names in _NAMES.items() for name in (level, *names) if name},
    "allocator": (REQUESTED, ALLOCATED, RESERVED),
    **dict.fromkeys(("card", "peak_card"), (CARD,)),
    "outside_allocator": (OUTSIDE,),
    "alive": (ALIVE,),
    **dict.fromkeys(("growth", "memory_growth"), (GROWTH,)),
    **dict.fromkeys(("retries", "ooms"), (EVENTS,)),
}


@dataclass(frozen=True)
class Figure:
    """One number over the rounds: its median, and between what it lay."""

    value: float
    low: float
    high: float

    @property
    def differs(self) -> bool:
        return self.low != self.high


@dataclass(frozen=True)
class Level:
    """Bytes of one kind around one call. None: not told."""

    before: Figure | None = None
    peak: Figure | None = None
    after: Figure | None = None

    @property
    def told(self) -> bool:
        return any((self.before, self.peak, self.after))

    @property
    def added(self) -> float | None:
        """What the peak lies above the start."""
        return _difference(self.peak, self.before)

    @property
    def kept(self) -> float | None:
        """What the end lies above the start."""
        return _difference(self.after, self.before)

    @property
    def temporary(self) -> float | None:
        """What of the peak is gone when the call ends."""
        return _difference(self.peak, self.after)


@dataclass(frozen=True)
class Call:
    """One kind of call: the first of a process, or a steady one. missing: name -> the reason why it is not told."""

    levels: Mapping[str, Level] = field(default_factory=dict)
    retries: Figure | None = None
    ooms: Figure | None = None
    missing: Mapping[str, str] = field(default_factory=dict)

    def level(self, name: str) -> Level:
        return self.levels.get(name, Level())

    def beyond(self, wide: str, narrow: str) -> float | None:
        """What one level's peak lies above another's."""
        return _difference(self.level(wide).peak, self.level(narrow).peak)


@dataclass(frozen=True)
class MemoryOf:
    """One function with one set of parameters.

    status: "ok", or what went wrong; measured: there are figures all the same. quick: of single calls that were not
    warmed up. card, alive, growth, emptied: of one round.
    """

    benchmark: str
    params: Mapping[str, str]
    variant: str | None
    rounds: int
    status: str
    device: str
    steady: Call
    first: Call
    outside: Figure | None = None
    quick: bool = False
    card: Card | None = None
    alive: Alive | None = None
    growth: Growth | None = None
    emptied: Emptied | None = None

    @property
    def measured(self) -> bool:
        return any(level.told for call in (self.steady, self.first) for level in call.levels.values())

    @property
    def leaks(self) -> bool:
        return self.growth is not None and self.growth.leak

    @property
    def size(self) -> float:
        """For the order of a page: the peak of what is allocated, or of the next wider view that is told."""
        peaks = (self.steady.level(name).peak for name in (ALLOCATED, RESERVED, CARD))
        return next((peak.value for peak in peaks if peak is not None), 0.0)


def memory_of(records: Iterable[Record]) -> list[MemoryOf]:
    """Each function and its parameters, by the newest session's rounds, the largest peak first.

    A session of --quick counts only where there is no other.
    """
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        key = (record["benchmark"], record.get("variant"), *record["params"].items())
        groups.setdefault(key, []).append(record)
    made = [_of_one(_newest(group)) for group in groups.values()]
    return sorted(made, key=lambda one: (-one.size, one.benchmark, *one.params.values()))


def _newest(records: Sequence[Record]) -> list[Record]:
    full = [record for record in records if not _is_quick(record)]
    return [dict(record) for record in sessions_of([dict(one) for one in full or records])[-1]]


def _is_quick(record: Record) -> bool:
    return bool(record["switches"].get("quick"))


def _of_one(rounds: Sequence[Record]) -> MemoryOf:
    last = rounds[-1]
    sound = [record for record in rounds if _survives(str(record["status"]))]
    bad = next((str(record["status"]) for record in rounds if record["status"] != OK), OK)
    used = sound or rounds
    told = [record["memory"] for record in used]
    firsts = [group_of(memory, "first") for memory in told]
    missing = _reasons([*told, *({"missing": group_of(record, "missing")} for record in used)])
    return MemoryOf(
        benchmark=str(last["benchmark"]),
        params=dict(last["params"]),
        variant=last.get("variant"),
        rounds=len(used),
        status=bad,
        device=_device(last),
        steady=_call(told, [group_of(memory, "card") for memory in told], missing),
        first=_call(firsts, [_first_card(record) for record in used], _reasons(firsts)),
        outside=_figure(told, "outside_allocator"),
        quick=_is_quick(last),
        card=_last(map(card_of, told)),
        alive=_last(map(alive_of, told)),
        growth=_middle_growth(told),
        emptied=_last(map(emptied_of, told)),
    )


def _survives(status: str) -> bool:
    """A wrong result's memory is memory all the same."""
    return status == OK or status.startswith(WRONG)


def _device(record: Record) -> str:
    about = record["device"]
    return str(about.get("product") or about.get("name") or about.get("kind") or "unknown device")


def _call(rounds: Sequence[Record], cards: Sequence[Record], missing: Mapping[str, str]) -> Call:
    levels = {
        name: Level(*(_figure(rounds, part) if part else None for part in parts))
        for name, parts in _NAMES.items()
    }
    levels[CARD] = Level(*(_figure(cards, part) for part in _CARD_NAMES))
    return Call(
        {name: levels[name] for name in LEVELS if levels[name].told},
        _figure(rounds, "retries"),
        _figure(rounds, "ooms"),
        missing,
    )


def _first_card(record: Record) -> Record:
    """Its peak is what was sampled meanwhile, where something was."""
    card = dict(group_of(record, "memory", "first", "card"))
    sampled = number(record, "sampled", "passes", "cold", "used_bytes")
    if card and sampled is not None:
        card["peak"] = max(sampled, number(card, "before") or 0, number(card, "after") or 0)
    return card


def _figure(rounds: Sequence[Record], name: str) -> Figure | None:
    values = [value for one in rounds if (value := number(one, name)) is not None]
    return Figure(statistics.median(values), min(values), max(values)) if values else None


def _last(groups: Iterable[_Group | None]) -> _Group | None:
    return next((one for one in reversed(list(groups)) if one is not None), None)


def _middle_growth(rounds: Sequence[Record]) -> Growth | None:
    """That of the round in the middle, of two the one that grows more."""
    told = [one for one in map(growth_of, rounds) if one is not None]
    return sorted(told, key=lambda one: one.slope)[len(told) // 2] if told else None


def _reasons(rounds: Sequence[Record]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in rounds:
        for name, reason in group_of(one, "missing").items():
            for called in _CALLED.get(name, ()):
                found.setdefault(called, str(reason))
    return found


def _difference(wide: Figure | None, narrow: Figure | None) -> float | None:
    return None if wide is None or narrow is None else wide.value - narrow.value
