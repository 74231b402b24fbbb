"""The arrows from calls to device rows: older tracers tell a row's correlation nowhere else."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Any

import numpy as np

from .columns import Columns, Numbered, can_be, microseconds, nanoseconds, whole_numbers
from .model import Floats, Ints
from .reading import Event


class Arrows:
    """Kept only where device rows do not tell their correlation themselves."""

    def __init__(self) -> None:
        self._tracks: Numbered[tuple[Any, Any]] = Numbered()
        self._ends = Columns(("time",), ("track", "id"))
        self._told = self._bare = False

    def tracks(self, rows: list[Event], correlation: array[int]) -> list[int]:
        """Where the arrows to device rows end, if one of these rows does not tell its correlation."""
        if min(correlation) >= 0:
            self._told = True
            return [-1] * len(rows)
        self._bare = True
        return [self._tracks[row["pid"], row["tid"]] for row in rows]

    def add(self, rows: list[Event]) -> None:
        if self._told and not self._bare:
            return
        rows = [row for row in rows if row["ph"] == "f"]
        self._ends.extend(
            microseconds([row["ts"] for row in rows]),
            [self._tracks[row["pid"], row["tid"]] for row in rows],
            whole_numbers([row["id"] for row in rows]),
        )

    def complete(self, correlation: Ints, tracks: Ints, starts: Floats) -> Ints:
        """The device rows' correlations, also where an arrow ends at the beginning of a row, and of no other."""
        bare = np.flatnonzero(correlation < 0)
        if not len(bare) or not len(self._ends):
            return correlation
        ends: dict[tuple[int, int], int] = {}
        ended = (self._ends.number("track"), _place(self._ends.time("time")), self._ends.number("id"))
        for track, time, number in zip(*(one.tolist() for one in ended), strict=True):
            if ends.setdefault((track, time), number) != number:
                ends[track, time] = -1
        places = list(zip(tracks[bare].tolist(), _place(starts[bare]).tolist(), strict=True))
        at_place = Counter(places)
        found = [ends.get(place, -1) if at_place[place] == 1 else -1 for place in places]
        correlation[bare] = np.array(found, np.int64)
        return correlation


def _place(times: Floats) -> Ints:
    """To the nanosecond: an arrow may be written with more digits than its row."""
    return nanoseconds(np.where(can_be(times), times, -1.0))
