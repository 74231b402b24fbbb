"""Neighbouring element-wise operators over one large tensor: each reads and writes it, one kernel would once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .. import intervals, kinds, units
from ..analysis import Analysis
from ..finding import Finding
from ..model import Ints, Trace
from ..syncing import outermost
from .elementwise_operators import Traffic, traffic
from .scope import Scope, at, by_key, covered, places, times_each

KIND = "unfused element-wise operators"
#: Operators from which on a chain is worth a kernel of its own: torch has many pairs as one operator already.
LEAST_OPERATORS = 3
#: Bytes of the tensor below which a launch costs more than its traffic.
LARGE = 1 << 20
#: Operators over lists of tensors: neighbours work on different ones.
_OVER_LISTS = ("aten::_foreach_", "aten::_fused_")


@dataclass(frozen=True)
class Chain:
    """rows: of `Trace.device`, neighbours on one lane. names: of their operators. saved: bytes less, if they were one
    kernel: the results between them are neither written nor read again. moved: bytes as they are."""

    rows: tuple[int, ...]
    operators: tuple[int, ...]
    names: tuple[str, ...]
    shape: tuple[int, ...]
    moved: int
    saved: int


def detect(analysis: Analysis) -> Iterable[Finding]:
    """By the line of a chain's first operator. Needs operators with their shapes."""
    scope = analysis.scope
    chains = list(_chains(scope))
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
    return int(trace.device.duration[list(chain.rows)].sum() * chain.saved / chain.moved)


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
        f" tensor of {shape}{at(', '.join(lines[:3]))} ({times_each(len(chains), len(trace.steps))}), in"
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


def _chains(scope: Scope) -> Iterator[Chain]:
    trace = scope.trace
    device = trace.device
    order = np.lexsort((device.start, device.lane))
    operators = _whole(trace, device.operator)
    step = scope.step_of(np.where(operators >= 0, _starts(trace, operators), 0))
    moved = _traffic_of(trace, operators)
    chain: list[tuple[int, int, Traffic]] = []
    before: tuple[object, ...] = ()
    for row in order.tolist():
        of_row = moved.get(int(operators[row])) if device.kind[row] == kinds.KERNEL else None
        key = () if of_row is None else (device.lane[row], step[row], of_row.shape)
        if chain and (of_row is None or key != before):
            yield from _closed(trace, chain)
            chain = []
        if of_row is not None:
            chain.append((row, int(operators[row]), of_row))
        before = key
    yield from _closed(trace, chain)


def _closed(trace: Trace, chain: Sequence[tuple[int, int, Traffic]]) -> Iterator[Chain]:
    operators = tuple(operator for _, operator, _ in chain)
    names = tuple(trace.name(int(trace.operators.name[one])) for one in operators)
    if len(set(operators)) < LEAST_OPERATORS:
        return
    if len(set(names)) == 1 and names[0].endswith("_"):
        return  # in place, and always the same: as likely a loop over different tensors
    between = sum(2 * one.written for _, _, one in chain[:-1])
    moved = sum(one.read + one.written for _, _, one in chain)
    rows = tuple(row for row, _, _ in chain)
    yield Chain(rows, operators, names, chain[0][2].shape, moved, min(between, moved))


def _starts(trace: Trace, operators: Ints) -> Ints:
    table = trace.operators.start
    if not len(table):
        return np.zeros(len(operators), np.int64)
    found: Ints = table[np.maximum(operators, 0)]
    return found


def _whole(trace: Trace, operators: Ints) -> Ints:
    """Of operators that call themselves with more arguments (`out=`), the outer one."""
    table = trace.operators
    found: Ints = operators.copy()
    while True:
        inside = np.flatnonzero(found >= 0)
        parent = table.parent[found[inside]]
        same = (parent >= 0) & (table.name[np.maximum(parent, 0)] == table.name[found[inside]])
        if not same.any():
            return found
        found[inside[same]] = parent[same]


def _traffic_of(trace: Trace, operators: Ints) -> dict[int, Traffic]:
    """Of the operators of rows: those that work element by element on something large."""
    table = trace.operators
    some = np.unique(operators[operators >= 0])
    outer = outermost(trace, some)
    found = {}
    for operator, around in zip(some.tolist(), outer.tolist(), strict=True):
        if trace.name(int(table.name[around])).startswith(_OVER_LISTS):
            continue
        one = traffic(
            trace.name(int(table.name[operator])),
            trace.name(int(table.shapes[operator])),
            trace.name(int(table.types[operator])),
        )
        if one is not None and one.written >= LARGE:
            found[operator] = one
    return found
