"""The line forms of hy-smi and rocm-smi: `HCU[0] : label: value`, the default table, and CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from .smi_labels import LONGEST_LABEL, Told, column_fact

#: No line of any known output comes near; a longer one is not looked at.
_LONGEST_LINE = 1000

_QUERY = re.compile(r"\s*(?:GPU|DCU|HCU)\s*\[\s*([0-9]{1,3})\s*\]\s*:(.*)", re.IGNORECASE)
_CARD_NAME = re.compile(r"(?:(?:card|gpu|dcu|hcu)[ _-]?)?([0-9]{1,3})", re.IGNORECASE)
_FIRST_COLUMN = frozenset(("gpu", "dcu", "hcu", "device", "card"))
_BRACKETS = re.compile(r"\[[^\[\]]{0,40}\]")
_PARENTHESES = re.compile(r"\([^()]{0,40}\)")
_COMMA = re.compile(r",\s{1,20}")


def lines_of(text: str) -> list[str]:
    """The lines that could be of a known output, whatever ends them."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [line for line in lines if len(line) <= _LONGEST_LINE]


def card_number(name: str) -> int | None:
    """The number in `card0`, `HCU1` or `2`."""
    found = _CARD_NAME.fullmatch(name.strip())
    return int(found.group(1)) if found else None


def read_queries(lines: list[str]) -> Iterator[Told]:
    """`HCU[0]\t: label: value`, as every query prints without --json and --csv."""
    for line in lines:
        found = _QUERY.fullmatch(line)
        if found is None:
            continue
        label, colon, value = found.group(2).partition(":")
        if colon and len(label) <= LONGEST_LABEL:
            yield Told(int(found.group(1)), label.strip(), value.strip())


def read_table(lines: list[str], notes: list[str]) -> Iterator[Told]:
    """The table that the tool prints when it is called without a query.

    Columns come and go between releases, so a row is read by its heading, and only where it has as many cells.
    """
    heading: list[str] = []
    rows = 0
    for line in lines:
        found = _heading(line)
        if found:
            heading, rows = found, 0
        elif rows and (line.startswith("====") or not line.strip()):
            heading, rows = [], 0
        elif heading:
            cells = _COMMA.sub(",", _BRACKETS.sub("-", line)).split()
            number = card_number(cells[0]) if cells and cells[0].isdecimal() else None
            if number is None:
                continue
            rows += 1
            if len(cells) != len(heading) or _has_half_a_bracket(cells):
                notes.append(f"card {number}: its row does not fit the heading of the table")
                continue
            for label, value in zip(heading[1:], cells[1:], strict=True):
                yield Told(number, label, value, table=True)


def _heading(line: str) -> list[str]:
    """The columns' names, [] where it is no heading. `Temp (DieEdge)` is one column, `[Model : Revision]` too."""
    words = _PARENTHESES.sub(" ", _BRACKETS.sub("-", line)).split()
    if not words or words[0].lower() not in _FIRST_COLUMN or _has_half_a_bracket(words):
        return []
    return words if sum(column_fact(word) is not None for word in words[1:]) >= 2 else []


def _has_half_a_bracket(words: list[str]) -> bool:
    """Then the words inside it cannot be told from columns."""
    return any(not set("[]()").isdisjoint(word) for word in words)


def read_csv(lines: list[str], notes: list[str]) -> Iterator[Told]:
    """`device,label,label` and a row for each card, after a blank line or several."""
    heading: list[str] = []
    for line in lines:
        cells = _cells(line)
        if len(cells) < 2:
            heading = []
        elif cells[0].strip().lower() == "device":
            heading = cells
        elif heading:
            number = card_number(cells[0])
            if number is None:
                continue
            if len(cells) != len(heading):
                notes.append(f"card {number}: its row does not fit the heading of the CSV")
            else:
                for label, value in zip(heading[1:], cells[1:], strict=True):
                    yield Told(number, label.strip(), value.strip())


def _cells(line: str) -> list[str]:
    if "," not in line:
        return []
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []
