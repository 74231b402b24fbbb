"""The answer of the gates for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..comparing import figures
from ..comparing.showing import side_name
from ..comparing.table import GAP, Style
from . import showing
from .model import FAILED, PASSED, Answer, Finding, Gate

_RED, _GREEN, _YELLOW = "31", "32", "33"
_DIFFERENCES = 3


def render(answer: Answer, style: Style | None = None) -> str:
    """Both sides, what differs besides the code, a block for each gate with its outcome first, and the conclusion."""
    style = style or Style()
    blocks = [
        [f"base       {side_name(answer.before)}", f"candidate  {side_name(answer.after)}"],
        list(_notes(answer, style)),
        *(list(_gate(gate, style)) for gate in answer.gates),
        [_painted(line, answer.outcome, style) for line in style.wrapped(showing.headline(answer))],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _notes(answer: Answer, style: Style) -> Iterator[str]:
    grave = [one for one in answer.differences if one.matters or one.declared]
    for one in grave[:_DIFFERENCES]:
        remark = "declared: the experiment" if one.declared else "not declared"
        yield from style.wrapped(
            f"besides the code, {one.name} differs: {one.before} {style.arrow} {one.after} ({remark})"
        )
    if grave[_DIFFERENCES:]:
        yield f"besides the code, {figures.count(len(grave) - _DIFFERENCES, 'more fact')} differ"
    for note in dict.fromkeys(answer.notes):
        yield from style.wrapped(note, "note: ")


def _gate(gate: Gate, style: Style) -> Iterator[str]:
    yield f"{gate.name:<11}  {_painted(gate.outcome, gate.outcome, style)}"
    found = showing.groups(gate, style.everything)
    width = max((len(group.word) for group in found), default=0)
    for group in found:
        start = f"  {group.word:<{width}}{GAP}"
        indent = " " * len(start)
        for row, one in zip(_rows(group.shown, style, len(start)), group.shown, strict=True):
            yield start + (row or showing.explained(one))
            if row and not group.common:
                yield from style.wrapped(showing.explained(one), indent + GAP)
        if any(one.name or one.metric for one in group.shown):
            yield from style.wrapped(group.common, indent)
        for text in group.folded:
            yield from style.wrapped(text, indent if group.shown else start)


def _rows(shown: Sequence[Finding], style: Style, start: int) -> Iterator[str]:
    """Names and figures in columns, or one under the other on a narrow terminal; "" where there is neither."""
    names = [showing.called(one) for one in shown]
    cells = [_cells(one, style) for one in shown]
    widths = [max((figures.columns(row[place]) for row in cells), default=0) for place in range(4)]
    name = max(map(figures.columns, names), default=0)
    fits = start + name + sum(widths) + len(GAP) * len(widths) <= style.width
    for called, row in zip(names, cells, strict=True):
        columns = [figures.left(text, width) for text, width in zip(row, widths, strict=True) if width]
        told = GAP.join(columns).rstrip()
        if not told:
            yield called
        elif fits:
            yield f"{figures.left(called, name)}{GAP}{told}"
        else:
            yield f"{called}\n{' ' * start}{told}"


def _cells(one: Finding, style: Style) -> tuple[str, str, str, str]:
    before, after = showing.levels(one.figures)
    change = f"{before} {style.arrow} {after}" if before else ""
    number = showing.rounds(one.figures)
    return (
        change,
        showing.ratio(one.figures),
        showing.interval(one.figures),
        f"{number} rounds" if number else "",
    )


def _painted(text: str, outcome: str, style: Style) -> str:
    if not style.colour:
        return text
    colour = _GREEN if outcome == PASSED else _RED if outcome == FAILED else _YELLOW
    return f"\x1b[{colour}m{text}\x1b[0m"
