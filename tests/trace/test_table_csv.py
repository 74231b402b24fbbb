from __future__ import annotations

import csv
import io
from pathlib import Path

from dcu_asv_ext.trace.analysis import Analysis
from dcu_asv_ext.trace.table_csv import kernels, operators
from dcu_asv_ext.trace.table_rows import Selection

from .tabling import Tabling, a_step


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_one_line_of_headings_with_units_in_their_names(tmp_path: Path) -> None:
    text = operators(a_step(tmp_path), overhead=1.25)
    heading, *lines = text.splitlines()
    assert heading.startswith("name,calls,outermost_calls,kernels,self_device_seconds,device_seconds,")
    assert heading.endswith(",patterns,overhead")
    assert len(lines) == 7
    rows = {row["name"]: row for row in read(text)}
    assert float(rows["aten::addmm"]["self_device_seconds"]) == 50e-6
    assert rows["aten::addmm"]["shapes"] == "[[4], [8, 4]]"
    assert {row["overhead"] for row in rows.values()} == {"1.25"}


def test_what_is_not_known_is_empty(tmp_path: Path) -> None:
    rows = {row["name"]: row for row in read(operators(a_step(tmp_path)))}
    assert rows["(no operator)"]["calls"] == ""
    assert rows["aten::add"]["self_bytes"] == ""
    assert rows["aten::add"]["overhead"] == ""


def test_several_shapes_and_names_with_commas_and_quotes_come_back(tmp_path: Path) -> None:
    made = Tabling()
    name = 'odd, "name"'
    made.operator(name, 0, 10, **{"Input Dims": [[1, 2]]})
    made.operator(name, 20, 30, **{"Input Dims": [[3]]})
    (row,) = read(operators(made.analysis(tmp_path)))
    assert (row["name"], row["shapes"]) == (name, "[[1, 2]]; [[3]]")


def test_patterns_by_their_kind(tmp_path: Path) -> None:
    rows = {row["name"]: row for row in read(operators(a_step(tmp_path)))}
    assert rows["aten::_local_scalar_dense"]["patterns"] == "waits for the device"


def test_by_shape_and_selected(tmp_path: Path) -> None:
    analysis: Analysis = a_step(tmp_path)
    rows = read(operators(analysis, Selection(match="aten::add$", sort="name"), by_shape=True))
    assert [(row["name"], row["shapes"]) for row in rows] == [("aten::add", "[[8]]"), ("aten::add", "[[2]]")]


def test_kernels(tmp_path: Path) -> None:
    rows = read(kernels(a_step(tmp_path), Selection(top=1), overhead=2.0))
    assert rows == [
        {
            "name": "gemm",
            "short_name": "gemm",
            "shape": "grid 4x1x1 block 256x1x1",
            "count": "1",
            "seconds": "4e-05",
            "seconds_per_call": "4e-05",
            "longest_seconds": "4e-05",
            "shortest_seconds": "4e-05",
            "operators": "aten::addmm",
            "lanes": "device 0 stream 0",
            "overhead": "2.0",
        }
    ]


def test_a_trace_without_operators_is_a_line_of_headings(tmp_path: Path) -> None:
    made = Tabling()
    made.frame("a.py(1): f", 0, 10)
    assert len(operators(made.analysis(tmp_path)).splitlines()) == 1
    assert len(kernels(made.analysis(tmp_path)).splitlines()) == 1


def test_no_name_is_a_formula_of_a_spreadsheet(tmp_path: Path) -> None:
    tabling = Tabling()
    names = ("=1+1", "+1", "-1", "@SUM(A1)")
    for number, name in enumerate(names):
        begin = 10.0 + 100 * number
        tabling.operator(name, begin, begin + 10, **{"Input Dims": []})
        tabling.runs(name, begin + 1, begin + 5, begin + 9)
    analysis = tabling.analysis(tmp_path)
    for text in (operators(analysis), kernels(analysis)):
        fields = [field for row in read(text) for field in row.values()]
        assert {"'=1+1", "'+1", "'-1", "'@SUM(A1)"} <= set(fields)
        assert not [one for one in fields if one.startswith(("=", "+", "-", "@"))]
