"""Several streams that run in turn, though each had its work early enough to run beside the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import intervals, kinds, units
from ..analysis import Analysis
from ..finding import Finding
from ..model import Ints, Trace, named
from ..waits import CAUSES, STREAM
from .scope import Scope, at, covered, places

KIND = "streams that do not overlap"
#: ns. A row that starts so long after another stream's row ended may have waited for it.
SOON = 20_000
#: Share of the shorter stream's time in which streams that overlap run side by side.
OVERLAPPED = 0.2
#: Rows that waited, from which on it is no accident.
LEAST_ROWS = 2

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Handovers:
    """Rows that started as soon as a row of another lane of the device ended, and could have run before.

    rows, others: of `Trace.device`. beside: ns of each, and of what its lane does after it, that could have run
    beside the other lanes.
    """

    rows: Ints
    others: Ints
    beside: Ints

    def take(self, chosen: Bools) -> Handovers:
        return Handovers(self.rows[chosen], self.others[chosen], self.beside[chosen])


def detect(analysis: Analysis) -> Iterable[Finding]:
    if analysis.launches.skewed:
        return
    for device in analysis.trace.devices:
        yield from _of_device(analysis.scope, device)


def _of_device(scope: Scope, device: int) -> Iterator[Finding]:
    trace = scope.trace
    found = _two_ways(trace, _handovers(scope, device))
    if len(found.rows) < LEAST_ROWS:
        return
    table = trace.device
    lanes = np.unique(np.append(table.lane[found.rows], table.lane[found.others]))
    unions = [
        intervals.union(table.start[table.lane == lane], table.end[table.lane == lane]) for lane in lanes
    ]
    busy = sorted(intervals.length(*one) for one in unions)
    starts, ends = (np.concatenate([one[side] for one in unions]) for side in (0, 1))
    together = intervals.length(*intervals.at_least(starts, ends, 2))
    shorter = sum(busy[:-1])
    if together > OVERLAPPED * shorter:
        return
    waited = _gaps_between(scope, found)
    size = min(int(found.beside.sum()), shorter - together) + int(scope.claims[waited].sum())
    if scope.worth(size):
        yield _finding(scope, device, found, lanes, size, together / max(shorter, 1))


def _finding(
    scope: Scope, device: int, found: Handovers, lanes: Ints, size: int, overlapped: float
) -> Finding:
    trace = scope.trace
    waits = _wait_calls(trace, found.rows)
    seen = waits[waits >= 0]
    sources = scope.analysis.sources
    lines = places(sources.of_calls(seen)) if len(seen) else []
    lines = lines or places(sources.of_calls(trace.device.call[found.rows]))
    names = ", ".join(str(trace.lanes[lane].stream) for lane in lanes.tolist())
    reason = (
        "each waits for an event of the other"
        if len(seen)
        else "each waits for an event of the other, or finds the device full: the trace does not tell which"
    )
    text = (
        f"Streams {names} run in turn: {units.share(overlapped)} of the shorter one's time overlaps, though"
        f" {len(found.rows)} of their kernels and copies were submitted before what they waited for"
        f"{at(', '.join(lines[:3]))} had ended ({reason}). Side by side they would take {scope.part(size)} less."
    )
    table = trace.device
    return scope.finding(
        KIND,
        taken=size,
        gain=size,
        text=text,
        next_step=(
            "Wait only for what is needed: record the event right after the work that the other stream reads, use two"
            " buffers in turn; where the data of one is the other's input, one stream is enough."
        ),
        events=(
            np.minimum(table.start[found.rows], table.start[found.others]),
            np.maximum(table.end[found.rows], table.end[found.others]),
        ),
        source=(lines or [""])[0],
        device=device,
        streams=[trace.lanes[lane].stream for lane in lanes.tolist()],
        handovers=len(found.rows),
        overlapped=overlapped,
        lines=lines[:5],
    )


def _handovers(scope: Scope, device: int) -> Handovers:
    trace = scope.trace
    table = trace.device
    rows = np.flatnonzero(trace.on(device) & scope.rows)
    # A collective waits for what it sends, and what is behind it for what it receives: data, not streams.
    exchanges = named(kinds.is_collective, trace.names, table.name)
    parts = []
    for lane in np.unique(table.lane[rows]).tolist():
        mine, others = rows[table.lane[rows] == lane], rows[table.lane[rows] != lane]
        call = table.call[mine]
        submitted = np.where(call >= 0, trace.calls.end[np.maximum(call, 0)] if len(trace.calls) else 0, -1)
        done = np.append(-1, np.maximum.accumulate(table.end[mine])[:-1])  # what came before in the lane
        ready = np.maximum(done, submitted)
        other = _ended_last(table.end, others, table.start[mine])
        end = table.end[np.maximum(other, 0)]
        soon = table.start[mine] - end <= np.maximum(SOON, table.duration[np.maximum(other, 0)] // 2)
        waited = covered(intervals.union(table.start[others], table.end[others]), ready, table.start[mine])
        chosen = (call >= 0) & (other >= 0) & soon & (ready < end) & (waited > 0)
        chosen &= ~exchanges[mine] & ~exchanges[other]
        work = _until_next(table.duration[mine], chosen)
        parts.append(Handovers(mine[chosen], other[chosen], np.minimum(waited[chosen], work)))
    if not parts:
        return Handovers(*(np.zeros(0, np.int64) for _ in range(3)))
    found = Handovers(
        *(np.concatenate([getattr(one, name) for one in parts]) for name in ("rows", "others", "beside"))
    )
    if (trace.calls.kind == kinds.WAIT_EVENT).any():
        # Such calls are in the trace: a row that none stands before waited for something else.
        found = found.take(_wait_calls(trace, found.rows) >= 0)
    return found


def _until_next(duration: Ints, chosen: Bools) -> Ints:
    """Of each chosen row, what its lane does from it until the next chosen one: all that waits with it."""
    so_far = np.append(0, np.cumsum(duration))
    first = np.flatnonzero(chosen)
    found: Ints = np.diff(so_far[np.append(first, len(duration))])
    return found


def _ended_last(end: Ints, others: Ints, start: Ints) -> Ints:
    """The row among `others` that ended last before each start, -1 for none."""
    if not len(others):
        return np.full(len(start), -1, np.int64)
    order = others[np.argsort(end[others], kind="stable")]
    place = np.searchsorted(end[order], start, "right") - 1
    return np.where(place >= 0, order[np.maximum(place, 0)], -1)


def _two_ways(trace: Trace, found: Handovers) -> Handovers:
    """Without those that are as they must be: a kernel that waits for the copy of its input, a copy that waits for
    the kernel that made its content. Only where both happen again and again do copies and kernels take turns."""
    copies = trace.device.kind != kinds.KERNEL
    of_row, of_other = copies[found.rows], copies[found.others]
    kernel_waits, copy_waits = ~of_row & of_other, of_row & ~of_other
    both = min(int(kernel_waits.sum()), int(copy_waits.sum())) >= LEAST_ROWS
    return found if both else found.take(~of_row & ~of_other)


def _wait_calls(trace: Trace, rows: Ints) -> Ints:
    """The call that made each row's stream wait for an event: the last since the call of the row before it there."""
    table, calls = trace.device, trace.calls
    events = np.flatnonzero(calls.kind == kinds.WAIT_EVENT)
    found = np.full(len(rows), -1, np.int64)
    if not len(events):
        return found
    order = np.lexsort((table.start, table.lane))
    previous = np.full(len(table), -1, np.int64)
    same = table.lane[order[1:]] == table.lane[order[:-1]]
    previous[order[1:][same]] = table.call[order[:-1][same]]
    since = np.where(previous[rows] >= 0, calls.start[np.maximum(previous[rows], 0)], -1)
    call = table.call[rows]
    for thread in np.unique(calls.thread[events]).tolist():
        mine = events[calls.thread[events] == thread]
        place = np.searchsorted(calls.start[mine], calls.start[call], "left") - 1
        last = mine[np.maximum(place, 0)]
        held = (place >= 0) & (calls.start[last] > since) & (calls.thread[call] == thread)
        found[held] = last[held]
    return found


def _gaps_between(scope: Scope, found: Handovers) -> Ints:
    """The gaps in which a stream had not yet learnt of the other's event."""
    gaps = scope.analysis.gaps
    return np.flatnonzero((gaps.cause == CAUSES.index(STREAM)) & np.isin(gaps.after, found.rows))
