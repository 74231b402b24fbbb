"""The calls of torch's operators as trees: what each did itself, and with those inside it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from .model import Ints, Trace
from .nested import Nested
from .summary import blocking

Mask = npt.NDArray[np.bool_]

#: Rows of the profiler itself and of its bookkeeping: torch's own table leaves them out too.
_UTILITIES = (
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
)


class OperatorTree:
    """Columns beside `Trace.operators`, all in ns and as long as it; rows that do not count are not `used`."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        hidden = np.array([name in _UTILITIES for name in trace.names] or [False])
        self.used: Mask = ~hidden[trace.operators.name]
        #: Row of the used operator around each.
        self.parent = self.visible(trace.operators.parent)

    def visible(self, rows: Ints) -> Ints:
        """Each of these rows of operators, or where it is not used, the next around it that is; -1 stays -1."""
        rows = rows.copy()
        asked = np.flatnonzero(rows >= 0)
        while len(asked):
            asked = asked[~self.used[rows[asked]]]
            rows[asked] = self.trace.operators.parent[rows[asked]]
            asked = asked[rows[asked] >= 0]
        return rows

    @cached_property
    def _inside(self) -> tuple[Ints, Ints, Ints]:
        """Directly inside each: ns of the operators, calls of the runtime and spans; ns of the calls alone; and how
        many they are."""
        trace = self.trace
        tables = (trace.operators, trace.calls, trace.spans)
        thread = np.concatenate([table.thread for table in tables])
        start = np.concatenate([table.start for table in tables])
        end = np.concatenate([table.end for table in tables])
        kept = np.concatenate((self.used, np.ones(len(trace.calls) + len(trace.spans), bool)))
        rows = np.flatnonzero(kept)
        around = _around(thread[rows], start[rows], end[rows])
        # Only what lies directly in an operator is taken from it: a span takes what it holds with it.
        direct = np.flatnonzero(around >= 0)
        holder = rows[around[direct]]
        operators = len(trace.operators)
        in_operator = holder < operators
        inner, holder = rows[direct[in_operator]], holder[in_operator]
        length = (end - start)[inner]
        called = (inner >= operators) & (inner < operators + len(trace.calls))
        return (
            summed(holder, length, operators),
            summed(holder[called], length[called], operators),
            np.bincount(holder, minlength=operators),
        )

    @cached_property
    def self_cpu(self) -> Ints:
        """Without the operators, spans and calls of the runtime inside."""
        found: Ints = self.trace.operators.duration - self._inside[0]
        return found

    @property
    def runtime(self) -> Ints:
        """In calls of the device's runtime that it made itself."""
        return self._inside[1]

    @cached_property
    def stands_for(self) -> Ints:
        """Row of the operator that each is counted as: one whose only content is an operator of the same name is
        one call with it."""
        table = self.trace.operators
        parent = np.maximum(self.parent, 0)
        same = (self.parent >= 0) & (table.name[parent] == table.name) & (self._inside[2][parent] == 1)
        return _ends(np.where(same, parent, np.arange(len(table))))

    @cached_property
    def top(self) -> Ints:
        """Row of the outermost operator around each: what the program called."""
        return _ends(np.where(self.parent >= 0, self.parent, np.arange(len(self.parent))))

    @cached_property
    def device_rows(self) -> Ints:
        """Row of the operator of each device row, -1 for none."""
        return self.visible(self.trace.device.operator)

    @cached_property
    def self_device(self) -> Ints:
        """Of the device rows that it launched itself, summed."""
        return self._of_device(self.trace.device.duration)

    @cached_property
    def kernels(self) -> Ints:
        """How many device rows it launched itself."""
        return self._of_device(np.ones(len(self.trace.device), np.int64))

    def _of_device(self, values: Ints) -> Ints:
        some = self.device_rows >= 0
        return summed(self.device_rows[some], values[some], len(self.used))

    @cached_property
    def self_waits(self) -> Ints:
        """In calls that wait for the device, made by itself."""
        calls = self.trace.calls
        around = self.visible(calls.operator)
        waiting = blocking(calls, self.trace.names) & (around >= 0)
        return summed(around[waiting], calls.duration[waiting], len(self.used))

    @cached_property
    def _levels(self) -> list[Ints]:
        """Rows by how many operators are around them, from one on."""
        depth = np.zeros(len(self.used), np.int64)
        rows, around = np.arange(len(depth)), self.parent
        while len(rows):
            inside = around >= 0
            rows, around = rows[inside], self.parent[around[inside]]
            depth[rows] += 1
        order = np.argsort(depth, kind="stable")
        borders = np.searchsorted(depth[order], np.arange(1, depth.max(initial=0) + 1))
        levels: list[Ints] = np.split(order, borders)[1:]
        return levels

    def total(self, values: Ints) -> Ints:
        """Of each operator with all inside it."""
        found: Ints = values.copy()
        for level in reversed(self._levels):
            np.add.at(found, self.parent[level], found[level])
        return found

    def within_same(self, key: Ints) -> Mask:
        """Those that lie inside an operator of the same key."""
        found = np.zeros(len(key), bool)
        rows = np.flatnonzero(self.parent >= 0)
        around = self.parent[rows]
        while len(rows):
            same = key[around] == key[rows]
            found[rows[same]] = True
            around = self.parent[around]
            going_on = ~same & (around >= 0)
            rows, around = rows[going_on], around[going_on]
        return found


def _around(thread: Ints, start: Ints, end: Ints) -> Ints:
    """Of stretches on threads: the innermost other that holds each whole, -1 for none."""
    found = np.full(len(start), -1, np.int64)
    for one in np.unique(thread):
        mine = np.flatnonzero(thread == one)
        nested = Nested(start[mine], end[mine])
        inside = np.flatnonzero(nested.parent >= 0)
        found[mine[nested.rows[inside]]] = mine[nested.rows[nested.parent[inside]]]
    return found


def _ends(following: Ints) -> Ints:
    """Where each row's chain ends, at a row that follows itself."""
    while True:
        further = following[following]
        if (further == following).all():
            return following
        following = further


def summed(rows: Ints, values: Ints, count: int) -> Ints:
    """Values added up by their row's number."""
    found = np.zeros(count, np.int64)
    np.add.at(found, rows, values)
    return found
