"""Neighbouring element-wise operators over one large tensor: each reads and writes it, one kernel would once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .. import intervals, units
from ..analysis import Analysis
from ..finding import Finding
from ..model import Ints, Trace
from .elementwise_chains import Chain, chains_of
from .scope import Scope, at, by_key, covered, places, times_each

KIND = "unfused element-wise operators"


def detect(analysis: Analysis) -> Iterable[Finding]:
    """By the line of a chain's first operator. Needs operators with their shapes."""
    scope = analysis.scope
    chains = list(chains_of(scope))
    if not chains:
        return
    first = np.array([chain.operators[0] for chain in chains])
    lines = analysis.sources.numbers_of_operators(first)
    if not lines.any():  # without stacks: by what they do
        signatures: dict[tuple[object, ...], int] = {}
        lines = np.array(
            [signatures.setdefault((one.names, one.shape), len(signatures)) for one in chains], np.int64
        )
    gains = np.array([_gain(analysis.trace, chain) for chain in chains], np.int64)
    for members in by_key(lines, gains, scope):
        yield _finding(scope, [chains[number] for number in members.tolist()], int(gains[members].sum()))


def _gain(trace: Trace, chain: Chain) -> int:
    """ns of its rows, in the ratio of the bytes: such kernels run as fast as memory allows."""
    return int(int(trace.device.duration[list(chain.rows)].sum()) * chain.saved / chain.moved)


def _finding(scope: Scope, chains: Sequence[Chain], gain: int) -> Finding:
    trace = scope.trace
    rows = np.array([row for chain in chains for row in chain.rows])
    operators = np.array([chain.operators[0] for chain in chains])
    lines = places(scope.analysis.sources.of_operators(operators))
    longest = max(chains, key=lambda one: (one.saved, len(one.rows)))
    saved, moved = (sum(getattr(one, name) for one in chains) for name in ("saved", "moved"))
    spent = int(trace.device.duration[rows].sum())
    alone = 1 - _beside(trace, rows) / max(spent, 1)
    shape = "x".join(map(str, longest.shape))
    text = (
        f"{len(longest.names)} element-wise operators in a row ({_listed(longest.names)}) read and write the same"
        f" tensor of {shape}{at(', '.join(lines[:3]))} ({times_each(len(chains), len(scope.steps))}), in"
        f" {units.time(spent)}. As one kernel they would move {units.size(saved)} of {units.size(moved)} less,"
        f" which is {scope.part(gain)} at the same bandwidth, if nothing else needs the results between them."
    )
    return scope.finding(
        KIND,
        taken=gain,
        gain=gain * alone if alone > 0.5 else 0,
        text=text,
        next_step="Fuse them: `torch.compile`, an operator that torch has for the whole, or a kernel of your own.",
        events=(trace.device.start[rows], trace.device.end[rows]),
        why_not="another stream works meanwhile",
        source=(lines or [""])[0],
        device=trace.lanes[trace.device.lane[rows[0]]].device,
        operators=list(longest.names),
        shape=list(longest.shape),
        chains=len(chains),
        bytes_saved=saved,
        bytes_moved=moved,
        lines=lines[:5],
    )


def _listed(names: Sequence[str]) -> str:
    shown = [name.removeprefix("aten::") for name in names[:10]]
    return ", ".join(shown) + (", ..." if len(names) > 10 else "")


def _beside(trace: Trace, rows: Ints) -> int:
    """ns of rows of one lane in which another lane of the device worked."""
    device = trace.device
    beside = 0
    for lane in np.unique(device.lane[rows]).tolist():
        mine = rows[device.lane[rows] == lane]
        others = trace.on(trace.lanes[lane].device) & (device.lane != lane)
        busy = intervals.union(device.start[others], device.end[others])
        beside += int(covered(busy, device.start[mine], device.end[mine]).sum())
    return beside
