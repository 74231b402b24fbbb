"""Plots of points that are given, on a site without data: what is drawn, pointed at, zoomed and told in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from dcu_asv_ext.pages.writing import Out
from dcu_asv_ext.site.pages_assets import copy_pages

from .browser import Browser, Page

INDEX = {
    "format": 1, "project": "plots", "project_url": "", "show_commit_url": "", "made_at": "", "version": "1",
    "commits": [], "branches": [], "tags": [], "places": [], "functions": [], "metrics": {},
    "comparisons": [], "evidence": {}, "matrices": [], "notes": [],
}  # fmt: skip
HOSTILE = "</script><img src=x onerror=window.taken=1>"


@pytest.fixture(scope="module")
def tab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("plots")
    copy_pages(folder)
    out = Out(folder / "data")
    out.put("index", INDEX)
    for key in ("changes", "overview"):
        out.put(key, {"branches": []})
    found = browser.page()
    found.visit((folder / "index.html").as_uri() + "#/benchmarks")
    found.wait("!!document.querySelector('main h1')")
    yield found
    assert found.complaints() == []
    found.close()


@pytest.fixture
def page(tab: Page) -> Page:
    tab.resize(1000, 800)
    tab.scheme("light")
    return tab


def draw(page: Page, series: list[dict[str, Any]], **more: Any) -> None:
    y = {"scale": more.pop("scale", "linear"), "unit": more.pop("unit", "seconds")}
    one = {"colour": 0, "shape": 0, "dash": 0, "label": "a series"}
    options = {"label": "A plot", "series": [{**one, **each} for each in series], "y": y, **more}
    page.run(
        f"""(() => {{
            const told = window.told = [];
            const options = {json.dumps(options)};
            options.x = {{ kind: 'number', title: 'Number', text: (x) => `number ${{x}}`, ...options.x }};
            const {{ columns = [] }} = options.table || {{}};
            for (const one of columns) one.value = (series, i) => `${{series}}/${{i}}`;
            options.onOpen = (stop) => told.push([stop.series, stop.index, stop.x, stop.bad && stop.bad.kind]);
            options.onZoom = (range) => told.push(range);
            options.onToggle = (series, hidden) => told.push([series, hidden]);
            window.plot = dcu.plot(options);
            document.getElementById('main').replaceChildren(window.plot.element);
        }})()"""
    )
    page.wait("window.plot.element.dataset.points === '0' || !!window.plot.element.dataset.drawn")
    page.settle()


def told(page: Page) -> Any:
    return page.run("window.told")


def focus(page: Page) -> None:
    page.run("document.querySelector('.plot-host').focus()")


def spoken(page: Page) -> str:
    found: str = page.run("document.querySelector('.plot-spoken').textContent")
    return found


# ---- keys and pointer


def test_keys_go_from_point_to_point_and_over_to_other_series(page: Page) -> None:
    draw(
        page,
        [
            {"x": [0, 1, 2, 3], "y": [1, None, 2, 3], "label": "first"},
            {"x": [0, 2], "y": [5, 6], "label": "second"},
        ],
        bad=[{"series": 0, "x": 1, "kind": "failed", "text": HOSTILE}],
    )
    focus(page)
    page.key("ArrowRight")
    assert spoken(page) == "first; number 0; 1 s"
    page.key("ArrowRight")
    assert spoken(page) == f"first; number 1; {HOSTILE}"
    page.key("Enter")
    page.key("ArrowRight")
    page.key("ArrowDown")
    assert spoken(page) == "second; number 2; 6 s"
    page.key("Enter")
    page.key("End")
    page.key("Home")
    assert spoken(page) == "second; number 0; 5 s"
    assert told(page) == [[0, None, 1, "failed"], [1, 1, 2, None]]
    assert page.run("window.taken") is None and page.run("document.querySelectorAll('main img').length") == 0


def test_a_click_opens_the_point_that_is_near_and_nothing_far_away(page: Page) -> None:
    draw(page, [{"x": [0, 10], "y": [1, 2]}], x={"extent": [0, 10]})
    left, top, width = page.run(
        "(({x, y, width}) => [x, y, width])(document.querySelector('.u-over').getBoundingClientRect())"
    )
    page.click_at(left + width / 2, top + 60)
    assert told(page) == []
    page.mouse("mouseMoved", left + width - 8, top + 30)
    page.settle()
    assert page.run("document.querySelector('.plot-tip').innerText").split("\n") == [
        "a series",
        "number 10",
        "2 s",
    ]
    page.click_at(left + width - 8, top + 30)
    assert told(page) == [[0, 1, 10, None]]


def test_zooming_stays_within_the_extent(page: Page) -> None:
    draw(page, [{"x": list(range(101)), "y": list(range(1, 102))}], x={"extent": [0, 100]})
    focus(page)
    page.key("+")
    page.key("PageUp")
    page.key("PageUp")
    page.key("-")
    assert told(page) == [[25, 75], [0, 50], [0, 50], None]
    page.key("End")
    page.key("+")
    page.key("0")
    assert told(page)[-1] is None
    assert page.run("window.plot.range()") == [0, 100]


def test_shift_and_drag_pans(page: Page) -> None:
    draw(page, [{"x": list(range(101)), "y": list(range(1, 102))}], x={"extent": [0, 100], "range": [40, 60]})
    left, top, width = page.run(
        "(({x, y, width}) => [x, y, width])(document.querySelector('.u-over').getBoundingClientRect())"
    )
    shift = 8
    page.mouse("mousePressed", left + width * 0.5, top + 50, modifiers=shift)
    page.mouse("mouseMoved", left + width * 0.25, top + 50, buttons=1, modifiers=shift)
    page.mouse("mouseReleased", left + width * 0.25, top + 50, modifiers=shift)
    page.settle()
    assert page.run("window.plot.range()") == [pytest.approx(45, abs=0.2), pytest.approx(65, abs=0.2)]


def test_what_is_hidden_no_longer_sets_the_range(page: Page) -> None:
    draw(
        page, [{"x": [0, 1], "y": [1, 2], "label": "small"}, {"x": [0, 1], "y": [100, 900], "label": "large"}]
    )
    page.click(".plot-legend li:nth-child(2) button")
    assert told(page) == [[1, True]]
    assert page.run("document.querySelectorAll('.plot-legend button[aria-pressed=false]').length") == 1
    focus(page)
    page.key("ArrowRight")
    page.key("ArrowDown")
    assert spoken(page).startswith("small")


# ---- drawing


def colours(page: Page, least: int = 60) -> set[tuple[int, int, int]]:
    """Those of at least so many pixels of the canvas."""
    found = page.run(
        """((least) => {
            const canvas = document.querySelector('canvas');
            const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
            [pen.canvas.width, pen.canvas.height] = [canvas.width, canvas.height];
            pen.drawImage(canvas, 0, 0);
            const all = pen.getImageData(0, 0, canvas.width, canvas.height).data;
            const count = {};
            for (let i = 0; i < all.length; i += 4) {
                const key = all.slice(i, i + 4).join();
                count[key] = (count[key] || 0) + 1;
            }
            return Object.keys(count).filter((key) => count[key] >= least);
        })"""
        f"({least})"
    )
    return {tuple(int(part) for part in one.split(",")[:3]) for one in found if one.endswith(",255")}  # type: ignore[misc]


def test_the_theme_changes_what_is_drawn(page: Page) -> None:
    draw(page, [{"x": [0, 1, 2], "y": [1, 2, 1]}])
    assert (0x1F, 0x5F, 0xA8) in colours(page)
    page.scheme("dark")
    page.settle()
    page.settle()
    found = colours(page)
    assert (0x7F, 0xB2, 0xEA) in found and (0x1F, 0x5F, 0xA8) not in found


def test_thousands_of_points_are_drawn_whole(page: Page) -> None:
    x = list(range(3000))
    y = [1 + (i % 7) / 100 for i in x]
    series = [
        {
            "x": x,
            "y": [value * (1 + k) for value in y],
            "low": [value * (1 + k) * 0.99 for value in y],
            "high": [value * (1 + k) * 1.01 for value in y],
            "clouds": [[value * (1 + k) * (1 + j / 200) for j in range(5)] for value in y],
            "colour": k,
        }
        for k in range(3)
    ]
    draw(page, series)
    assert page.run("window.plot.element.dataset.points") == "9000"
    assert {(0x1F, 0x5F, 0xA8), (0xB3, 0x40, 0x0A), (0x0F, 0x76, 0x6E)} <= colours(page)


def test_a_logarithmic_scale_tells_of_what_it_has_no_place_for(page: Page) -> None:
    draw(page, [{"x": [0, 1, 2], "y": [0, 1e-7, 1e-3]}], scale="log", unit="relative")
    assert "zero or less" in page.run("document.querySelector('.plot-signs').textContent")
    focus(page)
    page.key("ArrowRight")
    assert spoken(page) == "a series; number 0; 0"


@pytest.mark.parametrize(
    "series",
    [
        [],
        [{"x": [], "y": []}],
        [{"x": [0, 1], "y": [None, None]}],
    ],
)
def test_a_plot_without_a_point_says_so(page: Page, series: list[dict[str, Any]]) -> None:
    draw(page, series)
    assert page.run("document.querySelector('.plot-empty').textContent") == "There is no point to draw."
    assert page.run("document.querySelectorAll('canvas').length") == 0


@pytest.mark.parametrize("value", [0, -3, 1e-300, 1e300, 5])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_one_point_of_any_size_is_drawn(page: Page, value: float, scale: str) -> None:
    draw(page, [{"x": [7], "y": [value]}], scale=scale, unit="value")
    assert (0x1F, 0x5F, 0xA8) in colours(page, 10) or (value <= 0 and scale == "log")


def test_it_follows_its_width_and_leaves_when_it_is_removed(page: Page) -> None:
    draw(page, [{"x": [0, 1], "y": [1, 2]}])
    page.resize(500, 800)
    page.settle()
    page.settle()
    assert page.run("document.querySelector('.uplot').offsetWidth") < 500
    page.run("window.plot.element.remove()")
    page.settle()
    assert page.run("window.plot.element.querySelectorAll('.uplot').length") == 0
    page.run("document.getElementById('main').append(window.plot.element)")
    page.settle()
    page.settle()
    assert page.run("window.plot.element.querySelectorAll('.uplot').length") == 1


def test_its_points_are_a_table_once_it_is_opened(page: Page) -> None:
    draw(
        page,
        [{"x": [0, 1], "y": [1, 2], "low": [0.9, None], "high": [1.1, None], "clouds": [[0.9, 1.1], None]}],
        bad=[{"series": 0, "x": 3, "kind": "missing", "text": HOSTILE}],
    )
    assert page.run("document.querySelectorAll('.plot-table table').length") == 0
    page.click(".plot-table summary")
    page.wait("!!document.querySelector('.plot-table table')")
    rows = page.run(
        "[...document.querySelectorAll('.plot-table tbody tr')]"
        ".map((one) => [...one.cells].map((cell) => cell.innerText))"
    )
    assert rows[0][:2] == ["number 0", "a series"] and rows[0][2:6] == [
        "1 s",
        "900 ms",
        "1.1 s",
        "900 ms, 1.1 s",
    ]
    assert rows[2][-1] == HOSTILE


def test_its_table_may_be_in_the_order_of_x_and_have_more_columns(page: Page) -> None:
    draw(
        page,
        [{"x": [0, 2], "y": [1, 2]}, {"x": [1, 3], "y": [3, 4]}],
        table={"byX": True, "columns": [{"key": "k", "title": "More"}]},
    )
    page.click(".plot-table summary")
    page.wait("!!document.querySelector('.plot-table table')")
    rows = page.run(
        "[...document.querySelectorAll('.plot-table tr')]"
        ".map((one) => [...one.cells].map((cell) => cell.textContent))"
    )
    # No interval, no round and no note: those columns are not there.
    assert [len(row) for row in rows] == [4] * 5
    assert [row[:2] for row in rows[1:]] == [
        ["number 0", "0/0"],
        ["number 1", "1/0"],
        ["number 2", "0/1"],
        ["number 3", "1/1"],
    ]


# ---- ticks


@pytest.mark.parametrize(
    ("low", "high", "log", "unit", "expected"),
    [
        (0, 0.0035, False, "seconds", ["0", "1", "2", "3"]),
        (0.003, 0.0030005, False, "seconds", ["3.0000", "3.0001", "3.0002", "3.0003", "3.0004", "3.0005"]),
        (1.4 * 2**30, 1.8 * 2**30, False, "bytes", ["1.500", "1.625", "1.750"]),
        (0, 3000, False, "bytes", ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5"]),
        (0, 0.13, False, "share", ["0", "5", "10"]),
        (2.4e-4, 2.6e-4, False, "relative", ["2.40e-4", "2.45e-4", "2.50e-4", "2.55e-4", "2.60e-4"]),
        (1e-9, 1e-3, True, "relative", ["1e-9", "1e-8"]),
        (-2, 2, False, "value", ["-2", "-1", "0", "1", "2"]),
    ],
)  # fmt: skip
def test_ticks_are_round_numbers_of_one_unit(
    page: Page, low: float, high: float, log: bool, unit: str, expected: list[str]
) -> None:
    found = page.run(
        f"""(() => {{
            const {{ ticks, texts, unit }} = dcu.plotting.scales;
            const [size] = unit({json.dumps(unit)}, [{low}, {high}]);
            return texts(ticks({low}, {high}, 6, {json.dumps(log)}, {json.dumps(unit)}), size, {json.dumps(log)});
        }})()"""
    )
    assert found[: len(expected)] == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("2024-01-30T00:00Z", "2024-02-03T12:00Z", ["2024-01-30", "2024-01-31", "2024-02-01"]),
        ("2024-01-01T00:30Z", "2024-01-01T04:00Z", ["2024-01-01\n01:00", "2024-01-01\n02:00"]),
        ("2020-02-10T00:00Z", "2024-02-03T00:00Z", ["2021-01", "2022-01", "2023-01", "2024-01"]),
    ],
)
def test_dates_are_ticked_where_they_begin(page: Page, low: str, high: str, expected: list[str]) -> None:
    found = page.run(
        "(({ dates, dateTicks }) => dates(dateTicks("
        f"Date.parse('{low}'), Date.parse('{high}'), 5)))(dcu.plotting.scales)"
    )
    assert found[: len(expected)] == expected and len(found) <= 6
