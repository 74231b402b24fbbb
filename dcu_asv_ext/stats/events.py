"""Machine events: a change that much of a suite shows at one commit is the machine's, not the code's."""

from __future__ import annotations

import heapq
import math
import statistics
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from .changes import ChangePoint

#: A benchmark moved if this share of its series did; it is an event if this share of the benchmarks moved, and no
#: fewer than so many.
_SHARE, _LEAST = 1 / 3, 3
#: Changes within so many median absolute deviations (of the logarithms) of the middle are the event's, and those
#: within so much of it whatever the deviations.
_FAR, _NEAR = 6.0, math.log(1.25)

_Voter = TypeVar("_Voter", bound=Hashable)


@dataclass(frozen=True)
class SeriesChanges:
    """One series of a suite on one machine, and where it changed.

    benchmark: has one vote, however many series (metrics, parameters) it has. unit: series of different units do not
    vote together: what makes a machine slower leaves its memory figures alone. exact: no machine moves it, so it
    neither votes nor belongs to an event.
    places: the commits at which it was measured, as their numbers along the branch, rising.
    points: its change points, pending ones too; their indices are into `places`.
    """

    benchmark: str
    unit: str
    exact: bool
    places: Sequence[int]
    points: Sequence[ChangePoint]


@dataclass(frozen=True)
class MachineEvent:
    """One change of the machine, or of something that the whole suite uses.

    place: the commit at which most of its changes fit best. moved: so many of the `benchmarks` measured there.
    members: (position of a series in the suite, position of the point in its points), one a series, in suite order.
    """

    unit: str
    place: int
    moved: int
    benchmarks: int
    members: tuple[tuple[int, int], ...]


def machine_events(suite: Sequence[SeriesChanges], *, min_segment: int = 5) -> list[MachineEvent]:
    """The machine events of a suite on one machine, in commit order.

    It is an event when a third of the benchmarks measured at a commit, and no fewer than three, change there or at
    the measured commit before or after it; a benchmark changes where a third of its series do. Of commits that
    compete, the one with most benchmarks comes first. Members are all changes that can lie there, the nearest event's
    each, except those that moved much further than the others, or the other way: these are more than the machine's.
    min_segment: as the change points were found with. Series of no more values cannot have any, and do not vote.
    """
    units: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(suite):
        if not one.exact and len(one.places) > min_segment:
            units[one.unit].append(number)
    found = [
        event
        for numbers in units.values()
        if any(suite[number].points for number in numbers)
        for event in _events({number: suite[number] for number in numbers}, min_segment)
    ]
    return sorted(found, key=lambda event: event.place)


class _Change(NamedTuple):
    """series, point: their positions. at: the measured commit where it fits best; low, high: the first and the last
    one where it can lie."""

    series: int
    point: int
    benchmark: str
    ratio: float
    at: int
    low: int
    high: int


class _Vote(NamedTuple):
    at: int
    voters: int
    measured: int


def _events(series: Mapping[int, SeriesChanges], min_segment: int) -> Iterator[MachineEvent]:
    """Of series that vote together."""
    # Most series of a suite are measured at the same commits, which are worked out once.
    places = {number: tuple(one.places) for number, one in series.items()}
    arrays = {mine: np.asarray(mine) for mine in set(places.values())}
    seen = np.zeros(max(mine[-1] for mine in arrays) + 1, dtype=np.bool_)
    for array in arrays.values():
        seen[array] = True
    # Commits are as far apart as there are measured ones between them.
    rank = np.cumsum(seen) - 1
    near = {mine: _near(rank[array], int(rank[-1]) + 1) for mine, array in arrays.items()}
    changes = [
        _change(number, which, one, rank, min_segment)
        for number, one in series.items()
        for which in range(len(one.points))
    ]
    votes: dict[int, _Vote] = {}
    for vote in _votes(series, changes, {number: near[mine] for number, mine in places.items()}):
        votes.setdefault(vote.at, vote)
    commits = np.flatnonzero(seen)
    for at, candidates in sorted(_nearest(changes, sorted(votes)).items()):
        members = _alike(candidates)
        if members:
            yield MachineEvent(
                unit=next(iter(series.values())).unit,
                place=int(commits[_commonest(one.at for one in members)]),
                moved=votes[at].voters,
                benchmarks=votes[at].measured,
                members=tuple((one.series, one.point) for one in members),
            )


def _change(
    number: int, which: int, one: SeriesChanges, rank: npt.NDArray[np.intp], min_segment: int
) -> _Change:
    """Where a pending change lies is not known any better than that it is among the last values."""
    point = one.points[which]
    at = int(rank[one.places[point.index]])
    if point.pending:
        low, high = at - min_segment + 1, at + min_segment - 1
    else:
        low = min(at - 1, int(rank[one.places[point.first - 1]]) + 1)
        high = max(at + 1, int(rank[one.places[point.last]]))
    return _Change(number, which, one.benchmark, point.ratio, at, low, high)


