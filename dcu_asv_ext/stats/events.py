"""Machine events: changes that much of a suite shows at one commit say that the machine changed, not the code."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from .changes import ChangePoint

Series = TypeVar("Series", bound=Hashable)


@dataclass(frozen=True)
class MachineEvent(Generic[Series]):
    """One change of the machine.

    first, last: the indices of the changes that belong to it. share: of the series measured there.
    ratio: median of the ratios. members: series -> its change point that belongs to the event.
    """

    first: int
    last: int
    share: float
    ratio: float
    members: Mapping[Series, ChangePoint]


def machine_events(
    points_by_series: Mapping[Series, Sequence[ChangePoint]],
    values_by_series: Mapping[Series, Sequence[float | None]] | None = None,
    *,
    share: float = 1 / 3,
    least: int = 3,
    within: int = 1,
) -> list[MachineEvent[Series]]:
    """The machine events of a suite, in commit order; the indices of all series must mean the same commits.

    A change belongs to an event when its index is at most `within` from the event's commit. An event needs `least`
    series and `share` of those measured there (a value within the same distance; without values, all series).
    A point belongs to one event at most: events with more series are taken first.

    ValueError: a share outside (0, 1], or a series with points but without values.
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share must lie between 0 and 1, not {share!r}")
    measured = _Measured(points_by_series, values_by_series)
    left: dict[int, dict[Series, ChangePoint]] = {}
    for series, points in points_by_series.items():
        for point in points:
            left.setdefault(point.index, {})[series] = point
    found: list[MachineEvent[Series]] = []
    while True:
        best: dict[Series, ChangePoint] = {}
        best_share = 0.0
        for at in sorted(left):
            members = _members(left, at, within)
            if len(members) < least or len(members) <= len(best):
                continue
            part = len(members) / measured.count(at, within, members)
            if part >= share:
                best, best_share = members, part
        if not best:
            return sorted(found, key=lambda event: event.first)
        for series, point in best.items():
            del left[point.index][series]
        indices = [point.index for point in best.values()]
        ratio = float(np.median([point.ratio for point in best.values()]))
        ordered = {series: best[series] for series in points_by_series if series in best}
        found.append(MachineEvent(min(indices), max(indices), best_share, ratio, ordered))


class _Measured(Generic[Series]):
    """Which series were measured near a commit."""

    def __init__(
        self,
        points: Mapping[Series, Sequence[ChangePoint]],
        values: Mapping[Series, Sequence[float | None]] | None,
    ) -> None:
        missing = next((series for series in points if values is not None and series not in values), None)
        if missing is not None:
            raise ValueError(f"series {missing!r} has change points but no values")
        self._all = len(points)
        self._at = None
        if values is not None:
            self._at = {
                series: frozenset(
                    index for index, value in enumerate(row) if value is not None and value == value
                )
                for series, row in values.items()
            }

    def count(self, at: int, within: int, members: Collection[Series]) -> int:
        if self._at is None:
            return self._all
        near = range(at - within, at + within + 1)
        return sum(series in members or not indices.isdisjoint(near) for series, indices in self._at.items())


def _members(
    left: Mapping[int, Mapping[Series, ChangePoint]], at: int, within: int
) -> dict[Series, ChangePoint]:
    """Of each series the point nearest to the commit `at`, if one is near enough."""
    found: dict[Series, ChangePoint] = {}
    for index in sorted(range(at - within, at + within + 1), key=lambda index: -abs(index - at)):
        found.update(left.get(index, {}))
    return found
