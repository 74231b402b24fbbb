"""An experiment matrix as GitHub's and GitLab's Markdown: to look at, not to read back."""

from __future__ import annotations

from collections.abc import Iterator

from . import figures
from .markdown import code, plain
from .matrix import Matrix
from .matrix_view import LEGEND, STATUS, Block, Line, View, view


def render(found: Matrix) -> str:
    """What the rows have in common, one table, what differs between its rows, and what is missing."""
    shown = view(found)
    lines = [
        *_heading(found, shown),
        *_table(shown),
        *_sentences(shown),
        *_footnotes(shown),
    ]
    return "\n".join(lines).rstrip()


def _heading(found: Matrix, shown: View) -> Iterator[str]:
    counted = f"{figures.count(len(found.rows), 'row')} of {figures.count(len(shown.blocks), 'benchmark')}"
    yield f"### Experiment matrix: {counted}"
    yield ""
    yield "<br>\n".join(f"{name}: {plain(value)}" for name, value in shown.summary)
    yield ""
    for note in found.notes:
        yield f"> {plain(note)}"
        yield ""
    if shown.everywhere:
        yield f"Between the rows of a benchmark with the same parameters: **{plain(shown.everywhere)}**."
        yield ""


def _table(shown: View) -> Iterator[str]:
    variant = ["variant"] if shown.several else []
    headings = ["benchmark", "parameters", *variant, *(one.heading for one in shown.columns)]
    yield f"| {' | '.join(map(plain, headings))} |"
    right = [one.right for one in shown.columns]
    yield "|" + "---|" * (2 + len(variant)) + "".join("--:|" if one else "---|" for one in right)
    for block in shown.blocks:
        for line in block.lines:
            yield f"| {' | '.join(_cells(shown, block, line))} |"
    yield ""


def _cells(shown: View, block: Block, line: Line) -> Iterator[str]:
    yield code(block.benchmark)
    yield code(", ".join(f"{name}={value}" for name, value in line.row.params.items()))
    if shown.several:
        yield plain(line.variant)
    for column, cell in zip(shown.columns, line.cells, strict=True):
        # Here the reason has no line of its own.
        yield plain(line.reason if column.heading == STATUS and line.reason else cell)


def _sentences(shown: View) -> Iterator[str]:
    told = [(block.benchmark, sentence) for block in shown.blocks for sentence in block.sentences]
    if told:
        yield from (f"- {code(name)}: {plain(sentence)}" for name, sentence in told)
        yield ""


def _footnotes(shown: View) -> Iterator[str]:
    notes = [
        *(f"{letter}: {note}" for letter, note in shown.marks.items()),
        *(f"no number: {text}" for text in shown.missing),
        LEGEND,
    ]
    yield "<br>\n".join(map(plain, notes))
