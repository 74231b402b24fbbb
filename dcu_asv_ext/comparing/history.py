"""The results of a branch's commits as series, and where they changed. Pure: result sets and commits in, a
`HistoryReport` out; events.py tells which changes were the machine's."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..stats.verdicts import IMPROVEMENT, REGRESSION
from .identity import Identity, SetUps
from .model import EVIDENCE, OK, SHARE, Key, ResultSet, Series, Side

if TYPE_CHECKING:
    from ..stats import ChangePoint
    from ..stats.changes import History
    from .set_ups import SetUpChange

#: Values that must follow a change before it is believed, and lie before it.
MIN_SEGMENT = 5
#: Shorter series tell nothing: a level, and one value that differs. Of exact values two are enough.
FEWEST, FEWEST_EXACT = MIN_SEGMENT + 1, 2


@dataclass(frozen=True)
class Commit:
    """date: milliseconds since the epoch, as asv keeps it. subject: first line of the message, "" if not known."""

    hash: str
    date: int = 0
    subject: str = ""

    @property
    def short(self) -> str:
        return self.hash[:8]


@dataclass(frozen=True, eq=False)
class Timeline:
    """One series whose values may be compared with each other: of one machine, environment, key, version, protocol
    and set-up. places: indices of the measured commits on the branch, rising; values: one for each of them.
    set_up: the facts that it hangs on (comparing/identity.py), as far as its results tell them."""

    machine: str
    env: str
    key: Key
    series: Series
    places: tuple[int, ...]
    values: tuple[float, ...]
    version: str | None = None
    protocol: int | None = None
    set_up: Mapping[str, str] = field(default_factory=dict)

    @property
    def few(self) -> bool:
        """Too short for any change point."""
        return len(self.values) < (FEWEST_EXACT if self.exact else FEWEST)

    @cached_property
    def exact(self) -> bool:
        """Whether every difference of its values is a change."""
        return self.series.never_varies(self.values)

    @property
    def negative(self) -> bool:
        """A level that is not above zero has no ratio, so such a series is not looked at."""
        return min(self.values) < 0


@dataclass(frozen=True, eq=False)
class Change:
    """A change point of a timeline. index: the first value of the new level, of the timeline's values.

    after, upto: the commit that caused it comes after the first of these two places, and is the second at the latest.
    Commits between them were not measured, or cannot be told apart.
    """

    timeline: Timeline
    index: int
    after: int
    upto: int
    point: ChangePoint

    @property
    def place(self) -> int:
        return self.timeline.places[self.index]

    @property
    def kind(self) -> str:
        """ "regression" or "improvement"."""
        return self.point.verdict

    @property
    def pending(self) -> bool:
        return self.point.pending

    @property
    def size(self) -> float:
        """Absolute log ratio; of a share the difference."""
        return abs(self.difference) if self.point.points else log_size(self.point.ratio)

    @property
    def difference(self) -> float:
        return self.point.after - self.point.before


@dataclass(frozen=True, eq=False)
class Event:
    """Changes that so many benchmarks share that it was the machine, or something that all of them use.

    unit: of the series that moved. moved: so many of the `benchmarks` measured there. ratio: median of the members',
    NaN of shares, which have a difference instead.
    """

    machine: str
    env: str
    unit: str
    place: int
    after: int
    upto: int
    members: tuple[Change, ...]
    moved: int
    benchmarks: int

    @property
    def ratio(self) -> float:
        return statistics.median(one.point.ratio for one in self.members)

    @property
    def difference(self) -> float:
        """The members' median."""
        return statistics.median(one.difference for one in self.members)

    @property
    def points(self) -> bool:
        return self.unit == SHARE

    @property
    def worse(self) -> int:
        """How many members are regressions."""
        return sum(one.kind == REGRESSION for one in self.members)

    @property
    def kind(self) -> str:
        """What most of its members are."""
        return REGRESSION if 2 * self.worse >= len(self.members) else IMPROVEMENT

    @property
    def pending(self) -> bool:
        return all(one.pending for one in self.members)

    @property
    def size(self) -> float:
        return abs(self.difference) if self.points else log_size(self.ratio)


def log_size(ratio: float) -> float:
    """Absolute log ratio; infinite where a level is zero."""
    return abs(math.log(ratio)) if ratio > 0 and math.isfinite(ratio) else math.inf


@dataclass(frozen=True)
class Restart:
    """Benchmarks whose series begin anew at a commit, since their version or protocol (`what`) changed there."""

    machine: str
    env: str
    place: int
    what: str
    benchmarks: tuple[str, ...]


@dataclass
class HistoryReport:
    """commits: the branch, oldest first. timelines: the series that are told of. chosen: they are not all there are.
    since: changes up to this commit are left out. set_ups: where the machine or its set-up became another one.
    notes: sentences on what was left out and why."""

    branch: str
    commits: Sequence[Commit]
    timelines: list[Timeline] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    restarts: list[Restart] = field(default_factory=list)
    set_ups: list[SetUpChange] = field(default_factory=list)
    chosen: bool = False
    since: Commit | None = None
    notes: list[str] = field(default_factory=list)


