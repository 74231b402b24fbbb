"""Which changes of a suite's series were the machine's."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .history import MIN_SEGMENT, Change, Event, Timeline

if TYPE_CHECKING:
    from ..stats import ChangePoint

#: A benchmark moved if this share of its series did; it is an event if this share of the benchmarks moved, and no
#: fewer than so many.
_SHARE, _LEAST = 1 / 3, 3
#: Changes within so many median absolute deviations (of the logarithms) of the middle are the event's, and those
#: within so much of it whatever the deviations.
_FAR, _NEAR = 6.0, math.log(1.25)


def split_events(lines: Sequence[Timeline], changes: Iterable[Change]) -> tuple[list[Change], list[Event]]:
    """The changes that belong to no event, and the events, of any number of machines and environments.

    Series of different units do not vote together: what makes a machine slower leaves its memory figures alone. An
    exact series does not vote, since no machine moves it.
    """
    by_line: dict[Timeline, list[Change]] = defaultdict(list)
    for one in changes:
        by_line[one.timeline].append(one)
    voters: dict[tuple[str, str, str], list[Timeline]] = defaultdict(list)
    for line in lines:
        if not (line.few or line.negative or line.series.exact):
            voters[line.machine, line.env, line.series.unit].append(line)
    events = [
        event for mine in voters.values() if any(map(by_line.get, mine)) for event in _events(mine, by_line)
    ]
    taken = {one for event in events for one in event.members}
    return [one for mine in by_line.values() for one in mine if one not in taken], events


def _events(lines: Sequence[Timeline], by_line: Mapping[Timeline, Sequence[Change]]) -> Iterator[Event]:
    """Of series of one machine, environment and unit. A benchmark has one vote, however many series it has."""
    from ..stats import machine_events

    axis = {place: at for at, place in enumerate(sorted({place for line in lines for place in line.places}))}
    benchmarks: dict[str, list[Timeline]] = defaultdict(list)
    for line in lines:
        benchmarks[line.key.benchmark].append(line)
    moves = {name: _moves(mine, by_line, axis) for name, mine in benchmarks.items()}
    measured = {name: _measured(mine, axis) for name, mine in benchmarks.items()}
    left = [one for line in lines for one in by_line.get(line, ())]
    for found in machine_events(moves, measured, share=_SHARE, least=_LEAST):
        ((at, _),) = Counter(point.index for point in found.members.values()).most_common(1)
        members = _alike([one for one in left if abs(axis[one.place] - at) <= 1 or _covers(one, at, axis)])
        left = [one for one in left if one not in members]
        ((place, _),) = Counter(one.place for one in members).most_common(1)
        first = members[0].timeline
        yield Event(
            machine=first.machine,
            env=first.env,
            unit=first.series.unit,
            place=place,
            after=max(one.after for one in members if one.after < place),
            upto=min(one.upto for one in members if one.upto >= place),
            members=tuple(members),
            moved=len(found.members),
            benchmarks=round(len(found.members) / found.share),
        )


def _alike(changes: Sequence[Change]) -> list[Change]:
    """Without those that moved much further than the others, or the other way: the machine does not explain them."""
    logs = [math.log(one.point.ratio) if 0 < one.point.ratio < math.inf else math.inf for one in changes]
    middle = statistics.median(logs)
    away = [abs(log - middle) for log in logs]
    most = max(_FAR * statistics.median(away), _NEAR)
    return [one for one, far in zip(changes, away, strict=True) if far <= most]


def _covers(one: Change, at: int, axis: Mapping[int, int]) -> bool:
    """Whether the change can lie at the commit, though it fits best at another. Where a pending one lies is not known
    any better than that it is among the last values."""
    if one.pending:
        return abs(axis[one.place] - at) < MIN_SEGMENT
    return axis[one.after] < at <= axis[one.upto]


def _moves(
    lines: Sequence[Timeline], by_line: Mapping[Timeline, Sequence[Change]], axis: Mapping[int, int]
) -> list[ChangePoint]:
    """The changes that a benchmark's series share, one for all of them."""
    from ..stats import machine_events

    points = {
        line: [dataclasses.replace(one.point, index=axis[one.place]) for one in by_line.get(line, ())]
        for line in lines
    }
    if len(lines) == 1:
        return points[lines[0]]
    values = {line: _measured([line], axis) for line in lines}
    shared = machine_events(points, values, share=_SHARE, least=1)
    return [min(event.members.values(), key=lambda point: point.p_value) for event in shared]


def _measured(lines: Sequence[Timeline], axis: Mapping[int, int]) -> list[float | None]:
    """One value for each measured commit of the suite, None where none of the series has one."""
    row: list[float | None] = [None] * len(axis)
    for line in lines:
        for place in line.places:
            row[axis[place]] = 1.0
    return row
