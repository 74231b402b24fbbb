"""Figures, findings, tables and names of a profile's page, in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dcu_asv_ext.trace.picture_texts import ENGLISH
from tests.trace.building import Building

from .browser import Page
from .profiles import finding, launch, training, written

NAMES = "[...document.querySelectorAll('#{} tbody tr:not(.meaning)')].map((row) => row.cells[0].innerText)"
HOSTILE = (
    "<script>window.taken = 1</script>",
    '</script><img src=x onerror="window.taken = 1">',
    "'\"`${window.taken = 1}&lt;b&gt;",
    "核函数 矩阵乘法<半精度>",
    "k" * 1000,
    "half \ud800 letter, bell \x07, right to left \u202e txet",
)


def names(page: Page, table: str) -> list[str]:
    found: list[str] = page.run(NAMES.format(table))
    return found


@pytest.fixture
def opened(page: Page, tmp_path: Path) -> Page:
    page.open(written(tmp_path, training(), notes=["Measured on a quiet machine."]))
    return page


def test_figures_stand_beside_the_cost_of_the_profiler(opened: Page) -> None:
    figures = opened.run("[...document.querySelectorAll('.figure')].map((one) => one.innerText)")
    assert figures[0].split("\n") == ["Kernels", "9", "630 us summed", "profiled, 1.25 times as long"]
    assert any(one.startswith("Synchronisations\n3\n") for one in figures)
    assert any(one.startswith("Copies\n3\nDtoH 3: 12.0 KiB") for one in figures)
    assert "Measured on a quiet machine." in opened.run("document.body.innerText")


def test_tables_are_sorted_by_a_heading(opened: Page) -> None:
    assert names(opened, "kernels") == ["relu_kernel", "add_kernel", "matmul_kernel"]
    sort = "document.querySelector('#kernels th[aria-sort=descending], #kernels th[aria-sort=ascending]')"
    assert opened.run(f"{sort}.innerText").startswith("Device time")
    opened.click("#kernels th.name button")
    assert names(opened, "kernels") == ["add_kernel", "matmul_kernel", "relu_kernel"]
    assert opened.run(f"{sort}.ariaSort") == "ascending"
    opened.click("#kernels th.name button")
    assert names(opened, "kernels") == ["relu_kernel", "matmul_kernel", "add_kernel"]


@pytest.mark.parametrize("width", [1300, 420])
def test_what_a_row_means_is_in_sight_below_it(page: Page, tmp_path: Path, width: int) -> None:
    built = Building()
    for number in range(60):
        begin = 1000.0 * number
        built.operator("aten::addmm", begin, begin + 900)
        launch(built, "matmul_kernel", begin + 10, begin + 20, begin + 30)
    page.resize(width, 1000)
    page.open(written(tmp_path, built))
    edges, above = page.run(
        "(() => { const row = document.querySelector('#operators tr.meaning');"
        " const box = row.querySelector('div').getBoundingClientRect();"
        " return [[box.left, box.right], row.previousElementSibling.cells[0].innerText]; })()"
    )
    assert above == "aten::addmm"
    assert 0 <= edges[0] < edges[1] <= width


def test_tables_are_filtered(opened: Page) -> None:
    opened.run("document.getElementById('operators-filter').focus()")
    opened.type("ADD")
    assert names(opened, "operators") == ["aten::add"]
    assert opened.run("document.querySelector('#operators .found').textContent").startswith("1 of ")
    opened.type("x")
    assert names(opened, "operators") == []
    assert opened.run("document.querySelector('#operators .found').textContent") == "No row matches."


def test_a_name_of_a_table_is_shown_in_the_timeline(opened: Page) -> None:
    opened.click("#kernels button.name")
    assert "relu_kernel" in opened.run("document.querySelector('.details-name').textContent")
    begin, end = opened.run(
        "(({begin, end}) => [Number(begin), Number(end)])(document.getElementById('timeline').dataset)"
    )
    assert end - begin < 1_000_000  # less than a step


def test_long_tables_are_cut_until_asked_for(page: Page, tmp_path: Path) -> None:
    trace = training(0)
    for number in range(600):
        launch(
            trace,
            f"kernel_{number:03}",
            10 * number,
            10 * number + 5,
            10 * number + 6 + number / 1000,
            took=3,
        )
    page.open(written(tmp_path, trace, []))
    assert len(names(page, "kernels")) == 50
    page.click("#kernels .more button")
    assert len(names(page, "kernels")) == 500
    assert "100 more rows are not in this page" in page.run(
        "document.querySelector('#kernels .more').innerText"
    )


def test_names_of_a_trace_are_only_text(page: Page, tmp_path: Path) -> None:
    trace = training(1)
    for number, name in enumerate(HOSTILE):
        at = 2000 + 100 * number
        trace.operator(name, at, at + 90)
        trace.span(name, at, at + 95)
        launch(trace, name, at + 10, at + 20, at + 80)
    told = [finding(2000, 2500, kind=name, text=name, next_step=name, source=name) for name in HOSTILE]
    page.open(written(tmp_path, trace, told, title=HOSTILE[1], notes=HOSTILE))
    assert page.run("window.taken") is None
    assert page.run("document.querySelectorAll('img').length") == 0
    assert page.run("document.querySelector('h1').textContent") == HOSTILE[1]
    assert page.run("document.title") == HOSTILE[1]
    shown = page.run(
        "[...document.querySelectorAll('#operators tbody tr:not(.meaning)')].map((row) => row.cells[0].textContent)"
    )
    assert set(HOSTILE[:4]) <= set(shown)
    assert any(name.startswith("kkkk") for name in shown)
    assert any(re.match("half [ \ufffd] letter, bell [ \ufffd], right", name) for name in shown)
    # Every one is in the timeline, too, and can be found there.
    page.run("document.getElementById('find').focus()")
    page.type(HOSTILE[0])
    assert page.run("document.querySelector('.found').textContent") == "0 of 3 rows"
    page.key("Enter")
    assert HOSTILE[0] in page.run("document.querySelector('.details-name').textContent")
    assert page.run("document.documentElement.scrollWidth") == 1400


def test_another_language_replaces_every_text(page: Page, tmp_path: Path) -> None:
    other = {key: f"译{text}" for key, text in ENGLISH.items()} | {"language": "zh"}
    page.open(written(tmp_path, training(), [finding(0, 900)], texts=other))
    assert page.run("document.documentElement.lang") == "zh"
    texts = page.run(
        "[...document.querySelectorAll("
        "'h2, h3, th[scope=col], dt, summary, .lane-label, .scope, .found, .range, .cost')]"
        ".map((one) => one.innerText.trim()).filter(Boolean)"
    )
    labels = page.run("[...document.querySelectorAll('[aria-label]')].map((one) => one.ariaLabel)")
    left = [text for text in [*texts, *labels] if "译" not in text]
    # What remains is other parts' own: the questions, which the operator table asks.
    assert [text for text in left if not text.endswith("?")] == []


def test_everything_that_can_be_used_has_a_name(opened: Page) -> None:
    tree = opened.call("Accessibility.getFullAXTree")["nodes"]
    used = {"button", "searchbox", "combobox", "table", "region", "application", "link"}
    found = [node for node in tree if not node.get("ignored") and node["role"]["value"] in used]
    assert {node["role"]["value"] for node in found} >= {
        "button",
        "searchbox",
        "combobox",
        "table",
        "application",
    }
    assert [json.dumps(node["role"]) for node in found if not node["name"]["value"].strip()] == []
    timeline = next(node for node in found if node["role"]["value"] == "application")
    assert timeline["description"]["value"].startswith("Steps: 3, in ")
    assert "Keys: arrows pan" in timeline["description"]["value"]
