"""Which calls wait for a copy, and which operator of the program a call belongs to."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from . import kinds
from .model import Ints, Trace
from .summary import blocking

Bools = npt.NDArray[np.bool_]

#: What torch's engine puts around the operators of a backward pass.
_AROUND = ("autograd::", "torch::autograd::")


def outermost(trace: Trace, operator: Ints) -> Ints:
    """The outermost operator around each that a program could have called: `aten::item` of what it is made of."""
    names = np.array([("::" in name and not name.startswith(_AROUND)) for name in trace.names] or [False])
    table = trace.operators
    found: Ints = operator.copy()
    current: Ints = operator.copy()
    while True:
        inside = np.flatnonzero(current >= 0)
        if not len(inside):
            return found
        told = inside[names[table.name[current[inside]]]]
        found[told] = current[told]
        current[inside] = table.parent[current[inside]]


def names_of(trace: Trace, operators: Ints) -> Ints:
    """Numbers of the names of operator rows, -1 for none."""
    found = np.full(len(operators), -1, np.int64)
    some = operators >= 0
    found[some] = trace.operators.name[operators[some]]
    return found


def copies_waited_for(trace: Trace) -> Bools:
    """Mask of the copying calls that the host waits for: they block, or a wait follows in their operator."""
    calls = trace.calls
    copying = calls.kind == kinds.COPY_CALL
    found: Bools = copying & blocking(calls, trace.names)
    syncs = np.flatnonzero((calls.kind == kinds.SYNC) & (calls.operator >= 0))
    if len(syncs):
        last = np.full(len(trace.operators), -1, np.int64)
        np.maximum.at(last, calls.operator[syncs], calls.start[syncs])
        asked = np.flatnonzero(copying & (calls.operator >= 0))
        found[asked] |= last[calls.operator[asked]] >= calls.end[asked]
    return found


def reads_back(trace: Trace) -> Bools:
    """Mask of the blocking calls that wait for a copy: they copy, or follow a copying call in their operator."""
    calls = trace.calls
    waits = blocking(calls, trace.names)
    found: Bools = waits & (calls.kind == kinds.COPY_CALL)
    syncs = np.flatnonzero(waits & (calls.kind == kinds.SYNC) & (calls.operator >= 0))
    if len(syncs):
        operator = calls.operator[syncs]
        copies = np.flatnonzero((calls.kind == kinds.COPY_CALL) & (calls.operator >= 0))
        first = np.full(len(trace.operators), np.iinfo(np.int64).max)
        np.minimum.at(first, calls.operator[copies], calls.start[copies])
        found[syncs] = first[operator] < calls.start[syncs]
    return found
