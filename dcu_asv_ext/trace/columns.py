"""Growing columns, and texts that become numbers."""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

import numpy as np

from .model import Ints

K = TypeVar("K", bound=Hashable)


class Numbered(Generic[K]):
    """Distinct values, numbered as they come."""

    def __init__(self) -> None:
        self.all: list[K] = []
        self._numbers: dict[K, int] = {}

    def number(self, value: K) -> int:
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.all)
            self.all.append(value)
        return found


class Columns:
    """Whole numbers, row by row; 8 bytes each."""

    def __init__(self, names: list[str]) -> None:
        self.columns: dict[str, array[int]] = {name: array("q") for name in names}
        self._append = [column.append for column in self.columns.values()]

    def append(self, *values: int) -> int:
        """The new row's number."""
        for append, value in zip(self._append, values, strict=True):
            append(value)
        return len(self.columns["start"]) - 1

    def put(self, name: str, row: int, value: int) -> None:
        self.columns[name][row] = value

    def sorted(self, begin: int, **more: None) -> dict[str, Ints]:
        """Every column as an array, in the order of `start`, times from `begin` on; `more`: columns of -1."""
        found: dict[str, Any] = {
            name: np.frombuffer(column, np.int64) if len(column) else np.zeros(0, np.int64)
            for name, column in self.columns.items()
        }
        order = np.argsort(found["start"], kind="stable")
        found = {name: column[order] for name, column in found.items()}
        for name in ("start", "end"):
            if name in found:
                found[name] = found[name] - begin
        for name in more:
            found[name] = np.full(len(order), -1, np.int64)
        return found
