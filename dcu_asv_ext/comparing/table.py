"""The rows of a comparison as a table with pictures of their intervals, as wide as the terminal allows."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..stats.verdicts import IMPROVEMENT, INCONCLUSIVE, NOT_COMPARABLE, REGRESSION
from . import figures, showing
from .deciding import FIXED
from .model import FAILED, Report
from .picture import UNICODE, Axis, Glyphs, axis_end, glyphs_for
from .showing import Line

_RED, _GREEN, _YELLOW = "31", "32", "33"
_COLOURS = {
    REGRESSION: _RED,
    FAILED: _RED,
    IMPROVEMENT: _GREEN,
    FIXED: _GREEN,
    INCONCLUSIVE: _YELLOW,
    NOT_COMPARABLE: _YELLOW,
}
_LEAST_PICTURE, _MOST_PICTURE = 15, 41
GAP = "  "
_HEADINGS = ("before", "after", "ratio", "95 % interval", "rounds", "to settle")
_INTERVAL = _HEADINGS.index("95 % interval")
_NO_FIGURES = (figures.NOTHING, figures.NOTHING)


@dataclass(frozen=True)
class Style:
    """width: columns of the terminal. everything: fold nothing."""

    width: int = 100
    glyphs: Glyphs = UNICODE
    colour: bool = False
    everything: bool = False

    @classmethod
    def of_terminal(cls, everything: bool = False) -> Style:
        """Its width, its encoding, and colour where it is one and NO_COLOR is not set."""
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        width = shutil.get_terminal_size((cls.width, 24)).columns
        return cls(width, glyphs_for(sys.stdout.encoding), colour, everything)

    @property
    def arrow(self) -> str:
        return "→" if self.glyphs is UNICODE else "->"

    def wrapped(self, text: str, head: str = "") -> list[str]:
        """Lines of the terminal's width; what follows the first is indented as far as `head` reaches."""
        return textwrap.wrap(
            text,
            self.width,
            initial_indent=head,
            subsequent_indent=" " * len(head),
            break_long_words=False,
            break_on_hyphens=False,
        )


def table(lines: Sequence[Line], report: Report, style: Style) -> Iterator[str]:
    """A line for each row where all fit into the terminal, else two: its name, and its figures."""
    names = [f"{showing.name(line.row)} {line.row.key.metric}" for line in lines]
    cells = [_figures(line, report) for line in lines]
    heading, *shown = _aligned([_HEADINGS, *cells])
    verdict = max(len(line.word) for line in lines)
    name = max(figures.columns(one) for one in names)
    before = verdict + len(GAP) + name
    room = style.width - figures.columns(heading) - 2 * len(GAP)
    wide = room - before >= _LEAST_PICTURE
    axis = _axis(lines, report, style, room - before if wide else room)
    indent = " " * before if wide else ""
    if heading:
        yield f"{indent}{GAP}{heading}{GAP}{axis.scale() if axis else ''}".rstrip()
    for line, called, cell, text in zip(lines, names, cells, shown, strict=True):
        start = f"{_painted(line, style)}{' ' * (verdict - len(line.word))}{GAP}"
        row = f"{GAP}{text}{GAP}{_picture(axis, line)}".rstrip()
        if wide:
            yield f"{start}{figures.left(called, name)}{row}"
        else:
            yield start + called
            if cell[:2] != _NO_FIGURES:
                yield row
        yield from style.wrapped(showing.reason(line), " " * 4)
        yield from style.wrapped(showing.why(line), " " * 4)


def _figures(line: Line, report: Report) -> tuple[str, ...]:
    before, after = figures.pair(*line.levels, line.row.series.unit)
    found = line.comparison
    if found is None:
        return before, after, figures.NOTHING, "", "", ""
    return (
        before,
        after,
        showing.ratio(found),
        showing.interval(line),
        f"{found.rounds[0]}+{found.rounds[1]}",
        showing.needed(line) + (showing.CHANCE if showing.by_chance(line, report) else ""),
    )


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Each row as one text, without the columns that are empty below their heading; figures end at the right."""
    kept = [
        place
        for place in range(len(rows[0]))
        if any(row[place] not in ("", figures.NOTHING) for row in rows[1:])
    ]
    widths = {place: max(figures.columns(row[place]) for row in rows) for place in kept}
    return [
        GAP.join(
            (figures.left if place == _INTERVAL else figures.right)(row[place], widths[place])
            for place in kept
        )
        for row in rows
    ]


def _axis(lines: Sequence[Line], report: Report, style: Style, room: int) -> Axis | None:
    """The axis that the pictures share; None where there is none to draw, or no room."""
    drawn = [line.comparison for line in lines if line.comparison is not None]
    width = min(room, _MOST_PICTURE)
    width -= 1 - width % 2
    if not drawn or width < _LEAST_PICTURE:
        return None
    margin = 1 + float(report.settings.get("margin", 0.0))
    return Axis(axis_end(drawn, margin**2), margin, width, style.glyphs)


def _picture(axis: Axis | None, line: Line) -> str:
    found = line.comparison
    return "" if axis is None or found is None else axis.draw(found.ci_low, found.ratio, found.ci_high)


def _painted(line: Line, style: Style) -> str:
    colour = None if line.advice else _COLOURS.get(line.verdict)
    return f"\x1b[{colour}m{line.word}\x1b[0m" if style.colour and colour else line.word
