"""A report of a comparison for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from . import figures, showing
from .model import Report
from .showing import View
from .table import GAP, Style, table

#: So many differences that do not forbid the comparison are told.
_DIFFERENCES = 8


def render(report: Report, style: Style | None = None) -> str:
    """What differs, what was refused, the table, what was left out, the rule, and the counts."""
    style = style or Style()
    blocks = [
        [f"before  {showing.side_name(report.before)}", f"after   {showing.side_name(report.after)}"],
        list(_notes(report, style)),
        list(_differences(report, style)),
        list(_refusal(report, style)),
        list(_rows(showing.verdicts(report, style.everything), report, style)),
        list(_footnotes(report, style)),
        style.wrapped(showing.summary(report) or "nothing to compare"),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _notes(report: Report, style: Style) -> Iterator[str]:
    for note in dict.fromkeys(report.notes):
        yield from style.wrapped(note, "note: ")


def _differences(report: Report, style: Style) -> Iterator[str]:
    grave = [one for one in report.differences if one.matters or one.declared]
    rest = [one for one in report.differences if not (one.matters or one.declared)]
    if grave:
        yield "Besides the code, these differ:"
    elif rest:
        yield "Besides the code, nothing differs that forbids the comparison."
    else:
        yield "Besides the code, nothing that was recorded differs."
    name = max((figures.columns(one.name) for one in grave), default=0)
    for one in grave:
        remark = "declared: the experiment" if one.declared else "not declared"
        text = f"{one.before} {style.arrow} {one.after}  ({remark})"
        yield from style.wrapped(text, f"  {figures.left(one.name, name)}  ")
    if rest:
        shown = rest if style.everything else rest[:_DIFFERENCES]
        told = "; ".join(f"{one.name} {one.before} {style.arrow} {one.after}" for one in shown)
        more = f"; {len(rest) - len(shown)} more (--all)" if len(shown) < len(rest) else ""
        yield from style.wrapped(f"{told}{more}", "  for information: ")


def _refusal(report: Report, style: Style) -> Iterator[str]:
    """The session guard's sentence, and what would be said without the suite's common shift."""
    if report.refused:
        yield from style.wrapped(f"Not comparable: {showing.refusal(report)}")
    view = showing.advice(report, style.everything)
    if view.lines or view.folds:
        yield ""
        yield from style.wrapped(f"Advice, no verdict: {showing.advised(report)}.")
        yield from _rows(view, report, style)


def _rows(view: View, report: Report, style: Style) -> Iterator[str]:
    """The table, then a line for each group that was folded."""
    if view.lines:
        yield from table(view.lines, report, style)
    words = [*(line.word for line in view.lines), *(fold.word for fold in view.folds)]
    width = max((len(word) for word in words), default=0)
    for fold in view.folds:
        yield from style.wrapped(fold.text(), f"{fold.word:<{width}}{GAP}")


def _footnotes(report: Report, style: Style) -> Iterator[str]:
    if showing.verdicts(report, style.everything).folds or showing.advice(report, style.everything).folds:
        yield "--all shows every row."
    yield from style.wrapped(showing.undecided(report))
    yield from style.wrapped(showing.chance(report))
    left_out = showing.cut(report)
    if left_out:
        yield from style.wrapped(f"Steady state: {left_out}")
    yield from style.wrapped(f"Rule: {showing.rule(report)}")
