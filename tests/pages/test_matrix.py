"""The page of the experiment matrix, and the files that it exports."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import pytest

from dcu_asv_ext import read_matrix
from dcu_asv_ext.comparing.matrix_experiments import experiments
from dcu_asv_ext.evidence.matrix import COLUMNS, MatrixRow, Statistic
from dcu_asv_ext.evidence.matrix_files import to_csv, to_json

from . import history, published_data
from .accessibility import violations
from .browser import Page
from .serving import Site
from .shown_page import query, texts

#: Each could be taken for something else, or does not print.
NASTY = [
    *("", " ", "null", "true", "1", "1e3", "[1]", "a,b", '"', 'a "b", c', "=1+1", "-x", "+x", "@x", "a\nb", "a\r\nb"),
    *("a\tb", "中文", "😀", "\u2028", "\u00a0", "\ufeff", "\x7f", "\x00", "é", "nan", "</script>", "x" * 300, "'"),
]  # fmt: skip


def flat(**more: Any) -> dict[str, Any]:
    """A row of the matrix as it is published: JSON has no word for a number that is none."""
    found: dict[str, Any] = json.loads(
        json.dumps(MatrixRow(**{"benchmark": "a.b", "params": {}, **more}).flat())
    )
    return found


def figures(**levels: float) -> dict[str, Statistic]:
    return {name: Statistic(one, one * 0.9, one * 1.1, one * 0.8, one * 1.2) for name, one in levels.items()}


@pytest.fixture
def matrix(visitor: Page, address: str) -> Any:
    """Goes to the matrix's page, of rows that are given as the published ones would be."""

    def go(rows: list[dict[str, Any]], told: str = "", **more: Any) -> Page:
        visitor.visit(f"{address}dcu/index.html#/benchmarks")
        visitor.wait("!!document.querySelector('main h1')")
        data = json.dumps({"rows": rows, **more})
        visitor.run(
            f"(() => {{ const load = dcu.load; const data = {data}; dcu.index.matrices = [[0, 3], [0, 5]];"
            " dcu.load = (key) => key.startsWith('m/') ? Promise.resolve(data) : load(key); })()"
        )
        visitor.run(f"location.hash = '#/matrix?{told}'")
        visitor.wait("!!document.querySelector('.page-matrix tbody tr')")
        visitor.settle()
        return visitor

    yield go
    assert visitor.complaints() == []


def kept(page: Page, place: int) -> tuple[str, str]:
    """Name and content of the file that a button exports: CSV, JSON."""
    page.run("dcu.download = (name, content) => { window.kept = [name, content]; }")
    page.run(f"document.querySelectorAll('.exports button')[{place}].click()")
    name, content = page.run("window.kept")
    return name, content


HEADS = ".page-matrix thead th[data-key]"
ROWS = ".page-matrix tbody tr"

# ---- the files


def test_the_csv_is_the_one_that_the_command_writes(matrix: Any) -> None:
    rows = [flat(variant=text, params={text: text}, notes=[text], inputs=NASTY) for text in NASTY]
    page = matrix(rows)
    name, content = kept(page, 0)
    assert name.startswith("matrix-") and name.endswith(".csv")
    assert cells(content) == cells(to_csv(rows, COLUMNS))
    assert read_matrix(content) == rows


def cells(content: str) -> list[list[Any]]:
    """What JSON may write in several ways (spaces) is read."""
    return [[_read(cell) for cell in line] for line in csv.reader(io.StringIO(content, newline=""))]


def _read(cell: str) -> Any:
    try:
        return ["json", json.loads(cell)]
    except ValueError:
        return cell


def test_numbers_keep_every_digit(matrix: Any) -> None:
    levels = [0.1 + 0.2, 1e-300, 5e-324, 1.7976931348623157e308, 2**53 - 1.0, 1 / 3, 0.0]
    rows = [flat(figures={"latency": Statistic(one, None, one, -one, one)}) for one in levels]
    _, content = kept(matrix(rows), 0)
    assert [row["latency_median"] for row in read_matrix(content)] == levels
    assert read_matrix(content) == rows


def test_a_number_that_is_none_stays_what_it_is(matrix: Any) -> None:
    rows = json.loads(to_json([flat() | {"latency_median": math.nan}]))["rows"]
    _, content = kept(matrix(rows), 0)
    assert math.isnan(read_matrix(content)[0]["latency_median"])


def test_the_json_has_the_rows_and_the_experiments_among_them(matrix: Any) -> None:
    rows = [MatrixRow("a.b", {}, variant=label, label=label) for label in ("x", "y")]
    rows += [MatrixRow("c.d", {}, variant=label, label=label) for label in ("x", "y")]
    told = [one.as_object() for one in experiments(rows)]
    page = matrix([one.flat() for one in rows], "rows.find=c.d", experiments=told, notes=["a note"])
    name, content = kept(page, 1)
    assert name.endswith(".json")
    assert read_matrix(content) == [one.flat() for one in rows[2:]]
    found = json.loads(content)
    assert [one["rows"] for one in found["experiments"]] == [[0, 1]]
    assert found["experiments"][0]["benchmark"] == "c.d" and found["notes"] == ["a note"]


# ---- the page


