"""Stretches of one thread that lie inside each other."""

from __future__ import annotations

import numpy as np

from .model import Ints


class Nested:
    """start, end, parent: by `rows`, which are the given ones in the order of their starts, the outer first."""

    def __init__(self, start: Ints, end: Ints) -> None:
        self.rows: Ints = np.lexsort((-end, start))
        self.start, self.end = start[self.rows], end[self.rows]
        self.parent = self._parents()

    def _parents(self) -> Ints:
        parent: list[int] = []
        around: list[int] = []
        ends = self.end.tolist()
        for place, end in enumerate(ends):
            while around and ends[around[-1]] < end:
                around.pop()
            parent.append(around[-1] if around else -1)
            around.append(place)
        return np.array(parent, np.int64)

    def innermost(self, time: Ints) -> Ints:
        """Place in `rows` of the innermost stretch around each time, -1 where there is none."""
        place = np.searchsorted(self.start, time, side="right") - 1
        while True:
            # The last to begin before a time may be over: then one of those around it may not.
            over = np.flatnonzero(place >= 0)
            over = over[self.end[place[over]] < time[over]]
            if not len(over):
                return place
            place[over] = self.parent[place[over]]
