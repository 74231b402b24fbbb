"""Which changes of the series of a branch were the machine's."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .history import MIN_SEGMENT, Change, Event, Timeline
from .model import Key, Series

if TYPE_CHECKING:
    from ..stats import ChangePoint
    from ..stats.moves import SeriesChanges


def split_events(lines: Sequence[Timeline], changes: Iterable[Change]) -> tuple[list[Change], list[Event]]:
    """The changes that belong to no event, and the events, of any number of machines and environments.

    The rule is `stats.machine_events`. lines: all series there are, since the still ones vote too.
    """
    by_line: dict[Timeline, list[Change]] = defaultdict(list)
    for one in changes:
        by_line[one.timeline].append(one)
    suites: dict[tuple[str, str], list[Timeline]] = defaultdict(list)
    for line in lines:
        if not line.negative:
            suites[line.machine, line.env].append(line)
    events = [event for suite in suites.values() for event in _events(suite, by_line)]
    taken = {one for event in events for one in event.members}
    return [one for mine in by_line.values() for one in mine if one not in taken], events


def voting(
    key: Key, series: Series, places: Sequence[int], values: Sequence[float], points: Sequence[ChangePoint]
) -> SeriesChanges:
    """A series as it votes on events of the machine, which go by ratios: shares go as their exponentials, so that the
    logarithm of a ratio is the difference that was judged."""
    from ..stats.moves import SeriesChanges

    if series.points:
        points = [replace(one, ratio=math.exp(one.after - one.before)) for one in points]
        values = [math.exp(one) for one in values]
        return SeriesChanges(key.benchmark, series.unit, series.exact, places, values, points)
    exact = series.never_varies(values)
    return SeriesChanges(key.benchmark, series.unit, exact, places, values, points)


def _events(suite: Sequence[Timeline], by_line: Mapping[Timeline, Sequence[Change]]) -> Iterator[Event]:
    """Of series of one machine and environment."""
    from ..stats.events import machine_events

    series = [
        voting(line.key, line.series, line.places, line.values, [one.point for one in by_line.get(line, ())])
        for line in suite
    ]
    for found in machine_events(series, min_segment=MIN_SEGMENT):
        members = tuple(by_line[suite[number]][which] for number, which in found.members)
        yield Event(
            machine=suite[0].machine,
            env=suite[0].env,
            unit=found.unit,
            place=found.place,
            after=max(one.after for one in members if one.after < found.place),
            upto=min(one.upto for one in members if one.upto >= found.place),
            members=members,
            moved=found.moved,
            benchmarks=found.benchmarks,
        )
