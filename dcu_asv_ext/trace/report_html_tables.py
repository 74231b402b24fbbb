"""The page's tables: which columns and rows they have; the page's script draws, sorts and filters them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import units
from .picture_names import Names, printable, shortened
from .picture_texts import Texts, fill
from .report_html_head import safe

_MOST_ROWS = 500
_MOST_LETTERS = 400

#: Key of `table_json` -> what its cells are, in the order of the columns. The heading is the text `column_<key>`.
_OPERATORS = {
    "name": "name",
    "calls": "count",
    "self_device_seconds": "seconds",
    "device_share": "share",
    "device_seconds": "seconds",
    "device_seconds_per_call": "seconds",
    "kernels": "count",
    "self_cpu_seconds": "seconds",
    "cpu_seconds": "seconds",
    "runtime_seconds": "seconds",
    "waits_seconds": "seconds",
    "self_bytes": "bytes",
    "peak_bytes": "bytes",
    "meaning": "text",
    "source": "line",
    "distinct_shapes": "count",
    "shapes": "line",
}
_KERNELS = {
    "name": "name",
    "count": "count",
    "seconds": "seconds",
    "device_share": "share",
    "seconds_per_call": "seconds",
    "shortest_seconds": "seconds",
    "longest_seconds": "seconds",
    "shape": "line",
    "operators": "line",
}


def tables(found: Mapping[str, Any], texts: Texts) -> str:
    """found: of `table_json.table`. The places of the tables, and the questions, whole."""
    parts = []
    for name, title in (("operators", "operators"), ("kernels", "kernel_table")):
        host = f'<p class="scope">{safe(texts["memory_of_host"])}</p>' if found["memory_of"] == "host" else ""
        parts.append(
            f'<section aria-labelledby="{name}-title"><h2 id="{name}-title">{safe(texts[title])}</h2>'
            f"{host if name == 'operators' else ''}"
            f'<div id="{name}" class="rows"></div>{_questions(found, texts) if name == "operators" else ""}'
            "</section>"
        )
    return "".join(parts)


def _questions(found: Mapping[str, Any], texts: Texts) -> str:
    """What to ask before a kernel is written, of the operators worth one."""
    if not found["questions"]:
        return ""
    parts = []
    for one in found["questions"]:
        share = fill(texts["question_share"], share=units.share(one["share"]))
        answers = "".join(
            f"<dt>{safe(answer['question'])}</dt><dd><strong>{safe(answer['answer'])}</strong>: "
            f"<bdi>{safe(answer['text'])}</bdi></dd>"
            for answer in one["answers"]
        )
        parts.append(
            f"<div><h4><bdi>{safe(_text(one['operator']))}</bdi> <span>{safe(share)}</span></h4>"
            f"<dl>{answers}</dl></div>"
        )
    return f'<h3>{safe(texts["questions"])}</h3><div class="questions">{"".join(parts)}</div>'


def tables_data(found: Mapping[str, Any], names: Names) -> dict[str, dict[str, Any]]:
    """names: of the timeline. Per table: `columns` ([key, what its cells are], those without any figure left out),
    `rows`, `rest` (how many rows more there are, and their seconds), `sort` (the column that the rows are sorted by).
    """
    operators, kernels = found["operators"], found["kernels"]
    told = [
        {**row, "meaning": [f"{one['kind']}: {one['text']}" for one in row["patterns"]]} for row in operators
    ]
    on_device = "self_device_seconds" not in found["missing"]
    return {
        "operators": _table(
            told, _OPERATORS, "self_device_seconds" if on_device else "self_cpu_seconds", on_device, names
        ),
        "kernels": _table(kernels, _KERNELS, "seconds", on_device, names),
    }


def _table(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], time: str, on_device: bool, names: Names
) -> dict[str, Any]:
    whole = sum(row[time] or 0 for row in rows)
    shown = [
        {**row, "device_share": (row[time] or 0) / whole if on_device and whole else None}
        for row in rows[:_MOST_ROWS]
    ]
    kept = [
        [key, kind]
        for key, kind in columns.items()
        if any(row.get(key) not in (None, "", []) for row in shown)
    ]
    rest = rows[_MOST_ROWS:]
    return {
        "columns": kept,
        "rows": [[_cell(row, key, names) for key, _ in kept] for row in shown],
        "rest": [len(rest), sum(row[time] or 0 for row in rest)],
        "sort": time,
    }


def _cell(row: Mapping[str, Any], key: str, names: Names) -> Any:
    """A figure; a text; or texts, one below the other. A name: as it is said, the whole, its number in the timeline
    (None: it is not there)."""
    value = row.get(key)
    if key == "name":
        return [_text(row.get("short_name", value)), _text(value), names.known(str(value))]
    if isinstance(value, (list, tuple)):
        return "\n".join(map(_text, value))
    return _text(value) if isinstance(value, str) else value


def _text(value: object) -> str:
    return shortened(printable(str(value)), _MOST_LETTERS)
