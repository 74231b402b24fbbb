"""The experiment matrix as data: its columns, and what is written being what is read back."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

import dcu_asv_ext
from dcu_asv_ext.evidence.matrix import COLUMNS, MatrixRow, Statistic
from dcu_asv_ext.evidence.matrix_files import MatrixError, read_matrix, to_csv, to_json

NAMES = ("benchmark", "variant", "one", "two")

#: What a cell may hold that is easily taken for something else, or mangled.
AWKWARD: list[Any] = [
    None, "", " ", "None", "null", "nan", "NaN", "inf", "-inf", "Infinity", "true", "True", "1", "1.0", "-1", "+1",
    "1e5", "1e400", " 5", "5 ", "007", "0x1f", "[]", "{}", "[1", '"', '""', '"a"', "'a'", "a,b", "a;b",
    'a"b"c', "a\nb", "a\r\nb", "a\rb", "\n", "\t", "\x00", "\x1b[31m", "\u2028", "\ufeff", "\xa0", "\ud800",
    "中文,参数", "🚀", "=1+1", "=HYPERLINK(\"x\")", "+1-1", "-cmd|' /C calc'!A0", "@SUM(A1)",
    "\\", "\\n", "{\"float\": \"nan\"}",
    0, -1, 2**70, True, False, 0.0, -0.0, 0.1, 1.0, 1e308, -1e308, 5e-324, 1 / 3, 123456789.123456789,
    math.inf, -math.inf, math.nan, [], {}, [None], [[], [1.5, None]], {"a": {"b": [1, "1", None]}}, {"": ""},
    {"float": "nan"}, {"float": math.nan}, {"float": ["nan"]}, {"float": {"float": 1}},
    [math.inf, "inf", {"x": math.nan}],
]  # fmt: skip


def same(one: Any, other: Any) -> bool:
    """Equal to the last bit and of one type: 1, 1.0, True and "1" are four things; NaN is itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other) if isinstance(one, float) else bool(one == other)


def row(one: Any, two: Any = None) -> dict[str, Any]:
    return {"benchmark": "a.b", "variant": "c", "one": one, "two": two}


def both(rows: list[dict[str, Any]]) -> list[str]:
    names = tuple(rows[0]) if rows else NAMES
    return [to_csv(rows, names), to_json(rows)]


@pytest.mark.parametrize(
    "value", AWKWARD, ids=lambda value: repr(value)[:24].encode("ascii", "replace").decode()
)
def test_awkward_values_come_back(value: Any) -> None:
    rows = [row(value), row([value], {"key": value}), row(1, value)]
    for text in both(rows):
        assert same(read_matrix(text), rows)


