"""The profiled calls of a trace (`ProfilerStep#k`): their rows alone, and each by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .model import Ints, Table, Trace

Bools = npt.NDArray[np.bool_]


def outermost(start: Ints, end: Ints) -> Bools:
    """Of spans that are named as steps those that are: the code in a step may mark steps of its own, which would
    share the step's work among both."""
    found = np.zeros(len(start), np.bool_)
    last = None
    for at in np.lexsort((-end, start)).tolist():
        if last is None or start[at] >= last or end[at] > last:
            found[at], last = True, end[at]
    return found


def within_steps(trace: Trace) -> Trace:
    """The trace without what lies outside of every step: work between the calls, the profiler's own at its ends.

    A device row belongs to the step in which it was called for; one without a known call, to that in which it ran.
    A trace without steps stays as it is.
    """
    if not len(trace.steps):
        return trace
    edges = _edges(trace)
    inside = {
        name: _number(edges, getattr(trace, name).start) >= 0 for name in ("calls", "operators", "memory")
    }
    inside |= {name: _overlaps(edges, getattr(trace, name)) for name in ("frames", "spans")}
    rows = step_of_rows(trace) >= 0
    device = trace.device.take(rows)
    calls, operators = trace.calls.take(inside["calls"]), trace.operators.take(inside["operators"])
    device.call = _renumbered(device.call, inside["calls"])
    device.operator = _renumbered(device.operator, inside["operators"])
    calls.operator = _renumbered(calls.operator, inside["operators"])
    operators.parent = _renumbered(operators.parent, inside["operators"])
    faults = list(trace.faults)
    lost = int((~rows & (trace.device.call < 0)).sum())
    if lost:
        faults.append(
            f"{lost} device rows without a launching call lie outside of the profiled calls: left out"
        )
    return replace(
        trace,
        device=device,
        calls=calls,
        operators=operators,
        frames=trace.frames.take(inside["frames"]),
        spans=trace.spans.take(inside["spans"]),
        memory=trace.memory.take(inside["memory"]),
        steps=_renumbered(trace.steps, inside["spans"]),
        faults=faults,
    )


def step_of_rows(trace: Trace) -> Ints:
    """Of each device row the number of its step, in the order of time; -1 for those of none."""
    device = trace.device
    if not len(trace.steps):
        return np.zeros(len(device), np.int64)
    edges = _edges(trace)
    time = device.start.copy()
    called = device.call >= 0
    time[called] = trace.calls.start[device.call[called]]
    return _number(edges, time)


def each_step(trace: Trace) -> list[Trace]:
    """Traces with the device rows of one step each; their other rows are those of all steps."""
    step = step_of_rows(trace)
    count = max(len(trace.steps), 1)
    return [replace(trace, device=trace.device.take(step == number)) for number in range(count)]


def step_of_calls(trace: Trace) -> Ints:
    """Of each row of `Trace.calls`, as `step_of_rows`."""
    if not len(trace.steps):
        return np.zeros(len(trace.calls), np.int64)
    return _number(_edges(trace), trace.calls.start)


def _edges(trace: Trace) -> tuple[Ints, Ints]:
    order = np.argsort(trace.spans.start[trace.steps], kind="stable")
    return trace.spans.start[trace.steps][order], trace.spans.end[trace.steps][order]


def _number(edges: tuple[Ints, Ints], time: Ints) -> Ints:
    """The step that began last before each time, if it has not ended."""
    start, end = edges
    at = np.searchsorted(start, time, "right") - 1
    return np.where((at >= 0) & (time < end[np.maximum(at, 0)]), at, -1)


def _overlaps(edges: tuple[Ints, Ints], table: Table) -> Bools:
    """Also of what began before a step and goes on in it, as the frames of the code that makes the calls."""
    start, end = edges
    after = np.searchsorted(np.maximum.accumulate(end), table.start, "right")
    found: Bools = (after < len(start)) & (start[np.minimum(after, len(start) - 1)] < table.end)
    return found


def _renumbered(rows: Ints, kept: Bools) -> Ints:
    """Numbers of rows among those that were kept; -1 for the others."""
    numbers = np.full(len(kept) + 1, -1, np.int64)
    numbers[:-1][kept] = np.arange(int(kept.sum()))
    return numbers[rows]
