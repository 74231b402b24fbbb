"""Which call launched a device row, and which operator made a call."""

from __future__ import annotations

import numpy as np

from . import kinds
from .model import Ints, Trace

_MADE_BY = {
    kinds.KERNEL: (kinds.LAUNCH,),
    # A memset may be a kernel, and a copy within a device too.
    kinds.COPY: (kinds.COPY_CALL, kinds.LAUNCH),
    kinds.FILL: (kinds.FILL_CALL, kinds.LAUNCH),
}


def link(trace: Trace) -> None:
    """Fill `call`, `operator` and `parent`, and what a copy's row does not tell but its call does."""
    trace.operators.parent = _parents(trace)
    trace.calls.operator = _operators_of_calls(trace)
    trace.device.call = _calls_of_rows(trace)
    trace.device.operator = _operators_of_rows(trace)
    _fill_copies(trace)


def _parents(trace: Trace) -> Ints:
    """Of nested stretches on each thread: the innermost around each."""
    table = trace.operators
    parent = np.full(len(table), -1, np.int64)
    starts, ends = table.start.tolist(), table.end.tolist()
    for thread in np.unique(table.thread):
        rows = np.flatnonzero(table.thread == thread)
        # Equal starts: the longer is outside.
        rows = rows[np.lexsort((-table.end[rows], table.start[rows]))]
        around: list[int] = []
        for row in rows.tolist():
            while around and (ends[around[-1]] < ends[row] or ends[around[-1]] <= starts[row]):
                around.pop()
            parent[row] = around[-1] if around else -1
            around.append(row)
    return parent


def innermost(trace: Trace, thread: Ints, time: Ints) -> Ints:
    """Row of the innermost operator around each (thread, time); -1 where there is none."""
    table = trace.operators
    found = np.full(len(time), -1, np.int64)
    for one in np.unique(thread) if len(table) else ():
        rows = np.flatnonzero(table.thread == one)
        asked = np.flatnonzero(thread == one)
        if not len(rows):
            continue
        rows = rows[np.lexsort((-table.end[rows], table.start[rows]))]
        at = np.searchsorted(table.start[rows], time[asked], side="right") - 1
        candidate = np.where(at >= 0, rows[np.maximum(at, 0)], -1)
        # The last to begin before it may have ended: then it is inside of one of those around that.
        while True:
            over = (candidate >= 0) & (table.end[np.maximum(candidate, 0)] < time[asked])
            if not over.any():
                break
            candidate = np.where(over, table.parent[np.maximum(candidate, 0)], candidate)
        found[asked] = candidate
    return found


def _operators_of_calls(trace: Trace) -> Ints:
    return innermost(trace, trace.calls.thread, trace.calls.start)


def _calls_of_rows(trace: Trace) -> Ints:
    """By correlation. Several rows and calls may share one: then those of a kind, in their order."""
    device, calls = trace.device, trace.calls
    found = np.full(len(device), -1, np.int64)
    for kind, makers in _MADE_BY.items():
        for maker in makers:
            rows = np.flatnonzero((device.kind == kind) & (device.correlation >= 0) & (found < 0))
            made = np.flatnonzero((calls.kind == maker) & (calls.correlation >= 0))
            if not len(rows) or not len(made):
                continue
            if maker == kinds.LAUNCH and kind != kinds.KERNEL:
                # Not a launch that a kernel has already been told to be of.
                made = made[~np.isin(made, found)]
            _match(device.correlation, rows, calls.correlation, made, found)
    return found


def _match(row_ids: Ints, rows: Ints, call_ids: Ints, calls: Ints, found: Ints) -> None:
    rows = rows[np.argsort(row_ids[rows], kind="stable")]
    calls = calls[np.argsort(call_ids[calls], kind="stable")]
    ids, of_calls = row_ids[rows], call_ids[calls]
    first = np.searchsorted(of_calls, ids, side="left")
    count = np.searchsorted(of_calls, ids, side="right") - first
    nth = np.arange(len(rows)) - np.searchsorted(ids, ids, side="left")
    rows_each = np.searchsorted(ids, ids, side="right") - np.searchsorted(ids, ids, side="left")
    # One graph launch makes many kernels; lost launches leave fewer calls than kernels, in an order nobody knows.
    sure = (count > 0) & ((count == 1) | (count == rows_each))
    at = first + np.minimum(nth, np.maximum(count - 1, 0))
    found[rows[sure]] = calls[at[sure]]


def _operators_of_rows(trace: Trace) -> Ints:
    """Through the call that launched it; else by the number that the profiler gives both."""
    device, operators = trace.device, trace.operators
    called = device.call >= 0
    found = np.where(called, trace.calls.operator[np.maximum(device.call, 0)] if len(trace.calls) else -1, -1)
    open_rows = np.flatnonzero((found < 0) & (device.external >= 0))
    known = np.flatnonzero(operators.external >= 0)
    if len(open_rows) and len(known):
        known = known[np.argsort(operators.external[known], kind="stable")]
        ids = operators.external[known]
        at = np.minimum(np.searchsorted(ids, device.external[open_rows]), len(known) - 1)
        same = ids[at] == device.external[open_rows]
        found[open_rows[same]] = known[at[same]]
    return found.astype(np.int64)


def _fill_copies(trace: Trace) -> None:
    device, calls = trace.device, trace.calls
    linked = np.flatnonzero((device.call >= 0) & (device.kind != kinds.KERNEL))
    if not len(linked):
        return
    call = device.call[linked]
    copying = np.isin(calls.kind[call], (kinds.COPY_CALL, kinds.FILL_CALL))
    linked, call = linked[copying], call[copying]
    untold = device.bytes[linked] < 0
    device.bytes[linked[untold]] = calls.bytes[call[untold]]
    undirected = (device.direction[linked] == kinds.UNKNOWN) & (calls.direction[call] >= 0)
    device.direction[linked[undirected]] = calls.direction[call[undirected]]
