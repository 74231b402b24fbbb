"""Which rows of the operator table and of the kernels are shown, and in which order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .analysis import Analysis
from .kernels import KernelRow
from .operators import OperatorRow, operators

_KEYS: dict[str, Callable[[OperatorRow], float]] = {
    "self_device": lambda row: row.self_device,
    "device": lambda row: row.device,
    "self_cpu": lambda row: row.self_cpu,
    "cpu": lambda row: row.cpu,
    "calls": lambda row: row.calls,
    "mean": lambda row: row.device_per_call or row.cpu_per_call or 0,
    "memory": lambda row: row.peak_bytes or 0,
}
_KERNEL_KEYS: dict[str, Callable[[KernelRow], float]] = {
    "calls": lambda row: row.count,
    "mean": lambda row: row.nanoseconds / row.count,
}
_NAME = "name"
SORT_KEYS = (*_KEYS, _NAME)


@dataclass(frozen=True)
class Selection:
    """sort: one of SORT_KEYS, None for the device's own time (the host's, where nothing ran on a device).
    match: a regular expression that is searched for in names, letters of either case. top: so many rows at most.
    Raises ValueError, one sentence, for what is none of these."""

    sort: str | None = None
    match: str | None = None
    top: int | None = None

    def __post_init__(self) -> None:
        if self.sort is not None and self.sort not in SORT_KEYS:
            raise ValueError(f"rows cannot be sorted by {self.sort!r}: choose one of {', '.join(SORT_KEYS)}")
        if self.top is not None and self.top < 1:
            raise ValueError(f"{self.top} rows cannot be shown: choose a number from 1 on")
        try:
            re.compile(self.match or "")
        except re.error as fault:
            raise ValueError(f"{self.match!r} is no regular expression: {fault}") from None

    def matches(self, *names: str) -> bool:
        return any(re.search(self.match or "", name, re.IGNORECASE) for name in names)


def chosen_operators(
    analysis: Analysis, selection: Selection, by_shape: bool = False
) -> tuple[Sequence[OperatorRow], int]:
    """Those to be shown, and how many more match."""
    rows = operators(analysis, by_shape=True) if by_shape else analysis.operators
    rows = [row for row in rows if selection.matches(row.name)]
    sort = selection.sort or ("self_device" if len(analysis.trace.device) else "self_cpu")
    if sort == _NAME:
        rows.sort(key=lambda row: row.name)
    else:
        rows.sort(key=_KEYS[sort], reverse=True)  # stable: equal ones stay in the order of time
    shown = rows[: selection.top]
    return shown, len(rows) - len(shown)


def chosen_kernels(analysis: Analysis, selection: Selection) -> tuple[Sequence[KernelRow], int]:
    """Those to be shown, and how many more match, by their name or that of an operator that launched them; sorted by
    their time where a key is none of theirs."""
    rows = [row for row in analysis.kernels if selection.matches(row.name, row.short, *row.operators)]
    if selection.sort == _NAME:
        rows.sort(key=lambda row: row.short)
    elif selection.sort in _KERNEL_KEYS:
        rows.sort(key=_KERNEL_KEYS[selection.sort], reverse=True)
    shown = rows[: selection.top]
    return shown, len(rows) - len(shown)
