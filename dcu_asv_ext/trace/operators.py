"""The operator table, from the rows of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .analysis import Analysis
from .model import Ints
from .operator_tree import OperatorTree, memory, summed
from .summary import blocking

#: The row of what ran on a device, waited or allocated outside of every operator.
NO_OPERATOR = "(no operator)"
#: So many input shapes of an operator are listed; how many there are is told.
_MOST_SHAPES = 5


@dataclass(frozen=True)
class OperatorRow:
    """One operator (or one of its input shapes, where the table is by shape). Times in ns, summed over its calls.

    calls: all; outermost: those that are not inside another call of the same row: what the totals are summed over.
    self_device: of the rows that it launched itself; device: with those of the operators inside it (not counted
    twice where it calls itself). self_cpu, cpu: the same of host time; runtime: of host time in calls of the device's
    runtime that it made itself, which is not in self_cpu. kernels: device rows launched by itself.
    shapes: its input shapes, the most frequent first, types in the same way. self_bytes: memory that it allocated
    less what it freed, itself; peak_bytes: the most that one call had allocated at once. None where the trace has no
    memory rows. waits: ns in calls that wait for the device, inside it. source: the line most of its calls come from.
    """

    name: str
    calls: int
    self_device: int
    device: int
    self_cpu: int
    cpu: int
    kernels: int
    waits: int
    shapes: tuple[str, ...]
    distinct_shapes: int
    self_bytes: int | None
    peak_bytes: int | None
    source: str = ""
    sources: Sequence[str] = ()
    outermost: int = 0
    runtime: int = 0
    types: tuple[str, ...] = ()

    @property
    def device_per_call(self) -> float | None:
        """ns; None for the row that has no calls."""
        return self.device / self.outermost if self.outermost else None

    @property
    def cpu_per_call(self) -> float | None:
        """ns; None for the row that has no calls."""
        return self.cpu / self.outermost if self.outermost else None


def operators(analysis: Analysis, by_shape: bool = False) -> Sequence[OperatorRow]:
    """By name, or by name and input shapes; the longest on the device first, then on the host.

    Agrees with `key_averages` of torch's profiler in calls, in self times, and in the totals of operators that do not
    call themselves. It differs where torch counts twice: there an operator inside another of the same name adds its
    time to the total again. torch's rows of kernels, of calls of the runtime and of spans are no operators here.
    What runs in no operator is the row `(no operator)`, whose calls and host times are 0: it has none.
    """
    groups = _Groups(OperatorTree(analysis.trace), by_shape)
    place = memory_place(analysis)
    own, peak, outside = memory(groups.tree, on_cpu=place == "host")
    figures = groups.figures()
    table = analysis.trace.operators
    shapes, types = groups.frequent(table.shapes), groups.frequent(table.types)
    own, peak = groups.sum(own, groups.used), groups.most(peak)
    rows = [
        OperatorRow(
            **{column: int(values[group]) for column, values in figures.items()},
            name=name,
            shapes=shapes[group][:_MOST_SHAPES],
            distinct_shapes=len(shapes[group]),
            self_bytes=int(own[group]) if place else None,
            peak_bytes=int(peak[group]) if place else None,
            source="",
            sources=(),
            types=types[group][:_MOST_SHAPES],
        )
        for group, name in enumerate(groups.names())
    ]
    rows += _outside(groups.tree, outside if place else None)
    return sorted(rows, key=lambda row: (-row.self_device, -row.self_cpu, row.name, row.shapes))


def memory_place(analysis: Analysis) -> str:
    """Whose memory the table tells: "device", "host" where nothing ran on a device, "" where none was recorded."""
    trace = analysis.trace
    if (trace.memory.on_cpu == 0).any():
        return "device"
    return "host" if len(trace.memory) and not len(trace.device) else ""


class _Groups:
    """The operators of a tree that are one row of the table."""

    def __init__(self, tree: OperatorTree, by_shape: bool) -> None:
        self.tree = tree
        table = tree.trace.operators
        self.used = np.flatnonzero(tree.used)
        self._wide = len(tree.trace.names) + 1
        key = table.name * self._wide + (table.shapes + 1 if by_shape else 0)
        key = key[tree.stands_for]
        self._keys, group = np.unique(key[self.used], return_inverse=True)
        self._of = np.full(len(table), -1, np.int64)
        self._of[self.used] = group
        self._counted = self.used[tree.stands_for[self.used] == self.used]
        self._outermost = self.used[~tree.within_same(key)[self.used]]

    def names(self) -> list[str]:
        return [self.tree.trace.names[number] for number in (self._keys // self._wide).tolist()]

    def figures(self) -> dict[str, Ints]:
        """By the names that they have in OperatorRow."""
        tree = self.tree
        ones = np.ones(len(self._of), np.int64)
        return {
            "calls": self.sum(ones, self._counted),
            "outermost": self.sum(ones, self._outermost),
            "self_device": self.sum(tree.self_device, self.used),
            "device": self.sum(tree.total(tree.self_device), self._outermost),
            "self_cpu": self.sum(tree.self_cpu, self.used),
            "cpu": self.sum(tree.trace.operators.duration, self._outermost),
            "runtime": self.sum(tree.runtime, self.used),
            "kernels": self.sum(tree.kernels, self.used),
            "waits": self.sum(tree.total(tree.self_waits), self._outermost),
        }

    def sum(self, values: Ints, rows: Ints) -> Ints:
        """Of each group, over these rows."""
        return summed(self._of[rows], values[rows], len(self._keys))

    def most(self, values: Ints) -> Ints:
        found = np.zeros(len(self._keys), np.int64)
        np.maximum.at(found, self._of[self.used], values[self.used])
        return found

    def frequent(self, text: Ints) -> list[tuple[str, ...]]:
        """Of each group the distinct texts, the most frequent first; rows that do not tell are left out."""
        names = self.tree.trace.names
        rows = self._counted[text[self._counted] >= 0]
        pairs, times = np.unique(self._of[rows] * self._wide + text[rows], return_counts=True)
        found: list[list[str]] = [[] for _ in self._keys]
        for pair in pairs[np.argsort(-times, kind="stable")].tolist():
            found[pair // self._wide].append(names[pair % self._wide])
        return [tuple(texts) for texts in found]


def _outside(tree: OperatorTree, held: int | None) -> list[OperatorRow]:
    """The row of what no operator made, if there is any."""
    trace = tree.trace
    rows = tree.device_rows < 0
    waiting = blocking(trace.calls, trace.names) & (trace.calls.operator < 0)
    device = int(trace.device.duration[rows].sum())
    waits = int(trace.calls.duration[waiting].sum())
    if not rows.any() and not waiting.any():
        return []
    return [OperatorRow(NO_OPERATOR, 0, device, device, 0, 0, int(rows.sum()), waits, (), 0, held, None)]
