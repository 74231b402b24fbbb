"""Synchronisations by kind and by the line that made them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from . import intervals, kinds
from .analysis import Analysis
from .grouping import grouped
from .launches import skewed_devices
from .model import Ints
from .summary import blocking
from .syncing import names_of, outermost
from .waits import CAUSES, COPY, SYNC, SyncGroup

#: The harness's own wait at the end of a profiled call.
OWN_SPAN = "dcu_asv_ext.wait"
Bools = npt.NDArray[np.bool_]


def syncs(analysis: Analysis) -> Sequence[SyncGroup]:
    """Groups of one call, line and operator; those that left the device idle longest first."""
    trace = analysis.trace
    calls = trace.calls
    rows = np.flatnonzero(blocking(calls, trace.names))
    if not len(rows):
        return []
    lines = analysis.sources.numbers_of_calls(rows)
    operators = names_of(trace, outermost(trace, calls.operator[rows]))
    own = _own(analysis, rows)
    idle = _idle(analysis)
    known = not skewed_devices(trace)
    found = []
    for members in grouped(calls.name[rows], lines, operators, own.astype(np.int64)):
        mine, first = rows[members], members[0]
        name = trace.names[calls.name[mine[0]]]
        found.append(
            SyncGroup(
                kind=kinds.sync_kind(name),
                name=name,
                count=len(mine),
                nanoseconds=int(calls.duration[mine].sum()),
                idle=int(idle[mine].sum()) if known else None,
                calls=tuple(mine.tolist()),
                source=analysis.sources.texts(lines[[first]])[0],
                operator=trace.name(int(operators[first])),
                own=bool(own[first]),
            )
        )
    return sorted(found, key=lambda one: (-(one.idle or 0), -one.nanoseconds))


def _idle(analysis: Analysis) -> Ints:
    """Of every call, ns that devices lay idle because the host waited in it."""
    found = np.zeros(len(analysis.trace.calls), np.int64)
    gaps = analysis.gaps
    cut = np.isin(gaps.cause, [CAUSES.index(SYNC), CAUSES.index(COPY)])
    np.add.at(found, gaps.call[cut], gaps.length[cut])
    return found


def _own(analysis: Analysis, rows: Ints) -> Bools:
    """Made by the profiler or by the harness."""
    trace = analysis.trace
    spans, calls = trace.spans, trace.calls
    waits = np.array([name == OWN_SPAN for name in trace.names])
    found = analysis.sources.in_profiler(rows)
    mine = np.flatnonzero(waits[spans.name]) if len(spans) else spans.name
    for thread in np.unique(spans.thread[mine]).tolist():
        chosen = mine[spans.thread[mine] == thread]
        on = calls.thread[rows] == thread
        found |= on & _inside(spans.start[chosen], spans.end[chosen], calls.start[rows])
    if len(trace.steps):
        found |= ~_inside(spans.start[trace.steps], spans.end[trace.steps], calls.start[rows])
    return found


def _inside(start: Ints, end: Ints, time: Ints) -> Bools:
    start, end = intervals.union(start, end)
    if not len(start):
        return np.zeros(len(time), np.bool_)
    at = np.searchsorted(start, time, "right") - 1
    return (at >= 0) & (time < end[np.maximum(at, 0)])
