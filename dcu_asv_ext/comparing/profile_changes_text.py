"""What changed between two commits' profiles, for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..stats.verdicts import INCONCLUSIVE, NO_CHANGE
from . import figures
from .profile_explaining import CHANGED, LATENCY, clipped
from .profile_model import (
    COPY,
    OPERATOR,
    SYNC,
    Explanation,
    Figure,
    Part,
    ProfileChange,
    ProfiledSide,
    RowChange,
    RowSide,
)
from .table import GAP, Style

#: So many rows of a kind are shown, the others counted.
_MOST = 12
#: So many parts of an explanation, likewise.
_PARTS = 8
#: What is told of a call besides its time, where it is known on a side and differs.
_FIGURES = (
    ("kernel_count", "kernels", "count"),
    ("copy_count_htod", "copies HtoD", "count"),
    ("copy_count_dtoh", "copies DtoH", "count"),
    ("copy_count_dtod", "copies DtoD", "count"),
    ("copy_bytes_htod", "bytes HtoD", "bytes"),
    ("copy_bytes_dtoh", "bytes DtoH", "bytes"),
    ("copy_bytes_dtod", "bytes DtoD", "bytes"),
    ("sync_count", "synchronisations", "count"),
    ("idle_share", "idle", "share"),
    ("overlap_share", "overlap", "share"),
    ("launch_bound_share", "launch-bound", "share"),
    ("profiled_device_time", "device busy", "seconds"),
)


def render(found: ProfileChange, style: Style | None = None) -> str:
    """The figures of a call on both sides, the explanation of the latency's change, and the rows that changed."""
    style = style or Style()
    blocks = [
        list(_heading(found, style)),
        list(_explanation(found, style)),
        *(list(_rows(name, rows, style)) for name, rows in _tables(found)),
        [line for note in found.notes for line in style.wrapped(figures.printable(note), "note: ")],
    ]
    if not found.rows:
        blocks.insert(2, ["No kernel, copy, synchronisation or operator changed."])
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _tables(found: ProfileChange) -> Sequence[tuple[str, Sequence[RowChange]]]:
    return (
        ("kernels", found.kernels),
        ("copies", found.copies),
        ("synchronisations", found.syncs),
        ("operators", found.operators),
    )


def _heading(found: ProfileChange, style: Style) -> Iterator[str]:
    params = ", ".join(f"{name}={value}" for name, value in found.params.items())
    yield figures.printable(f"{found.benchmark}({params})" if params else found.benchmark or "trace")
    old, new = found.before, found.after
    yield from style.wrapped(f"{_profiles(old)} {style.arrow} {_profiles(new)}", "  profiles  ")
    lines = [_line("latency", old.latency, new.latency, "seconds", style, found.verdict)]
    for name, label, unit in _FIGURES:
        before, after = old.figures.get(name), new.figures.get(name)
        if unit == "seconds" or before is None or after is None or before.value != after.value:
            lines.append(_line(label, before, after, unit, style))
    told = [one for one in lines if one]
    width = max((len(label) for label, _ in told), default=0)
    for label, text in told:
        yield from style.wrapped(text, f"  {label:<{width}}{GAP}")


def _profiles(side: ProfiledSide) -> str:
    counts = sorted(set(side.steps))
    steps = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    cost = "" if side.overhead is None else f", a profiled call x{side.overhead:.3g} of its latency"
    return f"{side.profiles} of {steps} calls{cost}"


def _line(
    label: str, before: Figure | None, after: Figure | None, unit: str, style: Style, more: str = ""
) -> tuple[str, str] | None:
    if before is None and after is None:
        return None
    old, new = figures.pair(_value(before), _value(after), unit)
    text = f"{old} {style.arrow} {new}"
    if before is not None and after is not None:
        text += f" ({figures.change(after.value - before.value, unit)}{', ' + more if more else ''})"
    return label, text


def _value(one: Figure | None) -> float | None:
    return None if one is None else one.value


def _explanation(found: ProfileChange, style: Style) -> Iterator[str]:
    told = found.explanation
    if told is None:
        yield from style.wrapped(f"Not explained: {found.why_not}.")
        return
    undecided = told.of == LATENCY and found.verdict not in CHANGED
    if undecided or not told.shown:
        yield from style.wrapped(_unexplained(found.verdict if undecided else "", told))
        yield from _parts([part for part in told.parts if not part.rest], style)
    else:
        yield from _sum(told, style)
    if told.capped:
        idle = figures.part(told.capped, told.change, "seconds")
        yield from style.wrapped(
            f"{idle} of idle time that the profiled calls have and the latency has no room for is not counted: the "
            "profiler slows the host."
        )
    for note in told.notes:
        yield from style.wrapped(f"{note[:1].upper()}{note[1:]}.")