def value_of(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(8 if depth < 3 else 6)
    if kind == 0:
        return chance.choice(AWKWARD)
    if kind == 1:
        return "".join(chance.choice("ab,\"'\n\r\t =+-@中\\[]{}:01.") for _ in range(chance.randrange(12)))
    if kind == 2:
        return chance.randint(-(10**20), 10**20)
    if kind in (3, 4):
        return chance.uniform(-1, 1) * 10.0 ** chance.randint(-300, 300)
    if kind == 5:
        return None
    if kind == 6:
        return [value_of(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {str(value_of(chance, 9)): value_of(chance, depth + 1) for _ in range(chance.randrange(4))}


@pytest.mark.parametrize("seed", range(40))
def test_random_rows_come_back(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    rows = [row(value_of(chance), value_of(chance)) for _ in range(25)]
    for place, text in enumerate(both(rows)):
        assert same(read_matrix(text), rows)
        path = tmp_path / f"{place}.txt"
        path.write_bytes(text.encode())
        assert same(read_matrix(path), rows) and same(read_matrix(str(path)), rows)


def test_the_csv_is_rfc_4180_and_a_row_is_a_line() -> None:
    rows = [row("a\nb", 'say "x", y'), row("\x1b[2J")]
    text = to_csv(rows, NAMES)
    lines = text.split("\r\n")
    assert len(lines) == 4 and lines[-1] == "" and "\n" not in "".join(lines)
    assert text.replace("\r\n", "").isprintable()
    cells = list(csv.reader(io.StringIO(text, newline="")))
    assert cells[0] == list(NAMES) and cells[1][3] == 'say "x", y'


@pytest.mark.parametrize("text", ["=1+1", "+1", "-a", "@a", "=", "\t=1", "\r=1"])
def test_no_cell_is_a_spreadsheet_s_formula(text: str) -> None:
    written = to_csv([row(text, text)], NAMES)
    cells = list(csv.reader(io.StringIO(written, newline="")))[1]
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in cells)
    assert read_matrix(written)[0]["one"] == text


def test_plain_text_stays_plain_and_readable() -> None:
    cells = list(csv.reader(io.StringIO(to_csv([row("AMD EPYC", "中文")], NAMES), newline="")))[1]
    assert cells == ["a.b", "c", "AMD EPYC", "中文"]
    assert "中文" in to_json([row("中文")])


def test_json_is_strict_json() -> None:
    text = to_json([row(math.nan, [math.inf])], notes=["x"])
    found = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert found["rows"][0]["one"] == {"float": "nan"} and found["notes"] == ["x"]


def test_nothing_is_written_and_read_too() -> None:
    assert [read_matrix(text) for text in both([])] == [[], []]


def test_a_cell_may_be_very_long() -> None:
    rows = [row([0.1 + number for number in range(50_000)])]
    limit = csv.field_size_limit()
    assert read_matrix(to_csv(rows, NAMES)) == rows
    assert csv.field_size_limit() == limit


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbf" + to_csv([row(1)], NAMES).encode())
    assert read_matrix(path) == [row(1)]


WHOLE = to_csv([row("text", [1.5, 2.5]), row("more", [3.5, 4.5])], NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "\n",
        "a,b\r\n1,2\r\n",
        "| benchmark | variant |\n|---|---|\n",
        "benchmark,variant,variant\r\n1,2,3\r\n",
        "benchmark,variant\r\n1,2,3\r\n",
        'benchmark,variant\r\n1,"2\r\n',
        "{}",
        "{",
        '{"matrix": 1, "rows": 3}',
        '{"matrix": 1, "rows": [{"benchmark": 1}]}',
        '{"matrix": 99, "rows": []}',
        '{"matrix": 1, "rows": [NaN]}',
        *(WHOLE[:end] for end in (len(WHOLE) - 1, len(WHOLE) - 2, len(WHOLE) - 8, len(WHOLE) - 20)),
    ],
)
def test_what_is_no_matrix_is_refused(text: str) -> None:
    with pytest.raises(MatrixError, match="is no matrix that dcu-asv wrote"):
        read_matrix(text)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MatrixError, match="is no matrix"):
        read_matrix(tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        read_matrix(tmp_path / "y")


def test_a_row_with_other_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="three"):
        to_csv([{**row(1), "three": 3}], NAMES)


# ---- rows


def test_a_statistic_is_over_rounds() -> None:
    one = Statistic.of([[1.0, 2.0, 9.0], [], [4.0]])
    assert one is not None and one.median == 3.0 and (one.least, one.most) == (1.0, 9.0)
    assert one.ci_low is not None and one.ci_high is not None and one.ci_low < 3.0 < one.ci_high
    alone = Statistic.of([[2.0]])
    assert alone is not None and alone.ci_low is None and alone.ci_high is None
    assert Statistic.of([]) is None and Statistic.of([[]]) is None


def test_a_flat_row_has_every_column_in_order_and_plain_values() -> None:
    made = MatrixRow(
        "gemm.matmul",
        {"n": "256"},
        inputs=("float32[2, 2]",),
        figures={"latency": Statistic(1.0, None, None, 0.5, 2.0)},
        memory={"baseline_card": 7},
        times={"latency": [(1.0, None)]},
    )
    flat = made.flat()
    assert tuple(flat) == COLUMNS and len(set(COLUMNS)) == len(COLUMNS)
    assert (flat["latency_median"], flat["latency_ci_low"], flat["latency_max"]) == (1.0, None, 2.0)
    assert flat["device_time_median"] is None and flat["baseline_card"] == 7 and flat["after_card"] is None
    assert flat["inputs"] == ["float32[2, 2]"] and flat["times"] == {"latency": [[1.0, None]]}
    assert same(read_matrix(to_csv([flat], COLUMNS)), [flat]) and same(read_matrix(to_json([flat])), [flat])


def test_the_reader_is_a_public_name() -> None:
    assert dcu_asv_ext.read_matrix is read_matrix and "read_matrix" in dcu_asv_ext.__all__
