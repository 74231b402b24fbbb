"""Rounds whose card was throttled or shared while they were timed: they are used, and it is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import figures
from .fields import at
from .model import Round, Row

#: Series named in a note.
_NAMED = 3


def throttled(record: Mapping[str, Any], timed: str) -> str:
    """What was seen of a lowered clock in a pass, "" for nothing: the first of the record's marks of that pass."""
    marks = (record.get("sampled") or {}).get("marks")
    start = f"{timed}: "
    given = marks if isinstance(marks, list) else []
    found = (one for one in given if isinstance(one, str) and one.startswith(start))
    return next(found, "").removeprefix(start)


def contended(record: Mapping[str, Any]) -> bool:
    """Whether somebody else used the card, at the start, at the end or while memory was looked at."""
    return any(at(record, *path, "contended") is True for path in (("state",), ("memory", "card")))


def side_notes(rounds: Sequence[Round]) -> list[str]:
    return [text for text in (_throttled(rounds), _contended(rounds)) if text]


def _throttled(rounds: Sequence[Round]) -> str:
    slow = [one for one in rounds if one.throttled]
    return f"{_share(slow, rounds)} throttled ({slow[0].throttled})" if slow else ""


def _contended(rounds: Sequence[Round]) -> str:
    shared = [one for one in rounds if one.contended]
    return f"{_share(shared, rounds)} measured on a card that others used" if shared else ""


def _share(some: Sequence[Round], rounds: Sequence[Round]) -> str:
    return f"{len(some)} of {figures.count(len(rounds), 'round')} {'was' if len(some) == 1 else 'were'}"


def notes(rows: Iterable[Row]) -> Iterator[str]:
    """Of a report: the sides that had such rounds, the first few by name."""
    several = list(rows)
    for label in ("before", "after"):
        slow: dict[str, str] = {}
        shared: dict[str, str] = {}
        for row in several:
            side = row.before if label == "before" else row.after
            if side is not None:
                name = figures.name(row.key, row.series)
                slow[f"{name} {row.key.metric}"] = _throttled(side.rounds)
                # All metrics of a measurement share its card.
                shared.setdefault(name, _contended(side.rounds))
        yield from _told(label, slow)
        yield from _told(label, shared)


def _told(label: str, found: Mapping[str, str]) -> Iterator[str]:
    told = [f"{name}: {text}" for name, text in found.items() if text]
    if told:
        more = f"; and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
        yield f"{label}: {'; '.join(told[:_NAMED])}{more}"
