"""Which rows of a profile's tables are told."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from ..trace import table_csv
from ..trace.table_rows import Selection
from .profile_page import Page


@dataclass(frozen=True)
class Choice:
    """sort: one of table_rows.SORT_KEYS. top: rows of a table at most. match: a regular expression found in names.
    kernels: the table of kernels instead of that of the operators."""

    sort: str | None = None
    top: int | None = None
    match: str | None = None
    by_shape: bool = False
    kernels: bool = False

    def selection(self, top: int | None = None) -> Selection:
        """Raises ValueError, one sentence, for what cannot be chosen."""
        return Selection(self.sort, self.match, top)


def csv_of(page: Page, choice: Choice, heading: bool = True) -> str:
    """The chosen table as `trace.table_csv` writes it, with the profile's name in front of every row."""
    selection = choice.selection(choice.top)
    if choice.kernels:
        text = table_csv.kernels(page.analysis, selection, overhead=page.overhead)
    else:
        text = table_csv.operators(page.analysis, selection, by_shape=choice.by_shape, overhead=page.overhead)
    out = io.StringIO()
    first, *rows = csv.reader(io.StringIO(text))
    writer = csv.writer(out, lineterminator="\n")
    if heading:
        writer.writerow(["profile", *first])
    writer.writerows([page.name, *row] for row in rows)
    return out.getvalue()
