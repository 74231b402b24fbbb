"""What the rows themselves say about events that were lost, or are there twice."""

from __future__ import annotations

import numpy as np

from . import kinds
from .model import Bools, Ints, Trace


def losses(trace: Trace) -> list[str]:
    """A sentence each; empty for a whole trace."""
    return [*_untold(trace), *_without_call(trace), *_without_row(trace), *_twice(trace)]


def calls_lost(trace: Trace) -> int:
    """How many calls there must have been that are not in the trace, though others are: at least."""
    if not len(trace.calls):
        return 0
    numbers, rows, calls = _unlinked(trace)
    return int(np.maximum(rows - calls, 0)[numbers >= 0].sum())


def _unlinked(trace: Trace) -> tuple[Ints, Ints, Ints]:
    """Correlations of the device rows without a call; how many of these rows, and how many calls, have each."""
    numbers, rows = np.unique(trace.device.correlation[trace.device.call < 0], return_counts=True)
    launching = np.isin(trace.calls.kind, (kinds.LAUNCH, kinds.COPY_CALL, kinds.FILL_CALL))
    called = np.sort(trace.calls.correlation[launching])
    calls = np.searchsorted(called, numbers, "right") - np.searchsorted(called, numbers, "left")
    return numbers, rows, calls


def _untold(trace: Trace) -> list[str]:
    tables = (trace.device, trace.calls, trace.operators, trace.frames, trace.spans, trace.memory)
    if any(len(table) for table in tables):
        return []
    return [f"none of the {trace.events} events is of a kind that torch's profiler writes"]


def _without_call(trace: Trace) -> list[str]:
    if not len(trace.calls):
        return []
    numbers, rows, calls = _unlinked(trace)
    of_all = f"of {len(trace.device)} device rows"
    found = []
    silent, gone = int(rows[numbers < 0].sum()), int(rows[(numbers >= 0) & (calls == 0)].sum())
    unsure = int(rows[(numbers >= 0) & (calls > 0)].sum())
    if silent:
        found.append(f"{silent} {of_all} do not tell which call launched them")
    if gone:
        found.append(
            f"{gone} {of_all} were launched by calls that are not in the trace: events were lost, or were before it"
        )
    if unsure:
        found.append(
            f"{unsure} {of_all} share their correlation, and nothing tells which call launched which"
        )
    return found


def _without_row(trace: Trace) -> list[str]:
    calls = trace.calls
    launches = calls.kind == kinds.LAUNCH
    if not len(trace.device) or (trace.device.call < 0).any():
        return []  # theirs may be among those that have no call
    ran: Bools = np.zeros(len(calls), np.bool_)
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
    if len(device) < 2:
        return []
    again = device.start[1:] == device.start[:-1]
    tied = device.take(np.concatenate((again, [False])) | np.concatenate(([False], again)))
    equal = np.stack((tied.start, tied.end, tied.lane, tied.name, tied.correlation))
    surplus = len(tied) - np.unique(equal, axis=1).shape[1]
    if not surplus:
        return []
    return [f"device rows are in the trace more than once, {surplus} too many: each is counted"]
