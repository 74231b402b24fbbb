"""What is alive at the peak of one call on the CPU: the profiler's allocations, joined to the operators that ran."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from .base import NotMeasured
from .cpu_trace import Mark, Trace, mark, trace_call
from .dispatch import COMPILED, compiles
from .holders import Block, Change, Holders, hold
from .live import largest_alive
from .operators import Operator, Operators

_METHOD = "the profiler's record of allocations, scratch memory of libraries included, and the operators around them"


def cpu_holders(call: Callable[[], object], torch: Any) -> Holders:
    """Runs `call` once. Raises NotMeasured."""
    if compiles():
        raise NotMeasured(COMPILED)
    earlier = largest_alive(torch, "cpu")
    operators = Operators(torch, "cpu", around=lambda number: mark(torch, number))

    def watched() -> None:
        with operators.watching():
            call()

    trace = trace_call(watched, torch)
    operators.check()
    return hold(changes_of(trace, operators.seen), trace.baseline, _METHOD, earlier=earlier)


def changes_of(trace: Trace, operators: list[Operator]) -> list[Change]:
    """Each allocation with the line and the operator that it belongs to. trace.marks: by the operator's place."""
    finder = _Finder(trace.marks, operators)
    alive: dict[int, Block] = {}
    changes = []
    for step in trace.steps:
        if step.address is None:
            changes.append(Change(step.bytes))
        elif step.bytes > 0:
            block = alive[step.address] = finder.block(step.time, step.address, step.bytes)
            changes.append(Change(step.bytes, block))
        else:
            changes.append(Change(step.bytes, alive.pop(step.address)))
    return changes


class _Finder:
    """Operators by time."""

    def __init__(self, marks: dict[int, Mark], operators: list[Operator]) -> None:
        placed = sorted((marks[number].begin, number) for number in marks if number < len(operators))
        self._begins = [begin for begin, _ in placed]
        self._ends = [marks[number].end for _, number in placed]
        self._operators = [operators[number] for _, number in placed]

    def block(self, time: float, address: int, size: int) -> Block:
        following = bisect_right(self._begins, time)
        if following and time <= self._ends[following - 1]:
            operator = self._operators[following - 1]
            return operator.block(size, address)
        # torch.tensor([...]) fills its memory before the operator that hands it out.
        if following < len(self._operators) and address in self._operators[following].results:
            return self._operators[following].block(size, address)
        return Block(size)
