"""A kernel that takes more than half of the device's time: where work on one kernel pays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .. import kinds, units
from ..analysis import Analysis
from ..finding import Finding
from ..model import Ints
from ..names import short_name
from .scope import at, places

KIND = "dominant kernel"
#: Share of all kernels' time.
DOMINANT = 0.5
#: Among fewer different kernels one always takes much.
LEAST_KERNELS = 4


def detect(analysis: Analysis) -> Iterable[Finding]:
    """For information: how much faster the kernel can be is not in the trace."""
    scope, device = analysis.scope, analysis.trace.device
    kernels = np.flatnonzero((device.kind == kinds.KERNEL) & scope.rows)
    names, place = np.unique(device.name[kernels], return_inverse=True)
    if len(names) < LEAST_KERNELS:
        return
    times = np.bincount(place, weights=device.duration[kernels])
    mine = kernels[place == times.argmax()]
    spent = int(device.duration[mine].sum())
    busy = int(times.sum())
    longest = (
        int(device.duration[mine].max()) if len(mine) > 1 else 0
    )  # a single launch may have been held up
    if kinds.is_collective(analysis.trace.name(int(device.name[mine[0]]))):
        return  # it runs for as long as it waits for the other processes
    if spent - longest <= DOMINANT * (busy - longest) or not scope.worth(spent):
        return
    name = short_name(analysis.trace.names[device.name[mine[0]]])
    lines = places(analysis.sources.of_operators(device.operator[mine]))
    operators = places([analysis.trace.name(row) for row in _operator_names(analysis, mine)])
    text = (
        f"One of {len(names)} kernels takes {units.share(spent / busy)} of all kernels' time: {name},"
        f" {units.count(len(mine), 'launch') if len(mine) == 1 else f'{len(mine)} launches'},"
        f" {scope.part(spent)}{at(', '.join(lines[:3]))}. That is no fault in itself, and the trace does not tell how"
        " much faster it can be."
    )
    yield Finding(
        kind=KIND,
        seconds=0.0,
        text=text,
        next_step="Look at this one first: its shapes and data types, a tuned version, its use of the device.",
        share=scope.share(spent),
        begin=int(device.start[mine].min()),
        end=int(device.end[mine].max()),
        events=len(mine),
        source=(lines or [""])[0],
        device=analysis.trace.lanes[device.lane[mine[0]]].device,
        data={"kernel": name, "seconds_taken": spent * 1e-9, "operators": operators[:5]},
    )


def _operator_names(analysis: Analysis, rows: Ints) -> list[int]:
    operator = analysis.trace.device.operator[rows]
    return [int(analysis.trace.operators.name[row]) for row in operator.tolist() if row >= 0]
