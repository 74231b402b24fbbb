"""Copies by direction and by the line that made them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import kinds
from .analysis import Analysis
from .grouping import grouped
from .model import Ints, Trace
from .syncing import copies_waited_for, names_of, outermost
from .waits import CopyGroup

#: Below this a copy's time is its start, not its bytes.
SMALL = 64 << 10
_UNTOLD = -1


def copies(analysis: Analysis) -> Sequence[CopyGroup]:
    """Groups of one direction, line and operator, the longest first."""
    trace = analysis.trace
    rows = np.flatnonzero(trace.device.kind == kinds.COPY)
    if not len(rows):
        return []
    call = trace.device.call[rows]
    operator = trace.device.operator[rows]
    lines = analysis.sources.numbers_of_calls(call)
    unlaunched = (call < 0) & (operator >= 0)
    lines[unlaunched] = analysis.sources.numbers_of_operators(operator[unlaunched])
    asked = _asked(trace, rows)
    operators = names_of(trace, outermost(trace, operator))
    waited = copies_waited_for(trace)
    blocks = (call >= 0) & waited[np.maximum(call, 0)] if len(waited) else np.zeros(len(rows), np.bool_)
    pageable = _pageable(trace)[trace.device.name[rows]]
    found = []
    for members in grouped(trace.device.direction[rows], lines, operators, asked):
        mine, first = rows[members], members[0]
        size = trace.device.bytes[mine]
        time = int(trace.device.duration[mine].sum())
        whole = int(size.sum()) if (size >= 0).all() else None
        of_host = pageable[members]
        found.append(
            CopyGroup(
                direction=kinds.DIRECTIONS[trace.device.direction[mine[0]]],
                count=len(mine),
                bytes=whole,
                nanoseconds=time,
                bandwidth=whole * 1e9 / time if whole is not None and time else None,
                pageable=None if (of_host == _UNTOLD).any() else int(of_host.sum()),
                blocking=int(blocks[members].sum()),
                small=int(((size >= 0) & (size < SMALL)).sum()),
                rows=tuple(mine.tolist()),
                source=analysis.sources.texts(lines[[first]])[0],
                operator=trace.name(int(operators[first])),
                api_direction=kinds.DIRECTIONS[asked[first]] if asked[first] >= 0 else "",
            )
        )
    return sorted(found, key=lambda one: -one.nanoseconds)


def _asked(trace: Trace, rows: Ints) -> Ints:
    """The direction that the call was told, where the row says another; else -1."""
    call = trace.device.call[rows]
    if not len(trace.calls):
        return np.full(len(rows), -1, np.int64)
    told = np.where(call >= 0, trace.calls.direction[np.maximum(call, 0)], -1)
    other = (told >= 0) & (told != kinds.UNKNOWN) & (told != trace.device.direction[rows])
    return np.where(other, told, -1)


def _pageable(trace: Trace) -> Ints:
    """Of every name: 1 or 0 where it tells what kind of host memory is copied, else -1."""
    return np.array([_pageable_of(name) for name in trace.names], np.int64)


def _pageable_of(name: str) -> int:
    if "Pageable" in name:
        return 1
    sides = name[name.find("(") + 1 : name.find(")")].split(" -> ") if "->" in name else []
    return 0 if sides and all(side in ("Device", "Pinned") for side in sides) else _UNTOLD
