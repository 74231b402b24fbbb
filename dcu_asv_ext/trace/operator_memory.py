"""What operators allocate, and how long it lives."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .linking import innermost
from .model import Ints
from .operator_tree import OperatorTree, summed


class OperatorMemory:
    """Of the memory rows of devices, or of the host: columns beside `rows`, and others beside `Trace.operators`.

    holder: row of the innermost operator around each, -1 for none.
    """

    def __init__(self, tree: OperatorTree, on_cpu: bool) -> None:
        self.tree = tree
        self.rows = tree.trace.memory.take(tree.trace.memory.on_cpu == int(on_cpu))
        self.holder = tree.visible(innermost(tree.trace, self.rows.thread, self.rows.start))

    @cached_property
    def freed(self) -> Ints:
        """When what each row allocated was freed, or its address was given out again; -1 for never, and for rows that
        are no allocations."""
        rows = self.rows
        order = np.lexsort((np.arange(len(rows)), rows.address, rows.device))
        same = (np.diff(rows.address[order]) == 0) & (np.diff(rows.device[order]) == 0)
        first, following = order[:-1][same], order[1:][same]
        pair = rows.bytes[first] > 0
        found = np.full(len(rows), -1, np.int64)
        found[first[pair]] = rows.start[following[pair]]
        return found

    @cached_property
    def own(self) -> Ints:
        """Bytes that each operator allocated less what it freed, itself."""
        inside = self.holder >= 0
        return summed(self.holder[inside], self.rows.bytes[inside], len(self.tree.used))

    @cached_property
    def held(self) -> Ints:
        """Bytes allocated inside each operator that the program called, and not freed before the trace ended."""
        kept = (self.holder >= 0) & (self.rows.bytes > 0) & (self.freed < 0)
        return summed(self.tree.top[self.holder[kept]], self.rows.bytes[kept], len(self.tree.used))

    @property
    def outside(self) -> int:
        """Bytes allocated less freed outside of all operators."""
        return int(self.rows.bytes[self.holder < 0].sum())

    @cached_property
    def peak(self) -> Ints:
        """The most that lay allocated at once during each operator, above what lay at its start."""
        operators = self.tree.trace.operators
        found = np.zeros(len(operators), np.int64)
        for thread in np.unique(self.rows.thread):
            mine = self.rows.take(self.rows.thread == thread)
            on = np.flatnonzero((operators.thread == thread) & self.tree.used)
            low = np.searchsorted(mine.start, operators.start[on], side="left")
            high = np.searchsorted(mine.start, operators.end[on], side="right")
            touched = high > low
            on, low, high = on[touched], low[touched], high[touched]
            if not len(on):
                continue
            level = np.concatenate((np.cumsum(mine.bytes), [0]))
            before = np.where(low > 0, level[np.maximum(low - 1, 0)], 0)
            # Every second border: the stretches in between are not asked for.
            highest = np.maximum.reduceat(level, np.stack((low, high), axis=1).ravel())[::2]
            found[on] = np.maximum(highest - before, 0)
        return found
