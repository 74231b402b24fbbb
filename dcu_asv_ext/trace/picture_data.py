"""What the page's timeline draws, as plain data for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import intervals, kinds
from .analysis import Analysis
from .model import Calls, DeviceRows, Ints, Operators, Spans, Table, Trace
from .names import short_name
from .picture_lanes import CALLS, OPERATORS, Lane, lanes
from .picture_names import Names, printable
from .picture_window import MOST_ROWS, Windows, extent, windows

#: What a row is, for its colour and its legend: the numbers are those of `ROLES` in the page.
ROLES = ("operator", "span", "call", "launch", "sync", "copy_call", "memory_call", "kernel", "copy", "fill")
_ROLE = {name: number for number, name in enumerate(ROLES)}
_CALL_ROLES = {
    kinds.LAUNCH: "launch",
    kinds.SYNC: "sync",
    kinds.WAIT_EVENT: "sync",
    kinds.COPY_CALL: "copy_call",
    kinds.FILL_CALL: "copy_call",
    kinds.ALLOCATE: "memory_call",
    kinds.FREE: "memory_call",
}
_DEVICE_ROLES = {kinds.KERNEL: "kernel", kinds.COPY: "copy", kinds.FILL: "fill"}
#: Kernels that get a colour of their own; the others share one.
COLOURS = 7
_MOST_GAPS = 10_000
_BINS = 500


def picture(analysis: Analysis, most: int = MOST_ROWS, names: Names | None = None) -> dict[str, Any]:
    """span, windows, left_out: what is shown of the trace. lanes: each with columns of its rows (`s` starts, as
    differences; `d` durations; `n` names; `l` levels; `r` roles; where told: `i` further text, `b` bytes, `c` the
    row's call as its number in the page, `o` sources). gaps: the same per device, with causes. steps, overview.
    All times in ns. names: gets what the numbers of names stand for.
    """
    trace = analysis.trace
    shown = windows(trace, analysis.findings, most)
    begin, end = extent(trace)
    names = Names() if names is None else names
    found = lanes(trace, shown.holds)
    calls = _numbers_of_calls(found, len(trace.calls))
    return {
        "span": [begin, end],
        "windows": [[int(a), int(b)] for a, b in zip(shown.begin, shown.end, strict=True)],
        "left_out": shown.left_out,
        "rows": shown.rows,
        "skewed": bool(len(trace.device) and len(trace.calls) and analysis.launches.skewed),
        "lanes": [_lane(analysis, lane, names, calls) for lane in found],
        "gaps": _gaps(analysis, shown, names),
        "steps": _steps(trace),
        "overview": _overview(analysis, begin, end),
        "colours": _colours(trace, names),
        "short": _short(trace, names),
        "names": names.texts,
    }


def _numbers_of_calls(found: Sequence[Lane], calls: int) -> Ints:
    """Row of `Trace.calls` -> number of that row among all rows of the page, in the order of the lanes; or -1."""
    numbers, at = np.full(calls, -1, np.int64), 0
    for lane in found:
        if lane.kind == CALLS:
            numbers[lane.row] = np.arange(at, at + len(lane.row))
        at += len(lane.row)
    return numbers


def _lane(analysis: Analysis, lane: Lane, names: Names, calls: Ints) -> dict[str, Any]:
    trace = analysis.trace
    start, end = lane.column(lambda table: table.start), lane.column(lambda table: table.end)
    name = lane.column(_name)
    found: dict[str, Any] = {
        "kind": lane.kind,
        "group": printable(lane.group),
        "label": printable(lane.label),
        "levels": lane.levels,
        "hidden": lane.hidden,
        "busy": intervals.length(*intervals.union(start, end)),
        "longest": names.number(trace.names[name[np.argmax(end - start)]]),
        "s": np.diff(start, prepend=0).tolist(),
        "d": (end - start).tolist(),
        "n": _texts(trace, names, name),
        "l": lane.level.tolist(),
        "r": lane.column(_role).tolist(),
    }
    further = lane.column(_further)
    if (further >= 0).any():
        found["i"] = _texts(trace, names, further)
    size = lane.column(_bytes)
    if (size >= 0).any():
        found["b"] = size.tolist()
    if lane.kind != OPERATORS:
        made_by = lane.column(lambda table: table.call if isinstance(table, DeviceRows) else _none(table))
        if (made_by >= 0).any():
            found["c"] = np.where(made_by >= 0, calls[np.maximum(made_by, 0)], -1).tolist()
    lines = np.array([""] * len(lane.row), object)
    for number, table in enumerate(lane.tables):
        mine = lane.table == number
        lines[mine] = _sources(analysis, table, lane.row[mine])
    if any(lines):
        found["o"] = [names.number(line) if line else -1 for line in lines]
    return found


def _none(table: Table) -> Ints:
    return np.full(len(table), -1, np.int64)


def _name(table: Table) -> Ints:
    assert isinstance(table, (Spans, Operators, Calls, DeviceRows))
    return table.name


def _role(table: Table) -> Ints:
    if isinstance(table, (Calls, DeviceRows)):
        roles = _CALL_ROLES if isinstance(table, Calls) else _DEVICE_ROLES
        translated = [_ROLE[roles.get(kind, "call")] for kind in range(10)]
        return np.array(translated)[table.kind]
    return np.full(len(table), _ROLE["operator" if isinstance(table, Operators) else "span"], np.int64)


def _further(table: Table) -> Ints:
    """A kernel's grid and block, an operator's shapes."""
    if isinstance(table, DeviceRows):
        return table.shape
    return table.shapes if isinstance(table, Operators) else _none(table)


def _bytes(table: Table) -> Ints:
    return table.bytes if isinstance(table, (DeviceRows, Calls)) else _none(table)


def _texts(trace: Trace, names: Names, numbers: Ints) -> list[int]:
    """Numbers of the trace's names as numbers of the page's."""
    distinct, where = np.unique(numbers, return_inverse=True)
    translated = np.array([names.number(trace.names[one]) if one >= 0 else -1 for one in distinct], np.int64)
    chosen: list[int] = translated[where].tolist() if len(distinct) else []
    return chosen


def _sources(analysis: Analysis, table: Table, rows: Ints) -> list[str]:
    """Lines of code of host rows; a device row's are those of its call, and are told there."""
    of = analysis.sources
    if isinstance(table, Calls):
        return of.of_calls(rows)
    if isinstance(table, Operators):
        return of.of_operators(rows)
    return of.of(table.thread[rows], table.start[rows]) if isinstance(table, Spans) else [""] * len(rows)


def _gaps(analysis: Analysis, shown: Windows, names: Names) -> dict[str, dict[str, Any]]:
    """Per device; the shortest are left out where there are very many."""
    gaps = analysis.gaps
    inside = np.flatnonzero(shown.touched(gaps.begin, gaps.end))
    length = (gaps.end - gaps.begin)[inside]
    if len(inside) > _MOST_GAPS:
        inside = inside[np.argpartition(-length, _MOST_GAPS)[:_MOST_GAPS]]
    inside = inside[np.argsort(gaps.begin[inside], kind="stable")]
    found: dict[str, dict[str, Any]] = {}
    for device in np.unique(gaps.device[inside]).tolist():
        mine = inside[gaps.device[inside] == device]
        lines = analysis.sources.of_calls(gaps.call[mine])
        found[str(device)] = {
            "s": np.diff(gaps.begin[mine], prepend=0).tolist(),
            "d": (gaps.end - gaps.begin)[mine].tolist(),
            "k": gaps.cause[mine].tolist(),
            "o": [names.number(line) if line else -1 for line in lines],
        }
    return found


def _steps(trace: Trace) -> list[list[Any]]:
    """Begin, end and number of the profiler's steps."""
    spans = trace.spans
    return [
        [
            int(spans.start[row]),
            int(spans.end[row]),
            printable(trace.name(int(spans.name[row])).split("#")[-1]),
        ]
        for row in trace.steps
    ]


def _overview(analysis: Analysis, begin: int, end: int) -> list[dict[str, Any]]:
    """Of the whole trace, how much of each of `_BINS` parts (in percent) a device was busy; without a device, how
    much of it some operator ran."""
    busy = [(str(one.device), one.busy) for one in analysis.activities]
    if not busy:
        operators = analysis.trace.operators
        busy = [("", intervals.union(operators.start, operators.end))]
    edges = np.linspace(begin, end, _BINS + 1)
    return [{"device": device, "busy": _shares(spans, edges)} for device, spans in busy if len(spans[0])]


def _shares(spans: tuple[Ints, Ints], edges: Any) -> list[int]:
    start, end = spans
    done = np.concatenate(([0], np.cumsum(end - start)))
    times = np.stack((start, end), axis=1).ravel()
    until = np.interp(edges, times, np.stack((done[:-1], done[1:]), axis=1).ravel())
    shares: list[int] = np.ceil(100 * np.diff(until) / np.diff(edges)).astype(int).clip(0, 100).tolist()
    return shares


def _colours(trace: Trace, names: Names) -> list[int]:
    """The names of the kernels that take most time, the longest first: they get a colour each."""
    kernels = trace.device.kind == kinds.KERNEL
    if not kernels.any():
        return []
    time = np.bincount(trace.device.name[kernels], trace.device.duration[kernels])
    return [names.number(trace.names[one]) for one in np.argsort(-time, kind="stable")[:COLOURS] if time[one]]


def _short(trace: Trace, names: Names) -> dict[str, str]:
    """Names of kernels as people say them, where that is not the whole name."""
    found = {}
    for number in np.unique(trace.device.name[trace.device.kind == kinds.KERNEL]).tolist():
        name = trace.names[number]
        short = short_name(name)
        if short != name and (known := names.known(name)) is not None:
            found[str(known)] = printable(short)
    return found
