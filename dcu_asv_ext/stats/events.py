"""Machine events: a change that much of a suite shows at one commit is the machine's, not the code's."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .moves import Change, SeriesChanges, suite_of
from .verdicts import MARGIN
from .votes import Vote, commonest, votes

#: Changes within so many median absolute deviations (of the logarithms) of the middle are the event's, and those
#: within so much of it whatever the deviations.
_FAR, _NEAR = 6.0, math.log(1.25)


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


def machine_events(
    suite: Sequence[SeriesChanges], *, min_segment: int = 5, margin: float = MARGIN
) -> list[MachineEvent]:
    """The machine events of a suite on one machine, in commit order.

    It is an event when a third of the benchmarks measured at a commit, and no fewer than three, move there or at the
    measured commit before or after it; a benchmark moves where a third of its series do. Of commits that compete, the
    one with most benchmarks comes first.

    A change point takes much evidence, since it may lie anywhere; where a machine moves a benchmark no further than
    its noise goes, it leaves none. So where a tenth of the benchmarks, and no fewer than three, have change points,
    and most of these the same way, the others are asked: those moved too of which a change point can lie there, or
    whose values before and after differ that way at a significance of 1 %.

    Members are all change points that can lie there, the nearest event's each, except those of steps much larger than
    the others', or the other way: these are more than the machine's.

    min_segment, margin: as the change points were found with. Series of no more values than min_segment cannot have
    any, and do not vote.
    """
    units: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(suite):
        if not one.exact and len(one.places) > min_segment:
            units[one.unit].append(number)
    found = [
        event
        for numbers in units.values()
        if any(suite[number].points for number in numbers)
        for event in _events({number: suite[number] for number in numbers}, min_segment, margin)
    ]
    return sorted(found, key=lambda event: event.place)


def _events(series: Mapping[int, SeriesChanges], min_segment: int, margin: float) -> Iterator[MachineEvent]:
    """Of series that vote together."""
    suite = suite_of(series, min_segment)
    found: dict[int, Vote] = {}
    for vote in votes(suite, min_segment=min_segment, margin=margin):
        found.setdefault(vote.at, vote)
    for at, candidates in sorted(_nearest(suite.changes, sorted(found)).items()):
        vote = found[at]
        members = _alike(candidates, vote.steps)
        if members:
            yield MachineEvent(
                unit=next(iter(series.values())).unit,
                place=int(suite.commits[commonest(one.at for one in members)]),
                moved=len(vote.voters),
                benchmarks=vote.measured,
                members=tuple((one.series, one.point) for one in members),
            )


def _nearest(changes: Iterable[Change], events: Sequence[int]) -> dict[int, list[Change]]:
    """The changes that can lie at each event: of several events, or of several changes of a series, the nearest."""
    found: dict[int, dict[int, Change]] = defaultdict(dict)
    for one in changes:
        after = bisect_left(events, one.at)
        can = [at for at in events[max(after - 1, 0) : after + 1] if one.low <= at <= one.high]
        if can:
            at = min(can, key=lambda at: abs(at - one.at))
            other = found[at].get(one.series)
            if other is None or abs(one.at - at) < abs(other.at - at):
                found[at][one.series] = one
    return {at: list(mine.values()) for at, mine in found.items()}


def _alike(changes: Sequence[Change], steps: Sequence[tuple[str, float]]) -> list[Change]:
    """Without those that moved much further than the others, or the other way: the machine does not explain them.

    steps: of other series that moved there, (benchmark, natural logarithm). Those large enough for change points are
    not all that the machine did.
    """
    known = [(one, math.log(one.ratio)) for one in changes if 0.0 < one.ratio < math.inf]
    moved = [(one.benchmark, log) for one, log in known]
    moved += [(name, step) for name, step in steps if math.isfinite(step)]
    if not known:
        return []
    middle = _median(moved)
    most = max(_FAR * _median([(name, abs(log - middle)) for name, log in moved]), _NEAR)
    return [one for one, log in known if abs(log - middle) <= most]


def _median(numbers: Iterable[tuple[str, float]]) -> float:
    """The median of the benchmarks' medians, so that none counts more for having more series."""
    each: dict[str, list[float]] = defaultdict(list)
    for name, number in numbers:
        each[name].append(number)
    return statistics.median(map(statistics.median, each.values()))