def _near(measured: npt.NDArray[np.intp], commits: int) -> npt.NDArray[np.bool_]:
    """Of each commit whether there is a measured one at it, or one before or after."""
    found = np.zeros(commits + 2, dtype=np.bool_)
    for shift in range(3):
        found[measured + shift] = True
    return found[1:-1]


def _votes(
    series: Mapping[int, SeriesChanges],
    changes: Iterable[_Change],
    near: Mapping[int, npt.NDArray[np.bool_]],
) -> list[_Vote]:
    """Of the benchmarks, most of them first. near: of each series, `_near`."""
    moved: dict[int, list[int]] = defaultdict(list)
    for change in changes:
        moved[change.series].append(change.at)
    benchmarks: dict[str, list[int]] = defaultdict(list)
    for number, one in series.items():
        benchmarks[one.benchmark].append(number)
    moves: dict[str, list[int]] = {}
    voters = np.zeros(len(next(iter(near.values()))), dtype=np.intp)
    for name, numbers in benchmarks.items():
        rows = np.array([near[number] for number in numbers])
        voters += rows.any(axis=0)
        if len(numbers) == 1:
            moves[name] = moved[numbers[0]]
        else:
            mine = {number: moved[number] for number in numbers if moved[number]}
            moves[name] = [vote.at for vote in _shared(mine, rows.sum(axis=0), least=1)]
    return _shared(moves, voters, _LEAST)


def _shared(moves: Mapping[_Voter, Iterable[int]], measured: npt.NDArray[np.intp], least: int) -> list[_Vote]:
    """The commits at, or next to, which enough voters moved, most voters first; each move counts once.

    measured: how many could vote, by commit. Numbers of votes only fall as moves are taken, so an outdated one is put
    back into the heap with what is left of it.
    """
    left: dict[int, set[_Voter]] = defaultdict(set)
    for voter, places in moves.items():
        for at in places:
            left[at].add(voter)

    def votes(at: int) -> dict[_Voter, int]:
        """Of each voter the nearest move."""
        return {voter: place for place in (at - 1, at + 1, at) for voter in left.get(place, ())}

    heap = [(-len(votes(at)), at) for at in left]
    heapq.heapify(heap)
    found = []
    while heap:
        known, at = heapq.heappop(heap)
        mine = votes(at)
        if len(mine) < least or len(mine) / measured[at] < _SHARE:
            continue
        if len(mine) == -known:
            found.append(_Vote(_commonest(mine.values()), len(mine), int(measured[at])))
            for voter, place in mine.items():
                left[place].discard(voter)
        heapq.heappush(heap, (-len(votes(at)), at))
    return found


def _commonest(places: Iterable[int]) -> int:
    """The first of them where several are."""
    return min(Counter(places).items(), key=lambda item: (-item[1], item[0]))[0]


def _nearest(changes: Iterable[_Change], events: Sequence[int]) -> dict[int, list[_Change]]:
    """The changes that can lie at each event: of several events, or of several changes of a series, the nearest."""
    found: dict[int, dict[int, _Change]] = defaultdict(dict)
    for one in changes:
        after = bisect_left(events, one.at)
        can = [at for at in events[max(after - 1, 0) : after + 1] if one.low <= at <= one.high]
        if can:
            at = min(can, key=lambda at: abs(at - one.at))
            other = found[at].get(one.series)
            if other is None or abs(one.at - at) < abs(other.at - at):
                found[at][one.series] = one
    return {at: list(mine.values()) for at, mine in found.items()}


def _alike(changes: Sequence[_Change]) -> list[_Change]:
    """Without those that moved much further than the others, or the other way: the machine does not explain them."""
    known = [one for one in changes if 0.0 < one.ratio < math.inf]
    if not known:
        return []
    names = [one.benchmark for one in known]
    logs = [math.log(one.ratio) for one in known]
    middle = _median(names, logs)
    away = [abs(log - middle) for log in logs]
    most = max(_FAR * _median(names, away), _NEAR)
    return [one for one, far in zip(known, away, strict=True) if far <= most]


def _median(benchmarks: Sequence[str], numbers: Sequence[float]) -> float:
    """The median of the benchmarks' medians, so that none counts more for having more series."""
    each: dict[str, list[float]] = defaultdict(list)
    for name, number in zip(benchmarks, numbers, strict=True):
        each[name].append(number)
    return statistics.median(map(statistics.median, each.values()))
