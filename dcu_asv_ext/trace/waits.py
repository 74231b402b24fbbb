"""What stands between the host and the device, as plain facts: gaps, launches, copies, synchronisations."""

from __future__ import annotations

from dataclasses import dataclass

#: Why nothing ran on a device for a while.
HOST_LATE = "host late"  # the next row was submitted only after the device had run dry
SYNC = "at a synchronisation"  # the host waited for the device, and submitted the next row after that
COPY = "waiting on a copy"  # the host waited for a copy (one that blocks, or one before), and then went on
STREAM = (
    "waiting on another stream"  # the next row was submitted in time, and held up by work of another stream
)
SCHEDULING = "between rows"  # submitted in time, started late: the runtime's own distance between rows
UNKNOWN = "unknown"  # the next row's call is not in the trace
CAUSES = (HOST_LATE, SYNC, COPY, STREAM, SCHEDULING, UNKNOWN)


@dataclass(frozen=True)
class Gap:
    """A stretch, in ns, in which nothing ran on a device between its first and last row.

    before, after: device rows around it. call: row of `Trace.calls` that the cause is about (the late launch, the
    wait), -1 where none. source: the line of code that made that call, "" where the trace has no stacks.
    """

    device: int
    begin: int
    end: int
    cause: str
    before: int
    after: int
    call: int
    source: str = ""

    @property
    def length(self) -> int:
        return self.end - self.begin


@dataclass(frozen=True)
class Stretch:
    """A run of rows of one device each of which was submitted only after the device had run dry: launch-bound.

    rows: how many. busy: ns in which one ran. begin, end: from the gap before its first row to its last row's end.
    source: the line that most of them come from.
    """

    device: int
    begin: int
    end: int
    rows: int
    busy: int
    source: str = ""


@dataclass(frozen=True)
class Launches:
    """How the host is ahead of the device. All times in ns.

    count: rows with a launching call. delay_median, delay_p95: from the call's start to the start of its first row.
    call_median: duration of a launching call. depth_median, depth_max: rows submitted and not yet started, as each is
    submitted. skewed: device times lie before their calls, or after the host has waited for them: the two clocks
    differ, and nothing that compares them is told.
    launch_bound_share: share of the devices' spans inside `stretches`. missing: why figures are None.
    """

    count: int
    delay_median: int | None
    delay_p95: int | None
    call_median: int | None
    depth_median: int | None
    depth_max: int | None
    skewed: bool
    stretches: tuple[Stretch, ...]
    launch_bound_share: float | None
    missing: str = ""


@dataclass(frozen=True)
class CopyGroup:
    """Copies of one direction, from one line of code. bytes: None where a row's are not told.
    nanoseconds: summed. bandwidth: bytes per second.

    pageable: how many of them touch pageable memory, None where the trace does not tell (HIP).
    blocking: how many the host waited for. small: how many are below 64 KiB. rows: of `Trace.device`.
    api_direction: what the call asked for, where that differs from what the row says.
    """

    direction: str
    count: int
    bytes: int | None
    nanoseconds: int
    bandwidth: float | None
    pageable: int | None
    blocking: int
    small: int
    rows: tuple[int, ...]
    source: str = ""
    operator: str = ""
    api_direction: str = ""


@dataclass(frozen=True)
class SyncGroup:
    """Calls that wait for the device, of one kind and from one line of code. kind: "device", "stream", "event" or
    "copy". operator: the torch operator that made them ("aten::item", "aten::nonzero"), "" where none.

    calls: rows of `Trace.calls`. nanoseconds: that the host spent in them. idle: ns that the device then lay idle
    until its next row (the pipeline that the wait cut), None where the clocks of host and device differ.
    own: made by the profiler or the harness, not by the code.
    """

    kind: str
    name: str
    count: int
    nanoseconds: int
    idle: int | None
    calls: tuple[int, ...]
    source: str = ""
    operator: str = ""
    own: bool = False
