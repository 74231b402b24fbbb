"""What all pages share: navigation, theme, addresses, texts, and what is said where there is nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .accessibility import violations
from .bare_site import HASH, INDEX, go, main_text, slips, write
from .browser import Browser, BrowserError, Page

NONE = "\N{EN DASH}"


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nothing was ever measured."""
    index = {**INDEX, "commits": [], "branches": [], "places": []}
    return write(tmp_path_factory.mktemp("nothing"), index, [])


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


@pytest.mark.parametrize("cut", [False, True])
def test_a_data_file_that_is_not_whole_is_told_in_a_sentence(
    browser: Browser, tmp_path: Path, cut: bool
) -> None:
    site = write(tmp_path, INDEX, ["main"])
    place = tmp_path / "data" / "changes.js"
    if cut:
        place.write_bytes(place.read_bytes()[:60])
    else:
        place.unlink()
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
        assert slips(tab) == [], route
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


SLOW = """
dcu.pages.set("slow", {show: async (state, main) => {
  await new Promise((done) => setTimeout(done, Number(state.query.wait || 0)));
  if (state.query.fault) throw new Error("Nothing there.");
  main.append(dcu.heading(`Slow ${state.query.one}`), dcu.el("button", {name: "gone"}, state.query.one),
    dcu.choice({label: "One", name: "one", options: [["a", "A"], ["b", "B"], ["c", "C"]], value: state.query.one}),
    dcu.el("div", {style: "height: 5000px"}));
}});0
"""


def test_of_choices_that_follow_fast_the_last_one_stays_and_so_does_the_reader(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    tab.run(SLOW)
    tab.run("location.hash = '#/slow?one=a'")
    tab.wait("document.querySelector('h1').textContent === 'Slow a'")
    tab.run("document.querySelector('select[name=one]').focus(); scrollTo(0, 300)")
    # The first choice takes longer than the second.
    tab.run("dcu.router.change({one: 'b', wait: '60'}); dcu.router.change({one: 'c', wait: '20'})")
    tab.run("new Promise((done) => setTimeout(done, 120))")
    tab.wait("document.querySelector('main').dataset.shown === 'slow'")
    here = "[document.querySelector('h1').textContent, document.activeElement.name, scrollY, location.hash]"
    assert tab.run(here) == ["Slow c", "one", 300, "#/slow?one=c&wait=20"]


def test_where_a_control_goes_with_its_choice_the_heading_has_the_focus(tab: Page, bare: Path) -> None:
    go(tab, bare, "overview")
    tab.run(SLOW)
    tab.run("location.hash = '#/slow?one=a'")
    tab.wait("document.querySelector('h1').textContent === 'Slow a'")
    tab.run(
        "document.querySelector('main button').focus(); document.querySelector('main button').name = 'other'"
    )
    tab.run("dcu.router.change({one: 'b'})")
    tab.wait("document.querySelector('h1').textContent === 'Slow b'")
    assert tab.run("document.activeElement.textContent") == "Slow b"


def test_a_fault_is_a_view_of_its_own(tab: Page, bare: Path) -> None:
    go(tab, bare, "changes")
    tab.run(SLOW)
    tab.run("location.hash = '#/slow?one=a&fault=1'")
    tab.wait("document.querySelector('.fault') !== null")
    assert "Nothing there." in main_text(tab)
    assert tab.run("document.title").startswith("This cannot be shown")
    assert tab.run("document.activeElement.tagName") == "H1"
    assert tab.run("document.querySelector('#top [aria-current]')") is None
    tab.run("dcu.router.change({fault: null})")
    tab.wait("document.querySelector('h1').textContent === 'Slow a'")
    assert tab.run("[document.title.slice(0, 6), document.activeElement.tagName]") == ["Slow a", "H1"]


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
