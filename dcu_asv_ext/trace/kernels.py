"""Kernels, by name and shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import kinds
from .model import Ints, Trace
from .names import short_name


@dataclass(frozen=True)
class KernelRow:
    """name: whole; short: for people (see `short_name`). shape: grid and block ("" where not told).
    nanoseconds: summed; operators: the torch operators that launched it, those that did so longest first.
    lanes: into `Trace.lanes`."""

    name: str
    short: str
    shape: str
    count: int
    nanoseconds: int
    longest: int
    shortest: int
    operators: tuple[str, ...]
    lanes: tuple[int, ...]


def kernels(trace: Trace) -> Sequence[KernelRow]:
    """By name and shape, the longest first."""
    rows = trace.device.take(trace.device.kind == kinds.KERNEL)
    if not len(rows):
        return []
    wide = len(trace.names) + 1
    keys, group = np.unique(rows.name * wide + rows.shape + 1, return_inverse=True)
    order = np.argsort(group, kind="stable")
    first = np.searchsorted(group[order], np.arange(len(keys)))
    duration = rows.duration[order]
    summed = np.add.reduceat(duration, first)
    longest, shortest = np.maximum.reduceat(duration, first), np.minimum.reduceat(duration, first)
    launched = rows.operator >= 0
    makers = trace.operators.name[rows.operator[launched]]
    by_maker = _members(group[launched], makers, rows.duration[launched], len(keys))
    by_lane = _members(group, rows.lane, rows.duration, len(keys))
    count = np.bincount(group)
    return [
        KernelRow(
            name=trace.names[keys[one] // wide],
            short=short_name(trace.names[keys[one] // wide]),
            shape=trace.name(int(keys[one] % wide) - 1),
            count=int(count[one]),
            nanoseconds=int(summed[one]),
            longest=int(longest[one]),
            shortest=int(shortest[one]),
            operators=tuple(trace.names[maker] for maker in by_maker[one]),
            lanes=tuple(sorted(by_lane[one])),
        )
        for one in np.argsort(-summed, kind="stable").tolist()
    ]


def _members(group: Ints, member: Ints, weight: Ints, count: int) -> list[list[int]]:
    """Of each group the distinct members, those of most weight first."""
    found: list[list[int]] = [[] for _ in range(count)]
    if len(group):
        wide = int(member.max()) + 1
        pairs, place = np.unique(group * wide + member, return_inverse=True)
        weights = np.zeros(len(pairs), np.int64)
        np.add.at(weights, place, weight)
        for pair in pairs[np.argsort(-weights, kind="stable")].tolist():
            found[pair // wide].append(pair % wide)
    return found
