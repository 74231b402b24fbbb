"""Whether benchmarks moved at a commit that others named: a test without a search, which takes less evidence."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .boundary import step_at
from .drift import steps_beat_line
from .moves import Change, SeriesChanges, Suite

#: One-sided significance at which a benchmark moved.
_ALPHA = 0.01
#: Values on each side that are compared: what lies further away may have moved elsewhere, but with 20 a drift of the
#: whole suite is too often taken for a step.
_REACH = 25
#: Of the benchmarks that have a change point there, this share must have moved the same way.
_MOSTLY = 2 / 3
#: Stands for 0 in logarithms.
_ZERO = float(np.finfo(np.float64).tiny)


class _Place(NamedTuple):
    """commit: the first after the step, by its number. start, end: from the first of these commits up to the second,
    nothing else moved. rises: the way that is asked for."""

    commit: int
    start: int
    end: int
    rises: bool


class _Step(NamedTuple):
    """size: natural logarithm, infinite from or to 0. values: in units of the step, 0 before and 1 after it; places:
    their commits."""

    size: float
    places: Sequence[int]
    values: npt.NDArray[np.float64]


class SecondLook:
    """Asks the benchmarks of a suite that have no change point at a commit whether they moved there all the same.

    share: of a benchmark's series, for the benchmark to have moved. A series is tested at the significance at which
    so many of them are as significant as one test at 1 %, however they depend on each other (Rueger 1978).
    min_segment, margin: as the change points were found with.
    """

    def __init__(self, suite: Suite, share: float, min_segment: int, margin: float) -> None:
        self._suite, self._share, self._least, self._margin = suite, share, min_segment, margin
        self._low = np.array([one.low for one in suite.changes])
        self._high = np.array([one.high for one in suite.changes])

    def __call__(self, at: int, voters: Collection[str], events: Sequence[int]) -> dict[str, list[float]]:
        """The other benchmarks that moved at a commit as most of the voters did, and the steps (natural logarithms)
        of those of their series that have no change point which can lie there.

        None where the voters do not agree, or where those that moved, taken together, drift rather than step.
        events: commits, rising, at which so much moved that values beyond them tell nothing.
        """
        there = self._there(at, events)
        rises = _direction(there.values(), voters)
        if rises is None:
            return {}
        place = self._place(at, events, rises)
        found: dict[str, list[_Step]] = {}
        for name, mine in self._suite.benchmarks.items():
            measured = [number for number in mine if self._suite.near[number][at]]
            if measured and name not in voters:
                steps = self._steps(measured, place, there)
                if steps is not None:
                    found[name] = steps
        if not _step_together([step for steps in found.values() for step in steps], place.commit):
            return {}
        return {name: [step.size for step in steps] for name, steps in found.items()}

    def _there(self, at: int, events: Sequence[int]) -> dict[int, Change]:
        """Of each series the nearest change that can lie there, unless it lies nearer to another event."""
        can = []
        for number in np.flatnonzero((self._low <= at) & (at <= self._high)).tolist():
            one = self._suite.changes[number]
            away, after = abs(one.at - at), bisect_left(events, one.at)
            if all(abs(one.at - event) >= away for event in events[max(after - 1, 0) : after + 1]):
                can.append((away, one))
        return {one.series: one for _, one in sorted(can, reverse=True)}

    def _place(self, at: int, events: Sequence[int], rises: bool) -> _Place:
        commits = self._suite.commits
        before, after = bisect_left(events, at), bisect_right(events, at)
        return _Place(
            commit=int(commits[at]),
            start=int(commits[events[before - 1]]) if before else 0,
            end=int(commits[events[after]] if after < len(events) else commits[-1] + 1),
            rises=rises,
        )

    def _steps(
        self, numbers: Sequence[int], place: _Place, there: Mapping[int, Change]
    ) -> list[_Step] | None:
        """Of one benchmark; None where too few of its series moved."""
        wanted = math.ceil(self._share * len(numbers))
        alpha = _ALPHA * wanted / len(numbers)
        changed = {one for one in numbers if one in there and (there[one].ratio > 1.0) == place.rises}
        tested = (self._step(self._suite.series[one], place, alpha) for one in numbers if one not in changed)
        steps = [step for step in tested if step is not None]
        return steps if len(changed) + len(steps) >= wanted else None

    def _step(self, one: SeriesChanges, place: _Place, alpha: float) -> _Step | None:
        """Between the neighbouring change points, by the tests that these must pass; None if it is not significant,
        not as large as the margin, or goes the other way."""
        split = bisect_left(one.places, place.commit)
        start = max(split - _REACH, bisect_left(one.places, place.start))
        end = min(split + _REACH, bisect_left(one.places, place.end))
        for point in one.points:
            if point.index <= split:
                start = max(start, point.index)
            else:
                end = min(end, point.index)
        if min(split - start, end - split) < self._least:
            return None
        low, high = statistics.median(one.values[start:split]), statistics.median(one.values[split:end])
        if not place.rises:
            low, high = high, low
        # Most series are still, and this tells it at a tenth of the price of the tests.
        if high <= low * (1.0 + self._margin):
            return None
        y = np.log(np.maximum(one.values[start:end], _ZERO))
        step = step_at(y, 0, split - start, end - start, math.log1p(self._margin) / 2.0, self._least)
        if (step.evidence or 0.0) < -math.log10(alpha) or (step.size > 0.0) != place.rises:
            return None
        size = step.size if low > 0.0 else math.copysign(math.inf, step.size)
        return _Step(size, one.places[start:end], (y - step.before) / step.size)


def _direction(changes: Iterable[Change], voters: Collection[str]) -> bool | None:
    """Whether most voters rise; None where they do not agree."""
    ways: Counter[str] = Counter()
    for one in changes:
        if one.benchmark in voters:
            ways[one.benchmark] += 1 if one.ratio > 1.0 else -1
    up, down = sum(way > 0 for way in ways.values()), sum(way < 0 for way in ways.values())
    return up > down if max(up, down) >= _MOSTLY * (up + down) > 0.0 else None


def _step_together(steps: Iterable[_Step], commit: int) -> bool:
    """Whether the middle of all steps is one, and no drift: each alone is too noisy to tell."""
    found: dict[int, list[float]] = defaultdict(list)
    for step in steps:
        for place, value in zip(step.places, step.values.tolist(), strict=True):
            found[place].append(value)
    if not found:
        return True
    places = sorted(found)
    values = np.array([statistics.median(found[place]) for place in places])
    split = bisect_left(places, commit)
    return steps_beat_line([values[:split], values[split:]])
