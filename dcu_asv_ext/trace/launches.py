"""How far the host is ahead of the device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import kinds
from .analysis import Analysis
from .model import Ints, Trace, named
from .summary import blocking
from .waits import CAUSES, HOST_LATE, Launches, Stretch

#: What two clocks that were matched by the tracer may differ, ns.
TOLERANCE = 2000
#: Share of rows that may lie before their calls before the clocks are held to differ.
_FEW = 0.01
#: Rows in a row that make a stretch.
_LEAST_ROWS = 5
_DTOH = kinds.DIRECTIONS.index("DtoH")
#: No row is so far behind its call, ns, unless the clocks differ.
_FAR = 1_000_000_000
#: A row is short where it runs at most so many times as long as the device had waited for it.
_SHORT = 4

Bools = npt.NDArray[np.bool_]


def launches(analysis: Analysis) -> Launches:
    trace = analysis.trace
    rows = np.flatnonzero(trace.device.call >= 0)
    skew = skewed_devices(trace)
    if not len(rows):
        reason = "the trace has no device rows with a launching call"
        return Launches(0, None, None, None, None, None, False, (), None, reason)
    first = _first_of_calls(trace, rows)
    call = trace.device.call[first]
    duration = trace.calls.duration[call[trace.calls.kind[call] == kinds.LAUNCH]]
    call_median = _middle(duration if len(duration) else trace.calls.duration[call])
    if skew:
        reason = "the clocks of host and device differ: device rows lie before their calls"
        return Launches(len(rows), None, None, call_median, None, None, True, (), None, reason)
    delay = trace.device.start[first] - trace.calls.start[call]
    depth = np.concatenate([_depths(trace, rows[trace.on(device)[rows]]) for device in trace.devices])
    stretches, share, reason = _launch_bound(analysis)
    return Launches(
        len(rows),
        _middle(delay),
        int(np.percentile(delay, 95)),
        call_median,
        _middle(depth),
        int(depth.max()),
        False,
        stretches,
        share,
        reason,
    )


def _middle(values: Ints) -> int:
    return int(np.median(values))


def _first_of_calls(trace: Trace, rows: Ints) -> Ints:
    """The first row of each call: a graph's later ones wait for those before them."""
    return rows[np.unique(trace.device.call[rows], return_index=True)[1]]


def _depths(trace: Trace, rows: Ints) -> Ints:
    """At each submission, the device's rows that were submitted and had not started."""
    submitted = np.sort(trace.calls.start[trace.device.call[rows]])
    started = np.sort(trace.device.start[rows])
    return np.searchsorted(submitted, submitted, "left") - np.searchsorted(started, submitted, "right")


def skewed_devices(trace: Trace) -> frozenset[int]:
    """Devices whose clock is not the host's: rows start before their call does, or end after the host has waited for
    them, or all lie far behind."""
    device, calls = trace.device, trace.calls
    linked = np.flatnonzero(device.call >= 0)
    call = device.call[linked]
    early = device.start[linked] < calls.start[call] - TOLERANCE
    waits = blocking(calls, trace.names)
    # Only copies to the host are surely done when their call returns.
    to_host = (device.direction[linked] == _DTOH) | (calls.direction[call] == _DTOH)
    late = waits[call] & to_host & (device.end[linked] > calls.end[call] + TOLERANCE)
    found = set()
    for one in trace.devices:
        mine = trace.on(one)[linked]
        if mine.any() and (device.start[linked] - calls.start[call])[mine].min() > _FAR:
            found.add(one)
        wrong = int((early | late)[mine].sum()) + _unfinished(trace, linked[mine], waits)
        if wrong > _FEW * max(int(mine.sum()), 1):
            found.add(one)
    return frozenset(found)