def _unexplained(verdict: str, told: Explanation) -> str:
    """verdict: of a latency of which no change is known, else "": it changed, and the profiles do not show it."""
    change, profiled = (figures.change(one, "seconds") for one in (told.change, told.explained))
    unlike = f"what they time changed by {profiled} a call, the {told.of} by {change}."
    if verdict == NO_CHANGE:
        return "The latency shows no change, so there is none to explain."
    if verdict == INCONCLUSIVE:
        known = f"Whether the latency changed is not known ({change}, inconclusive), so nothing explains it."
        return known if told.shown else f"{known} The profiles do not show this change: {unlike}"
    if verdict:
        return f"The latencies are not held against each other ({verdict}), so there is no change to explain."
    return f"The profiles do not show this change: {unlike}"


def _parts(parts: Sequence[Part], style: Style) -> Iterator[str]:
    """What changed, each by itself: no sum."""
    if not parts:
        return
    yield "What changed in the profiles, of a call:"
    shown = parts if style.everything else parts[:_PARTS]
    lines = [(figures.change(part.seconds, "seconds"), _told(part)) for part in shown]
    width = max(len(seconds) for seconds, _ in lines)
    for seconds, text in lines:
        yield from style.wrapped(figures.printable(text), f"  {seconds:>{width}}{GAP}")
    if len(shown) < len(parts):
        yield f"  and {len(parts) - len(shown)} more (--all)"


def _sum(told: Explanation, style: Style) -> Iterator[str]:
    """Parts that make up the change, to the digit that it is told to."""
    whole = figures.change(told.change, "seconds")
    of = "" if told.of == LATENCY else f" ({told.of}: there are no latency samples)"
    yield f"Of {whole} a call{of}:"
    lines = [(figures.part(part.seconds, told.change, "seconds"), _told(part)) for part in told.parts]
    if len(lines) > _PARTS and not style.everything:
        rest = sum(part.seconds for part in told.parts[_PARTS:])
        more = f"{figures.count(len(lines) - _PARTS, 'more part')} together (--all)"
        lines[_PARTS:] = [(figures.part(rest, told.change, "seconds"), more)]
    lines.append((figures.part(told.unexplained, told.change, "seconds"), "unexplained"))
    width = max(len(text) for text, _ in lines)
    for seconds, text in lines:
        yield from style.wrapped(figures.printable(text), f"  {seconds:>{width}}{GAP}")


def _told(part: Part) -> str:
    return part.text if part.sure else f"{part.text} (not sure)"


def _rows(name: str, rows: Sequence[RowChange], style: Style) -> Iterator[str]:
    if not rows:
        return
    yield f"{name} that changed, of a call"
    shown = rows if style.everything else rows[:_MOST]
    for row in shown:
        head = f"  {', '.join(row.words)}{'' if row.sure else '?'}: "
        yield from style.wrapped(figures.printable(_row(row, style)), head)
    if len(shown) < len(rows):
        yield f"  and {len(rows) - len(shown)} more (--all)"


def _row(row: RowChange, style: Style) -> str:
    name = clipped(row.name)
    if row.was:
        name = f"{name} in place of {clipped(row.was)}"
    detail = f" {row.detail}" if row.detail else ""
    detail += f" by {row.operator}" if row.operator else ""
    at = f" at {row.source}" if row.source else ""
    return f"{name}{detail}{at}: {_numbers(row, style)}"


def _numbers(row: RowChange, style: Style) -> str:
    """`4 -> 6 calls, 1.20 -> 1.80 ms`; of a synchronisation the host's time in it."""
    calls = _both(row, style, lambda side: side.count, "count")
    parts = [f"{calls} {'call' if calls == '1' else 'calls'}"]
    if row.what == COPY and (text := _both(row, style, lambda side: side.bytes, "bytes")):
        parts.append(text)
    of = " of the host" if row.what in (SYNC, OPERATOR) else ""
    if text := _both(row, style, lambda side: side.seconds, "seconds"):
        parts.append(f"{text}{of}")
    return ", ".join(parts)


def _both(row: RowChange, style: Style, of: Callable[[RowSide], Figure | None], unit: str) -> str:
    def value(side: RowSide | None) -> float | None:
        return None if side is None else _value(of(side))

    before, after = value(row.before), value(row.after)
    if before is None and after is None:
        return ""
    if before is None or after is None or before == after:
        return figures.quantity(after if before is None else before, unit)
    return f" {style.arrow} ".join(figures.pair(before, after, unit))
