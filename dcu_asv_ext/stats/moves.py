"""The series of a suite that can move together, and where each of them moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .changes import ChangePoint


@dataclass(frozen=True)
class SeriesChanges:
    """One series of a suite on one machine, and where it changed.

    benchmark: has one vote, however many series (metrics, parameters) it has. unit: series of different units do not
    vote together: what makes a machine slower leaves its memory figures alone. exact: no machine moves it, so it
    neither votes nor belongs to an event.
    places: the commits at which it was measured, as their numbers along the branch, rising. values: one for each of
    them, none negative.
    points: its change points, pending ones too; their indices are into `places`.
    """

    benchmark: str
    unit: str
    exact: bool
    places: Sequence[int]
    values: Sequence[float]
    points: Sequence[ChangePoint]


class Change(NamedTuple):
    """series, point: their positions. at: the measured commit where it fits best; low, high: the first and the last
    one where it can lie."""

    series: int
    point: int
    benchmark: str
    ratio: float
    at: int
    low: int
    high: int


@dataclass(frozen=True)
class Suite:
    """Series that vote together, by their positions in what they were taken from.

    commits: the measured ones. Elsewhere a commit is its position in these: commits are as far apart as there are
    measured ones between them. near: of each series, whether it was measured at a commit, or at the one before or
    after.
    """

    series: Mapping[int, SeriesChanges]
    benchmarks: Mapping[str, Sequence[int]]
    changes: Sequence[Change]
    commits: npt.NDArray[np.intp]
    near: Mapping[int, npt.NDArray[np.bool_]]


def suite_of(series: Mapping[int, SeriesChanges], min_segment: int) -> Suite:
    """min_segment: as the change points were found with."""
    # Most series of a suite are measured at the same commits, which are worked out once.
    places = {number: tuple(one.places) for number, one in series.items()}
    arrays = {mine: np.asarray(mine) for mine in set(places.values())}
    seen = np.zeros(max(mine[-1] for mine in arrays) + 1, dtype=np.bool_)
    for array in arrays.values():
        seen[array] = True
    rank = np.cumsum(seen) - 1
    near = {mine: _near(rank[array], int(rank[-1]) + 1) for mine, array in arrays.items()}
    benchmarks: dict[str, list[int]] = defaultdict(list)
    for number, one in series.items():
        benchmarks[one.benchmark].append(number)
    changes = [
        _change(number, which, one, rank, min_segment)
        for number, one in series.items()
        for which in range(len(one.points))
    ]
    commits = np.flatnonzero(seen)
    return Suite(
        series, benchmarks, changes, commits, {number: near[mine] for number, mine in places.items()}
    )


def _change(
    number: int, which: int, one: SeriesChanges, rank: npt.NDArray[np.intp], min_segment: int
) -> Change:
    """Where a pending change lies is not known any better than that it is among the last values."""
    point = one.points[which]
    at = int(rank[one.places[point.index]])
    if point.pending:
        low, high = at - min_segment + 1, at + min_segment - 1
    else:
        low = min(at - 1, int(rank[one.places[point.first - 1]]) + 1)
        high = max(at + 1, int(rank[one.places[point.last]]))
    return Change(number, which, one.benchmark, point.ratio, at, low, high)


def _near(measured: npt.NDArray[np.intp], commits: int) -> npt.NDArray[np.bool_]:
    """Of each commit whether there is a measured one at it, or one before or after."""
    found = np.zeros(commits + 2, dtype=np.bool_)
    for shift in range(3):
        found[measured + shift] = True
    return found[1:-1]
