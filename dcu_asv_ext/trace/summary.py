"""The totals of a trace: kernels, copies, synchronisations, and how busy the device was."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import kinds
from .activity import activities
from .loading import load
from .losses import calls_lost, losses
from .model import Bools, Calls, Trace, named

_NS = 1e-9


def summarize(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The totals of a trace file; see `totals`. Raises TraceError for what cannot be read as a trace."""
    return totals(load(path))


def totals(trace: Trace) -> dict[str, Any]:
    """kernel_count; kernel_time (s, summed); busy_time (s, union over each device's rows, summed over devices);
    span (s, from a device's first row to its last, summed); idle_share, overlap_share (of span, of busy time);
    copies ({direction: {"count", "bytes", "seconds"}}, bytes None where a row's are told nowhere); copies_as_kernels
    (the same, of copies that ROCm makes with kernels of its own, and newer profilers write as kernels: they count as
    kernels, and not in copies); sync_count and syncs ({kind: count}: calls that wait for the device,
    blocking copies among them); devices, streams, flavour, rank, faults. Figures that a trace cannot tell are None,
    with the reason in `missing`; sync_count is a least one, told there, where calls were lost.
    """
    device = trace.device
    kernels = device.kind == kinds.KERNEL
    missing: dict[str, str] = {}
    found: dict[str, Any] = {
        "flavour": trace.flavour,
        "rank": trace.rank,
        "events": trace.events,
        "kernel_count": int(kernels.sum()),
        "kernel_time": int(device.duration[kernels].sum()) * _NS,
        **_busy(trace, missing),
        "copies": _copies(trace, "copies", device.kind == kinds.COPY, missing),
        "copies_as_kernels": _copies(trace, "copies_as_kernels", _copying_kernels(trace), missing),
        **_syncs(trace, missing),
        "unlaunched": int((device.call < 0).sum()) if len(trace.calls) else None,
        "missing": missing,
        "faults": [*trace.faults, *losses(trace)],
    }
    if not len(device):
        reason = "the trace has no rows of a device"
        for name in ("kernel_count", "kernel_time", "busy_time", "span"):
            found[name] = None
            missing[name] = reason
        missing |= dict.fromkeys(("copies", "idle_share", "overlap_share"), reason)
    return found


def blocking(calls: Calls, names: list[str]) -> Bools:
    """Mask of the calls in which the host waits for the device: synchronisations, and copies that block."""
    block = named(kinds.blocks_by_itself, names, calls.name)
    found: Bools = (calls.kind == kinds.SYNC) | ((calls.kind == kinds.COPY_CALL) & block)
    return found


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


def _copying_kernels(trace: Trace) -> Bools:
    device = trace.device
    found: Bools = (device.kind == kinds.KERNEL) & named(kinds.copies_by_kernel, trace.names, device.name)
    return found


def _copies(trace: Trace, what: str, rows: Bools, missing: dict[str, str]) -> dict[str, dict[str, Any]]:
    device = trace.device
    direction = np.where(device.direction < 0, kinds.UNKNOWN, device.direction)
    found: dict[str, dict[str, Any]] = {}
    for number, label in enumerate(kinds.DIRECTIONS):
        mine = rows & (direction == number)
        count = int(mine.sum())
        if not count:
            continue
        if number == kinds.UNKNOWN:
            missing[f"{what}.{label}"] = f"the trace does not tell the direction of {count} copies"
        told = mine & (device.bytes >= 0)
        whole = int(told.sum()) == count
        found[label] = {
            "count": count,
            "bytes": int(device.bytes[told].sum()) if whole else None,
            "seconds": int(device.duration[mine].sum()) * _NS,
        }
        if not whole:
            lost = count - int(told.sum())
            missing[f"{what}.{label}.bytes"] = (
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
    lost = calls_lost(trace)
    if lost:
        missing["sync_count"] = f"at least so many: {lost} or more calls were lost"
    return {"sync_count": len(waits), "syncs": by_kind}
