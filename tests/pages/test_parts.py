"""The parts that several pages show: tables, intervals, changes in words, commands to copy."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from .accessibility import violations
from .bare_site import go, main_text
from .browser import Page

NONE, MINUS, TIMES = "\N{EN DASH}", "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"

TABLE = """
dcu.table({caption: "Rows", filter: true, csv: "rows", state: "t", sort: ["size", "desc"], columns: [
  {key: "name", title: "Name"}, {key: "size", title: "Size", numeric: true},
  {key: "more", title: "More", hidden: true}], rows: %s})
"""
ROWS = [
    {"name": '=cmd|"x"', "size": 2, "more": "a\nb"},
    {"name": "kernel_10", "size": None, "more": "-1"},
    {"name": "kernel_9 <b>", "size": 10.5, "more": "-x"},
]


def with_table(page: Page, site: Path, rows: Any, query: str = "") -> Page:
    go(page, site, "overview")
    page.run(
        f"dcu.pages.set('rows', {{show: (state, main) => main.append(dcu.heading('T'), {TABLE % json.dumps(rows)})}})"
    )
    page.run(f"location.hash = '#/rows{query}'")
    page.wait("document.querySelector('main').dataset.shown === 'rows'")
    page.run("dcu.download = (...told) => { window.kept = told; }")
    return page


def names(page: Page) -> list[str]:
    found: list[str] = page.run(
        "[...document.querySelectorAll('main tbody th')].map((one) => one.textContent)"
    )
    return found


def test_a_table_is_sorted_by_its_headings_and_what_is_missing_stays_last(tab: Page, bare: Path) -> None:
    with_table(tab, bare, ROWS)
    assert names(tab) == ["kernel_9 <b>", '=cmd|"x"', "kernel_10"]
    sorted_by = (
        "[...document.querySelectorAll('th[aria-sort]')].map((one) => [one.dataset.key, one.ariaSort])"
    )
    assert tab.run(sorted_by) == [["size", "descending"]]
    tab.click("main th[data-key=size] button")
    assert names(tab) == ['=cmd|"x"', "kernel_9 <b>", "kernel_10"]
    assert tab.run(sorted_by) == [["size", "ascending"]]
    tab.click("main th[data-key=name] button")
    assert names(tab) == ['=cmd|"x"', "kernel_9 <b>", "kernel_10"]  # 9 before 10
    assert tab.run("dcu.router.state().query") == {"t.sort": "name:asc"}


def test_sort_and_filter_of_an_address_are_those_of_the_table(tab: Page, bare: Path) -> None:
    with_table(tab, bare, ROWS, "?t.sort=name:desc&t.find=KERNEL")
    assert names(tab) == ["kernel_10", "kernel_9 <b>"]
    assert tab.run("document.querySelector('main .found').textContent") == "2 of 3 rows"
    tab.run(
        "(() => { const box = document.querySelector('main input'); box.focus(); box.setSelectionRange(9, 9); })()"
    )
    tab.type(" 9")
    assert names(tab) == ["kernel_9 <b>"]
    assert tab.run("dcu.router.state().query['t.find']") == "KERNEL 9"
    tab.type("x")
    assert "No row matches." in main_text(tab)


def test_a_table_is_exported_as_it_is_filtered_and_a_spreadsheet_runs_nothing(tab: Page, bare: Path) -> None:
    with_table(tab, bare, ROWS)
    tab.click("main .exports button")
    name, text, kind = tab.run("kept")
    assert (name, kind) == ("rows.csv", "text/csv")
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["name", "size", "more"],
        ["kernel_9 <b>", "10.5", "'-x"],
        ['\'=cmd|"x"', "2", "a\nb"],
        ["kernel_10", "", "-1"],
    ]
    tab.run("document.querySelector('main input[type=search]').focus()")
    tab.type("kernel")
    tab.click("main .exports button:last-child")
    assert json.loads(tab.run("kept")[1]) == [ROWS[2], ROWS[1]]


def test_a_long_table_has_pages(tab: Page, bare: Path) -> None:
    with_table(
        tab, bare, [{"name": f"kernel_{number}", "size": 1000 - number, "more": ""} for number in range(450)]
    )
    assert len(names(tab)) == 200
    assert "1 to 200 of 450" in main_text(tab)
    tab.click("main .pager button:last-child")
    tab.click("main .pager button:last-child")
    assert names(tab) == [f"kernel_{number}" for number in range(400, 450)]
    assert tab.run("document.querySelector('main .pager button:last-child').disabled")
    assert tab.run("document.activeElement.className") == "scroll"
    assert violations(tab) == []


def test_a_choice_that_an_address_makes_in_vain_is_seen(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    tab.run(
        "window.pick = (value) => dcu.choice({label: 'L', name: 'n', value, options: [['', 'All'], ['a', 'A']]})"
    )
    chosen = "(() => { const one = pick(%s).querySelector('select'); return one.selectedOptions[0].textContent; })()"
    for value, told in (("null", "All"), ("''", "All"), ("'a'", "A"), ("'<b>'", "<b> (not here)")):
        assert tab.run(chosen % value) == told


def test_a_benchmarks_link_has_each_value_alone(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    tab.run(
        "dcu.index.functions.push({name: 'f', slug: 'f-1', params: [{name: 'n', values: []}], places: {}, asv: {}})"
    )
    address = tab.run("dcu.benchmarkLink('f', {params: ['a|b\\\\c']}).getAttribute('href')")
    assert address == "#/benchmark/f-1?p.n=a%5C%7Cb%5C%5Cc"


MARK = """
window.mark = (given) => {
  const drawn = dcu.intervalMark({limits: [0.5, 2], ...given});
  return drawn && {
    label: drawn.getAttribute("aria-label"),
    points: [...drawn.querySelectorAll("circle")].map((one) => Number(one.getAttribute("cx"))),
    beyond: drawn.querySelectorAll(".beyond").length,
    none: Number(drawn.querySelector(".none").getAttribute("x1")),
  };
}; 0
"""


def test_an_interval_is_drawn_where_it_lies_and_said_in_words(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    tab.run(MARK)
    same = tab.run("mark({ratio: 1, low: 0.9, high: 1.1})")
    assert same["label"] == "ratio 1.000, 95 % interval 0.900 to 1.100"
    assert same["points"] == [same["none"]] and same["beyond"] == 0
    assert tab.run("mark({ratio: 1.5, low: 1.2, high: 1.9})")["points"][0] > same["none"]
    far = tab.run("mark({ratio: 3, low: 1.5, high: 4})")
    assert (far["points"], far["beyond"]) == ([], 1)
    assert tab.run("mark({ratio: 1.2, low: null, high: null})")["label"] == "ratio 1.200"
    assert tab.run("[mark({ratio: null}), mark({ratio: 0}), mark({ratio: NaN})]") == [None, None, None]


def test_changes_are_told_as_people_read_them(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    told = tab.run(
        "[{ratio: 1.0834}, {ratio: 0.9951}, {ratio: 4}, {ratio: null, difference: -0.05, unit: 'share'}, {}]"
        ".map(dcu.changeText)"
    )
    assert told == ["+8.3 %", f"{MINUS}0.49 %", f"{TIMES}4", f"{MINUS}5 %", NONE]
    told = tab.run(
        "[{ratio: 1.1, ci_low: 1.05, ci_high: 1.15}, {ratio: 1.1, ci_low: 1.1, ci_high: 1.1},"
        " {ratio: 1.1, ci_low: 1.05, ci_high: null}, {difference_low: -0.1, difference_high: 0.1, unit: 'share'}, {}]"
        ".map(dcu.changeInterval)"
    )
    assert told == ["[+5.0 %, +15.0 %]", "exact", "[+5.0 %, open]", f"[{MINUS}10 %, +10 %]", ""]


def test_a_command_is_copied_where_the_browser_lets_nobody_use_the_clipboard(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    tab.run(
        "document.execCommand = (what) => { window.copied = [what, String(getSelection())]; return true; }"
    )
    tab.run("Object.defineProperty(window, 'isSecureContext', {value: false}); 0")
    tab.run("document.querySelector('main').replaceChildren(dcu.copyable(\"dcu-asv compare 'a b'\"))")
    tab.click("main .command:last-child button")
    assert tab.run("copied") == ["copy", "dcu-asv compare 'a b'"]
    assert (
        tab.run("document.querySelector('main .command:last-child [role=status]').textContent") == "Copied."
    )
