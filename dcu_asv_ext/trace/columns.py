"""Growing columns of whole numbers, and how the values of a file become such numbers."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np

from .kinds import whole
from .model import Ints

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: Microseconds that nanoseconds of 64 bits can tell.
_MOST_MICROSECONDS = 9.2e15


class Numbered(dict[K, int]):
    """Distinct values, numbered as they come: a value that is asked for is there."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[K] = []

    def __missing__(self, value: K) -> int:
        number = self[value] = len(self.all)
        self.all.append(value)
        return number

    def number(self, value: K) -> int:
        return self[value]


class Cached(dict[K, V], Generic[K, V]):
    """What a function says of each value, asked once."""

    def __init__(self, function: Callable[[K], V]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, value: K) -> V:
        found = self[value] = self._function(value)
        return found


def printable(value: Any) -> str:
    """A name may hold anything: no terminal must obey it, no table break on it, no encoder fail."""
    text = value if type(value) is str else str(value)
    return text if text.isprintable() else "".join(one if one.isprintable() else "\ufffd" for one in text)


class Columns:
    """Equally long columns of whole numbers, 8 bytes each."""

    def __init__(self, *names: str) -> None:
        self.columns: dict[str, array[int]] = {name: array("q") for name in names}

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def extend(self, *values: list[int] | array[int] | Ints) -> None:
        """More rows: the values of each column, in the order of the names; all of them or, raising, none."""
        found = [_as_array(one) for one in values]
        if len({len(one) for one in found}) != 1:
            raise ValueError("columns of different lengths")
        for column, more in zip(self.columns.values(), found, strict=True):
            column.extend(more)

    def array(self, name: str) -> Ints:
        """A copy of one column, in the order of the file."""
        return np.array(self.columns[name], np.int64)

    def sorted(self, begin: int, **more: Ints) -> dict[str, Ints]:
        """Every column as an array, in the order of `start`, times from `begin` on; `more`: other columns."""
        found = {name: np.frombuffer(column, np.int64) for name, column in self.columns.items() if column}
        found = {name: found.get(name, np.zeros(0, np.int64)) for name in self.columns} | more
        order = np.argsort(found["start"], kind="stable")
        found = {name: column[order] for name, column in found.items()}
        return {
            name: column - begin if name in ("start", "end") else column for name, column in found.items()
        }


def _as_array(values: list[int] | array[int] | Ints) -> array[int]:
    if isinstance(values, list):
        return array("q", values)
    return values if isinstance(values, array) else array("q", values.tobytes())


def nanoseconds(microseconds: list[Any]) -> Ints:
    """Rounded. Whole microseconds apart from their fractions, because both together may have more digits than a
    float. Raises TypeError, ValueError or OverflowError where one of them is no time."""
    try:
        values = array("d", microseconds)
    except TypeError:
        values = array("d", map(float, microseconds))
    times = np.frombuffer(values) if values else np.zeros(0)
    if not (np.abs(times) < _MOST_MICROSECONDS).all():
        raise OverflowError("not a time")
    full = np.floor(times)
    found: Ints = full.astype(np.int64) * 1000 + np.rint((times - full) * 1000).astype(np.int64)
    return found


def whole_numbers(values: list[Any]) -> array[int]:
    """-1 for what is no whole number of 64 bits."""
    try:
        return array("q", values)
    except (TypeError, OverflowError):
        return array("q", map(_whole, values))


def _whole(value: Any) -> int:
    found = whole(value)
    return found if found is not None and -(1 << 63) <= found < 1 << 63 else -1
