"""Gaps between device rows, by cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from . import kinds
from .analysis import Analysis
from .launches import TOLERANCE, Submissions, skewed_devices
from .model import Ints, Trace
from .sources import Sources
from .summary import blocking
from .syncing import reads_back
from .waits import CAUSES, COPY, HOST_LATE, SCHEDULING, STREAM, SYNC, UNKNOWN, Gap

_COLUMNS = ("device", "begin", "end", "cause", "before", "after", "call")
#: ns. A row that starts so long after another device's row ended may have waited for it.
SOON = 20_000
_CODE = {cause: number for number, cause in enumerate(CAUSES)}
Bools = npt.NDArray[np.bool_]


class Gaps(Sequence[Gap]):
    """Gaps in columns (a trace may have hundreds of thousands); a `Gap` is made when it is asked for.

    cause: into `waits.CAUSES`. The other columns are as in `Gap`.
    """

    def __init__(self, sources: Sources, **columns: Ints) -> None:
        self.sources = sources
        self.device, self.begin, self.end = (columns[name] for name in _COLUMNS[:3])
        self.cause, self.before, self.after, self.call = (columns[name] for name in _COLUMNS[3:])

    def __len__(self) -> int:
        return len(self.begin)

    @overload
    def __getitem__(self, index: int) -> Gap: ...
    @overload
    def __getitem__(self, index: slice) -> Gaps: ...
    def __getitem__(self, index: int | slice) -> Gap | Gaps:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        return Gap(
            device=int(self.device[index]),
            begin=int(self.begin[index]),
            end=int(self.end[index]),
            cause=CAUSES[self.cause[index]],
            before=int(self.before[index]),
            after=int(self.after[index]),
            call=int(self.call[index]),
            source=self.sources.of_calls(self.call[[index]])[0],
        )

    @property
    def length(self) -> Ints:
        return self.end - self.begin

    def take(self, chosen: npt.NDArray[np.bool_] | Ints) -> Gaps:
        """Those of a mask, or of numbers."""
        return Gaps(self.sources, **{name: getattr(self, name)[chosen] for name in _COLUMNS})

    def longest(self, count: int) -> list[Gap]:
        return list(self.take(np.argsort(-self.length, kind="stable")[:count]))

    def time_by_cause(self) -> dict[str, int]:
        """ns of every cause, 0 for those that do not occur; their sum is the devices' idle time."""
        return {cause: int(self.length[self.cause == number].sum()) for number, cause in enumerate(CAUSES)}


def gaps(analysis: Analysis) -> Gaps:
    """Between the rows of each device: their sum is its span less the time in which something ran.

    A row counts as submitted in time where its call began earlier than the device ran dry by more than a call
    usually takes to become a row, and was over by then.
    """
    trace = analysis.trace
    skewed = skewed_devices(trace)
    parts = [_of_device(trace, device, device in skewed) for device in trace.devices]
    if not parts:
        parts = [{name: np.zeros(0, np.int64) for name in _COLUMNS}]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}
    order = np.argsort(columns["begin"], kind="stable")
    return Gaps(analysis.sources, **{name: column[order] for name, column in columns.items()})


def _of_device(trace: Trace, device: int, skewed: bool) -> dict[str, Ints]:
    run = Submissions.of(trace, device)
    gap = trace.device.start[run.rows] > run.dry
    before, after, begin = run.last[gap], run.rows[gap], run.dry[gap]
    cause = np.full(len(after), _CODE[UNKNOWN], np.int64)
    about = np.full(len(after), -1, np.int64)
    launch = trace.device.call[after]
    known = np.flatnonzero(launch >= 0) if not skewed else np.zeros(0, np.int64)
    if len(known):
        cause[known], about[known] = _causes(
            trace, run.usual, before[known], after[known], begin[known], launch[known]
        )
    return {
        "device": np.full(len(after), device, np.int64),
        "begin": begin,
        "end": trace.device.start[after],
        "cause": cause,
        "before": before,
        "after": after,
        "call": about,
    }


def _causes(
    trace: Trace, usual: int, before: Ints, after: Ints, begin: Ints, launch: Ints
) -> tuple[Ints, Ints]:
    """Codes of causes, and the calls that they are about."""
    late = _late(trace, usual, before, after, begin, launch)
    wait = _waited(trace, begin, launch)
    event = _event_waited(trace, before, after, launch)
    reading = reads_back(trace)
    copied = (wait >= 0) & reading[np.maximum(wait, 0)]
    held_up = (event >= 0) | _held_up(trace, usual, before, after, begin, launch)
    held_up |= _held_up_by_device(trace, before, after)
    cause = np.select(
        [late & copied, late & (wait >= 0), late, held_up],
        [_CODE[COPY], _CODE[SYNC], _CODE[HOST_LATE], _CODE[STREAM]],
        _CODE[SCHEDULING],
    )
    about = np.select([late & (wait >= 0), late, event >= 0], [wait, launch, event], -1)
    return cause.astype(np.int64), about.astype(np.int64)