def _unfinished(trace: Trace, rows: Ints, waits: Bools) -> int:
    """Waits for a whole device that ended before a row did that had been submitted before them."""
    if len(trace.devices) > 1 or not len(rows):
        return 0  # nothing says which device was waited for
    calls = trace.calls
    whole = named(lambda name: kinds.sync_kind(name) == "device", trace.names, calls.name)
    wait = np.flatnonzero(waits & (calls.kind == kinds.SYNC) & whole)
    submitted = calls.end[trace.device.call[rows]]
    order = np.argsort(submitted, kind="stable")
    last = np.maximum.accumulate(trace.device.end[rows][order])
    at = np.searchsorted(submitted[order], calls.start[wait], "right") - 1
    wait, at = wait[at >= 0], at[at >= 0]
    return int((last[at] > calls.end[wait] + TOLERANCE).sum())


@dataclass(frozen=True)
class Submissions:
    """Rows of one device in the order in which they ran.

    dry: when the device had done all that came before each (the first row: its own start).
    last: the row that ended then. usual: ns from a call's start to its row's start on an idle device.
    """

    rows: Ints
    dry: Ints
    last: Ints
    usual: int

    @staticmethod
    def of(trace: Trace, device: int) -> Submissions:
        rows = np.flatnonzero(trace.on(device))
        end = trace.device.end[rows]
        reach = np.maximum.accumulate(end)
        newest = np.maximum.accumulate(np.where(end >= reach, np.arange(len(rows)), 0))
        dry = np.concatenate((trace.device.start[rows[:1]], reach[:-1]))
        last = rows[np.concatenate((np.zeros(min(len(rows), 1), np.int64), newest[:-1]))]
        return Submissions(rows, dry, last, _usual_delay(trace, rows, dry))


def _usual_delay(trace: Trace, rows: Ints, dry: Ints) -> int:
    """Median over the rows that were called for when nothing ran any more; else how long such calls take."""
    linked = np.flatnonzero(trace.device.call[rows] >= 0)
    call = trace.device.call[rows[linked]]
    idle = trace.calls.start[call] >= dry[linked]
    if idle.any():
        return _middle((trace.device.start[rows[linked]] - trace.calls.start[call])[idle])
    return _middle(trace.calls.duration[call]) if len(call) else 0


def _launch_bound(analysis: Analysis) -> tuple[tuple[Stretch, ...], float | None, str]:
    trace = analysis.trace
    rows = trace.device
    if (rows.call < 0).mean() > _FEW:
        return (), None, "device rows without a launching call: it cannot be told which were submitted late"
    gaps = analysis.gaps
    found: list[Stretch] = []
    for activity in analysis.activities:
        mine = np.flatnonzero(trace.on(activity.device))
        of_device = gaps.device == activity.device
        late = of_device & (gaps.cause == CAUSES.index(HOST_LATE))
        short = rows.duration[gaps.after] <= _SHORT * (gaps.end - gaps.begin)
        begin_of = np.full(len(rows), -1, np.int64)
        chosen = late & short
        begin_of[gaps.after[chosen]] = gaps.begin[chosen]
        found += _stretches(analysis, activity.device, mine, begin_of[mine])
    span = sum(one.span for one in analysis.activities)
    if not span:
        return (), None, "the trace has no rows of a device that take time"
    inside = sum(one.end - one.begin for one in found)
    return tuple(found), inside / span, ""


def _stretches(analysis: Analysis, device: int, rows: Ints, begin: Ints) -> list[Stretch]:
    """Runs of rows with a begin >= 0."""
    table, sources = analysis.trace.device, analysis.sources
    edges = np.diff(np.concatenate(([0], (begin >= 0).astype(np.int64), [0])))
    first, stop = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    enough = stop - first >= _LEAST_ROWS
    first, stop = first[enough], stop[enough]
    busy = np.concatenate(([0], np.cumsum(table.duration[rows])))
    lines = sources.numbers_of_calls(np.where(begin >= 0, table.call[rows], -1))
    return [
        Stretch(
            device=device,
            begin=int(begin[one]),
            end=int(table.end[rows[end - 1]]),
            rows=end - one,
            busy=int(busy[end] - busy[one]),
            source=sources.texts(np.bincount(lines[one:end]).argmax(0, keepdims=True))[0],
        )
        for one, end in zip(first.tolist(), stop.tolist(), strict=True)
    ]
