"""What all pages share, on a site of made-up data that is opened as a file: navigation, theme, address, tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.pages.writing import Out
from dcu_asv_ext.site.pages_assets import copy_pages

from .accessibility import violations
from .browser import Browser, BrowserError, Page

NONE, MINUS, TIMES = "\N{EN DASH}", "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"
HASH = "ab" * 20
INDEX: dict[str, Any] = {
    "format": 1,
    "project": "<b>kernels</b>",
    "project_url": "javascript:alert(1)",
    "show_commit_url": "https://example.org/commit/",
    "made_at": "2026-01-02T03:04:05+00:00",
    "version": "1.2",
    "commits": [[HASH, 1_767_312_000_000, "Subject with <i>marks</i>"], ["cd" * 20, 0, ""]],
    "branches": [{"name": "main", "commits": [0, 1], "numbers": [0, 3], "head": 1}],
    "tags": [],
    "places": [{"machine": "m", "env": "e", "key": "m~e", "device": None, "product": None, "facts": {}}],
    "functions": [],
    "metrics": {},
    "comparisons": [],
    "evidence": {},
    "matrices": [],
    "notes": [],
}
EMPTY = {"changes": [], "events": [], "set_ups": [], "restarts": [], "too_short": 4, "notes": []}


def write(folder: Path, index: dict[str, Any], branches: list[str]) -> Path:
    copy_pages(folder)
    out = Out(folder / "data")
    out.put("index", index)
    out.put("overview", {"branches": [{"name": name, "heads": []} for name in branches]})
    out.put("changes", {"branches": [{"name": name, **EMPTY} for name in branches]})
    return folder / "index.html"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A branch without a measured commit."""
    return write(tmp_path_factory.mktemp("bare"), INDEX, ["main"])


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nothing was ever measured."""
    index = {**INDEX, "commits": [], "branches": [], "places": []}
    return write(tmp_path_factory.mktemp("nothing"), index, [])


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """It must ask for files alone, and complain of nothing."""
    found = browser.page()
    found.resize(1400, 1000)
    found.scheme("light")
    yield found
    assert [one for one in found.requests() if not one.startswith(("file:", "data:"))] == []
    assert found.complaints() == []
    found.close()


def go(page: Page, site: Path, route: str) -> Page:
    page.visit("about:blank")
    page.visit(f"{site.as_uri()}#/{route}")
    page.wait("!!document.querySelector('main h1') && !document.querySelector('main[aria-busy]')")
    page.settle()
    return page


def main_text(page: Page) -> str:
    found: str = page.run("document.querySelector('main').innerText")
    return found


# ---- frame


@pytest.mark.parametrize(
    ("route", "title"), [("", "Overview"), ("changes", "Changes"), ("benchmarks", "Benchmarks")]
)
def test_a_page_has_its_title_and_its_place_in_the_navigation(
    tab: Page, bare: Path, route: str, title: str
) -> None:
    go(tab, bare, route)
    assert tab.run("[...document.querySelectorAll('h1')].map((one) => one.textContent)") == [title]
    assert tab.run("document.title") == f"{title} · <b>kernels</b>"
    current = "[...document.querySelectorAll('#top a[aria-current=page]')].map((one) => one.textContent)"
    assert tab.run(current) == [title]
    assert tab.run("document.querySelector('#top nav a.away').getAttribute('href')") == "../index.html"
    foot = tab.run("document.getElementById('foot').innerText")
    assert "Made 2026-01-02 03:04:05 UTC by dcu-asv-ext 1.2 from 2 commits." in foot
    assert "The project" not in foot  # its address is none that a link may have


def test_the_focus_goes_to_the_heading_of_the_page_that_was_gone_to(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    assert tab.run("document.activeElement.tagName") == "BODY"
    tab.run("document.querySelector('#top a[data-page=changes]').click()")
    tab.wait("document.querySelector('main').dataset.shown === 'changes'")
    assert tab.run("[document.activeElement.tagName, document.activeElement.textContent]") == [
        "H1",
        "Changes",
    ]
    tab.run("history.back()")
    tab.wait("document.querySelector('main').dataset.shown === 'overview'")


def test_a_view_is_shown_once_when_it_is_gone_to(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    tab.run(
        "dcu.pages.set('counted', {show: (state, main) => { window.count = (window.count || 0) + 1; }}); 0"
    )
    for address in ("#/counted", "#/counted?a=1"):
        tab.run(f"location.hash = '{address}'")
        tab.settle()
    assert tab.run("count") == 2


def test_the_skip_link_comes_first_and_leaves_the_address_alone(tab: Page, bare: Path) -> None:
    go(tab, bare, "changes?branch=main")
    tab.key("Tab")
    assert tab.run("document.activeElement.className") == "skip"
    assert tab.run("document.activeElement.getBoundingClientRect().width") > 50
    tab.key("Enter")
    assert tab.run("[document.activeElement.id, location.hash]") == ["main", "#/changes?branch=main"]


def test_the_theme_is_the_systems_until_one_is_chosen_and_then_remembered(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    theme = "document.documentElement.dataset.theme"
    page = "getComputedStyle(document.body).backgroundColor"
    light = tab.run(page)
    tab.scheme("dark")
    tab.wait(f"{theme} === 'dark'")
    dark = tab.run(page)
    assert dark != light
    tab.run(
        "(() => { const one = document.querySelector('select[name=theme]'); one.value = 'light';"
        " one.dispatchEvent(new Event('change')); })()"
    )
    assert tab.run(f"[{theme}, {page}]") == ["light", light]
    go(tab, bare, "changes")
    assert tab.run(f"[{theme}, document.querySelector('select[name=theme]').value]") == ["light", "light"]
    tab.run("dcuTheme.choose('')")
    assert tab.run(theme) == "dark"


@pytest.mark.parametrize("route", ["nowhere", "%E0%A4%A", "%3Cimg%20src%3Dx%3E"])
def test_an_address_of_no_page_is_told_in_a_sentence(tab: Page, bare: Path, route: str) -> None:
    go(tab, bare, route)
    assert "There is no page" in tab.run("document.querySelector('main [role=alert]').innerText")
    assert tab.run("document.querySelectorAll('main img').length") == 0


def test_a_data_file_that_is_not_there_is_told_in_a_sentence(browser: Browser, tmp_path: Path) -> None:
    site = write(tmp_path, INDEX, ["main"])
    (tmp_path / "data" / "changes.js").unlink()
    found = browser.page()
    go(found, site, "changes")
    assert "data/changes.js cannot be loaded: copy the folder of the site whole" in main_text(found)
    found.close()


def test_without_an_index_there_is_one_sentence(browser: Browser, tmp_path: Path) -> None:
    site = write(tmp_path, INDEX, ["main"])
    (tmp_path / "data" / "index.js").unlink()
    found = browser.page()
    found.visit(site.as_uri())
    found.wait("!!document.querySelector('main [role=alert]')")
    assert "data/index.js cannot be loaded" in main_text(found)
    found.close()


@pytest.mark.parametrize("route", ["overview", "changes", "benchmarks"])
def test_where_nothing_was_measured_the_page_says_what_to_do(tab: Page, nothing: Path, route: str) -> None:
    go(tab, nothing, route)
    assert "asv run" in main_text(tab) and "publish" in main_text(tab)


def test_a_branch_without_a_result_says_what_to_do(tab: Page, bare: Path) -> None:
    assert "No commit of main was measured there yet." in main_text(go(tab, bare, "overview"))
    assert "4 series are too short" in main_text(go(tab, bare, "changes"))
    assert "There is no branch other here" in main_text(go(tab, bare, "changes?branch=other"))


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_the_frame_and_the_empty_states_are_accessible(
    tab: Page, bare: Path, width: int, scheme: str
) -> None:
    tab.resize(width, 900)
    tab.scheme(scheme)
    for route in ("overview", "changes", "benchmarks", "nowhere"):
        go(tab, bare, route)
        assert violations(tab) == [], route
        assert tab.run("document.documentElement.scrollWidth") == width, route


# ---- texts, figures, addresses


def test_a_text_has_its_values_and_the_word_that_goes_with_a_number(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    assert tab.run("dcu.text('table.rows', {count: 1})") == "1 row"
    assert tab.run("dcu.text('table.rows', {count: 0})") == "0 rows"
    assert tab.run("dcu.text('table.found', {count: 1, all: 1})") == "1 of 1 row"
    assert tab.run("dcu.text('no-page', {page: '{page} $& <b>'})") == "There is no page {page} $& <b>."
    with pytest.raises(BrowserError, match='there is no text "nothing"'):
        tab.run("dcu.text('nothing')")


def test_every_text_that_is_asked_for_by_its_name_is_there(tab: Page, bare: Path) -> None:
    """Those whose names are put together are found by the tests of their pages."""
    go(tab, bare, "overview")
    scripts = bare.parent.glob("*.js")
    missing = tab.run(
        f"{json.dumps([one.read_text(encoding='utf-8') for one in scripts])}.flatMap((script) =>"
        r" [...script.matchAll(/\btext\(\s*\"([^\"]+)\"/g)].map((one) => one[1]))"
        ".filter((key) => !(key in dcu.texts))"
    )
    assert missing == []


def test_an_address_keeps_every_letter(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    odd = ["a/b", "?&=#%", "中文 <b>", "'\""]
    link = tab.run(
        f"dcu.router.link('changes', {json.dumps(odd)}, {{x: {json.dumps(''.join(odd))}, none: null}})"
    )
    tab.run(f"location.hash = {json.dumps(link)}")
    tab.wait("document.querySelector('main').dataset.shown === 'changes'")
    assert tab.run("dcu.router.state()") == {"page": "changes", "path": odd, "query": {"x": "".join(odd)}}


def test_a_choice_changes_the_address_and_keeps_the_focus(tab: Page, bare: Path) -> None:
    go(tab, bare, "changes")
    tab.run(
        "dcu.pages.set('chosen', {show: (state, main) => main.append(dcu.heading('Chosen'), dcu.choice({label: 'One',"
        " name: 'one', options: [['', 'All'], ['a', 'A'], {label: 'Group', options: [['b', 'B']]}],"
        " value: state.query.one || ''}))})"
    )
    tab.run("location.hash = '#/chosen?kept=1'")
    tab.wait("document.querySelector('main').dataset.shown === 'chosen'")
    tab.run(
        "(() => { const one = document.querySelector('select[name=one]'); one.focus(); one.value = 'b';"
        " one.dispatchEvent(new Event('change')); })()"
    )
    tab.wait("location.hash === '#/chosen?kept=1&one=b' && document.activeElement.name === 'one'")
    assert tab.run("document.activeElement.value") == "b"
    tab.run("dcu.router.change({one: 'a'}, true)")  # one that can be gone back from
    tab.wait("document.activeElement.value === 'a'")
    tab.run("history.back()")
    tab.wait("document.activeElement.value === 'b'")


def test_what_the_index_holds_is_found_by_the_names_of_addresses(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    found = tab.run(
        f"[dcu.find.place('m~e'), dcu.find.place('x'), dcu.find.commit('{HASH}'), dcu.find.commit('{HASH[:8]}'),"
        " dcu.find.commit(''), dcu.find.fn('x'), dcu.find.byName('x'),"
        " dcu.find.branch('').name, dcu.find.branch('x')]"
    )
    assert found == [0, None, 0, 0, None, None, None, "main", None]


def test_a_commit_leads_to_the_project_and_is_only_text(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    assert tab.run("dcu.commitLink(0).href") == f"https://example.org/commit/{HASH}"
    assert tab.run("[dcu.commitLink(0).title, dcu.commitLink(0).textContent]") == [
        INDEX["commits"][0][2],
        HASH[:8],
    ]
    assert tab.run(f"dcu.commitLink('{'ef' * 20}').href") == f"https://example.org/commit/{'ef' * 20}"
    assert tab.run("dcu.commitLink(null).textContent") == NONE
    tab.run("dcu.index.show_commit_url = 'javascript:alert(1)//'")
    assert tab.run("dcu.commitLink(0).tagName") == "SPAN"


# ---- tables and drawings

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
