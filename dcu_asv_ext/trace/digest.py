"""What of a trace is kept in the evidence: figures of one call, and short tables. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import kinds
from .analysis import Analysis
from .digest_tables import capped
from .steps import each_step, step_of_calls, step_of_rows, within_steps
from .summary import blocking
from .waits import CAUSES

MOST_FINDINGS = 20
MOST_LETTERS = 160
_NS = 1e-9
_DIRECTIONS = ("HtoD", "DtoH", "DtoD")
#: No device row, though the profiler has shown that it records them.
NOTHING_RAN = "the calls ran nothing on the device"


def digest(analysis: Analysis, steps: int, device_seen: bool = False) -> dict[str, Any]:
    """The record's `profile`, as far as it comes from the trace. All but `per_call` and `varies` are of all calls.

    steps: calls that were profiled. device_seen: the profiler is known to record this device, so that no row means
    that nothing ran. Work between the steps, and the harness's own waits, count nowhere.

    totals: see summary.totals; the harness's waits are among its synchronisations.
    per_call: metric -> mean of the calls. varies: metric -> [least, most] of the counts that are not the same in
    every call. missing: metric -> reason.
    kernels: [name, launch shape, count, seconds, [operators]]. operators: [name, calls, self device s, device s,
    self CPU s, CPU s, kernels]. copies: [direction, count, bytes or None, seconds, source,
    operator]. syncs: [kind, name, count, seconds, source, operator]. gaps: [cause, count, seconds, source].
    findings: {kind, seconds, share, text, next_step, source, end_to_end}. faults: sentences.
    """
    inner = Analysis(within_steps(analysis.trace), analysis.overhead)
    trace = inner.trace
    faults = list(dict.fromkeys([*trace.faults, *inner.totals["faults"]]))
    if len(trace.steps) not in (0, steps):
        faults.append(f"the trace has {len(trace.steps)} of {steps} profiled calls")
    figures = _Figures(inner, len(trace.steps) or steps, device_seen)
    return {
        "totals": {name: value for name, value in inner.totals.items() if name not in ("missing", "faults")},
        "per_call": figures.per_call,
        "varies": figures.varies,
        "missing": figures.missing,
        "kernels": _kernels(inner),
        "operators": _operators(inner),
        "copies": _copies(inner),
        "syncs": _syncs(inner),
        "gaps": _gaps(inner),
        "findings": _findings(inner),
        "faults": faults,
    }


class _Figures:
    """per_call, varies and missing of a digest."""

    def __init__(self, analysis: Analysis, steps: int, device_seen: bool) -> None:
        self.analysis, self.trace, self.steps = analysis, analysis.trace, steps
        self.per_call: dict[str, float] = {}
        self.varies: dict[str, list[int]] = {}
        self.missing: dict[str, str] = {}
        self._step = step_of_rows(self.trace)
        if len(self.trace.device) or device_seen:
            self._kernels()
            self._copies()
            self._syncs()
        else:
            names = [f"copy_{what}_{way.lower()}" for what in ("count", "bytes") for way in _DIRECTIONS]
            for name in ("kernel_count", *names, "sync_count"):
                self.missing[name] = "the trace has no rows of a device"
        self._activity()

    def _count(self, name: str, of_steps: np.ndarray[Any, Any]) -> None:
        """of_steps: the figure of each call."""
        self.per_call[name] = int(of_steps.sum()) / self.steps
        if len(of_steps) and of_steps.min() != of_steps.max():
            self.varies[name] = [int(of_steps.min()), int(of_steps.max())]

    def _by_step(self, rows: Any, weights: Any = None) -> np.ndarray[Any, Any]:
        return np.bincount(self._step[rows], weights, minlength=self.steps)

    def _kernels(self) -> None:
        self._count("kernel_count", self._by_step(self.trace.device.kind == kinds.KERNEL))

    def _copies(self) -> None:
        device = self.trace.device
        copying = device.kind == kinds.COPY
        told = np.isin(device.direction, [kinds.DIRECTIONS.index(one) for one in kinds.DIRECTIONS[:-1]])
        untold = int((copying & ~told).sum())
        for way in _DIRECTIONS:
            count, size = f"copy_count_{way.lower()}", f"copy_bytes_{way.lower()}"
            if untold:
                reason = f"the trace does not tell the direction of {untold} of {int(copying.sum())} copies"
                self.missing |= {count: reason, size: reason}
                continue
            mine = copying & (device.direction == kinds.DIRECTIONS.index(way))
            self._count(count, self._by_step(mine))
            unsized = int((mine & (device.bytes < 0)).sum())
            if unsized:
                self.missing[size] = (
                    f"the trace does not tell the bytes of {unsized} of {int(mine.sum())} copies"
                )
            else:
                self._count(size, self._by_step(mine, device.bytes[mine]))

    def _syncs(self) -> None:
        calls = self.trace.calls
        if not len(calls):
            if len(self.trace.device):
                self.missing["sync_count"] = "the trace has no calls of the device's runtime"
            else:
                self._count("sync_count", np.zeros(self.steps, np.int64))
            return
        waits = np.flatnonzero(blocking(calls, self.trace.names))
        own = [call for group in self.analysis.syncs if group.own for call in group.calls]
        waits = waits[~np.isin(waits, own)]
        self._count("sync_count", np.bincount(step_of_calls(self.trace)[waits], minlength=self.steps))

    def _activity(self) -> None:
        """Each call by itself: between them the harness waits."""
        if not len(self.trace.device):
            reason = self.missing.get("kernel_count", NOTHING_RAN)
            self.missing |= dict.fromkeys(("idle_share", "overlap_share", "launch_bound_share"), reason)
            if "kernel_count" in self.missing:
                self.missing["profiled_device_time"] = reason
            else:
                self.per_call["profiled_device_time"] = 0.0
            return
        busy = span = overlapped = 0
        bound: list[tuple[float | None, int, str]] = []
        for one in each_step(self.trace):
            each = Analysis(one)
            mine = sum(activity.span for activity in each.activities)
            span += mine
            busy += sum(activity.busy_time for activity in each.activities)
            overlapped += sum(activity.overlapped for activity in each.activities)
            bound.append((each.launches.launch_bound_share, mine, each.launches.missing))
        self.per_call["profiled_device_time"] = busy * _NS / self.steps
        self._share("idle_share", span - busy, span)
        self._share("overlap_share", overlapped, busy)
        untold = next((reason for share, length, reason in bound if share is None and length), "")
        if untold:
            self.missing["launch_bound_share"] = untold
        else:
            self._share("launch_bound_share", sum((share or 0) * length for share, length, _ in bound), span)

    def _share(self, name: str, part: float, whole: int) -> None:
        if whole:
            self.per_call[name] = part / whole
        else:
            self.missing[name] = "the trace has no rows of a device that take time"


# ---- tables


def _kernels(analysis: Analysis) -> list[list[Any]]:
    rows = [
        [
            _cut(one.short),
            one.shape,
            one.count,
            one.nanoseconds * _NS,
            [_cut(name) for name in one.operators[:3]],
        ]
        for one in analysis.kernels
    ]
    return capped("kernels", rows)


def _operators(analysis: Analysis) -> list[list[Any]]:
    rows = [
        [
            _cut(one.name),
            one.calls,
            *(value * _NS for value in (one.self_device, one.device, one.self_cpu, one.cpu)),
            one.kernels,
        ]
        for one in analysis.operators
    ]
    return capped("operators", rows)


def _copies(analysis: Analysis) -> list[list[Any]]:
    rows = [
        [one.direction, one.count, one.bytes, one.nanoseconds * _NS, _cut(one.source), one.operator]
        for one in analysis.copies
    ]
    return capped("copies", rows)


def _syncs(analysis: Analysis) -> list[list[Any]]:
    rows = [
        [one.kind, one.name, one.count, one.nanoseconds * _NS, _cut(one.source), one.operator]
        for one in analysis.syncs
        if not one.own
    ]
    return capped("syncs", rows)


def _gaps(analysis: Analysis) -> list[list[Any]]:
    """Within calls; those between two calls are the harness's."""
    gaps = analysis.gaps
    step = step_of_rows(analysis.trace)
    mine = gaps.take(step[gaps.before] == step[gaps.after])
    groups: dict[tuple[str, str], list[float]] = {}
    lines = analysis.sources.of_calls(mine.call)
    for cause, line, length in zip(mine.cause.tolist(), lines, mine.length.tolist(), strict=True):
        found = groups.setdefault((CAUSES[cause], line), [0, 0])
        found[0] += 1
        found[1] += length
    rows: list[list[Any]] = [
        [cause, count, length * _NS, _cut(line)] for (cause, line), (count, length) in groups.items()
    ]
    rows.sort(key=lambda row: -row[2])
    return capped("gaps", rows)


def _findings(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "kind": one.kind,
            "seconds": one.seconds,
            "share": one.share,
            "text": one.text,
            "next_step": one.next_step,
            "source": one.source,
            "end_to_end": one.end_to_end,
        }
        for one in analysis.findings[:MOST_FINDINGS]
    ]


def _cut(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 3] + "..."
