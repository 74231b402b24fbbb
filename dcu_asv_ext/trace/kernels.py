"""Kernels, by name and shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .model import Trace


@dataclass(frozen=True)
class KernelRow:
    """name: whole; short: for people (see `short_name`). shape: grid and block ("" where not told).
    nanoseconds: summed; operators: the torch operators that launched it. lanes: into `Trace.lanes`."""

    name: str
    short: str
    shape: str
    count: int
    nanoseconds: int
    longest: int
    shortest: int
    operators: tuple[str, ...]
    lanes: tuple[int, ...]


def kernels(trace: Trace) -> Sequence[KernelRow]:
    raise NotImplementedError
