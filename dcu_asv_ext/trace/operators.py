"""The operator table, from the rows of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .analysis import Analysis


@dataclass(frozen=True)
class OperatorRow:
    """One operator (or one of its input shapes, where the table is by shape). Times in ns, summed over its calls.

    self_device: of the rows that it launched itself; device: with those of the operators inside it (not counted
    twice where it calls itself). self_cpu, cpu: the same of host time. kernels: device rows launched by itself.
    shapes: its input shapes, the most frequent first. self_bytes: device memory that it allocated less what it
    freed, itself; peak_bytes: the most that one call had allocated at once. None where the trace has no memory rows.
    waits: ns in calls that wait for the device, inside it. source: the line most of its calls come from.
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


def operators(analysis: Analysis) -> Sequence[OperatorRow]:
    raise NotImplementedError
