"""An experiment matrix for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import figures
from .matrix import Matrix
from .matrix_view import LEGEND, STATUS, Block, Line, View, view
from .table import GAP, Style

#: Of a line, what the parameters take at most; longer ones stand on a line of their own.
_MOST_NAME = 0.36
_INDENT = "  "


def render(found: Matrix, style: Style | None = None) -> str:
    """What the rows have in common, a table per benchmark, and what is missing, with its reason."""
    style = style or Style()
    shown = view(found)
    layout = _Layout.fit(shown, style)
    blocks = [list(_heading(found, shown, style)), *map(list, layout.tables())]
    blocks.append(list(_footnotes(shown, layout, style)))
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _heading(found: Matrix, shown: View, style: Style) -> Iterator[str]:
    width = max((len(name) for name, _ in shown.summary), default=0)
    for name, value in shown.summary:
        yield from style.wrapped(figures.printable(value), f"{name:<{width}}{GAP}")
    counted = f"{figures.count(len(found.rows), 'row')} of {figures.count(len(shown.blocks), 'benchmark')}"
    yield from style.wrapped(counted, f"{'matrix':<{width}}{GAP}")
    if shown.everywhere:
        yield from style.wrapped(
            f"Between the rows of a benchmark with the same parameters: {figures.printable(shown.everywhere)}."
        )
    for note in found.notes:
        yield from style.wrapped(figures.printable(note), "note: ")


class _Layout:
    """Where things stand in a line: what the row is called, then the columns.

    Where there are several variants a row is called by its variant, below its benchmark and a line with the
    parameters; else by its parameters, below its benchmark, or by the benchmark itself.
    columns: places of those that are shown, of the view's. name: width of the first cell.
    """

    def __init__(self, shown: View, columns: Sequence[int], style: Style) -> None:
        self.shown, self.columns, self.style = shown, columns, style
        lines = [line for block in shown.blocks for line in block.lines]
        self.name = self._name_width()
        self.widths = {
            place: max(
                [len(shown.columns[place].heading), *(figures.columns(one.cells[place]) for one in lines)]
            )
            for place in columns
        }

    def _name_width(self) -> int:
        several = self.shown.several
        if several:
            names = [_INDENT * 2 + line.variant for block in self.shown.blocks for line in block.lines]
            return max(map(figures.columns, names), default=0)
        names = [self._called(block, line) for block in self.shown.blocks for line in block.lines]
        most = int(_MOST_NAME * self.style.width)
        return max((size for one in names if (size := figures.columns(one)) <= most), default=0)

    @classmethod
    def fit(cls, shown: View, style: Style) -> _Layout:
        """As many columns as the terminal has room for, the least important ones left out first."""
        # A row whose result is not sound says so in words.
        columns = [place for place, one in enumerate(shown.columns) if one.heading != STATUS]
        while True:
            layout = cls(shown, columns, style)
            droppable = [place for place in columns if shown.columns[place].rank]
            if layout.width <= style.width or style.everything or not droppable:
                return layout
            columns.remove(max(droppable, key=lambda place: shown.columns[place].rank))

    @property
    def left_out(self) -> list[str]:
        headings = [one.heading for place, one in enumerate(self.shown.columns) if place not in self.columns]
        return [one for one in headings if one != STATUS]

    @property
    def width(self) -> int:
        return self.name + sum(len(GAP) + size for size in self.widths.values())

    def headings(self, name: str = "") -> str:
        cells = self._cells([self.shown.columns[place].heading for place in self.columns])
        return f"{figures.left(name, self.name)}{cells}".rstrip()

    def tables(self) -> Iterator[Iterator[str]]:
        """One for all benchmarks, or one for each where there are several variants."""
        if self.shown.several:
            yield from map(self._of_variants, self.shown.blocks)
        else:
            yield self._of_one_variant()

    def _of_one_variant(self) -> Iterator[str]:
        yield self.headings()
        for block in self.shown.blocks:
            alone = self._stands_alone(block)
            if not alone:
                yield figures.printable(block.benchmark)
            yield from self._rows(block, block.lines)

    def _of_variants(self, block: Block) -> Iterator[str]:
        name = figures.printable(block.benchmark)
        if figures.columns(name) > self.name:
            yield name
            name = ""
        if name or any(line.has_figures for line in block.lines):
            yield self.headings(name)
        yield from self._rows(block, block.lines)
        for sentence in block.sentences:
            yield from self.style.wrapped(f"{figures.printable(sentence)}.", _INDENT)

    def _stands_alone(self, block: Block) -> bool:
        """Whether the benchmark's name is that of its only row."""
        return len(block.lines) == 1 and not block.lines[0].params

    def _called(self, block: Block, line: Line) -> str:
        if self.shown.several:
            return (_INDENT * 2 if line.row.params else _INDENT) + line.variant
        return figures.printable(block.benchmark) if self._stands_alone(block) else _INDENT + line.params

    def _rows(self, block: Block, lines: Sequence[Line]) -> Iterator[str]:
        reasons = {line.reason for line in lines}
        if len(lines) > 1 and len(reasons) == 1 and not any(line.has_figures for line in lines):
            yield from self.style.wrapped(f"{len(lines)} rows: {reasons.pop()}", _INDENT)
            return
        for line in lines:
            if self.shown.several and line.params:
                yield from self.style.wrapped(line.params, _INDENT)
            yield from self._row(self._called(block, line), line)

    def _row(self, name: str, line: Line) -> Iterator[str]:
        if figures.columns(name) > self.name:
            yield name
            name = ""
        start = figures.left(name, self.name)
        if not line.has_figures:
            yield from self.style.wrapped(line.reason, f"{start}{GAP}")
            return
        yield f"{start}{self._cells([line.cells[place] for place in self.columns])}".rstrip()
        if line.reason:
            yield from self.style.wrapped(line.reason, " " * (self.name + len(GAP)))

    def _cells(self, cells: Sequence[str]) -> str:
        aligned = [
            (figures.right if self.shown.columns[place].right else figures.left)(cell, self.widths[place])
            for place, cell in zip(self.columns, cells, strict=True)
        ]
        return "".join(GAP + cell for cell in aligned)


def _footnotes(shown: View, layout: _Layout, style: Style) -> Iterator[str]:
    for letter, note in shown.marks.items():
        yield from style.wrapped(figures.printable(note), f"{letter}{GAP}")
    for text in shown.missing:
        yield from style.wrapped(figures.printable(text), "no number: ")
    if layout.left_out:
        yield from style.wrapped(
            f"No room for: {', '.join(layout.left_out)}. A wider terminal, --csv and --json have them."
        )
    yield from style.wrapped(LEGEND)
