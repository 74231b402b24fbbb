"""The experiment matrix as CSV and as JSON, written so that it is read back without loss.

Both hold the same flat rows (`MatrixRow.flat`, or any mappings from column to plain data). JSON is strict: a number
that it has no word for is `{"float": "nan"}` (`"inf"`, `"-inf"`).

A cell of the CSV (RFC 4180, UTF-8) is JSON where it is a number, true, false, a list or a mapping; nothing for None;
and text as it is, but as a JSON string where it could be taken for something else: the empty text, text that reads
as JSON, text with letters that do not print (a line break), and text that a spreadsheet would run as a formula.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

#: Raised by hand when a matrix that was written before can no longer be read the same way.
FORMAT = 1

_FLOAT = "float"
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_FORMULA = ("=", "+", "-", "@")
_ROWS, _FORMAT = "rows", "matrix"
#: What a matrix has at least.
_REQUIRED = ("benchmark", "variant")


class MatrixError(ValueError):
    """What was given is no matrix that this can read; the text says why, in one sentence."""


def to_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A heading, and a line for each row. Raises ValueError for a row that has not these columns."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(columns)
    for row in rows:
        if row.keys() != set(columns):
            raise ValueError(f"a row's columns are not the matrix's: {sorted(row.keys() ^ set(columns))}")
        writer.writerow([_cell(row[name]) for name in columns])
    return stream.getvalue()


def to_json(rows: Iterable[Mapping[str, Any]], **more: Any) -> str:
    """One object, a row a line; more: what else it holds."""
    parts = {_FORMAT: FORMAT, _ROWS: [dict(row) for row in rows], **more}
    return "{\n" + ",\n".join(f"{_json(name)}: {_entry(one)}" for name, one in parts.items()) + "\n}\n"


def _entry(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return _json(value)
    return "[\n" + ",\n".join(map(_json, value)) + "\n]"


def read_matrix(source: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The rows of a matrix that `dcu-asv matrix --csv` or `--json` wrote, each column -> plain data.

    source: a path, or the text itself (what has a line break in it, or begins with "{"). Raises MatrixError for what
    is no matrix (Markdown, a torn file), OSError for a file that cannot be read.
    """
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        text, name = source, "the text"
    else:
        name = os.fspath(source)
        try:
            text = Path(source).read_bytes().decode("utf-8")
        except UnicodeDecodeError as fault:
            raise MatrixError(f"{name} is no matrix: {fault}") from None
    text = text.removeprefix("\ufeff")
    try:
        found = _from_json(text) if text.lstrip().startswith("{") else _from_csv(text)
    except (ValueError, RecursionError, csv.Error) as fault:
        raise MatrixError(f"{name} is no matrix that dcu-asv wrote with --csv or --json: {fault}") from None
    return found


def _from_json(text: str) -> list[dict[str, Any]]:
    found = _parsed(text)
    if not isinstance(found, dict) or not isinstance(found.get(_ROWS), list):
        raise ValueError(f'it has no "{_ROWS}"')
    if found.get(_FORMAT) != FORMAT:
        raise ValueError(f'"{_FORMAT}" is {found.get(_FORMAT)!r}, and this version reads {FORMAT}')
    rows: list[dict[str, Any]] = found[_ROWS]
    if not all(isinstance(row, dict) and all(name in row for name in _REQUIRED) for row in rows):
        raise ValueError(f"a row lacks {' or '.join(_REQUIRED)}")
    return rows


def _from_csv(text: str) -> list[dict[str, Any]]:
    limit = csv.field_size_limit(sys.maxsize)  # a cell may hold the samples of many rounds
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    finally:
        csv.field_size_limit(limit)
    columns = lines[0] if lines else []
    if any(name not in columns for name in _REQUIRED):
        raise ValueError(f"its first line does not name the columns {' and '.join(_REQUIRED)}")
    if len(set(columns)) < len(columns):
        raise ValueError("two columns have the same name")
    if not text.endswith("\n"):
        raise ValueError("its last line has no end, so something is missing")
    rows = []
    for number, line in enumerate(filter(None, lines[1:]), 2):
        if len(line) != len(columns):
            raise ValueError(f"row {number} has {len(line)} cells, and there are {len(columns)} columns")
        rows.append({name: _value(cell) for name, cell in zip(columns, line, strict=True)})
    return rows


# ---- cells


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return _json(value)
    clear = value.isprintable() and not value.startswith(_FORMULA) and _value(value) == value
    return value if clear else _json(value)


def _value(cell: str) -> Any:
    if not cell:
        return None
    try:
        return _parsed(cell)
    except (ValueError, RecursionError):
        return cell


def _json(value: Any) -> str:
    """Strict JSON on one line; letters are themselves where all of them print."""
    told = json.dumps(_tagged(value), ensure_ascii=False, allow_nan=False)
    return told if told.isprintable() else json.dumps(_tagged(value), allow_nan=False)


def _parsed(text: str) -> Any:
    return _untagged(json.loads(text, parse_constant=_refuse))


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _tagged(value: Any) -> Any:
    """A mapping whose only key is the tag itself holds its value in a list, so that it is told from a tag."""
    if isinstance(value, float) and not math.isfinite(value):
        return {_FLOAT: repr(value)}
    if isinstance(value, Mapping):
        if value.keys() == {_FLOAT}:
            return {_FLOAT: [_tagged(value[_FLOAT])]}
        return {name: _tagged(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_tagged(one) for one in value]
    return value


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [_untagged(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_FLOAT}:
        inner = value[_FLOAT]
        if isinstance(inner, list) and len(inner) == 1:
            return {_FLOAT: _untagged(inner[0])}
        if isinstance(inner, str) and inner in _WORDS:
            return _WORDS[inner]
    return {name: _untagged(one) for name, one in value.items()}
