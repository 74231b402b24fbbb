"""What all detectors share: the time that a trace is about, and which part of it is anybody's to claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import intervals, units
from ..analysis import Analysis
from ..finding import Finding
from ..gaps import Gaps
from ..kinds import KERNEL
from ..launches import TOLERANCE
from ..model import Ints, Trace
from ..summary import blocking
from ..syncing import copies_waited_for
from ..waits import CAUSES, COPY, HOST_LATE, SYNC

#: A finding takes at least this share of the profiled time ...
LEAST_SHARE = 0.03
#: ... and so many nanoseconds: what is shorter is within what one call of the runtime varies by.
LEAST = 20_000
#: One place among several of the same kind has a finding of its own from this share on; others share one.
OWN_SHARE = 0.1
#: The first of at least so many steps is a start, where it takes more than so many times the longest other.
LEAST_STEPS, OUTLIER = 3, 2

Bools = npt.NDArray[np.bool_]
Intervals = tuple[Ints, Ints]


class Scope:
    """The profiled time of an analysis. All times in ns.

    steps: row numbers of `Trace.spans`: all, or without the first where that was a start.
    within: the steps where the trace has some, else from the first device row to the last. busy: time in which a
    device ran what was submitted in it. total: the profiled time, the one and the other.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.trace = analysis.trace
        device, spans = self.trace.device, self.trace.spans
        steps = self.steps = _steady(self.trace)
        if len(steps):
            self.within = intervals.union(spans.start[steps], spans.end[steps])
        else:
            self.within = np.array([device.start.min()]), np.array([device.end.max()])
        mine = self.rows
        ran = intervals.union(device.start[mine], device.end[mine])
        self.busy = intervals.length(*ran)
        if analysis.launches.skewed:
            self.total = max(intervals.length(*self.within), self.busy)
        else:  # steps that do not wait for their end are over before the device is
            both = [np.append(*side) for side in zip(self.within, ran, strict=True)]
            self.total = intervals.length(*intervals.union(*both))

    @cached_property
    def rows(self) -> Bools:
        """Mask of the device rows that the steps submitted, not what was done between them."""
        device, calls, operators = self.trace.device, self.trace.calls, self.trace.operators
        found = np.ones(len(device), np.bool_)
        if not len(self.steps):
            return found
        called, made = device.call >= 0, (device.call < 0) & (device.operator >= 0)
        found[called] = self.inside(calls.start[device.call[called]])
        found[made] = self.inside(operators.start[device.operator[made]])
        if not self.analysis.launches.skewed:
            untold = ~called & ~made
            found[untold] = self.inside(device.start[untold])
        return found

    def inside(self, time: Ints) -> Bools:
        """Which times of the host lie in the steps."""
        place = np.searchsorted(self.within[0], time, "right") - 1
        found: Bools = (place >= 0) & (time <= self.within[1][np.maximum(place, 0)])
        return found

    @cached_property
    def note(self) -> str:
        """What of the trace no finding is about; "" where nothing is left out."""
        left_out = np.setdiff1d(self.trace.steps, self.steps)
        left_out = left_out[self.trace.spans.duration[left_out] > 0] if len(self.steps) else left_out[:0]
        if not len(left_out):
            return ""
        first = int(self.trace.spans.duration[left_out[0]])
        longest = int(self.trace.spans.duration[self.steps].max())
        return (
            f"the first step took {units.time(first)}, the longest other {units.time(longest)}: findings are about"
            " the others alone"
        )

    @cached_property
    def computing(self) -> Intervals:
        """When kernels run that the steps submitted."""
        device = self.trace.device
        mine = (device.kind == KERNEL) & self.rows
        return intervals.union(device.start[mine], device.end[mine])

    @property
    def not_computing(self) -> int:
        """The most that can be gained without fewer or shorter kernels."""
        return max(0, self.total - intervals.length(*self.computing))

    @cached_property
    def waiting(self) -> int:
        """Time in which the host waited for the device."""
        calls = self.trace.calls
        waits = blocking(calls, self.trace.names) | copies_waited_for(self.trace)
        held = intervals.union(calls.start[waits], calls.end[waits])
        return intervals.length(*intervals.intersection(self.within, held))

    @cached_property
    def slack(self) -> int:
        """The most that can be gained by letting host and device run side by side: the whole takes at least as long
        as the host works, and as long as the device does."""
        idle = self.total - self.busy if self.idle_unprofiled is None else self.idle_unprofiled
        return max(0, min(self.waiting, idle))

    @cached_property
    def idle_unprofiled(self) -> int | None:
        """The most that a device can lie idle where no profiler slows the host; None where that is not known."""
        overhead = self.analysis.overhead
        if overhead is None or overhead <= 0:
            return None
        return max(0, int(self.total / overhead) - self.busy)

    @cached_property
    def own_calls(self) -> Ints:
        """Calls in which the harness or the profiler waits."""
        own = [one.calls for one in self.analysis.syncs if one.own]
        return np.array([call for calls in own for call in calls], np.int64)

    @cached_property
    def clock_waits(self) -> Ints:
        """Waits that the program asked for itself, such as its own clock needs at the end of a step: for a device, a
        stream or an event, in no operator."""
        groups = [one.calls for one in self.analysis.syncs if one.kind != "copy" and not one.operator]
        return np.array([call for calls in groups for call in calls], np.int64)

    @cached_property
    def claims(self) -> Ints:
        """Of every gap, the time that a finding may claim: none of those that the harness makes between steps, and
        none in which another device worked."""
        gaps = self.analysis.gaps
        claim: Ints = gaps.length.copy()
        claim[~self.rows[gaps.after]] = 0
        if len(self.trace.steps):
            between = self._step_of_row(gaps.before) != self._step_of_row(gaps.after)
            claim[between & (self._beside_own_calls(gaps) | ~self.rows[gaps.before])] = 0
            claim[between & np.isin(gaps.call, self.clock_waits) & (gaps.call >= 0)] = 0
        return self._once(claim) if len(self.trace.devices) > 1 else claim

    def _once(self, claim: Ints) -> Ints:
        """Without the time in which another device worked; that in which all lie idle is claimed on one of them, of
        which the host's part in it is known if it is of any."""
        gaps, device = self.analysis.gaps, self.trace.device
        by_host = np.isin(gaps.cause, [CAUSES.index(cause) for cause in (HOST_LATE, SYNC, COPY)])
        claimed = np.zeros(len(gaps), np.bool_)
        for of_host in (True, False):
            for one in self.trace.devices:
                others = ~self.trace.on(one)
                taken = intervals.union(
                    np.append(device.start[others], gaps.begin[claimed]),
                    np.append(device.end[others], gaps.end[claimed]),
                )
                mine = np.flatnonzero((gaps.device == one) & (by_host == of_host))
                claim[mine] = np.maximum(claim[mine] - covered(taken, gaps.begin[mine], gaps.end[mine]), 0)
                claimed[mine] = claim[mine] > 0
        return claim

    def cut_by(self, calls: Ints) -> Ints:
        """Gaps that follow from the host's waiting in these calls. One before a copy that blocks is about the same
        call, which came late, and had nothing to do with the wait."""
        gaps = self.analysis.gaps
        waited = np.isin(gaps.cause, [CAUSES.index(SYNC), CAUSES.index(COPY)])
        return np.flatnonzero(np.isin(gaps.call, calls) & waited & (self.claims > 0))

    def _beside_own_calls(self, gaps: Gaps) -> Bools:
        """Mask of the gaps in which, or just before which, the harness or the profiler waited."""
        calls, own = self.trace.calls, self.own_calls
        start, end = intervals.union(calls.start[own], calls.end[own])
        following = np.searchsorted(end, gaps.begin - TOLERANCE, "left")
        found: Bools = np.append(start, np.iinfo(np.int64).max)[following] < gaps.end
        return found

    def step_of(self, time: Ints) -> Ints:
        """The number of the step that began last before each time, -1 before the first."""
        starts = np.unique(self.trace.spans.start[self.trace.steps])
        return np.searchsorted(starts, time, "right") - 1 if len(starts) else 0 * time

    def _step_of_row(self, rows: Ints) -> Ints:
        """By the call that launched it where there is one: the clock of the host is that of the steps."""
        device = self.trace.device
        call = device.call[rows]
        known = call >= 0
        start = device.start[rows]
        if len(self.trace.calls):
            start = np.where(known, self.trace.calls.start[np.maximum(call, 0)], start)
        return self.step_of(start)

    def worth(self, nanoseconds: float, share: float = LEAST_SHARE) -> bool:
        """Whether it is long enough to be said."""
        return nanoseconds >= LEAST and nanoseconds >= share * self.total

    def share(self, nanoseconds: float) -> float:
        return min(nanoseconds / self.total, 1.0) if self.total > 0 else 0.0

    def part(self, nanoseconds: float) -> str:
        """`1.20 ms (12 % of the profiled time)`."""
        return f"{units.time(nanoseconds)} ({units.share(self.share(nanoseconds))} of the profiled time)"

    def finding(
        self,
        kind: str,
        taken: float,
        gain: float,
        text: str,
        next_step: str,
        events: Intervals,
        why_not: str = "",
        source: str = "",
        device: int = -1,
        **data: Any,
    ) -> Finding:
        """taken: what it is about takes. gain: what of it the whole would be shorter by, at most; where that is not
        worth it, the finding says that it changes nothing, and why (`why_not`)."""
        end_to_end = self.worth(min(gain, taken))
        if not end_to_end:
            text = (
                f"{text} Removing it would not change the end-to-end time{': ' + why_not if why_not else ''}."
            )
        return Finding(
            kind=kind,
            seconds=min(gain, taken) * 1e-9 if end_to_end else 0.0,
            text=text,
            next_step=next_step,
            share=self.share(taken),
            begin=int(events[0].min()),
            end=int(events[1].max()),
            events=len(events[0]),
            source=source,
            end_to_end=end_to_end,
            device=device,
            data={"seconds_taken": taken * 1e-9, **data},
        )

    def profiler_note(self) -> str:
        """What the profiler itself adds to a host that is late."""
        overhead = self.analysis.overhead
        if overhead is not None:
            return f" The profiler made a step {overhead:.1f} times as long; only what is idle without it is counted."
        if len(self.trace.frames):
            return (
                " The profiler itself slows the host, and recording stacks slows it several times: look at it"
                " without stacks too."
            )
        return " The profiler itself slows the host, so that without it this is less."


