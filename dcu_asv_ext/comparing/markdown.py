"""A report of a comparison for a merge request: GitHub's and GitLab's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..stats.verdicts import IMPROVEMENT, REGRESSION
from . import figures, showing
from .deciding import FAILED_BOTH, FIXED, MISSING, ONLY_AFTER, ONLY_BEFORE
from .model import FAILED, Report
from .showing import Line, View

#: What stands open in a merge request; everything else is folded away.
_OPEN = frozenset({REGRESSION, FAILED, IMPROVEMENT, FIXED})
#: Without figures of their own, so that a line for all that are alike says as much.
_BARE = frozenset({FAILED_BOTH, MISSING, ONLY_BEFORE, ONLY_AFTER})
#: Of more rows than these there is one line a metric: merge requests limit the length of a comment.
_MOST_ROWS = 100
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#@])")


def render(report: Report) -> str:
    before, after = (code(showing.short(sets)) for sets in (report.before, report.after))
    view = showing.verdicts(report, everything=True)
    lines = [
        f"### Performance: {before} → {after}",
        "",
        f"**{plain(showing.summary(report) or 'nothing to compare')}**",
        "",
        *_sides(report),
        *_notes(report),
        *_differences(report),
        *_refusal(report),
        *_open(view, report),
        *_rest(view, report),
        *_footnotes(report),
    ]
    return "\n".join(lines).rstrip()


def _sides(report: Report) -> Iterator[str]:
    yield f"before: {plain(showing.side_name(report.before))}<br>"
    yield f"after: {plain(showing.side_name(report.after))}"
    yield ""


def _notes(report: Report) -> Iterator[str]:
    for note in dict.fromkeys(report.notes):
        yield f"> {plain(note)}"
        yield ""


def _differences(report: Report) -> Iterator[str]:
    if not report.differences:
        yield "Besides the code, nothing that was recorded differs."
        yield ""
        return
    rows = [
        f"| {code(one.name)} | {code(one.before)} | {code(one.after)} | {what} |"
        for one in report.differences
        for what in ["declared: the experiment" if one.declared else "not declared" if one.matters else ""]
    ]
    table = ["| besides the code | before | after | |", "|---|---|---|---|", *rows, ""]
    grave = any(one.matters and not one.declared for one in report.differences)
    summary = f"{figures.count(len(rows), 'other thing')} {'differs' if len(rows) == 1 else 'differ'}"
    yield from table if grave else _folded(summary, table)


def _refusal(report: Report) -> Iterator[str]:
    if not report.refused:
        return
    yield f"> **Not comparable:** {plain(showing.refusal(report))}"
    yield ""
    view = showing.advice(report)
    lines = [*_table(view.lines, report), *_bullets([line for fold in view.folds for line in fold.lines])]
    if view.lines or view.folds:
        yield from _folded(f"Advice, no verdict: {showing.advised(report)}", lines)


def _open(view: View, report: Report) -> Iterator[str]:
    lines = [line for line in view.lines if line.verdict in _OPEN]
    yield from _table(lines[:_MOST_ROWS], report)
    if len(lines) > _MOST_ROWS:
        yield "and besides these:"
        yield ""
        yield from _bullets(lines[_MOST_ROWS:], counted=True)


def _rest(view: View, report: Report) -> Iterator[str]:
    rest = [line for line in view.lines if line.verdict not in _OPEN]
    for verdict in dict.fromkeys(line.verdict for line in rest):
        mine = [line for line in rest if line.verdict == verdict]
        short = verdict in _BARE or len(mine) > _MOST_ROWS
        yield from _folded(f"{len(mine)} {verdict}", list(_bullets(mine) if short else _table(mine, report)))


def _bullets(lines: Sequence[Line], counted: bool = False) -> Iterator[str]:
    """counted: the verdict too, where no heading tells it."""
    for fold in showing.folds(lines):
        yield f"- {plain(f'{fold.word}: {fold.text()}' if counted else fold.text())}"
    yield ""


def _folded(summary: str, lines: Sequence[str]) -> Iterator[str]:
    yield f"<details><summary>{plain(summary)}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def _table(lines: Sequence[Line], report: Report) -> Iterator[str]:
    if not lines:
        return
    last = ""
    if any(showing.needed(line) for line in lines):
        last = "to settle"
    elif any(showing.reason(line) for line in lines):
        last = "reason"
    yield "| verdict | benchmark | metric | before | after | ratio (95 % interval) | rounds |" + (
        f" {last} |" if last else ""
    )
    yield "|---|---|---|--:|--:|--:|--:|" + ("---|" if last else "")
    for line in lines:
        yield "| " + " | ".join([*_cells(line), *([_last(line, report)] if last else [])]) + " |"
    yield ""
    told = [line for line in lines if showing.why(line)]
    if told:
        yield from (f"- {code(showing.name(line.row))} {plain(showing.why(line))}" for line in told)
        yield ""


def _cells(line: Line) -> Iterator[str]:
    row, found = line.row, line.comparison
    yield f"**{line.word}**" if line.verdict in _OPEN and not line.advice else line.word
    yield code(showing.name(row))
    yield plain(row.key.metric)
    yield from (plain(text) for text in figures.pair(*line.levels, row.series.unit))
    if found is None:
        yield figures.NOTHING
        yield figures.NOTHING
    else:
        span = showing.interval(line).strip("[]").replace(", ", " to ")
        yield showing.ratio(found) + (f" ({span})" if span else "")
        yield f"{found.rounds[0]}+{found.rounds[1]}"


def _last(line: Line, report: Report) -> str:
    mark = showing.CHANCE if showing.by_chance(line, report) else ""
    return plain(showing.needed(line) + mark or showing.reason(line))


def _footnotes(report: Report) -> Iterator[str]:
    left_out = showing.cut(report)
    notes = [
        showing.undecided(report),
        showing.chance(report),
        f"Steady state: {left_out}" if left_out else "",
        f"Rule: {showing.rule(report)}",
    ]
    yield "<br>\n".join(plain(note) for note in notes if note)


def plain(text: str) -> str:
    """Text that no Markdown renders as anything else, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """A code span, also in a table and with backticks inside."""
    text = " ".join(text.split())
    if not text:
        return ""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|")