def series_of(lines: Iterable[Timeline]) -> dict[tuple[str, str, Key], list[Timeline]]:
    """The timelines of each (machine, environment, key): one for each version, protocol and set-up."""
    found: dict[tuple[str, str, Key], list[Timeline]] = defaultdict(list)
    for line in lines:
        found[line.machine, line.env, line.key].append(line)
    return found


def short(lines: Iterable[Timeline]) -> int:
    """How many series are too short to tell anything, in each of their versions."""
    return sum(all(line.few for line in mine) for mine in series_of(lines).values())


def value_of(side: Side) -> float | None:
    """The figure of one commit: the median over rounds of the rounds' medians where the rounds are known, else
    asv's own value; None where there is no finite number."""
    if side.state != OK:
        return None
    value = side.value
    if side.source == EVIDENCE:
        rounds = [statistics.median(one.samples) for one in side.rounds if one.samples]
        value = statistics.median(rounds) if rounds else value
    return value if value is not None and math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class _Point:
    place: int
    value: float
    version: str | None
    protocol: int | None
    identity: Identity | None


def timelines(sets: Iterable[ResultSet], places: Mapping[str, int]) -> list[Timeline]:
    """The series of result sets in any order, each set looked at once. places: full hash -> index on the branch;
    result sets of other commits are left out. A key has one series for each version, protocol and set-up of its
    results."""
    points: dict[tuple[str, str, Key], list[_Point]] = defaultdict(list)
    newest: dict[tuple[str, str, Key], tuple[int, Series]] = {}
    for one in sets:
        if one.commit not in places:
            continue
        place = places[one.commit]
        for key, side in one.sides.items():
            value = value_of(side)
            if value is None:
                continue
            where = (one.machine, one.env, key)
            points[where].append(_Point(place, value, side.version, side.protocol, side.identity))
            if where not in newest or newest[where][0] < place:
                newest[where] = (place, one.series[key])
    return [
        Timeline(
            *where,
            newest[where][1],
            tuple(one.place for one in part),
            tuple(one.value for one in part),
            version,
            protocol,
            set_up,
        )
        for where, mine in sorted(points.items())
        for version, protocol, set_up, part in parts(mine)
    ]


class Part(Protocol):
    """A value of a series, or neighbours that agree in all of this. place: on the branch, of the first of them."""

    @property
    def place(self) -> int: ...
    @property
    def version(self) -> str | None: ...
    @property
    def protocol(self) -> int | None: ...
    @property
    def identity(self) -> Identity | None: ...


_Part = TypeVar("_Part", bound=Part)


def parts(points: list[_Part]) -> Iterator[tuple[str | None, int | None, dict[str, str], list[_Part]]]:
    """By version, protocol and set-up, each in commit order. A protocol that is not known, since the evidence is
    lost, is taken to be the one before."""
    points.sort(key=lambda one: one.place)
    last = next((one.protocol for one in points if one.protocol is not None), None)
    set_ups = SetUps()
    found: dict[tuple[str | None, int | None, int], list[_Part]] = defaultdict(list)
    for one in points:
        last = last if one.protocol is None else one.protocol
        found[one.version, last, set_ups.number(one.identity)].append(one)
    for (version, protocol, number), part in found.items():
        yield version, protocol, set_ups.facts[number] if set_ups.facts else {}, part


def changes_of(line: Timeline) -> list[Change]:
    """The change points of a series, pending ones too."""
    if line.few or line.negative:
        return []
    return [change_of(line, one) for one in history_of(line, line.values).points]


def history_of(line: Timeline, values: Sequence[float]) -> History:
    """That finds the change points of these values of a series, as those of this series are found."""
    from ..stats.changes import History

    return History(
        values,
        direction=line.series.better,
        exact=line.exact,
        points=line.series.points,
        min_segment=MIN_SEGMENT,
        include_pending=True,
    )


def change_of(line: Timeline, point: ChangePoint) -> Change:
    return Change(line, point.index, line.places[point.first - 1], line.places[point.last], point)


def restarts(lines: Iterable[Timeline]) -> list[Restart]:
    """Where a key's next version or protocol takes over, oldest first; one that ends before its predecessor does is
    no restart."""
    found: dict[tuple[int, str, str, str], set[str]] = defaultdict(set)
    for (machine, env, key), mine in series_of(lines).items():
        mine.sort(key=lambda line: line.places[0])
        for earlier, later in itertools.pairwise(mine):
            same = (earlier.version, earlier.protocol) == (later.version, later.protocol)
            if same or later.places[-1] < earlier.places[-1]:
                continue
            what = "protocol" if earlier.version == later.version else "version"
            found[later.places[0], machine, env, what].add(key.benchmark)
    return [
        Restart(machine, env, place, what, tuple(sorted(names)))
        for (place, machine, env, what), names in sorted(found.items())
    ]
