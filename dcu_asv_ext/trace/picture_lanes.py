"""The lanes of a timeline: host threads and device streams, their rows packed into levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .model import Ints, Table, Trace

_MOST_LEVELS = 12

#: What a lane shows.
OPERATORS, CALLS, STREAM = "operators", "calls", "stream"


@dataclass(frozen=True)
class Lane:
    """kind: OPERATORS, CALLS or STREAM. group: the thread or the device that it belongs to; label: its own name.

    tables: the tables that its rows come from; table and row: of each, in the order of their starts.
    level: 0 at the top. hidden: rows nested too deeply to be shown.
    """

    kind: str
    group: str
    label: str
    tables: tuple[Table, ...]
    table: Ints
    row: Ints
    level: Ints
    levels: int
    hidden: int

    def column(self, read: Callable[[Table], Ints]) -> Ints:
        """One column of all its rows."""
        found = np.zeros(len(self.row), np.int64)
        for number, table in enumerate(self.tables):
            mine = self.table == number
            found[mine] = read(table)[self.row[mine]]
        return found


def lanes(trace: Trace, holds: Callable[[Table], npt.NDArray[np.bool_]]) -> list[Lane]:
    """Host threads first, the one with most calls of the runtime above; then each device's streams.

    holds: mask of the rows of a table that are shown. The profiler's own steps are no rows of a lane.
    """
    found = []
    spans = holds(trace.spans)
    spans[trace.steps] = False
    operators, calls, rows = holds(trace.operators), holds(trace.calls), holds(trace.device)
    for thread in _threads(trace):
        label = trace.threads[thread]
        of_spans = np.flatnonzero(spans & (trace.spans.thread == thread))
        of_operators = np.flatnonzero(operators & (trace.operators.thread == thread))
        found += _lane(OPERATORS, label, "", (trace.spans, trace.operators), (of_spans, of_operators))
        found += _lane(
            CALLS, label, "", (trace.calls,), (np.flatnonzero(calls & (trace.calls.thread == thread)),)
        )
    for device in trace.devices:
        on_device = [number for number, lane in enumerate(trace.lanes) if lane.device == device]
        for number in sorted(on_device, key=lambda one: str(trace.lanes[one].stream).zfill(24)):
            mine = np.flatnonzero(rows & (trace.device.lane == number))
            label = str(trace.lanes[number].stream)
            found += _lane(STREAM, str(device), label, (trace.device,), (mine,))
    return found


def _threads(trace: Trace) -> list[int]:
    weight = np.zeros(len(trace.threads), np.int64)
    for table, each in ((trace.calls, 1 << 20), (trace.operators, 1)):
        np.add.at(weight, table.thread, each)
    return [int(one) for one in np.argsort(-weight, kind="stable")]


def _lane(kind: str, group: str, label: str, tables: tuple[Table, ...], rows: tuple[Ints, ...]) -> list[Lane]:
    """A lane, if it has rows."""
    row = np.concatenate(rows)
    if not len(row):
        return []
    table = np.repeat(np.arange(len(rows)), [len(one) for one in rows])
    start = np.concatenate([one.start[chosen] for one, chosen in zip(tables, rows, strict=True)])
    end = np.concatenate([one.end[chosen] for one, chosen in zip(tables, rows, strict=True)])
    order = np.lexsort((-end, start))
    row, table, start, end = row[order], table[order], start[order], end[order]
    level = pack(start, end)
    shown = level < _MOST_LEVELS
    levels = int(level[shown].max()) + 1
    return [
        Lane(kind, group, label, tables, table[shown], row[shown], level[shown], levels, int((~shown).sum()))
    ]


def pack(start: Ints, end: Ints) -> Ints:
    """The highest level on which each interval finds room; sorted by start, and then the longest first.

    Nested intervals so get their depth. What finds no room on the first `_MOST_LEVELS` gets that number.
    """
    level = np.full(len(start), _MOST_LEVELS, np.int64)
    free: list[int] = []  # per level: from when on it is free
    for number, (begin, until) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        for at, since in enumerate(free):
            if since <= begin:
                free[at] = until
                level[number] = at
                break
        else:
            if len(free) < _MOST_LEVELS:
                level[number] = len(free)
                free.append(until)
    return level
