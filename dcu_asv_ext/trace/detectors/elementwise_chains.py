"""Element-wise operators that follow each other on one stream, each on what the one before it made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .. import kinds
from ..linking import innermost
from ..model import Ints, Trace
from ..summary import blocking
from ..syncing import outermost
from .elementwise_operators import Traffic, traffic
from .scope import Scope

#: Operators from which on a chain is worth a kernel of its own: torch has many pairs as one operator already.
LEAST_OPERATORS = 3
#: Bytes of the tensor below which a launch costs more than its traffic.
LARGE = 1 << 20
#: Operators over lists of tensors: neighbours work on different ones.
_OVER_LISTS = ("aten::_foreach_", "aten::_fused_")
_NEVER = np.iinfo(np.int64).max


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


@dataclass(frozen=True)
class _Link:
    """A row whose operator works element by element on something large.

    position: in the order of the lanes' rows. place: what neighbours must have in common.
    """

    row: int
    operator: int
    traffic: Traffic
    position: int
    place: tuple[int, ...]


def chains_of(scope: Scope) -> Iterator[Chain]:
    """The trace does not say which tensor an operator reads, only its shape. That it is the result before it is
    refuted where that was freed earlier (with memory rows)."""
    freed = _freed(scope.trace)
    chain: list[_Link] = []
    for link in _links(scope):
        if chain and not _follows(scope.trace, chain[-1], link, freed):
            yield from _closed(scope, chain, freed is not None)
            chain = []
        chain.append(link)
    yield from _closed(scope, chain, freed is not None)


def _follows(trace: Trace, before: _Link, link: _Link, freed: Mapping[int, int] | None) -> bool:
    if before.position + 1 != link.position or before.place != link.place:
        return False
    if before.traffic.shape != link.traffic.shape:
        return False
    gone = _NEVER if freed is None else freed.get(before.operator, _NEVER)
    return gone >= int(trace.operators.start[link.operator])


def _closed(scope: Scope, chain: Sequence[_Link], memory: bool) -> Iterator[Chain]:
    if len(chain) < LEAST_OPERATORS:
        return
    trace = scope.trace
    names = tuple(trace.name(int(trace.operators.name[one.operator])) for one in chain)
    if len(set(names)) == 1 and names[0].endswith("_"):
        return  # in place, and always the same: as likely a loop over different tensors
    length = len(chain) if memory else _period(names)
    if length < LEAST_OPERATORS and _ends_by_itself(scope, names):
        length = len(chain)
    for first in range(0, len(chain), length):
        part = chain[first : first + length]
        operators = tuple(one.operator for one in part)
        if len(set(operators)) < LEAST_OPERATORS:
            continue
        moved = sum(one.traffic.read + one.traffic.written for one in part)
        between = sum(2 * one.traffic.written for one in part[:-1])
        yield Chain(
            tuple(one.row for one in part),
            operators,
            names[first : first + length],
            part[0].traffic.shape,
            moved,
            min(between, moved),
        )


def _ends_by_itself(scope: Scope, names: Sequence[str]) -> bool:
    """Of one or two operators again and again, without memory rows: whether that is one tensor's way through them.
    In place it is as likely a loop over tensors; without steps or waits it may be one call, made again and again."""
    if any(name.endswith("_") for name in names):
        return False
    calls, launches = scope.trace.calls, scope.trace.device.call
    start = calls.start[launches[launches >= 0]]
    waits = calls.start[blocking(calls, scope.trace.names)]
    return len(scope.steps) > 0 or len(np.unique(np.searchsorted(waits, start))) > 1


def _period(names: Sequence[str]) -> int:
    """After how many names they begin again; their number where they do not."""
    for length in range(1, len(names) // 2 + 1):
        if all(names[at] == names[at - length] for at in range(length, len(names))):
            return length
    return len(names)


def _links(scope: Scope) -> Iterator[_Link]:
    """In the order of the lanes' rows."""
    trace = scope.trace
    device, calls = trace.device, trace.calls
    operators = _whole(trace, device.operator)
    combination, known = _traffic_of(trace, operators)
    if not known:
        return
    start = trace.operators.start[operators]
    step = scope.step_of(start)
    # What is before a wait of the host cannot be in one kernel with what is after it.
    waits = np.sort(calls.start[blocking(calls, trace.names)])
    stretch = np.searchsorted(waits, start)
    computing = (device.kind == kinds.KERNEL) & scope.rows & np.isin(combination, list(known))
    order = np.lexsort((device.start, device.lane))
    for position in np.flatnonzero(computing[order]).tolist():
        row = int(order[position])
        place = (int(device.lane[row]), int(step[row]), int(stretch[row]))
        yield _Link(row, int(operators[row]), known[int(combination[row])], position, place)


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


def _traffic_of(trace: Trace, operators: Ints) -> tuple[Ints, dict[int, Traffic]]:
    """The number of each operator's combination of name, outer name, shapes and types, -1 for none; and what those
    move that work element by element on something large."""
    table = trace.operators
    combination = np.full(len(operators), -1, np.int64)
    some = np.flatnonzero(operators >= 0)
    mine = operators[some]
    outer = table.name[outermost(trace, mine)]
    rows = np.stack((table.name[mine], outer, table.shapes[mine], table.types[mine]))
    distinct, combination[some] = np.unique(rows, axis=1, return_inverse=True)
    known = {}
    for number, (name, around, shapes, types) in enumerate(distinct.T.tolist()):
        found = traffic(trace.name(name), trace.name(shapes), trace.name(types))
        over_lists = trace.name(around).startswith(_OVER_LISTS)
        if found is not None and found.written >= LARGE and not over_lists:
            known[number] = found
    return combination, known


def _freed(trace: Trace) -> dict[int, int] | None:
    """Operator -> when the last large block that it allocated on a device was freed, as far as the trace goes; None
    where the trace has no memory rows."""
    memory = trace.memory
    rows = np.flatnonzero(memory.on_cpu == 0)
    if not len(rows):
        return None
    order = rows[np.lexsort((memory.start[rows], memory.address[rows]))]
    this, following = order[:-1], order[1:]
    pair = (memory.address[this] == memory.address[following]) & (memory.bytes[following] < 0)
    gone = np.full(len(memory), _NEVER, np.int64)
    gone[this[pair]] = memory.start[following[pair]]
    made = rows[memory.bytes[rows] >= LARGE]
    inside = _whole(trace, innermost(trace, memory.thread[made], memory.start[made]))
    found: dict[int, int] = {}
    for operator, when in zip(inside.tolist(), gone[made].tolist(), strict=True):
        while operator >= 0:  # an operator's result is made by the `aten::empty` inside it
            found[operator] = when
            operator = int(trace.operators.parent[operator])
    return found
