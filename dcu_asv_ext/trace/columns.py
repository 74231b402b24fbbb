"""Growing columns of whole numbers, and how the values of a file become such numbers."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np

from .kinds import whole
from .model import Bools, Floats, Ints

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: Microseconds of which a sum of two is told by nanoseconds of 64 bits: 145 years.
_MOST_MICROSECONDS = 4.6e15


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
    """Equally long columns, 8 bytes a value: times in microseconds as a file has them, and whole numbers."""

    def __init__(self, times: tuple[str, ...], numbers: tuple[str, ...]) -> None:
        self._times: dict[str, array[float]] = {name: array("d") for name in times}
        self._numbers: dict[str, array[int]] = {name: array("q") for name in numbers}
        self._all: list[array[Any]] = [*self._times.values(), *self._numbers.values()]

    def __len__(self) -> int:
        return len(self._all[0])

    def extend(self, *values: list[Any] | array[Any]) -> None:
        """More rows: the values of each column, times first; all of them or, raising, none."""
        before = len(self)
        try:
            for column, more in zip(self._all, values, strict=True):
                if isinstance(more, list):
                    column.fromlist(more)
                else:
                    column.extend(more)
        except BaseException:
            for column in self._all:
                del column[before:]
            raise

    def time(self, name: str) -> Floats:
        """A copy, in the order of the file, in microseconds."""
        return np.array(self._times[name], np.float64)

    def number(self, name: str) -> Ints:
        """A copy, in the order of the file."""
        return np.array(self._numbers[name], np.int64)

    @property
    def numbers(self) -> list[str]:
        return list(self._numbers)


def microseconds(values: list[Any]) -> array[float]:
    """Raises TypeError, ValueError or OverflowError where one of them is no number."""
    try:
        return array("d", values)
    except TypeError:
        return array("d", map(float, values))


def can_be(times: Floats) -> Bools:
    """Mask of those that are numbers, and small enough for nanoseconds of 64 bits."""
    return np.abs(times) < _MOST_MICROSECONDS


def nanoseconds(times: Floats) -> Ints:
    """Rounded. Whole microseconds apart from their fractions: both together may have more digits than a float."""
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
