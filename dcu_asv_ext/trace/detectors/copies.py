"""Copies between host and device that the host waits for, that are pageable, or that are many and small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from .. import kinds, units
from ..analysis import Analysis
from ..finding import Finding
from ..model import Ints
from ..summary import blocking
from ..waits import CopyGroup
from .scope import Scope, at, covered, rows_of, times_each

PAGEABLE = "pageable copy"
BLOCKING = "blocking copy"
SMALL = "many small copies"
#: Copies from which on they are many, in a trace and in a step.
MANY, MANY_IN_A_STEP = 8, 4

#: Operators by which a program copies; a copy in any other one is a value that the operator needs on the host.
_COPIES = frozenset(
    {
        "",
        "aten::to",
        "aten::_to_copy",
        "aten::copy_",
        "aten::_copy_from",
        "aten::clone",
        "aten::cpu",
        "aten::cuda",
    }
)
_ADVICE = {
    PAGEABLE: (
        "Keep the host's memory pinned (`pin_memory=True` of the DataLoader, or `Tensor.pin_memory()` once) and copy"
        " with non_blocking=True, on a stream of its own ahead of the work that needs it."
    ),
    BLOCKING: (
        "Copy with non_blocking=True to or from pinned memory, ahead of the work that needs it; a read-back: less"
        " often, or after the loop."
    ),
    SMALL: "Pack them into one copy of one buffer, or make the values on the device.",
}


def detect(analysis: Analysis) -> Iterable[Finding]:
    for group, kind in _groups(analysis):
        yield from _of(analysis.scope, group, kind)


def waits_of_copies(analysis: Analysis) -> Ints:
    """The waiting calls that a finding of this family is about (and no other need be)."""
    return _waits(analysis, rows_of(group.rows for group, _ in _groups(analysis)))


def _groups(analysis: Analysis) -> Iterator[tuple[CopyGroup, str]]:
    """What is wrong with each group of which something is, without what was copied between steps."""
    device, inside = analysis.trace.device, analysis.scope.rows
    for group in analysis.copies:
        if group.operator not in _COPIES:
            continue
        rows = np.array(group.rows)
        rows = rows[inside[rows]]
        if len(rows) and len(rows) < group.count:
            group = replace(
                group,
                rows=tuple(rows.tolist()),
                count=len(rows),
                nanoseconds=int(device.duration[rows].sum()),
                bytes=None if group.bytes is None else int(device.bytes[rows].sum()),
                blocking=min(group.blocking, len(rows)),
                small=min(group.small, len(rows)),
            )
        kind = _kind(group, len(analysis.scope.steps)) if len(rows) else ""
        if kind:
            yield group, kind


def _kind(group: CopyGroup, steps: int) -> str:
    """What is wrong with them, "" where nothing is."""
    host = {"HtoD", "DtoH"}
    if group.direction not in host and group.api_direction not in host:
        return ""
    if group.blocking and group.small == group.count and "DtoH" in (group.direction, group.api_direction):
        return ""  # a value that the program reads: that is the synchronisation, not the bytes
    if group.pageable:
        return PAGEABLE
    if group.blocking:
        return BLOCKING
    many = group.small >= max(MANY, MANY_IN_A_STEP * steps)
    return SMALL if many and 2 * group.small > group.count else ""


def _waits(analysis: Analysis, rows: Ints) -> Ints:
    """Calls in which the host waits for copies: the copying ones, or those that follow in the same operator."""
    trace = analysis.trace
    calls = trace.calls
    made = trace.device.call[rows]
    made = made[made >= 0]
    blocks = blocking(calls, trace.names)
    operators = np.unique(calls.operator[made])
    inside = np.isin(calls.operator, operators[operators >= 0]) & (calls.kind == kinds.SYNC)
    return np.union1d(made[blocks[made]], np.flatnonzero(inside & blocks))


def _of(scope: Scope, group: CopyGroup, kind: str) -> Iterator[Finding]:
    device, gaps = scope.trace.device, scope.analysis.gaps
    rows = np.array(group.rows)
    hidden = int(covered(scope.computing, device.start[rows], device.end[rows]).sum())
    exposed = group.nanoseconds - hidden
    waits = _waits(scope.analysis, rows)
    cut = scope.cut_by(waits)
    idle = int(scope.claims[cut].sum())
    if not scope.worth(group.nanoseconds + idle):
        return
    gain = min(exposed + idle, scope.not_computing, exposed + scope.slack)
    yield scope.finding(
        kind,
        taken=group.nanoseconds + idle,
        gain=gain,
        text=_text(scope, group, kind, exposed, idle),
        next_step=_ADVICE[SMALL if group.small == group.count else kind],
        events=(
            np.append(device.start[rows], gaps.begin[cut]),
            np.append(device.end[rows], gaps.end[cut]),
        ),
        why_not=(
            "the copies run while kernels do"
            if 2 * hidden > group.nanoseconds
            else "the host works all the time, and is what the device waits for"
        ),
        source=group.source,
        device=scope.trace.lanes[device.lane[rows[0]]].device,
        direction=group.direction,
        count=group.count,
        bytes=group.bytes,
        bandwidth=group.bandwidth,
        idle_seconds=idle * 1e-9,
        exposed_seconds=exposed * 1e-9,
    )


def _text(scope: Scope, group: CopyGroup, kind: str, exposed: int, idle: int) -> str:
    sized = f", {units.size(group.bytes)}" if group.bytes is not None else ""
    rate = f" ({units.size(group.bandwidth)}/s)" if group.bandwidth is not None else ""
    way = {"HtoD": "from the host", "DtoH": "to the host"}[
        group.api_direction if group.api_direction in ("HtoD", "DtoH") else group.direction
    ]
    made = {PAGEABLE: "Pageable copies", BLOCKING: "Blocking copies", SMALL: "Small copies"}[kind]
    text = (
        f"{made} {way}{at(group.source)}, {times_each(group.count, len(scope.steps))}{sized}, take"
        f" {units.time(group.nanoseconds)}{rate}"
    )
    if exposed < group.nanoseconds:
        text += f", {units.time(exposed)} of it while no kernel runs"
    if idle:
        text += f"; after them the device lies idle for {units.time(idle)}, until the host has submitted more"
    if kind == BLOCKING and group.pageable is None:
        text += "; the trace does not tell whether the host's memory is pinned"
    return f"{text}: {scope.part(exposed + idle)}."
