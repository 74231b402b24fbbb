"""The arrows from calls to device rows: older tracers tell a row's correlation nowhere else."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .columns import Columns, Numbered, nanoseconds, whole_numbers
from .model import Ints
from .reading import Event


class Arrows:
    """Kept only where device rows do not tell their correlation themselves."""

    def __init__(self) -> None:
        self._tracks: Numbered[tuple[Any, Any]] = Numbered()
        self._bare = Columns("row", "track", "time")
        self._ends = Columns("track", "time", "id")
        self._told = False

    def add_rows(self, first: int, rows: list[Event], start: Ints, correlation: Ints) -> None:
        """Device rows, numbered from `first` on."""
        bare = np.flatnonzero(correlation < 0)
        self._told = self._told or len(bare) < len(rows)
        tracks = [self._tracks[rows[one]["pid"], rows[one]["tid"]] for one in bare.tolist()]
        self._bare.extend(first + bare, tracks, start[bare])

    def add(self, rows: list[Event]) -> None:
        if self._told and not len(self._bare):
            return
        rows = [row for row in rows if row["ph"] == "f"]
        self._ends.extend(
            [self._tracks[row["pid"], row["tid"]] for row in rows],
            nanoseconds([row["ts"] for row in rows]),
            whole_numbers([row["id"] for row in rows]),
        )

    def complete(self, correlation: Ints) -> Ints:
        """The device rows' correlations, also where an arrow ends at the beginning of a row, and of no other."""
        if not len(self._bare) or not len(self._ends):
            return correlation
        rows, tracks, times = (self._bare.columns[name].tolist() for name in ("row", "track", "time"))
        places = list(zip(tracks, times, strict=True))
        ends: dict[tuple[int, int], int] = {}
        for track, time, number in zip(*self._ends.columns.values(), strict=True):
            known = ends.setdefault((track, time), number)
            if known != number:
                ends[track, time] = -1
        at_place = Counter(places)
        correlation = correlation.copy()
        for row, place in zip(rows, places, strict=True):
            if at_place[place] == 1:
                correlation[row] = ends.get(place, -1)
        return correlation
