"""What changed between the profiles of two commits: rows that differ, and an explanation of the latency's change."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: What became of a row. Several can hold of one.
ADDED, GONE, REPLACED = "added", "gone", "replaced"
MORE_OFTEN, LESS_OFTEN = "called more often", "called less often"
SLOWER, FASTER = "slower", "faster"
MORE_BYTES, FEWER_BYTES = "more bytes", "fewer bytes"

KERNEL, OPERATOR, COPY, SYNC = "kernel", "operator", "copy", "synchronisation"
#: Parts of an explanation that are of no single row.
IDLE, OTHER = "idle", "other"


@dataclass(frozen=True)
class Figure:
    """One figure of a call, from each profile of a side. told: what stands for all of them, where it is not their
    median."""

    rounds: tuple[float, ...]
    told: float | None = None

    @property
    def value(self) -> float:
        return statistics.median(self.rounds) if self.told is None else self.told

    @property
    def low(self) -> float:
        return min(self.rounds)

    @property
    def high(self) -> float:
        return max(self.rounds)


@dataclass(frozen=True)
class RowSide:
    """count: of a call. seconds: of all of them in a call: on the device for kernels and copies, of the host in a
    synchronisation; None where they are not told. bytes: of a call's copies, None likewise."""

    count: Figure
    seconds: Figure | None = None
    bytes: Figure | None = None


@dataclass(frozen=True)
class RowChange:
    """A kernel, operator, copy or synchronisation on both sides; None where a side has none of it.

    name: after the change, or before where it is gone; was: the one that it replaces, "" for itself. detail: a
    kernel's grid and block, a copy's direction. source: the line of code, "" where there were no stacks.
    operator: of torch's, that made a copy or a wait, "" where none is known.
    words: what became of it, () for nothing; sure: beyond the spread of several profiles, or counted exactly.
    """

    what: str
    name: str
    before: RowSide | None
    after: RowSide | None
    words: tuple[str, ...] = ()
    sure: bool = True
    was: str = ""
    detail: str = ""
    source: str = ""
    operator: str = ""

    @property
    def seconds(self) -> float:
        """How much more time of a call it takes."""
        return _seconds(self.after) - _seconds(self.before)

    @property
    def count(self) -> float:
        return _count(self.after) - _count(self.before)


def _seconds(side: RowSide | None) -> float:
    return 0.0 if side is None or side.seconds is None else side.seconds.value


def _count(side: RowSide | None) -> float:
    return 0.0 if side is None else side.count.value


@dataclass(frozen=True)
class ProfiledSide:
    """profiles: how many were read, of `rounds` measurements. steps: profiled calls in each. overhead: how many times
    as long a profiled call takes as one that is not (the median), None where it is not known; doubtful: it was
    measured, and cannot be true. latency: seconds a call, a figure for each round; None where there are no samples.
    busy, idle: of a call, on the device; None where
    the profiles have no rows of one. figures: metric -> figure of a call. capped: short rows are in a rest.
    faults: what is wrong with the traces."""

    profiles: int
    rounds: int
    steps: tuple[int, ...]
    overhead: float | None = None
    doubtful: bool = False
    latency: Figure | None = None
    busy: Figure | None = None
    idle: Figure | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """A part of a change, in seconds a call. what: KERNEL, COPY, IDLE, OTHER, or OPERATOR where the host did it.
    rest: many small things together, of which none is named."""

    seconds: float
    text: str
    what: str
    sure: bool = True
    source: str = ""
    rest: bool = False


@dataclass(frozen=True)
class Explanation:
    """change: seconds that a call became longer by. of: "latency", or "the profiled call" where there are no samples.

    parts: the sure ones first, of each the largest first; with `unexplained` they add up to `change`. shown: the
    parts together have its sign, and differ from it by half of it at most. capped: seconds of idle time that the
    profiled calls gained (or lost) beyond what the latency has room for, which are no part of it. notes: what limits
    it.
    """

    change: float
    of: str
    parts: tuple[Part, ...]
    unexplained: float
    capped: float = 0.0
    notes: tuple[str, ...] = ()
    shown: bool = True

    @property
    def explained(self) -> float:
        return self.change - self.unexplained


@dataclass(frozen=True)
class ProfileChange:
    """Of one benchmark with its parameters. rows: of each kind those that changed, the largest change of time first.
    verdict: what the rounds say of the latency (stats.verdicts), "" where nothing can be said. explanation: None with
    the reason in `why_not`. notes: what was left out."""

    benchmark: str
    params: Mapping[str, str]
    before: ProfiledSide
    after: ProfiledSide
    kernels: Sequence[RowChange] = ()
    operators: Sequence[RowChange] = ()
    copies: Sequence[RowChange] = ()
    syncs: Sequence[RowChange] = ()
    verdict: str = ""
    explanation: Explanation | None = None
    why_not: str = ""
    notes: Sequence[str] = ()

    @property
    def rows(self) -> Sequence[RowChange]:
        return [*self.kernels, *self.copies, *self.syncs, *self.operators]
