"""The totals of a trace: kernels, copies, synchronisations, and how busy the device was."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import kinds
from .activity import activities
from .loading import load
from .model import Calls, Trace

_NS = 1e-9


def summarize(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The totals of a trace file; see `totals`. Raises TraceError for what cannot be read as a trace."""
    return totals(load(path))


def totals(trace: Trace) -> dict[str, Any]:
    """kernel_count; kernel_time (s, summed); busy_time (s, union over each device's rows, summed over devices);
    span (s, from a device's first row to its last, summed); idle_share, overlap_share (of span, of busy time);
    copies ({direction: {"count", "bytes", "seconds"}}, bytes None where a row's are told nowhere); sync_count and
    syncs ({kind: count}: calls that wait for the device, blocking copies among them); devices, streams, flavour,
    faults. Figures that a trace cannot tell are None, with the reason in `missing`.
    """
    device = trace.device
    kernels = device.kind == kinds.KERNEL
    missing: dict[str, str] = {}
    found: dict[str, Any] = {
        "flavour": trace.flavour,
        "events": trace.events,
        "kernel_count": int(kernels.sum()),
        "kernel_time": int(device.duration[kernels].sum()) * _NS,
        **_busy(trace, missing),
        "copies": _copies(trace, missing),
        **_syncs(trace, missing),
        "unlaunched": int((device.call < 0).sum()) if len(trace.calls) else None,
        "missing": missing,
        "faults": [*trace.faults, *_lost(trace)],
    }
    if not len(device):
        reason = "the trace has no rows of a device"
        for name in ("kernel_count", "kernel_time", "busy_time", "span"):
            found[name] = None
            missing[name] = reason
    return found


def blocking(calls: Calls, names: list[str]) -> Any:
    """Mask of the calls in which the host waits for the device: synchronisations, and copies that block."""
    block = np.array([kinds.blocks_by_itself(name) for name in names] or [False])
    return (calls.kind == kinds.SYNC) | ((calls.kind == kinds.COPY_CALL) & block[calls.name])


def _busy(trace: Trace, missing: dict[str, str]) -> dict[str, Any]:
    each = activities(trace)
    busy, span = sum(one.busy_time for one in each), sum(one.span for one in each)
    found: dict[str, Any] = {
        "busy_time": busy * _NS,
        "span": span * _NS,
        "idle_share": 1 - busy / span if span else None,
        "overlap_share": sum(one.overlapped for one in each) / busy if busy else None,
        "devices": [one.device for one in each],
        "streams": sum(len(one.lanes) for one in each),
    }
    for name in ("idle_share", "overlap_share"):
        if found[name] is None:
            missing[name] = "the trace has no rows of a device that take time"
    return found


def _copies(trace: Trace, missing: dict[str, str]) -> dict[str, dict[str, Any]]:
    device = trace.device
    found: dict[str, dict[str, Any]] = {}
    for number, label in enumerate(kinds.DIRECTIONS):
        mine = (device.kind == kinds.COPY) & (device.direction == number)
        count = int(mine.sum())
        if not count:
            continue
        told = mine & (device.bytes >= 0)
        whole = int(told.sum()) == count
        found[label] = {
            "count": count,
            "bytes": int(device.bytes[told].sum()) if whole else None,
            "seconds": int(device.duration[mine].sum()) * _NS,
        }
        if not whole:
            lost = count - int(told.sum())
            missing[f"copies.{label}.bytes"] = (
                f"the trace does not tell the bytes of {lost} of {count} copies"
            )
    return found


def _syncs(trace: Trace, missing: dict[str, str]) -> dict[str, Any]:
    if not len(trace.calls):
        missing["sync_count"] = "the trace has no calls of the device's runtime"
        return {"sync_count": None, "syncs": {}}
    waits = trace.calls.name[blocking(trace.calls, trace.names)]
    by_kind: dict[str, int] = {}
    for number, count in zip(*np.unique(waits, return_counts=True), strict=True):
        kind = kinds.sync_kind(trace.names[number])
        by_kind[kind] = by_kind.get(kind, 0) + int(count)
    return {"sync_count": len(waits), "syncs": by_kind}


def _lost(trace: Trace) -> list[str]:
    """Rows without the call that launched them: the tracer dropped events, or never wrote the link."""
    rows = len(trace.device)
    lost = int((trace.device.call < 0).sum())
    if not rows or not lost or not len(trace.calls):
        return []
    return [
        f"{lost} of {rows} device rows have no launching call in the trace: events were lost, or are not linked"
    ]
