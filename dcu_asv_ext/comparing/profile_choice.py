"""Which rows of a profile's tables are told."""

from __future__ import annotations

from dataclasses import dataclass

from ..trace import table_csv, table_json
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
    """The chosen table, with the profile's name and its overhead in every row."""
    found = table_json.table(page.analysis, choice.by_shape, page.overhead, choice.selection(choice.top))
    rows = found["kernels" if choice.kernels else "operators"]
    about = {"profile": page.name, "overhead": page.overhead}
    columns = [*about, *(rows[0] if rows else ())]
    text = table_csv.render([{**about, **row} for row in rows], columns)
    return text if heading else text.partition("\n")[2]
