"""One series as a page draws it: its timelines with rounds and intervals, and where it has no figure and why."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comparing.model import Key
from ..stats.point_interval import half_width
from .series_columns import Column, Columns, Floats, Part, split

#: Significant digits of a value, of a round's median, and of an interval.
_VALUE, _ROUND, _WIDTH = 6, 5, 4
#: Powers of ten up to this one are exact numbers.
_EXACT_POWER = 22
#: Whole numbers below this are exact.
_EXACT_WHOLE = 2.0**53


def line(columns: Columns, key: Key) -> dict[str, Any]:
    column = columns.column(key)
    return {
        "metric": key.metric,
        "params": key.params,
        "timelines": [] if column is None else [_timeline(part) for part in split(column)],
        "failed": columns.failed.get(key, []),
        "missing": columns.missing.get(key, []),
    }


def significant(values: Floats, digits: int) -> list[float]:
    """The nearest numbers with so many digits; whole numbers, where all are, as they are."""
    if (np.abs(values) < _EXACT_WHOLE).all() and (values == np.rint(values)).all():
        return list(values.astype(np.int64).tolist())
    sizes = np.abs(values)
    powers = (
        digits - 1 - np.floor(np.log10(sizes, out=np.zeros_like(sizes), where=sizes > 0)).astype(np.int64)
    )
    if (np.abs(powers) > _EXACT_POWER).any():
        return [float(f"{one:.{digits}g}") for one in values.tolist()]
    # Both operands are exact, so that the quotient is the number that is nearest to the decimal one.
    scale = np.power(10.0, np.abs(powers))
    down = np.rint(values * scale) / scale
    up = np.rint(values / scale) * scale
    return list(np.where(powers >= 0, down, up).tolist())


def _timeline(part: Part) -> dict[str, Any]:
    column = part.column
    return {
        "version": part.version,
        "protocol": part.protocol,
        "set_up": part.set_up or None,
        "h": _interval(column, part.series.points),
        "commits": column.commits.tolist(),
        "values": significant(column.values, _VALUE),
        "rounds": _rounds(column),
    }


def _interval(column: Column, points: bool) -> float | None:
    if not len(column.medians):
        return None
    equal = column.lengths == 0
    counts = np.maximum(column.counts, 1)
    levels = np.repeat(column.values, counts)
    levels[np.repeat(~equal, counts)] = column.medians
    found = half_width(levels, counts, points=points)
    return None if found is None else float(f"{found:.{_WIDTH}g}")


def _rounds(column: Column) -> list[Any]:
    """Of each point the rounds' medians, or how many of them are equal to the value."""
    counts: list[int] = np.maximum(column.counts, 1).tolist()
    if not len(column.medians):
        return counts
    medians = significant(column.medians, _ROUND)
    ends = np.cumsum(column.lengths).tolist()
    return [
        medians[end - length : end] if length else count
        for end, length, count in zip(ends, column.lengths.tolist(), counts, strict=True)
    ]