def test_the_published_matrix_of_the_newest_commit(visitor: Page, address: str, published: Site) -> None:
    head = published.history.main[-1][:8]
    index = published_data.read(published, "index")
    place = next(at for at, one in enumerate(index["places"]) if one["key"] == f"dcu-1~{history.ENV}")
    rows = published_data.read(published, f"m/{place}-{head}")["rows"]
    visitor.visit(f"{address}dcu/index.html#/matrix?place=dcu-1~{history.ENV}&commit={head}")
    visitor.wait("!!document.querySelector('.page-matrix tbody tr')")
    assert len(texts(visitor, ROWS)) == len(rows) > 5
    links = visitor.run(
        f"[...document.querySelectorAll('{ROWS} a')].filter((one) => one.hash.startsWith('#/evidence')).length"
    )
    assert links == len(rows)
    _, content = kept(visitor, 0)
    assert read_matrix(content) == read_matrix(to_json(rows))
    assert visitor.complaints() == []


def test_columns_without_a_value_are_not_offered(matrix: Any) -> None:
    page = matrix([flat(figures=figures(latency=1e-3), status="ok"), flat(status="failed")])
    keys = page.run(f"[...document.querySelectorAll('{HEADS}')].map((one) => one.dataset.key)")
    assert keys == ["benchmark", "rounds", "latency", "latency_ci", "status"]
    assert "latency" in texts(page, ".page-matrix thead .group")
    offered = texts(page, ".columns label")
    assert "latency: median" in offered and not any("device time" in one for one in offered)


def test_a_column_is_chosen_and_stays_in_the_address(matrix: Any) -> None:
    page = matrix([flat(figures=figures(latency=1e-3), status="ok", torch="2.7.1")])
    page.run("document.querySelector('.columns').open = true")
    page.click("input[name='column torch']")
    assert "2.7.1" in texts(page, f"{ROWS} td")
    assert "torch" in query(page)["columns"].split(",")
    # The choice stays open: the next column is one click away.
    assert page.run("document.querySelector('.columns').open") is True
    page.run("dcu.router.show()")
    page.wait("!!document.querySelector('.page-matrix th[data-key=torch]')")


def test_rows_are_sorted_by_their_figures(matrix: Any) -> None:
    rows = [flat(benchmark=f"b{one}", figures=figures(latency=one)) for one in (2e-3, 9e-3, 1e-3)]
    page = matrix([*rows, flat(benchmark="none")], "rows.sort=latency:asc")
    assert texts(page, f"{ROWS} th") == ["b0.001", "b0.002", "b0.009", "none"]


def test_what_differs_is_told_and_more_than_one_is_no_experiment(matrix: Any) -> None:
    one = [
        MatrixRow("a.b", {"n": "1"}, variant=label, facts={"software.torch": label})
        for label in ("2.4", "2.7")
    ]
    other = [
        MatrixRow("c.d", {}, variant=label, facts={"software.torch": label, "device.driver": label})
        for label in ("6.2", "6.3")
    ]
    rows = [*one, *other]
    told = [each.as_object() for each in experiments(rows)]
    page = matrix([each.flat() for each in rows], experiments=told)
    listed = texts(page, ".experiments > li")
    assert any("single-variable: software.torch" in text and "a.b(n=1)" in text for text in listed)
    (several,) = texts(page, ".experiments > li.note")
    assert "not a single-variable experiment" in several and "c.d" in several


def test_one_variant_has_nothing_to_compare_with(matrix: Any) -> None:
    assert "one variant" in " ".join(texts(matrix([flat()]), ".page-matrix section p"))


def test_names_are_text(matrix: Any) -> None:
    page = matrix([flat(benchmark=text or "empty", status=text, missing={text: text}) for text in NASTY])
    assert page.run("document.querySelectorAll('.page-matrix script').length") == 0
    assert "</script>" in texts(page, f"{ROWS} th")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_in_the_way_of_anybody(matrix: Any, visitor: Page, scheme: str) -> None:
    visitor.scheme(scheme)
    rows = [
        MatrixRow(text, {"n": "1"}, variant=label, status=text, label=label)
        for text in NASTY[-4:]
        for label in "xy"
    ]
    page = matrix([one.flat() for one in rows], experiments=[one.as_object() for one in experiments(rows)])
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.settle()
    assert violations(page) == []
    page.resize(390, 844)
    page.settle()
    assert violations(page) == []
    assert page.run("document.documentElement.scrollWidth") == 390


def test_an_address_of_no_matrix_says_so(matrix: Any) -> None:
    page = matrix([flat()], "place=nowhere&commit=00000000")
    assert texts(page, "[role=alert]") == [
        "There is no matrix of nowhere.",
        "There is no matrix of commit 00000000 here.",
    ]


def test_without_evidence_there_is_a_command(visitor: Page, address: str) -> None:
    visitor.visit(f"{address}dcu/index.html#/benchmarks")
    visitor.wait("!!document.querySelector('main h1')")
    visitor.run("dcu.index.matrices = []")
    visitor.run("location.hash = '#/matrix'")
    visitor.wait("!!document.querySelector('.page-matrix .command')")
    assert texts(visitor, ".command code") == ["dcu-asv matrix"]
    assert visitor.complaints() == []
