"""What the rows themselves say about rows that were lost, or are there twice."""

from __future__ import annotations

import numpy as np

from . import kinds
from .model import Trace


def losses(trace: Trace) -> list[str]:
    """A sentence each; empty for a whole trace."""
    return [*_untold(trace), *_without_call(trace), *_without_row(trace), *_twice(trace)]


def _untold(trace: Trace) -> list[str]:
    tables = (trace.device, trace.calls, trace.operators, trace.frames, trace.spans, trace.memory)
    if any(len(table) for table in tables):
        return []
    return [f"none of the {trace.events} events is of a kind that a profiler of torch writes"]


def calls_lost(trace: Trace) -> int:
    """Device rows whose call is not in the trace, where others' are: calls were dropped, or are not linked."""
    return int((trace.device.call < 0).sum()) if len(trace.calls) else 0


def _without_call(trace: Trace) -> list[str]:
    lost, rows = calls_lost(trace), len(trace.device)
    if not lost:
        return []
    if lost == rows:
        return ["no device row has a launching call in the trace: calls were lost, or are not linked"]
    return [
        f"{lost} of {rows} device rows have no launching call in the trace that is surely theirs: calls were lost"
        " (their count, and that of synchronisations, is a least one), or several share a correlation"
    ]


def _without_row(trace: Trace) -> list[str]:
    calls = trace.calls
    launches = calls.kind == kinds.LAUNCH
    if not len(trace.device) or not len(calls) or (trace.device.call < 0).any():
        return []  # theirs may be among those that have no call
    ran = np.zeros(len(calls), bool)
    ran[trace.device.call] = True
    lost = int((launches & ~ran).sum())
    if not lost:
        return []
    return [
        f"{lost} of {int(launches.sum())} launches have no device row: rows were lost, or ran after the trace,"
        " or were captured into a graph"
    ]


def _twice(trace: Trace) -> list[str]:
    """Rows that are equal in everything: one lane cannot have run both."""
    device = trace.device
    again = np.concatenate(([False], device.start[1:] == device.start[:-1]))
    tied = device.take(again | np.concatenate((again[1:], [False]))) if len(device) else device
    if not len(tied):
        return []
    equal = np.stack((tied.start, tied.end, tied.lane, tied.name, tied.correlation))
    surplus = len(tied) - np.unique(equal, axis=1).shape[1]
    if not surplus:
        return []
    return [f"device rows are in the trace more than once, {surplus} too many: each is counted"]
