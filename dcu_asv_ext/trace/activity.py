"""When devices and their streams are busy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import intervals, kinds
from .model import Ints, Trace


@dataclass(frozen=True)
class Activity:
    """Of one device. All times in nanoseconds.

    begin, end: of its first and last row: the device's own span, on which nothing of the host's clock bears.
    busy: starts and ends of the disjoint intervals in which at least one row ran.
    lanes: lane -> busy nanoseconds (union of its rows).
    overlapped: time in which at least two lanes ran something.
    copying: union of its copies and fills; hidden: of that, the time in which a kernel ran too.
    """

    device: int
    begin: int
    end: int
    busy: tuple[Ints, Ints]
    lanes: dict[int, int]
    overlapped: int
    copying: int
    hidden: int

    @property
    def span(self) -> int:
        return self.end - self.begin

    @property
    def busy_time(self) -> int:
        return intervals.length(*self.busy)

    @property
    def idle_time(self) -> int:
        return self.span - self.busy_time


def activities(trace: Trace) -> list[Activity]:
    """Of every device that rows ran on."""
    return [_activity(trace, device) for device in trace.devices]


def _activity(trace: Trace, device: int) -> Activity:
    rows = trace.device.take(trace.on(device))
    by_lane = {}
    starts, ends = [], []
    for lane in np.unique(rows.lane):
        mine = rows.lane == lane
        start, end = intervals.union(rows.start[mine], rows.end[mine])
        by_lane[int(lane)] = intervals.length(start, end)
        starts.append(start)
        ends.append(end)
    all_starts, all_ends = np.concatenate(starts), np.concatenate(ends)
    moving = rows.kind != kinds.KERNEL
    copying = intervals.union(rows.start[moving], rows.end[moving])
    computing = intervals.union(rows.start[~moving], rows.end[~moving])
    return Activity(
        device,
        int(rows.start.min()),
        int(rows.end.max()),
        intervals.union(rows.start, rows.end),
        by_lane,
        intervals.length(*intervals.at_least(all_starts, all_ends, 2)),
        intervals.length(*copying),
        intervals.length(*intervals.intersection(copying, computing)),
    )
