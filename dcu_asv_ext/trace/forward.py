"""Which operator of the forward pass a backward one belongs to."""

from __future__ import annotations

import numpy as np

from .model import Ints, Trace


def forward_operators(trace: Trace, operators: Ints) -> Ints:
    """Of rows of `Trace.operators`, the operator that made the node of the graph that each is part of running.

    -1 where an operator is part of no backward pass, or where it is not sure. Autograd numbers the nodes of each
    thread in turn: the last operator that begins with a number makes the node. Threads count for themselves, so
    numbers that several forward threads used say nothing.
    """
    table = trace.operators
    node = _nodes(trace, operators)
    found = np.full(len(operators), -1, np.int64)
    made = np.flatnonzero((table.forward_thread == 0) & (table.sequence >= 0))
    asked = np.flatnonzero(node >= 0)
    if not len(made) or not len(asked):
        return found
    made = made[np.lexsort((table.start[made], table.sequence[made]))]
    numbers, wanted = table.sequence[made], table.sequence[node[asked]]
    first, stop = np.searchsorted(numbers, wanted, "left"), np.searchsorted(numbers, wanted, "right")
    changes = np.concatenate(([0], np.cumsum(np.diff(table.thread[made]) != 0)))
    last = made[stop - 1]
    sure = (first < stop) & (changes[np.minimum(first, len(made) - 1)] == changes[stop - 1])
    sure &= table.start[last] < table.start[node[asked]]
    found[asked[sure]] = last[sure]
    return found


def _nodes(trace: Trace, operators: Ints) -> Ints:
    """The innermost operator around each, itself included, that runs a node of the graph; -1 where none."""
    table = trace.operators
    current: Ints = operators.copy()
    while True:
        inside = np.flatnonzero(current >= 0)
        inside = inside[(table.forward_thread[current[inside]] <= 0) | (table.sequence[current[inside]] < 0)]
        if not len(inside):
            return current
        current[inside] = table.parent[current[inside]]