def _steady(trace: Trace) -> Ints:
    """The steps that take time; without the first, where that took so much longer that it compiled, loaded or
    allocated."""
    steps = trace.steps[trace.spans.duration[trace.steps] > 0]
    start, length = trace.spans.start[steps], trace.spans.duration[steps]
    if len(steps) < LEAST_STEPS:
        return steps
    first = int(start.argmin())
    others = np.delete(steps, first)
    warmed_up = length[first] <= OUTLIER * trace.spans.duration[others].max()
    return steps if warmed_up else others


def covered(by: Intervals, start: Ints, end: Ints) -> Ints:
    """Of each stretch, the time that lies in disjoint, sorted intervals."""
    if not len(by[0]):
        return np.zeros(len(start), np.int64)
    times = np.stack(by, 1).ravel()
    lengths = np.stack((np.zeros(len(by[0]), np.int64), by[1] - by[0]), 1).ravel()
    so_far = np.cumsum(lengths)
    found: Ints = (np.interp(end, times, so_far) - np.interp(start, times, so_far)).astype(np.int64)
    return found


def by_key(keys: Ints, sizes: Ints, scope: Scope) -> Iterator[Ints]:
    """Numbers of the members of each key whose sizes together are worth a finding of its own, the largest first; then
    those of all other keys together, where they are."""
    rest = []
    _, place = np.unique(keys, return_inverse=True)
    totals = np.bincount(place, weights=sizes) if len(keys) else np.zeros(0)
    for number in np.argsort(-totals, kind="stable").tolist():
        members = np.flatnonzero(place == number)
        if scope.worth(float(totals[number]), OWN_SHARE):
            yield members
        else:
            rest.append(members)
    if rest:
        others = np.concatenate(rest)
        if scope.worth(float(sizes[others].sum())):
            yield np.sort(others)


def times_each(count: int, steps: int) -> str:
    """`24 times` or `24 times, 6 in each step`."""
    if steps > 1 and count % steps == 0:
        return f"{count} times, {count // steps} in each step"
    return "once" if count == 1 else f"{count} times"


def at(source: str) -> str:
    return f" at {source}" if source else ""


def places(sources: Sequence[str]) -> list[str]:
    """Distinct, the most frequent first, without the untold."""
    counted: Mapping[str, int] = {one: sources.count(one) for one in dict.fromkeys(sources) if one}
    return sorted(counted, key=lambda one: -counted[one])


def rows_of(groups: Iterable[Sequence[int]]) -> Ints:
    return np.array(sorted({row for group in groups for row in group}), np.int64)
