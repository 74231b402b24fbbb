"""Where the pages of `dcu-asv profile` go: the terminal, one JSON object, a CSV table, HTML pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..comparing.profile_choice import Choice, csv_of
from ..comparing.profile_json import to_json
from ..comparing.profile_page import Page
from ..comparing.profile_text import render, told_ranks
from ..exit_codes import BENCHMARK_FAILED, FINE, NOTHING_COMPARABLE, WRONG_USE
from .choosing import WrongUse
from .reporting import OutputError, emit, print_json, style

_STDOUT = "-"


class Output:
    """Pages are told as they come. A file that cannot be written is told when everything else has been."""

    def __init__(self, options: argparse.Namespace, pages: int) -> None:
        self.options = options
        self.choice = Choice(options.sort, options.top, options.filter, options.by_shape, options.kernels)
        try:
            self.choice.selection(options.top)
        except ValueError as fault:
            raise WrongUse(str(fault)) from None
        self.several = pages > 1
        # Measuring changes to another folder.
        self.csv = None if options.csv in (None, _STDOUT) else Path(options.csv).absolute()
        self.html = None if options.html is None else Path(options.html).absolute()
        self.folder = self.html is not None and _is_folder(self.html, self.several)
        self.code = FINE
        self._told = 0
        self._ranks: list[tuple[int, int | None]] = []
        self._json: list[dict[str, Any]] = []
        self._csv: list[str] = []
        self._names: set[str] = set()
        self._later: list[str] = []

    def add(self, page: Page) -> None:
        """Tell a page, or that there is nothing to tell."""
        if page.nothing:
            self.refuse(page.nothing, NOTHING_COMPARABLE)
            return
        if self.options.json:
            self._json.append(to_json(page, self.choice))
        elif self.options.csv != _STDOUT:
            self._emit(("\n\n" if self._told else "") + render(page, style(self.options.all), self.choice))
        if self.options.csv is not None:
            self._csv.append(csv_of(page, self.choice, heading=not self._csv))
        if self.html is not None:
            self._write(self._place(page, self.html), lambda place: _html(page, place))
        self._told += 1
        if page.rank is not None:
            self._ranks.append(page.rank)

    def refuse(self, fault: str, code: int = WRONG_USE) -> None:
        """One sentence; a page less."""
        print(f"dcu-asv profile: {fault}", file=sys.stderr, flush=True)
        self.worse(code)

    def later(self, fault: str) -> None:
        """One sentence, told when all pages have been."""
        self._later.append(fault)

    def worse(self, code: int) -> None:
        """A benchmark that failed outweighs wrong use, and that what was not recorded."""
        order = (FINE, NOTHING_COMPARABLE, WRONG_USE, BENCHMARK_FAILED)
        self.code = max(self.code, code, key=order.index)

    def finish(self) -> int:
        """What is told of all pages together, and the files; the exit code."""
        if self.options.json:
            self._json_out()
        elif self.several and self.options.csv != _STDOUT and (ranks := told_ranks(self._ranks)):
            self._emit(f"\n\n{ranks}")
        if self._csv:
            text = "".join(self._csv)
            if self.options.csv == _STDOUT:
                self._emit(text.removesuffix("\n"))
            else:
                assert self.csv is not None
                self._write(self.csv, lambda place: place.write_text(text, encoding="utf-8"))
        for fault in self._later:
            self.refuse(fault)
        return self.code

    def _json_out(self) -> None:
        try:
            print_json({"profiles": self._json})
        except OutputError as fault:
            self.refuse(str(fault))

    def _emit(self, text: str) -> None:
        try:
            emit(text)
        except OutputError as fault:
            self.refuse(str(fault))

    def _place(self, page: Page, html: Path) -> Path:
        if not self.folder:
            return html
        stem = Path(page.trace).name.partition(".json")[0]
        name, number = stem, 1
        while name in self._names:
            number += 1
            name = f"{stem}-{number}"
        self._names.add(name)
        return html / f"{name}.html"

    def _write(self, place: Path, write: Callable[[Path], object]) -> None:
        try:
            write(place)
        except OSError as fault:
            self._later.append(f"{place} cannot be written: {fault.strerror or fault}")
        else:
            print(f"wrote {place}", file=sys.stderr, flush=True)


def _is_folder(given: Path, several: bool) -> bool:
    """Whether each profile gets a page of its own there. Raises WrongUse where it has to, and there is no folder."""
    if given.is_dir():
        return True
    if several:
        raise WrongUse(
            f"there are several profiles, and a page for each: name a folder, which {given} is not"
        )
    return False


def _html(page: Page, place: Path) -> None:
    from ..trace.report_html import write_html

    write_html(place, page.analysis, title=page.name, overhead=page.overhead, notes=page.notes)
