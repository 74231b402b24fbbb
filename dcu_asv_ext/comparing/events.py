"""Which changes of the series of a branch were the machine's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .history import MIN_SEGMENT, Change, Event, Timeline


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


def _events(suite: Sequence[Timeline], by_line: Mapping[Timeline, Sequence[Change]]) -> Iterator[Event]:
    """Of series of one machine and environment."""
    from ..stats.events import machine_events
    from ..stats.moves import SeriesChanges

    series = [
        SeriesChanges(
            line.key.benchmark,
            line.series.unit,
            line.series.exact,
            line.places,
            line.values,
            [one.point for one in by_line.get(line, ())],
        )
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
