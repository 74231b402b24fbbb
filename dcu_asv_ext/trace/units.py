"""Figures of tables and sentences as people read them."""

from __future__ import annotations

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_SIZES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"))
NOTHING = "-"


def time(nanoseconds: float | None) -> str:
    """`12.3 us`; `-` for None."""
    if nanoseconds is None:
        return NOTHING
    if not nanoseconds:
        return "0"
    size, unit = next((one for one in _TIMES if abs(nanoseconds) >= one[0] * 0.9995), _TIMES[-1])
    return f"{_three(nanoseconds / size)} {unit}"


def size(count: float | None) -> str:
    """`4.20 MiB`; `-` for None."""
    if count is None:
        return NOTHING
    for factor, unit in _SIZES:
        if abs(count) >= factor:
            return f"{_three(count / factor)} {unit}"
    return f"{count:.0f} B" if count else "0"


def share(value: float) -> str:
    """`12 %`, with a digit more below ten."""
    return f"{100 * value:.{1 if 0 < abs(value) < 0.0995 else 0}f} %"


def count(number: int, noun: str) -> str:
    """`1 call`, `12 calls`, `3 more rows`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _three(value: float) -> str:
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{digits}f}"
