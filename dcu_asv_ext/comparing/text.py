"""A report of a comparison for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..stats.verdicts import IMPROVEMENT, INCONCLUSIVE, NO_CHANGE, NOT_COMPARABLE, REGRESSION, Comparison
from . import figures, showing
from .model import Difference, Report
from .outcome import FAILED, FIXED
from .picture import UNICODE, Axis, Glyphs, axis_end
from .showing import Line, View

_RED, _GREEN, _YELLOW = "31", "32", "33"
_COLOURS = {
    REGRESSION: _RED,
    FAILED: _RED,
    IMPROVEMENT: _GREEN,
    FIXED: _GREEN,
    INCONCLUSIVE: _YELLOW,
    NOT_COMPARABLE: _YELLOW,
}
#: Verdicts whose figures say all; for the others the reason stands below the row.
_PLAIN = frozenset({REGRESSION, IMPROVEMENT, NO_CHANGE})
_LEAST_PICTURE, _MOST_PICTURE = 15, 41
_GAP = "  "
#: So many differences that do not forbid the comparison are shown one by one.
_DIFFERENCES = 8


@dataclass(frozen=True)
class Style:
    """width: columns of the terminal. everything: fold nothing."""

    width: int = 100
    glyphs: Glyphs = UNICODE
    colour: bool = False
    everything: bool = False

    @property
    def arrow(self) -> str:
        return "->" if self.glyphs is not UNICODE else "→"


def render(report: Report, style: Style | None = None) -> str:
    """What differs, what was refused, the table, what was left out, the rule, and the counts."""
    style = style or Style()
    blocks = [
        [f"before  {showing.side_name(report.before)}", f"after   {showing.side_name(report.after)}"],
        list(_notes(report, style)),
        list(_differences(report, style)),
        list(_refusal(report, style)),
        list(_verdicts(report, style)),
        list(_footnotes(report, style)),
        _wrapped(showing.summary(report) or "nothing to compare", style),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _wrapped(text: str, style: Style, head: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        style.width,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _notes(report: Report, style: Style) -> Iterator[str]:
    notes = [*report.notes, *(note for one in (*report.before, *report.after) for note in one.notes)]
    for note in dict.fromkeys(notes):
        yield from _wrapped(note, style, "note: ")


def _differences(report: Report, style: Style) -> Iterator[str]:
    if not report.differences:
        yield "Nothing else that was recorded differs between the two."
        return
    yield "Besides the code, these differ:"
    shown = [one for one in report.differences if one.matters or one.declared]
    rest = [one for one in report.differences if not (one.matters or one.declared)]
    if style.everything or len(rest) <= _DIFFERENCES:
        shown, rest = [*shown, *rest], []
    name = max((figures.columns(one.name) for one in shown), default=0)
    for one in shown:
        text = f"{one.before or 'not set'} {style.arrow} {one.after or 'not set'}{_remark(one)}"
        yield from _wrapped(text, style, f"  {figures.left(one.name, name)}  ")
    if rest:
        names = ", ".join(one.name for one in rest)
        yield from _wrapped(f"{len(rest)} that do not forbid the comparison (--all): {names}", style, "  ")


def _remark(one: Difference) -> str:
    if one.declared:
        return "  (declared: the experiment)"
    return "  (not declared)" if one.matters else ""


def _refusal(report: Report, style: Style) -> Iterator[str]:
    if not report.refused:
        return
    yield from _wrapped(f"Refused: {report.refused}", style)
    view = showing.advice(report, style.everything)
    if view.lines or view.folds:
        shift = "" if report.shift is None else f" of {figures.ratio(report.shift)}"
        yield ""
        yield from _wrapped(
            f"Advice, no verdict: the same rows after the suite's common shift{shift} is taken out.", style
        )
        yield from _table(view, report, style)


def _verdicts(report: Report, style: Style) -> Iterator[str]:
    return _table(showing.verdicts(report, style.everything), report, style)


def _table(view: View, report: Report, style: Style) -> Iterator[str]:
    """Rows of one line where they fit into the terminal, of two where not; then what was folded."""
    if view.lines:
        cells = [_cells(line) for line in view.lines]
        columns = [
            max(figures.columns(cell[place]) for cell in (_HEADINGS, *cells))
            for place in range(len(_HEADINGS))
        ]
        room = style.width - sum(columns) - len(_GAP) * len(columns)
        wide = room >= _LEAST_PICTURE
        if not wide:
            room = style.width - sum(columns[2:]) - len(_GAP) * (len(columns) - 1)
        axis = _axis(view.lines, report, style, room)
        yield from _rows(view.lines, cells, columns, axis, style, wide)
    verdict = max((len(fold.verdict) for fold in view.folds), default=0)
    for fold in view.folds:
        yield from _wrapped(fold.text(), style, f"{fold.verdict:<{verdict}}{_GAP}")


_HEADINGS = ("verdict", "benchmark", "before", "after", "ratio", "95 % interval", "rounds")
#: Of the cells: verdict and name, and the interval, start at the left; figures end at the right.
_RIGHT = frozenset({2, 3, 4, 6})


def _cells(line: Line) -> tuple[str, ...]:
    before, after = figures.pair(*line.levels, line.row.series.unit)
    name = f"{figures.name(line.row.key, line.row.series)} {line.row.key.metric}"
    found = line.comparison
    if found is None:
        rounds = "+".join(
            str(len(side.rounds)) if side is not None else "0" for side in (line.row.before, line.row.after)
        )
        return line.verdict, name, before, after, figures.NOTHING, "", rounds
    return (
        line.verdict,
        name,
        before,
        after,
        figures.ratio(found.ratio),
        showing.interval(line),
        f"{found.rounds[0]}+{found.rounds[1]}",
    )


def _axis(lines: Sequence[Line], report: Report, style: Style, room: int) -> Axis | None:
    """The axis that the table's pictures share; None where the terminal has no room for them."""
    drawn = [line.comparison for line in lines if line.comparison is not None]
    width = min(room, _MOST_PICTURE)
    width -= 1 - width % 2
    if not drawn or width < _LEAST_PICTURE:
        return None
    margin = 1 + float(report.settings.get("margin", 0.0))
    return Axis(axis_end(drawn, margin**2), margin, width, style.glyphs)


