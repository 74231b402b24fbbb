"""The operator table, or the kernels, for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from . import units
from .analysis import Analysis
from .kernels import KernelRow
from .operators import NO_OPERATOR, OperatorRow, memory_place
from .patterns import patterns
from .profiler_cost import UNDETERMINED
from .questions import NEEDED, questions
from .table_json import untold
from .table_rows import Selection, chosen_kernels, chosen_operators

WIDTH = 100
#: What is asked, of an operator that computes and of one that copies.
_ASKED = ("Before a kernel is written for", "Before anything is done about")
_GAP, _INDENT = "  ", "    "
_LEAST_NAME, _CUT = 20, "..."
#: One column of those that are missing together -> what all of them are.
_LABELS = {
    "self_device_seconds": "times on a device",
    "waits_seconds": "waits",
    "peak_bytes": "memory",
    "shapes": "input shapes",
}
#: Input shapes of a row are told in so many characters at most.
_SHAPES = 90


def render(
    analysis: Analysis,
    selection: Selection | None = None,
    *,
    by_shape: bool = False,
    kernels: bool = False,
    overhead: float | None = None,
    width: int = WIDTH,
) -> str:
    """A line for each operator (or kernel), below it what its figures mean; then the questions to ask before a kernel
    is written. overhead: profiled time over time without the profiler."""
    selection = selection or Selection()
    parts = [_wrapped(_about(analysis, overhead), width)]
    if kernels:
        parts.append(_kernels(analysis, selection, width))
    else:
        parts += [_operators(analysis, selection, by_shape, width), _missing(analysis, width)]
        parts.append(_questions(analysis, width) if not by_shape else [])
    return "\n\n".join("\n".join(part) for part in parts if part)


def _about(analysis: Analysis, overhead: float | None) -> str:
    if analysis.doubtful:
        return f"Times under the profiler; what it costs {UNDETERMINED}."
    if overhead is None:
        return "Times under the profiler; what it costs was not measured."
    return f"Times under the profiler, which makes a call take {overhead:.2f} times as long as without it."


def _operators(analysis: Analysis, selection: Selection, by_shape: bool, width: int) -> list[str]:
    rows, more = chosen_operators(analysis, selection, by_shape)
    if not rows:
        return ["No operator of this name." if selection.match else "The trace has no operators."]
    if len(analysis.trace.device):
        headings, cells = _device_cells(analysis, rows)
    else:
        headings, cells = _host_cells(analysis, rows)
    heading, *lines = _aligned(headings, cells, width)
    found = [heading]
    for row, line, meaning in zip(rows, lines, patterns(analysis, rows), strict=True):
        found.append(line)
        if by_shape and row.shapes:
            found.append(_INDENT + _cut(row.shapes[0], _SHAPES))
        if row.source and meaning:
            found += _wrapped(f"from {row.source}", width, _INDENT)
        for one in meaning:
            found += _wrapped(f"{one.kind}: {one.text}", width, _INDENT)
    return [*found, *_more(more)]


def _device_cells(analysis: Analysis, rows: Sequence[OperatorRow]) -> tuple[list[str], list[list[str]]]:
    whole = sum(row.self_device for row in analysis.operators)
    headings = ["operator", "calls", "self device", "", "device", "a call", "self CPU", "waits", "peak"]
    cells = []
    for row in rows:
        called = row.name != NO_OPERATOR
        cells.append(
            [
                row.name,
                str(row.calls) if called else units.NOTHING,
                units.time(row.self_device),
                units.share(row.self_device / whole) if whole else units.NOTHING,
                units.time(row.device),
                units.time(row.device_per_call),
                units.time(row.self_cpu) if called else units.NOTHING,
                units.time(row.waits) if len(analysis.trace.calls) else units.NOTHING,
                units.size(row.peak_bytes),
            ]
        )
    return headings, cells


def _host_cells(analysis: Analysis, rows: Sequence[OperatorRow]) -> tuple[list[str], list[list[str]]]:
    whole = sum(row.self_cpu for row in analysis.operators)
    headings = ["operator", "calls", "self CPU", "", "CPU", "a call", "peak"]
    cells = [
        [
            row.name,
            str(row.calls),
            units.time(row.self_cpu),
            units.share(row.self_cpu / whole) if whole else units.NOTHING,
            units.time(row.cpu),
            units.time(row.cpu_per_call),
            units.size(row.peak_bytes),
        ]
        for row in rows
    ]
    return headings, cells


def _kernels(analysis: Analysis, selection: Selection, width: int) -> list[str]:
    rows, more = chosen_kernels(analysis, selection)
    if not rows:
        return ["No kernel of this name." if selection.match else "The trace has no kernels."]
    whole = sum(row.nanoseconds for row in analysis.kernels)
    headings = ["kernel", "count", "time", "", "each", "longest"]
    cells = [
        [
            row.short,
            str(row.count),
            units.time(row.nanoseconds),
            units.share(row.nanoseconds / whole) if whole else units.NOTHING,
            units.time(row.nanoseconds / row.count),
            units.time(row.longest),
        ]
        for row in rows
    ]
    heading, *lines = _aligned(headings, cells, width)
    found = [heading]
    for row, line in zip(rows, lines, strict=True):
        found += [line, *_wrapped(_launched(row), width, _INDENT)]
    return [*found, *_more(more)]


def _launched(row: KernelRow) -> str:
    makers = f"from {', '.join(row.operators)}" if row.operators else ""
    return ", ".join(part for part in (row.shape, makers) if part)


def _missing(analysis: Analysis, width: int) -> list[str]:
    """Why columns are empty or left out, a sentence each."""
    found = [f"No {_LABELS[column]}: {why}." for column, why in untold(analysis).items() if column in _LABELS]
    if memory_place(analysis) == "host":
        found.append("Memory is the host's.")
    return [line for text in found for line in _wrapped(text, width)]


def _questions(analysis: Analysis, width: int) -> list[str]:
    found = []
    for one in questions(analysis):
        before = _ASKED[one.answers[0].question == NEEDED]
        found += _wrapped(f"{before} {one.operator} ({units.share(one.share)} of the device's time):", width)
        for answer in one.answers:
            found += _wrapped(f"{answer.question} {answer.answer}: {answer.text}", width, _INDENT)
    return found


def _aligned(headings: list[str], cells: list[list[str]], width: int) -> list[str]:
    """Columns without those that say nothing; names are cut so that a line fits."""
    kept = [0] + [
        place for place in range(1, len(headings)) if any(row[place] != units.NOTHING for row in cells)
    ]
    widths = {place: max(len(row[place]) for row in [headings, *cells]) for place in kept}
    room = width - sum(widths[place] + len(_GAP) for place in kept[1:])
    widths[0] = min(widths[0], max(room, _LEAST_NAME))
    return [
        _GAP.join(
            [
                f"{_cut(row[0], widths[0]):<{widths[0]}}",
                *(f"{row[place]:>{widths[place]}}" for place in kept[1:]),
            ]
        ).rstrip()
        for row in [headings, *cells]
    ]


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - len(_CUT)] + _CUT


def _more(count: int) -> Iterator[str]:
    if count:
        yield f"and {units.count(count, 'more row')}"


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
