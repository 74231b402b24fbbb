"""Whether a change of a time is only that of the clock: the comparison in cycles, time x clock.

A clock that follows temperature and power makes the same code slower or faster. What is bound by memory does not
follow the core clock: its change stays in cycles, or comes up in them, so cycles never make a verdict, they can only
withhold one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..stats.verdicts import IMPROVEMENT, INCONCLUSIVE, NOT_COMPARABLE, REGRESSION, Comparison
from . import figures
from .model import Row, Side

#: The sides' clocks differ where their medians lie further apart than this share.
_DIFFERS = 0.01
#: Times of work on the device. What the host does besides (start, submission) does not follow the device's clock.
_METRICS = ("latency", "device_time")
#: Rows named in a note.
_NAMED = 3


@dataclass(frozen=True)
class ClockChange:
    """before, after: MHz, the medians over rounds of the core clock while they were timed. cycles: the comparison of
    time x clock, in millions of cycles."""

    before: float
    after: float
    cycles: Comparison

    @property
    def text(self) -> str:
        found = self.cycles
        span = figures.interval(found.ci_low, found.ci_high)
        return f"{_clock(self.before)} before, {_clock(self.after)} after; in cycles the ratio is " + (
            f"{figures.ratio(found.ratio)} {span}".rstrip()
        )


def _clock(mhz: float) -> str:
    return f"{mhz / 1000:.2f} GHz" if mhz >= 1000 else f"{mhz:.0f} MHz"


def clocks_differ(row: Row) -> bool:
    """Whether every round of both sides has its clock, and these are two clocks.

    Each side's median must lie outside the other's rounds too: a clock that jumps from round to round explains noise,
    no change.
    """
    if row.key.metric not in _METRICS or row.before is None or row.after is None:
        return False
    sides = _clocks(row.before), _clocks(row.after)
    if not all(sides):
        return False
    before, after = map(statistics.median, sides)
    if abs(after / before - 1) <= _DIFFERS:
        return False
    pairs = ((before, sides[1]), (after, sides[0]))
    return not any(min(others) <= middle <= max(others) for middle, others in pairs)


def _clocks(side: Side) -> list[float]:
    """Of its rounds, [] where one has none."""
    found = [one.clock_mhz for one in side.rounds]
    known = [one for one in found if one is not None and one > 0]
    return known if len(known) == len(found) else []


def in_cycles(side: Side) -> Side:
    """The side's samples in millions of cycles. Every round must have its clock."""
    return replace(
        side,
        rounds=tuple(
            replace(one, samples=tuple(x * (one.clock_mhz or 0.0) for x in one.samples))
            for one in side.rounds
        ),
    )


def judged(row: Row, cycles: Comparison, decide: bool) -> Row:
    """The row with what cycles say. decide: a change that they do not show too is no verdict."""
    assert row.before is not None and row.after is not None
    before, after = (statistics.median(_clocks(side)) for side in (row.before, row.after))
    found = ClockChange(before, after, cycles)
    if decide and row.verdict in (REGRESSION, IMPROVEMENT) and cycles.verdict != row.verdict:
        open_yet = ", which does not settle it" if cycles.verdict == INCONCLUSIVE else ""
        reason = f"the clock changed: {found.text}{open_yet}"
        return replace(row, verdict=NOT_COMPARABLE, reason=reason, clock=found)
    return replace(row, reason=f"{row.reason}; the clock changed too: {found.text}", clock=found)


def notes(rows: Iterable[Row]) -> Iterator[str]:
    """Of verdicts that stand although the clock changed; those withheld have it in their reason."""
    standing = [row for row in rows if row.clock is not None and row.verdict != NOT_COMPARABLE]
    yield from (f"the clock changed too where {_named(row)}" for row in standing[:_NAMED])
    if len(standing) > _NAMED:
        yield f"the clock changed too in {figures.count(len(standing) - _NAMED, 'more row')}"


def _named(row: Row) -> str:
    assert row.clock is not None
    name = f"{figures.name(row.key, row.series)} {row.key.metric}"
    return f"{name} is called {row.verdict}: {row.clock.text} ({row.clock.cycles.verdict})"