def _rows(
    lines: Sequence[Line],
    cells: Sequence[Sequence[str]],
    columns: Sequence[int],
    axis: Axis | None,
    style: Style,
    wide: bool,
) -> Iterator[str]:
    first = 0 if wide else 2
    lead = "" if wide else _GAP

    def figures_of(cell: Sequence[str], picture: str) -> str:
        padded = [
            figures.right(cell[place], columns[place])
            if place in _RIGHT
            else figures.left(cell[place], columns[place])
            for place in range(first, len(columns))
        ]
        return (lead + _GAP.join([*padded, picture])).rstrip()

    heading = figures_of(_HEADINGS, axis.scale() if axis else "")
    yield heading
    for line, cell in zip(lines, cells, strict=True):
        drawn = figures_of(cell, _picture(axis, line.comparison))
        verdict = _painted(line.verdict, style)
        if wide:
            yield verdict + drawn[len(line.verdict) :]
        else:
            yield f"{verdict}{' ' * (columns[0] - len(line.verdict))}{_GAP}{cell[1]}"
            if line.comparison is not None:
                yield drawn
        if line.verdict not in _PLAIN and line.reason:
            yield from _wrapped(line.reason, style, " " * 4)


def _picture(axis: Axis | None, found: Comparison | None) -> str:
    if axis is None or found is None:
        return ""
    return axis.draw(found.ci_low, found.ratio, found.ci_high)


def _painted(verdict: str, style: Style) -> str:
    colour = _COLOURS.get(verdict)
    return f"\x1b[{colour}m{verdict}\x1b[0m" if style.colour and colour else verdict


def _footnotes(report: Report, style: Style) -> Iterator[str]:
    if showing.verdicts(report, style.everything).folds:
        yield "--all shows every row."
    command = showing.more_rounds(report)
    if command:
        yield from _wrapped(f"More rounds: {command}", style)
    left_out = showing.cut(report)
    if left_out:
        yield from _wrapped(f"Steady state: {left_out}", style)
    yield from _wrapped(f"Rule: {showing.rule(report)}", style)
