"""Which parts of a trace a picture holds: all of it, or as many whole stretches as a page can carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .finding import Finding
from .model import Ints, Table, Trace

#: Rows that a page carries: about 30 bytes each, so that the page stays below 5 MB.
MOST_ROWS = 120_000
_PARTS = 100


@dataclass(frozen=True)
class Windows:
    """Disjoint stretches of a trace, in ns and in order. left_out: rows that lie in none of them, of `rows`.
    steps: whether the borders are those of the profiler's steps.
    """

    begin: Ints
    end: Ints
    rows: int
    left_out: int
    steps: bool

    def holds(self, table: Table) -> npt.NDArray[np.bool_]:
        """Mask of the rows that touch a window."""
        return self.touched(table.start, table.end)

    def touched(self, start: Ints, end: Ints) -> npt.NDArray[np.bool_]:
        return _touching(start, end, self.begin, self.end)


def tables(trace: Trace) -> list[Table]:
    """Those whose rows a picture shows."""
    return [trace.spans, trace.operators, trace.calls, trace.device]


def extent(trace: Trace) -> tuple[int, int]:
    """First and last nanosecond of what a picture shows; (0, 1) where that is nothing."""
    some = [table for table in tables(trace) if len(table)]
    if not some:
        return 0, 1
    begin = min(int(table.start.min()) for table in some)
    return begin, max(begin + 1, *(int(table.end.max()) for table in some))


def windows(trace: Trace, findings: Sequence[Finding], most: int = MOST_ROWS) -> Windows:
    """The whole trace if it has at most `most` rows. Else, while they fit: the first step, the longest, those in
    which the foremost findings begin, and the others in their order. A trace without steps, or with steps that are
    too large, is cut into parts of as many rows each.
    """
    begin, end = extent(trace)
    starts = np.concatenate([table.start for table in tables(trace)])
    total = len(starts)
    if total <= most:
        return Windows(_ints([begin]), _ints([end]), total, 0, False)
    borders, by_steps = _borders(trace, starts, most), True
    if borders is None:
        borders, by_steps = _even(starts), False
    borders = np.unique(np.concatenate(([begin], borders[(borders > begin) & (borders < end)], [end])))
    counts = np.histogram(starts, borders)[0]
    taken, room = [], most
    for one in _order(borders, findings, by_steps):
        if counts[one] <= room:
            taken.append(one)
            room -= int(counts[one])
    taken.sort()
    first, last = _joined(borders[:-1][taken], borders[1:][taken])
    kept = sum(int(_touching(table.start, table.end, first, last).sum()) for table in tables(trace))
    return Windows(first, last, total, total - kept, by_steps)


def _borders(trace: Trace, starts: Ints, most: int) -> Ints | None:
    """The starts of the profiler's steps, if there are several and none has more than half of what fits."""
    if len(trace.steps) < 2:
        return None
    borders = np.unique(trace.spans.start[trace.steps])
    counts = np.histogram(starts, np.concatenate((borders, [starts.max() + 1])))[0]
    return borders if counts.max() <= most // 2 else None


def _even(starts: Ints) -> Ints:
    ordered = np.sort(starts)
    return ordered[np.linspace(0, len(ordered) - 1, _PARTS + 1).astype(np.int64)]


def _order(borders: Ints, findings: Sequence[Finding], by_steps: bool) -> list[int]:
    count = len(borders) - 1
    wanted = [0]
    if by_steps:
        wanted.append(int(np.argmax(np.diff(borders))))
    for finding in findings[:10]:
        wanted.append(min(max(int(np.searchsorted(borders, finding.begin, side="right")) - 1, 0), count - 1))
    return list(dict.fromkeys([*wanted, *range(count)]))


def _joined(begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Windows that touch become one."""
    apart = begin[1:] > end[:-1]
    return begin[np.concatenate(([True], apart))], end[np.concatenate((apart, [True]))]


def _touching(start: Ints, end: Ints, begins: Ints, ends: Ints) -> npt.NDArray[np.bool_]:
    """Rows that begin in a window, or reach into one; windows are half-open."""
    at = np.searchsorted(ends, start, side="right")
    found: npt.NDArray[np.bool_] = (at < len(begins)) & (
        (begins[np.minimum(at, len(begins) - 1)] < end) | (begins[np.minimum(at, len(begins) - 1)] <= start)
    )
    return found


def _ints(values: list[Any]) -> Ints:
    return np.array(values, np.int64)
