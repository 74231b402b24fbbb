"""The operator table and the kernels as CSV: one line of headings, with units in the names."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any


def render(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Rows of `table_json`; what a row does not have is an empty field, and lists are JSON."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_field(row[column]) for column in columns])
    return out.getvalue()


def _field(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