def _late(trace: Trace, usual: int, before: Ints, after: Ints, begin: Ints, launch: Ints) -> Bools:
    calls, device = trace.calls, trace.device
    under_way = (calls.kind[launch] == kinds.LAUNCH) & (calls.end[launch] > begin)
    of_one_graph = device.call[before] == launch
    late: Bools = ((calls.start[launch] + usual > begin) | under_way) & ~of_one_graph
    return late


def _waited(trace: Trace, begin: Ints, launch: Ints) -> Ints:
    """The call in which the host waited as the device ran dry, and after which it made `launch`; -1 where none.

    That of the same thread, if there is one: another thread may wait for what this one needs (as at the end of a
    backward pass).
    """
    calls = trace.calls
    waits = np.flatnonzero(blocking(calls, trace.names))
    found = np.full(len(begin), -1, np.int64)
    for thread in np.unique(calls.thread[waits]).tolist():
        mine = waits[calls.thread[waits] == thread]
        at = np.searchsorted(calls.start[mine], begin, "right") - 1
        call = mine[np.maximum(at, 0)]
        held = (at >= 0) & (calls.end[call] >= begin - TOLERANCE) & (calls.end[call] <= calls.start[launch])
        own = calls.thread[launch] == thread
        better = held & (own | (found < 0))
        found[better] = call[better]
    return found


def _event_waited(trace: Trace, before: Ints, after: Ints, launch: Ints) -> Ints:
    """The wait for an event that stood before `after` in its stream, where the row before it ran in another one."""
    calls, device = trace.calls, trace.device
    found = np.full(len(after), -1, np.int64)
    events = np.flatnonzero(calls.kind == kinds.WAIT_EVENT)
    other = np.flatnonzero(device.lane[before] != device.lane[after])
    if not len(events) or not len(other):
        return found
    previous = _previous_call_of_lane(trace)[after[other]]
    since = np.where(previous >= 0, calls.start[np.maximum(previous, 0)], -1)
    lanes = _lanes_that_wait(trace, events)
    for thread, lane in sorted({*zip(calls.thread[events].tolist(), lanes.tolist(), strict=True)}):
        mine = events[(calls.thread[events] == thread) & (lanes == lane)]
        at = np.searchsorted(calls.start[mine], calls.start[launch[other]], "left") - 1
        call = mine[np.maximum(at, 0)]
        held = (at >= 0) & (calls.start[call] > since)
        held &= (calls.thread[launch[other]] == thread) & (device.lane[after[other]] == lane)
        found[other[held]] = call[held]
    return found


def _held_up(trace: Trace, usual: int, before: Ints, after: Ints, begin: Ints, launch: Ints) -> Bools:
    """In a trace without calls that wait for events (not every tracer shows them): rows that had been called for, and
    whose stream was free, for longer than a start takes before the row of another stream ended."""
    calls, device = trace.calls, trace.device
    if (calls.kind == kinds.WAIT_EVENT).any():
        return np.zeros(len(after), np.bool_)
    order = np.lexsort((device.start, device.lane))
    free = np.full(len(device), np.iinfo(np.int64).min)
    same = device.lane[order[1:]] == device.lane[order[:-1]]
    free[order[1:][same]] = device.end[order[:-1][same]]
    ready = np.maximum(free[after], calls.start[launch] + usual)
    held_up: Bools = (device.lane[before] != device.lane[after]) & (ready + usual < begin)
    return held_up


def _held_up_by_device(trace: Trace, before: Ints, after: Ints) -> Bools:
    """Rows that began as soon as a row of another device ended late in the gap: a pipeline over devices."""
    device = trace.device
    if not len(after) or len(trace.devices) < 2:
        return np.zeros(len(after), np.bool_)
    mine = trace.on(trace.lanes[device.lane[after[0]]].device)
    ends = np.sort(device.end[~mine])
    at = np.searchsorted(ends, device.start[after], "right") - 1
    last = ends[np.maximum(at, 0)]
    found: Bools = (at >= 0) & (last > device.end[before] + SOON) & (device.start[after] - last <= SOON)
    return found


def _lanes_that_wait(trace: Trace, events: Ints) -> Ints:
    """The lane that each wait for an event holds up: no tracer of HIP tells, so that of its thread's next launch."""
    calls, device = trace.calls, trace.device
    found = np.full(len(events), -1, np.int64)
    linked = np.flatnonzero(device.call >= 0)
    lane = np.full(len(calls), -1, np.int64)
    lane[device.call[linked]] = device.lane[linked]
    launches = np.flatnonzero(lane >= 0)
    for thread in np.unique(calls.thread[events]).tolist():
        mine = np.flatnonzero(calls.thread[events] == thread)
        following = launches[calls.thread[launches] == thread]
        at = np.searchsorted(calls.start[following], calls.start[events[mine]], "right")
        some = at < len(following)
        found[mine[some]] = lane[following[at[some]]]
    return found


def _previous_call_of_lane(trace: Trace) -> Ints:
    """Of every device row: the call of the row before it in its lane, -1 for the first."""
    device = trace.device
    order = np.lexsort((device.start, device.lane))
    previous = np.full(len(device), -1, np.int64)
    same = device.lane[order[1:]] == device.lane[order[:-1]]
    previous[order[1:][same]] = device.call[order[:-1][same]]
    return previous
