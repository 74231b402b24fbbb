"""Counts, commit by commit, the benchmarks of a suite that moved there."""

from __future__ import annotations

import heapq
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from .moves import Suite
from .second_look import SecondLook

#: A benchmark moved if this share of its series did, and a vote is carried by this share of the benchmarks.
SHARE = 1 / 3
#: Where this share of the benchmarks have a change point, the others are asked.
_FAIR = 1 / 10
#: Fewer benchmarks neither carry a vote nor make others be asked.
_LEAST = 3

_Voter = TypeVar("_Voter", bound=Hashable)


class Vote(NamedTuple):
    """at: the commit where most voters moved. measured: so many could vote. steps: of the series that only the second
    look found, (benchmark, natural logarithm)."""

    at: int
    voters: frozenset[str]
    measured: int
    steps: Sequence[tuple[str, float]]


def votes(suite: Suite, *, min_segment: int, margin: float) -> list[Vote]:
    """Those that are carried: by change points alone first, then with those asked; of each, most voters first."""
    left, measured = _moved(suite)
    look = SecondLook(suite, SHARE, min_segment, margin)
    sure = list(_shared(left, measured, SHARE, _LEAST))
    known = sorted(at for at, _, _ in sure)
    found = [_asked(look, one, known) for one in sure]
    for at in known:
        _explain(left, suite, at)
    for few in _shared(left, measured, _FAIR, _LEAST):
        vote = _asked(look, few, known)
        if len(vote.voters) / vote.measured >= SHARE:
            found.append(vote)
            insort(known, vote.at)
            _explain(left, suite, vote.at)
    return found


def _explain(moved: Mapping[int, set[str]], suite: Suite, event: int) -> None:
    """Take out the moves that can be this event's, and call for no other one."""
    for one in suite.changes:
        if one.low <= event <= one.high and one.at in moved:
            moved[one.at].discard(one.benchmark)


def _asked(look: SecondLook, vote: tuple[int, frozenset[str], int], events: Sequence[int]) -> Vote:
    at, voters, measured = vote
    also = look(at, voters, events)
    steps = [(name, step) for name, mine in also.items() for step in mine]
    return Vote(at, voters | also.keys(), measured, steps)


def _moved(suite: Suite) -> tuple[dict[int, set[str]], npt.NDArray[np.intp]]:
    """By commit, the benchmarks of which a third of the series have a change point there; and how many could."""
    changes: dict[int, list[int]] = defaultdict(list)
    for change in suite.changes:
        changes[change.series].append(change.at)
    moved: dict[int, set[str]] = defaultdict(set)
    measured = np.zeros(len(suite.commits), dtype=np.intp)
    for name, numbers in suite.benchmarks.items():
        rows = np.array([suite.near[number] for number in numbers])
        measured += rows.any(axis=0)
        places: Iterable[int] = changes.get(numbers[0], ())
        if len(numbers) > 1:
            mine = _by_place({number: changes[number] for number in numbers if number in changes})
            places = [at for at, _, _ in _shared(mine, rows.sum(axis=0), SHARE, least=1)]
        for at in places:
            moved[at].add(name)
    return moved, measured


def _by_place(moves: Mapping[_Voter, Iterable[int]]) -> dict[int, set[_Voter]]:
    found: dict[int, set[_Voter]] = defaultdict(set)
    for voter, places in moves.items():
        for at in places:
            found[at].add(voter)
    return found


def _shared(
    moved: Mapping[int, set[_Voter]], measured: npt.NDArray[np.intp], share: float, least: int
) -> Iterator[tuple[int, frozenset[_Voter], int]]:
    """The commits at, or next to, which enough voters moved; who these are, and of how many; most voters first.

    moved: by commit; each move counts once, and those that counted are taken out; the caller may take out more as it
    goes. measured: how many could vote, by commit. Numbers of votes only fall, so an outdated one is put back into
    the heap with what is left of it.
    """

    def votes(at: int) -> dict[_Voter, int]:
        """Of each voter the nearest move."""
        return {voter: place for place in (at - 1, at + 1, at) for voter in moved.get(place, ())}

    heap = [(-len(votes(at)), at) for at in moved]
    heapq.heapify(heap)
    while heap:
        known, at = heapq.heappop(heap)
        mine = votes(at)
        if len(mine) < least or len(mine) / measured[at] < share:
            continue
        if len(mine) == -known:
            for voter, place in mine.items():
                moved[place].discard(voter)
            yield commonest(mine.values()), frozenset(mine), int(measured[at])
        heapq.heappush(heap, (-len(votes(at)), at))


def commonest(places: Iterable[int]) -> int:
    """The first of them where several are."""
    return min(Counter(places).items(), key=lambda item: (-item[1], item[0]))[0]
