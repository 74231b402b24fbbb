"""A report of a comparison for a merge request: GitHub's and GitLab's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..stats.verdicts import IMPROVEMENT, INCONCLUSIVE, NO_CHANGE, REGRESSION
from . import figures, showing
from .model import Report
from .outcome import FAILED, FAILED_TWICE, FIXED, MISSING, ONLY_AFTER, ONLY_BEFORE
from .showing import Line, View

#: What stands open in a merge request; everything else is folded away.
_OPEN = frozenset({REGRESSION, FAILED, IMPROVEMENT, FIXED})
#: Without figures of their own, so that a line for all that are alike says as much.
_BARE = frozenset({FAILED_TWICE, MISSING, ONLY_BEFORE, ONLY_AFTER})
#: Verdicts whose figures say all.
_PLAIN = frozenset({REGRESSION, IMPROVEMENT, NO_CHANGE})
#: A folded table of more rows becomes one line a metric: merge requests limit the length of a comment.
_MOST_ROWS = 100
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#@])")


def render(report: Report) -> str:
    before, after = (_code(showing.short(sets)) for sets in (report.before, report.after))
    view = showing.verdicts(report, everything=True)
    lines = [
        f"### Performance: {before} → {after}",
        "",
        f"**{_plain(showing.summary(report) or 'nothing to compare')}**",
        "",
        *_sides(report),
        *_notes(report),
        *_differences(report),
        *_refusal(report),
        *_table([line for line in view.lines if line.verdict in _OPEN]),
        *_rest(view),
        *_footnotes(report),
    ]
    return "\n".join(lines).rstrip()


def _sides(report: Report) -> Iterator[str]:
    yield f"before: {_plain(showing.side_name(report.before))}<br>"
    yield f"after: {_plain(showing.side_name(report.after))}"
    yield ""


def _notes(report: Report) -> Iterator[str]:
    notes = [*report.notes, *(note for one in (*report.before, *report.after) for note in one.notes)]
    for note in dict.fromkeys(notes):
        yield f"> {_plain(note)}"
        yield ""


def _differences(report: Report) -> Iterator[str]:
    if not report.differences:
        yield "Nothing else that was recorded differs between the two."
        yield ""
        return
    rows = [
        f"| {_code(one.name)} | {_code(one.before)} | {_code(one.after)} | {what} |"
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
    yield f"> **Refused:** {_plain(report.refused)}"
    yield ""
    view = showing.advice(report)
    lines = [*_table(view.lines), *_bullets([line for fold in view.folds for line in fold.lines])]
    if view.lines or view.folds:
        shift = "" if report.shift is None else f" of {figures.ratio(report.shift)}"
        yield from _folded(f"Advice, no verdict: after the suite's common shift{shift} is taken out", lines)


def _rest(view: View) -> Iterator[str]:
    rest = [line for line in view.lines if line.verdict not in _OPEN]
    for verdict in dict.fromkeys(line.verdict for line in rest):
        mine = [line for line in rest if line.verdict == verdict]
        short = verdict in _BARE or len(mine) > _MOST_ROWS
        yield from _folded(f"{len(mine)} {verdict}", list(_bullets(mine) if short else _table(mine)))


def _bullets(lines: Sequence[Line]) -> Iterator[str]:
    for fold in showing.folds(lines):
        yield f"- {_plain(fold.text())}"
    yield ""


def _folded(summary: str, lines: Sequence[str]) -> Iterator[str]:
    yield f"<details><summary>{_plain(summary)}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def _table(lines: Sequence[Line]) -> Iterator[str]:
    if not lines:
        return
    reasons = any(line.verdict not in _PLAIN and line.reason for line in lines)
    yield "| verdict | benchmark | metric | before | after | ratio (95 % interval) | rounds |" + (
        " reason |" if reasons else ""
    )
    yield "|---|---|---|--:|--:|--:|--:|" + ("---|" if reasons else "")
    for line in lines:
        yield "| " + " | ".join(_cells(line, reasons)) + " |"
    yield ""


def _cells(line: Line, reasons: bool) -> Iterator[str]:
    row, found = line.row, line.comparison
    yield f"**{line.verdict}**" if line.verdict in _OPEN else line.verdict
    yield _code(figures.name(row.key, row.series))
    yield _plain(row.key.metric)
    yield from (_plain(text) for text in figures.pair(*line.levels, row.series.unit))
    if found is None:
        yield figures.NOTHING
        yield figures.NOTHING
    else:
        span = showing.interval(line).strip("[]").replace(", ", " to ")
        yield figures.ratio(found.ratio) + (f" ({span})" if span else "")
        yield f"{found.rounds[0]}+{found.rounds[1]}"
    if reasons:
        yield _plain("" if line.verdict in _PLAIN else line.reason)


def _footnotes(report: Report) -> Iterator[str]:
    notes = []
    command = showing.more_rounds(report)
    if any(row.verdict == INCONCLUSIVE for row in report.rows):
        notes.append(f"More rounds: {_code(command)}")
    left_out = showing.cut(report)
    if left_out:
        notes.append(_plain(f"Steady state: {left_out}"))
    notes.append(_plain(f"Rule: {showing.rule(report)}"))
    yield "<br>\n".join(notes)


def _plain(text: str) -> str:
    """Text that no Markdown renders as anything else, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    """A code span, also in a table and with backticks inside."""
    text = " ".join(text.split())
    if not text:
        return ""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|")
