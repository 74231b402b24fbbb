"""A series of numbers as one line of characters."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Collection, Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=+*%#"
_MARKS = {BLOCKS: "│", ASCII: "|"}


def ramp_for(encoding: str | None) -> str:
    """ASCII where the stream's encoding has no blocks."""
    try:
        (BLOCKS + _MARKS[BLOCKS]).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


def sparkline(
    values: Sequence[float],
    low: float,
    high: float,
    marks: Collection[int] = (),
    ramp: str = BLOCKS,
) -> str:
    """One character a value, at its height between `low` and `high` (values beyond are drawn at the edge), and a bar
    before each index of `marks`."""
    drawn = []
    for index, value in enumerate(values):
        if index in marks:
            drawn.append(_MARKS[ramp])
        height = (value - low) / (high - low) if high > low else 0.0
        drawn.append(ramp[min(int(min(max(height, 0.0), 1.0) * len(ramp)), len(ramp) - 1)])
    return "".join(drawn)


def squeeze(values: Sequence[float], columns: int) -> list[float]:
    """At most `columns` values, each the median of neighbours."""
    if len(values) <= columns:
        return list(values)
    edges = [len(values) * place // columns for place in range(columns + 1)]
    return [statistics.median(values[start:stop]) for start, stop in itertools.pairwise(edges)]


def window(length: int, middle: int, columns: int) -> tuple[int, int]:
    """Start and stop of `columns` neighbours with `middle` in their midst; at an end, the other side has more."""
    start = max(0, min(middle - columns // 2, length - columns))
    return start, min(length, start + columns)
