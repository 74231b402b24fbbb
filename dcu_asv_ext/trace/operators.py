"""The operator table, from the rows of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .analysis import Analysis
from .model import Ints
from .operator_memory import OperatorMemory
from .operator_tree import OperatorTree, summed
from .summary import blocking

#: The row of what ran on a device, waited or allocated outside of every operator.
NO_OPERATOR = "(no operator)"
#: So many input shapes, types and lines of an operator are listed.
_MOST_LISTED = 5


@dataclass(frozen=True)
class OperatorRow:
    """One operator (or one of its input shapes, where the table is by shape). Times in ns, summed over its calls.

    calls: all; outermost: those that are not inside another call of the same row, over which totals are summed.
    self_device: of the rows that it launched itself; device: with those of the operators inside it (not counted
    twice where it calls itself). self_cpu, cpu: the same of host time; runtime: host time in calls of the device's
    runtime that it made itself, which self_cpu leaves out. kernels: device rows launched by itself.
    waits, self_waits: host time in calls that wait for the device, inside it, made by itself.
    shapes, types: of its inputs, the most frequent first. source: the line of code that most calls come from.

    Memory in bytes, of devices (of the host where nothing ran on a device; None where the trace has no such rows):
    self_bytes: allocated less freed, by itself; net_bytes: with what is inside it. peak_bytes: the most that one call
    had allocated at once. held_bytes: allocated in those of its calls that no other operator made, and not freed
    before the trace ended; holding: in how many steps (calls, where the trace has no steps) that was.
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
    self_bytes: int | None = None
    peak_bytes: int | None = None
    source: str = ""
    sources: Sequence[str] = ()
    outermost: int = 0
    runtime: int = 0
    self_waits: int = 0
    types: tuple[str, ...] = ()
    net_bytes: int | None = None
    held_bytes: int | None = None
    holding: int | None = None

    @property
    def device_per_call(self) -> float | None:
        """ns; None for the row that has no calls."""
        return self.device / self.outermost if self.outermost else None

    @property
    def cpu_per_call(self) -> float | None:
        """ns; None for the row that has no calls."""
        return self.cpu / self.outermost if self.outermost else None


def operator_calls(analysis: Analysis) -> int:
    """How many calls of torch operators the table is of."""
    return sum(row.calls for row in analysis.operators)


def operators(analysis: Analysis, by_shape: bool = False) -> Sequence[OperatorRow]:
    """By name, or by name and input shapes; the longest on the device first, then on the host.

    Agrees with `key_averages` of torch's profiler in calls, in self times, and in the totals of operators that do not
    call themselves. Its totals are larger where torch counts twice: an operator inside another of the same name is
    added again, and a call of the runtime that has no operator is given the kernels of the one that has its number.
    torch's rows of kernels, of calls of the runtime and of spans are no operators here.
    What runs in no operator is the row `(no operator)`, whose calls and host times are 0: it has none.
    """
    groups = _Groups(OperatorTree(analysis.trace), by_shape)
    place = memory_place(analysis)
    memory = OperatorMemory(groups.tree, on_cpu=place == "host") if place else None
    figures = groups.figures() | (groups.memory(memory) if memory else {})
    table = analysis.trace.operators
    shapes, types = groups.frequent(table.shapes), groups.frequent(table.types)
    lines = groups.lines(analysis)

    def cells(group: int) -> dict[str, Any]:
        return {column: int(values[group]) for column, values in figures.items()}

    rows = [
        OperatorRow(
            **cells(group),
            name=name,
            shapes=shapes[group][:_MOST_LISTED],
            distinct_shapes=len(shapes[group]),
            types=types[group][:_MOST_LISTED],
            source=lines[group][0] if lines[group] else "",
            sources=lines[group][:_MOST_LISTED],
        )
        for group, name in enumerate(groups.names())
    ]
    rows += _outside(analysis, groups.tree, memory)
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
            "self_waits": self.sum(tree.self_waits, self.used),
        }

    def memory(self, found: OperatorMemory) -> dict[str, Ints]:
        return {
            "self_bytes": self.sum(found.own, self.used),
            "net_bytes": self.sum(self.tree.total(found.own), self._outermost),
            "peak_bytes": self._most(found.peak),
            "held_bytes": self.sum(found.held, self.used),
            "holding": self._periods(np.flatnonzero(found.held)),
        }

    def sum(self, values: Ints, rows: Ints) -> Ints:
        """Of each group, over these rows."""
        return summed(self._of[rows], values[rows], len(self._keys))

    def _most(self, values: Ints) -> Ints:
        found = np.zeros(len(self._keys), np.int64)
        np.maximum.at(found, self._of[self.used], values[self.used])
        return found

    def _periods(self, rows: Ints) -> Ints:
        """In how many steps these rows of each group lie; without steps, how many they are."""
        trace = self.tree.trace
        if len(trace.steps):
            begins = trace.spans.start[trace.steps]
            step = np.searchsorted(begins, trace.operators.start[rows], side="right")
            of = np.unique(self._of[rows] * (len(begins) + 1) + step) // (len(begins) + 1)
        else:
            of = self._of[rows]
        return np.bincount(of, minlength=len(self._keys))

    def frequent(self, text: Ints) -> list[tuple[str, ...]]:
        """Of each group the distinct texts, the most frequent first; rows that do not tell are left out."""
        names = self.tree.trace.names
        told = text[self._counted] >= 0
        numbers = self._ranked(self._counted[told], text[self._counted[told]])
        return [tuple(names[number] for number in one) for one in numbers]

    def lines(self, analysis: Analysis) -> list[tuple[str, ...]]:
        """Of each group the lines of code, those of most calls first."""
        numbers = analysis.sources.numbers_of_operators(self._counted)
        told = numbers > 0
        ranked = self._ranked(self._counted[told], numbers[told])
        return [tuple(analysis.sources.texts(np.array(one, np.int64))) for one in ranked]

    def _ranked(self, rows: Ints, numbers: Ints) -> list[list[int]]:
        """Of each group the distinct numbers, the most frequent first."""
        wide = int(numbers.max(initial=0)) + 1
        pairs, times = np.unique(self._of[rows] * wide + numbers, return_counts=True)
        found: list[list[int]] = [[] for _ in self._keys]
        for pair in pairs[np.argsort(-times, kind="stable")].tolist():
            found[pair // wide].append(pair % wide)
        return found


def _outside(analysis: Analysis, tree: OperatorTree, memory: OperatorMemory | None) -> list[OperatorRow]:
    """The row of what no operator made, if there is any; the harness's own waits are none of it."""
    trace = analysis.trace
    rows = tree.device_rows < 0
    waiting = blocking(trace.calls, trace.names) & (trace.calls.operator < 0)
    for group in analysis.syncs:
        if group.own:
            waiting[list(group.calls)] = False
    if not rows.any() and not waiting.any():
        return []
    device = int(trace.device.duration[rows].sum())
    waits = int(trace.calls.duration[waiting].sum())
    held = memory.outside if memory else None
    return [
        OperatorRow(
            NO_OPERATOR,
            calls=0,
            self_device=device,
            device=device,
            self_cpu=0,
            cpu=0,
            kernels=int(rows.sum()),
            waits=waits,
            shapes=(),
            distinct_shapes=0,
            self_bytes=held,
            self_waits=waits,
            net_bytes=held,
        )
    ]
