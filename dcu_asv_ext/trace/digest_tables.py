"""The tables of a kept digest: how many rows, and one row for what is below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: Rows that are kept of a table.
MOST = {"kernels": 60, "operators": 60, "copies": 30, "syncs": 30, "gaps": 30}
REST = "(rest)"

#: The rest's row of each table, and which of its cells are sums. Totals of operators inside each other do not add up.
_REST: dict[str, tuple[tuple[Any, ...], tuple[int, ...]]] = {
    "kernels": ((REST, "", 0, 0, []), (2, 3)),
    "operators": ((REST, 0, 0, None, 0, None, 0), (1, 2, 4, 6)),
    "copies": ((REST, 0, 0, 0, "", ""), (1, 2, 3)),
    "syncs": (("", REST, 0, 0, "", ""), (2, 3)),
    "gaps": ((REST, 0, 0, ""), (1, 2)),
}


def capped(table: str, rows: Sequence[Sequence[Any]], most: int | None = None) -> list[Any]:
    """The first rows, and one that the others are summed in, so that the whole table still adds up."""
    most = MOST[table] if most is None else most
    if len(rows) <= most:
        return list(rows)
    cells, summed = _REST[table]
    rest = list(cells)
    for column in summed:
        rest[column] = _sum([row[column] if column < len(row) else None for row in rows[most:]])
    return [*rows[:most], rest]


def _sum(values: Sequence[Any]) -> Any:
    """None where one is not told."""
    return sum(values) if all(type(one) in (int, float) for one in values) else None
