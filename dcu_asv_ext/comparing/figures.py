"""Figures and names as people read them: units with their prefix, ratios, what a row is called."""

from __future__ import annotations

import math
import unicodedata

from ..metrics import METRICS
from .model import SHARE as SHARE
from .model import Key, Series

_PREFIXES = {
    "seconds": ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s")),
    "bytes": ((1.0, "B"), (2.0**10, "KiB"), (2.0**20, "MiB"), (2.0**30, "GiB"), (2.0**40, "TiB")),
}
#: Units that say nothing beside a number.
_SILENT = frozenset({"", "unit", "value", "relative", "count"})
_DIGITS = 3
_MOST_DIGITS = 5
NOTHING = "-"
#: Instead of a ratio to zero.
FROM_ZERO = "from 0"


def quantity(value: float | None, unit: str, digits: int = _DIGITS) -> str:
    """A value of asv's unit: `12.3 ms`, `4.2 MiB`, `0.731`, `12.3 %` of a share; `-` for no number."""
    if value is None or math.isnan(value):
        return NOTHING
    if unit == SHARE:
        percents = round(100 * value, 9)
        small = 0 < abs(percents) < 0.1
        return f"{percents:.2f} %" if small else f"{_significant(percents, digits, whole=True)} %"
    size, name = _prefix(abs(value), unit)
    text = _significant(value / size, digits, whole=unit != "seconds")
    return f"{text} {name}" if name else text


def change(value: float, unit: str) -> str:
    """`+1.20 ms`; of a share `+3.1 points`."""
    sign = "-" if value < 0 else "+"
    return f"{sign}{points(abs(value)) if unit == SHARE else quantity(abs(value), unit)}"


def part(value: float, whole: float, unit: str) -> str:
    """A part of a change, to the digit that the whole is told to: `+0.05 ms` of `+1.20 ms`."""
    told, _, name = quantity(abs(whole), unit).partition(" ")
    size, _ = _prefix(abs(whole), unit)
    shown = f"{abs(value) / size:.{len(told.partition('.')[2])}f}"
    if not float(shown) or not whole:
        return change(value, unit)
    return f"{'-' if value < 0 else '+'}{shown} {name}".rstrip()


def points(value: float) -> str:
    """A difference of shares: `3.1 points`."""
    return f"{100 * value:.{0 if abs(value) >= 0.995 else 1}f} points"


def around(value: float, low: float | None, high: float | None, unit: str) -> str:
    """An interval in the unit that `quantity` gives the value: `[12.1, 12.6]`; nothing where there is none."""
    if low is None or high is None:
        return ""
    if unit == SHARE:
        return f"[{quantity(low, unit)}, {quantity(high, unit)}]".replace(" %,", ",")
    size, _ = _prefix(abs(value), unit)
    ends = (_significant(one / size, _DIGITS, whole=unit != "seconds") for one in (low, high))
    return f"[{', '.join(ends)}]"


def pair(before: float | None, after: float | None, unit: str) -> tuple[str, str]:
    """Both sides, with more digits (to a limit) where different values would look the same."""
    for digits in range(_DIGITS, _MOST_DIGITS + 1):
        shown = (quantity(before, unit, digits), quantity(after, unit, digits))
        if not _reads_same(*shown):
            return shown
    if unit == "bytes" and before != after and before is not None and after is not None:
        return f"{before:,.0f} B", f"{after:,.0f} B"
    return quantity(before, unit), quantity(after, unit)


def _reads_same(one: str, other: str) -> bool:
    (first, _, unit), (second, _, other_unit) = one.partition(" "), other.partition(" ")
    return unit == other_unit and (
        first == second or (NOTHING not in (one, other) and float(first) == float(second))
    )


def _prefix(size: float, unit: str) -> tuple[float, str]:
    """The largest prefix that leaves at least 1, as it will be printed; the smallest for what is smaller still."""
    table = _PREFIXES.get(unit)
    if table is None:
        return 1.0, "" if unit in _SILENT else unit
    if size == 0:
        return next(entry for entry in table if entry[0] == 1.0)
    fitting = [entry for entry in table if float(f"{size / entry[0]:.3g}") >= 1]
    return fitting[-1] if fitting else table[0]


def _significant(value: float, digits: int, whole: bool) -> str:
    """whole: a whole number stands as one, without digits after the point."""
    if not math.isfinite(value):
        return "inf" if value > 0 else "-inf"
    if value == 0 or (whole and abs(value) < 1e4 and value == int(value)):
        return str(int(value))
    if 10**digits <= abs(value) < 1e4:
        return f"{value:.0f}"
    return f"{value:#.{digits}g}".rstrip(".")


def ratio(value: float | None) -> str:
    """after / before: three decimals near 1, fewer far from it; in words where there was nothing before."""
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return FROM_ZERO
    if 0.1 <= value < 10:
        return f"{value:.3f}"
    return f"{value:.3g}"


def exactly(before: float, after: float, unit: str) -> str:
    """What stands for the interval of figures that never vary: `exact`; with the difference, `exact: -8 B`, where the
    ratio would read as none."""
    if before == after or not before or ratio(after / before) != ratio(1.0):
        return "exact"
    difference = after - before
    return f"exact: {f'{difference:+,.0f} B' if unit == 'bytes' else change(difference, unit)}"


def interval(low: float, high: float) -> str:
    """`[0.981, 1.042]`, or nothing where there is no interval; `[2.10, open]` where it has no upper end."""
    if math.isnan(low) or math.isnan(high) or math.isinf(low):
        return ""
    return f"[{ratio(low)}, {'open' if math.isinf(high) else ratio(high)}]"


def interval_of_points(low: float, high: float) -> str:
    """`[+1.1, +5.0]`, or nothing where there is no interval."""
    return f"[{100 * low:+.1f}, {100 * high:+.1f}]" if math.isfinite(low) and math.isfinite(high) else ""


def percent(share: float) -> str:
    """0.015 -> `1.5 %`."""
    return f"{100 * share:.3g} %"


def count(number: int, word: str, plural: str = "") -> str:
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def name(key: Key, series: Series) -> str:
    """`gemm.matmul(n=256, dtype='float32')`: parameters by name where they have one."""
    if not key.params:
        return printable(key.benchmark)
    names = [*series.param_names, *([""] * len(key.params))]
    parts = [f"{one}={value}" if one else value for one, value in zip(names, key.params, strict=False)]
    return printable(f"{key.benchmark}({', '.join(parts)})")


def full_name(key: Key) -> str:
    """`module.function.metric(params)`, where a regular expression is looked for. What is not ours goes by asv's own
    name, without what we call its kind."""
    name = f"{key.benchmark}.{key.metric}" if key.metric in METRICS else key.benchmark
    return f"{name}({', '.join(key.params)})" if key.params else name


def printable(text: str) -> str:
    """A parameter's or a commit's text may hold anything; a terminal must not obey it, nor a table break on it."""
    return text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)


def columns(text: str) -> int:
    """Columns of a terminal that the text takes: wide East Asian letters take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def left(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def right(text: str, width: int) -> str:
    return " " * (width - columns(text)) + text
