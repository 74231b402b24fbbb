"""What earlier results of a machine and environment lend to a comparison: rounds that its noise is learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from .identity import agree
from .model import Key, Lender, ResultSet, Side

if TYPE_CHECKING:
    from ..stats.rounds import Run


class Past(Protocol):
    """As much of a result set as a comparison's history needs."""

    @property
    def machine(self) -> str: ...
    @property
    def commit(self) -> str: ...
    @property
    def env(self) -> str: ...
    @property
    def date(self) -> int: ...
    @property
    def dirty(self) -> bool: ...
    @property
    def lenders(self) -> tuple[tuple[Key, ...], Sequence[Lender | None]]: ...


P = TypeVar("P", bound=Past)


def earlier(history: Sequence[P], before: ResultSet, after: ResultSet) -> list[P]:
    """The history of this machine and environment up to `before`, newest last, without the two sides."""
    same = [one for one in history if (one.machine, one.env) == (before.machine, before.env)]
    places = [place for place, one in enumerate(same) if one.commit == before.commit]
    if places:
        same = same[: places[0]]
    elif before.date:
        same = [one for one in same if one.date < before.date]
    return [one for one in same if one.commit not in (before.commit, after.commit) and not one.dirty]


def lent(earlier: Sequence[Past], rows: Sequence[tuple[Key, Side]], most: int) -> list[list[Run] | None]:
    """For each key with its side before: the newest of its earlier runs, `most` of them, oldest first; None where
    there is none. Runs of another version, protocol or set-up are none."""
    places: dict[int, list[int | None]] = {}
    newest_first = []
    for one in reversed(earlier):
        keys, lenders = one.lenders
        # Most results have the very same keys, which take long to look up.
        if id(keys) not in places:
            known = {key: place for place, key in enumerate(keys)}
            places[id(keys)] = [known.get(key) for key, _ in rows]
        newest_first.append((places[id(keys)], lenders))
    found = []
    for number, (_, side) in enumerate(rows):
        runs: list[Run] = []
        wanted, identity = (side.version, side.protocol), side.identity
        for where, lenders in newest_first:
            place = where[number]
            past = None if place is None else lenders[place]
            if past is None or (past.version, past.protocol) != wanted:
                continue
            if past.identity is not identity and not agree(past.identity, identity):
                continue
            runs.append(past.run)
            if len(runs) == most:
                break
        found.append(runs[::-1] or None)
    return found
