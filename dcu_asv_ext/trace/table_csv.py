"""The operator table and the kernels as CSV: one line of headings, with units in the names."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from .analysis import Analysis
from .table_json import KERNEL_COLUMNS, OPERATOR_COLUMNS, table
from .table_rows import Selection

_OVERHEAD = "overhead"
#: A spreadsheet takes a field that begins so for a formula; the apostrophe before it makes it text (OWASP).
_FORMULA = ("=", "+", "-", "@")


def operators(
    analysis: Analysis,
    selection: Selection | None = None,
    *,
    by_shape: bool = False,
    overhead: float | None = None,
) -> str:
    """The columns of `table_json.operator_rows`, and in each row `overhead`: profiled time over time without the
    profiler. Unknown figures are empty, lists are joined by "; ", patterns are their kinds."""
    found = table(analysis, by_shape, overhead, selection)
    return _written(OPERATOR_COLUMNS, found["operators"], overhead)


def kernels(analysis: Analysis, selection: Selection | None = None, *, overhead: float | None = None) -> str:
    """The columns of `table_json.kernel_rows`, in the same way."""
    return _written(KERNEL_COLUMNS, table(analysis, False, overhead, selection)["kernels"], overhead)


def _written(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], overhead: float | None) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*columns, _OVERHEAD])
    for row in rows:
        writer.writerow([*(_field(row[column]) for column in columns), overhead])
    return out.getvalue()


def _field(value: Any) -> Any:
    if isinstance(value, list):
        value = "; ".join(one["kind"] if isinstance(one, dict) else one for one in value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
