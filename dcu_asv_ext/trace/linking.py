"""Which call launched a device row, and which operator made a call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import kinds
from .model import Bools, Ints, Trace, named


@dataclass(frozen=True)
class _Makers:
    """Rows, and the calls that may have made them. several: those that may make more than one row each."""

    rows: Bools
    calls: Bools
    several: Bools


def link(trace: Trace, processes: Ints) -> None:
    """Fill `call`, `operator` and `parent`, and what a copy's row does not tell but its call does.

    processes: of each thread of the trace. What is not sure stays -1: a correlation that several calls share, of
    which some were lost, says nothing.
    """
    trace.operators.parent = _parents(trace)
    trace.calls.operator = _operators_of_calls(trace)
    trace.device.call = _calls_of_rows(trace, processes)
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
            over = (candidate >= 0) & (table.end[np.maximum(candidate, 0)] <= time[asked])
            if not over.any():
                break
            candidate = np.where(over, table.parent[np.maximum(candidate, 0)], candidate)
        found[asked] = candidate
    return found


def _operators_of_calls(trace: Trace) -> Ints:
    """By the number that the profiler gives both, where the times agree; else by the times."""
    calls, operators = trace.calls, trace.operators
    found = innermost(trace, calls.thread, calls.start)
    told = _operators_by_number(trace, calls.external)
    rows = np.flatnonzero(told >= 0)
    told = told[rows]
    around = (operators.start[told] <= calls.start[rows]) & (calls.start[rows] <= operators.end[told])
    sure = around & (operators.thread[told] == calls.thread[rows])
    found[rows[sure]] = told[sure]
    return found


def _operators_of_rows(trace: Trace) -> Ints:
    """Through the call that launched it; else by the number that the profiler gives both."""
    device = trace.device
    found = _operators_by_number(trace, device.external)
    called = np.flatnonzero(device.call >= 0)
    of_call = trace.calls.operator[device.call[called]]
    found[called[of_call >= 0]] = of_call[of_call >= 0]
    return found


def _operators_by_number(trace: Trace, external: Ints) -> Ints:
    """Of each External id; -1 where no operator has it, or more than one. They begin at 1."""
    ids, first, count = np.unique(trace.operators.external, return_index=True, return_counts=True)
    ids, first = ids[(count == 1) & (ids > 0)], first[(count == 1) & (ids > 0)]
    if not len(ids):
        return np.full(len(external), -1, np.int64)
    at = np.minimum(np.searchsorted(ids, external), len(ids) - 1)
    return np.where(ids[at] == external, first[at], -1)


def _calls_of_rows(trace: Trace, processes: Ints) -> Ints:
    device, calls = trace.device, trace.calls
    found = np.full(len(device), -1, np.int64)
    of_rows, of_calls = _numbers(trace, processes)
    for makers in _makers(trace):
        rows = np.flatnonzero(makers.rows & (device.correlation >= 0) & (found < 0))
        made = np.flatnonzero(makers.calls & (calls.correlation >= 0))
        if len(rows) and len(made):
            rows, made = (
                rows[np.argsort(of_rows[rows], kind="stable")],
                made[np.argsort(of_calls[made], kind="stable")],
            )
            _match(
                _Shared.of(of_rows[rows], rows, device.lane[rows]),
                _Shared.of(of_calls[made], made, calls.thread[made]),
                makers.several[made],
                found,
            )
    return found


def _makers(trace: Trace) -> list[_Makers]:
    device, calls = trace.device, trace.calls
    graph = named(kinds.launches_graph, trace.names, calls.name) & (calls.kind == kinds.LAUNCH)
    moves = np.isin(calls.kind, (kinds.COPY_CALL, kinds.FILL_CALL))
    kernels = device.kind == kinds.KERNEL
    return [
        _Makers(kernels, calls.kind == kinds.LAUNCH, graph),
        _Makers(kernels & named(kinds.copies_as_kernel, trace.names, device.name), moves, moves),
        _Makers(device.kind == kinds.COPY, calls.kind == kinds.COPY_CALL, moves),
        _Makers(device.kind == kinds.FILL, calls.kind == kinds.FILL_CALL, moves),
        _Makers(~kernels, graph, graph),
    ]


def _numbers(trace: Trace, processes: Ints) -> tuple[Ints, Ints]:
    """What is equal for a row and its call: the correlation, where one process made the calls. Several processes
    count alike: there the External id is a part of it."""
    device, calls = trace.device, trace.calls
    if len(np.unique(processes[calls.thread])) < 2:
        return device.correlation, calls.correlation
    both = np.stack(
        (
            np.concatenate((device.correlation, calls.correlation)),
            np.concatenate((device.external, calls.external)),
        )
    )
    _, numbers = np.unique(both, axis=1, return_inverse=True)
    numbers = numbers.reshape(-1).astype(np.int64)
    return numbers[: len(device)], numbers[len(device) :]


@dataclass(frozen=True)
class _Shared:
    """Rows or calls, sorted by the number that they share. alike: of each number, whether all are of one place."""

    members: Ints
    number: Ints
    first: Ints
    count: Ints
    alike: Bools

    @classmethod
    def of(cls, numbers: Ints, members: Ints, place: Ints) -> _Shared:
        number, first, count = np.unique(numbers, return_index=True, return_counts=True)
        alike = np.minimum.reduceat(place, first) == np.maximum.reduceat(place, first)
        return cls(members, number, first, count, alike)


def _match(rows: _Shared, calls: _Shared, several: Bools, found: Ints) -> None:
    """several: of each call, whether it may make more than one row.

    As many rows as calls are each other's in their order, if one thread put them into one queue. More rows than
    calls are a call's own only where it may make several: else launches were lost, and nobody knows which.
    """
    _, of_rows, of_calls = np.intersect1d(rows.number, calls.number, assume_unique=True, return_indices=True)
    row_count, call_count = rows.count[of_rows], calls.count[of_calls]
    may = np.logical_or.reduceat(several, calls.first)[of_calls]
    alike = rows.alike[of_rows] & calls.alike[of_calls] & ~may
    in_order = (row_count == call_count) & ((row_count == 1) | alike)
    spread = (call_count == 1) & (row_count > 1) & may
    sure = in_order | spread
    of_rows, of_calls, spread, row_count = of_rows[sure], of_calls[sure], spread[sure], row_count[sure]
    nth = np.arange(row_count.sum()) - np.repeat(np.cumsum(row_count) - row_count, row_count)
    row = rows.members[np.repeat(rows.first[of_rows], row_count) + nth]
    found[row] = calls.members[
        np.repeat(calls.first[of_calls], row_count) + np.where(np.repeat(spread, row_count), 0, nth)
    ]


def _fill_copies(trace: Trace) -> None:
    """The bytes and the direction of the only row of a copying call are those of the call."""
    device, calls = trace.device, trace.calls
    linked = np.flatnonzero(device.call >= 0)
    call = device.call[linked]
    rows_each = np.bincount(call, minlength=len(calls))
    moves = np.isin(calls.kind[call], (kinds.COPY_CALL, kinds.FILL_CALL))
    linked, call = linked[moves], call[moves]
    untold = (device.bytes[linked] < 0) & (rows_each[call] == 1)
    device.bytes[linked[untold]] = calls.bytes[call[untold]]
    undirected = np.isin(device.direction[linked], (-1, kinds.UNKNOWN)) & (
        calls.kind[call] == kinds.COPY_CALL
    )
    device.direction[linked[undirected]] = calls.direction[call[undirected]]
