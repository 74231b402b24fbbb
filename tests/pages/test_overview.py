"""The overview, the changes and the list of benchmarks of a published site."""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from . import history, published_data
from .accessibility import violations
from .bare_site import slips
from .browser import Page
from .serving import Site

CARD = f"dcu-1~{history.ENV}"
ROUTES = ("overview", "changes", "benchmarks")


def go(page: Page, address: str, route: str) -> Page:
    page.visit("about:blank")
    page.visit(f"{address}dcu/index.html#/{route}")
    ready(page)
    return page


def ready(page: Page) -> None:
    page.wait("!!document.querySelector('main .page') && !document.querySelector('main[aria-busy]')")
    page.settle()


def texts(page: Page, selector: str) -> list[str]:
    found: list[str] = page.run(
        f"[...document.querySelectorAll({selector!r})].map((one) => one.innerText.trim())"
    )
    return found


def choose(page: Page, name: str, value: str) -> None:
    page.run(
        f"(() => {{ const one = document.querySelector('main select[name={name}]'); one.value = {value!r};"
        " one.dispatchEvent(new Event('change')); })()"
    )
    page.settle()
    ready(page)


def tiles(page: Page, place: str) -> dict[str, int]:
    """What stands large for a machine and environment."""
    found: dict[str, int] = page.run(
        f"Object.fromEntries([...document.querySelectorAll('section')].find((one) =>"
        f" one.querySelector('h2').textContent.startsWith({place!r})).querySelectorAll('.tile').values()"
        ".map((one) => [one.querySelector('dt').textContent, Number(one.querySelector('dd').textContent)]))"
    )
    return found


@pytest.fixture(scope="module")
def overview(published: Site) -> Any:
    return published_data.read(published, "overview")


@pytest.fixture(scope="module")
def changes(published: Site) -> Any:
    return published_data.read(published, "changes")


# ---- all three


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_they_are_accessible_and_fit_their_window(tab: Page, address: str, width: int, scheme: str) -> None:
    tab.resize(width, 1000)
    tab.scheme(scheme)
    for route in ROUTES:
        go(tab, address, route)
        assert violations(tab) == [], route
        assert slips(tab) == [], route
        assert tab.run("document.documentElement.scrollWidth") == width, route


@pytest.mark.parametrize("route", ROUTES)
def test_opened_from_a_folder_they_are_the_same(tab: Page, published: Site, address: str, route: str) -> None:
    found = []
    for place in (address, published.html.as_uri() + "/"):
        go(tab, place, route)
        tab.wait("document.querySelectorAll('main .trend:not([data-drawn])').length === 0")
        found.append(tab.run("document.querySelector('main').textContent"))
    assert len(found[0]) > 300
    assert found[0] == found[1]


def test_names_and_subjects_are_only_text(tab: Page, address: str) -> None:
    for route in (*ROUTES, f"changes?branch={history.BRANCH}", "benchmarks?t.find=script"):
        go(tab, address, route)
        assert (
            tab.run("[...document.querySelectorAll('main script, main em, main b, main u, main img')].length")
            == 0
        )
    assert history.SCRIPT in texts(tab, "main tbody th")


# ---- overview


def test_each_machine_has_its_figures(tab: Page, address: str, overview: Any, published: Site) -> None:
    go(tab, address, "overview")
    heads = next(one for one in overview["branches"] if one["name"] == "main")["heads"]
    places = published_data.read(published, "index")["places"]
    assert len(heads) == 4
    for head in heads:
        place = places[head["place"]]
        told = tiles(tab, f"{place['machine']}, {place['env']}")
        base = next(one for one in head["bases"] if one["kind"] == "predecessor")
        assert (told["Wrong results"], told["Failures"]) == (len(head["wrong"]), len(head["failed"]))
        if base["comparison"]:
            for word, title in (("regression", "Regressions"), ("inconclusive", "Inconclusive")):
                assert told[title] == base["counts"].get(word, 0)
            closed = [one for one in base["gate"]["gates"].values() if one == "failed"]
            assert told["Failed gates"] == len(closed)
        else:
            assert "Regressions" not in told


def test_what_failed_is_told_once_with_its_reason(tab: Page, address: str) -> None:
    go(tab, address, f"overview?place={CARD}")
    rows = texts(tab, "main tbody tr")
    wrong = [one for one in rows if history.WRONG in one and "12 of 1048576 elements differ" in one]
    full = [one for one in rows if history.HUGE in one and "40 GiB were asked for" in one]
    findings = tab.run("document.querySelectorAll('main details tbody tr').length")
    inside = texts(tab, "main details tbody tr")
    assert findings > 0 and "Gate correctness" in tab.run(
        "document.querySelector('.gate-outcomes').innerText"
    )
    (why,) = texts(tab, "main details > summary")
    assert why == f"Why the gates did not pass: {findings} finding" + ("s" if findings > 1 else "")
    assert [one for one in wrong if one not in inside] == [wrong[-1]]
    assert [one for one in full if one not in inside] == [full[-1]]


def test_another_base_shows_other_figures_and_is_part_of_the_address(tab: Page, address: str) -> None:
    go(tab, address, f"overview?place={CARD}")
    name = f"dcu-1, {history.ENV}"
    before = tiles(tab, name)
    choose(tab, "base", "tag:v1.0")
    after = tiles(tab, name)
    assert tab.run("dcu.router.state().query") == {"place": CARD, "base": "tag:v1.0"}
    # After v1.0 one benchmark got slower, and another faster and smaller.
    assert (before["Regressions"], before["Improvements"]) == (0, 0)
    assert after["Regressions"] > 0 and after["Improvements"] > 0
    slower = [one for one in texts(tab, "main section:first-of-type tbody tr") if "regression" in one]
    assert slower and all(history.MATMUL in one and "n=1024" in one for one in slower)
    assert tab.run("document.querySelectorAll('main section:first-of-type .interval').length") >= len(slower)
    shared = tab.run("location.href")
    go(tab, address, shared.split("#/")[1])
    assert tiles(tab, name) == after


def test_rows_lead_to_their_benchmark_and_to_the_whole_comparison(
    tab: Page, address: str, published: Site
) -> None:
    go(tab, address, f"overview?place={CARD}&base=tag:v1.0")
    links = tab.run("[...document.querySelectorAll('main a')].map((one) => one.getAttribute('href'))")
    index = published_data.read(published, "index")
    slug = next(one["slug"] for one in index["functions"] if one["name"] == history.MATMUL)
    assert any(one.startswith(f"#/benchmark/{slug}?place=dcu-1%7E") and "p.n=1024" in one for one in links)
    before, after = published.history.main[history.TAGS["v1.0"]][:8], published.history.main[-1][:8]
    comparison = next(one for one in links if one.startswith("#/compare?"))
    assert f"before={before}" in comparison and f"after={after}" in comparison
    tab.run(f"location.hash = {comparison!r}")
    tab.wait("document.querySelector('main').dataset.shown === 'compare'")
    assert before in tab.run("document.querySelector('main').innerText")


def test_what_level_before_and_after_are_is_said(tab: Page, address: str) -> None:
    go(tab, address, f"overview?place={CARD}&base=tag:v1.0")
    table = (
        "[...document.querySelectorAll('main table')].find((one) => one.querySelector('[data-key=before]'))"
    )
    assert "geometric means of the rounds' medians" in tab.run(f"{table}.caption.textContent")
    assert "geometric mean" in tab.run(f"{table}.querySelector('[data-key=after] button').title")


def head_of(rows: list[dict[str, Any]], **counts: int) -> dict[str, Any]:
    """A head against its predecessor, with rows as "overview" has them."""
    known = {
        "benchmark": "a.b",
        "params": {},
        "metric": "device_time",
        "verdict": "missing",
        "unit": "seconds",
        **dict.fromkeys(("before", "after", "ratio", "ci_low", "ci_high", "explanation")),
        "reason": "",
    }
    told = {"counts": counts, "rows": [{**known, **one} for one in rows], "gate": None, "gate_error": None}
    base = {"kind": "predecessor", "name": "", "commit": 0, "comparison": True, "refused": None, **told}
    return {"place": 0, "commit": 1, "age": 0, "bases": [base], "wrong": [], "failed": [], "reason": None}


def section(page: Page, head: dict[str, Any]) -> tuple[list[list[str]], str]:
    """The cells of the rows of a head's section, and all of its text."""
    rows, told = page.run(
        f"(() => {{ const one = dcu.overviewPlace.section({json.dumps(head)}, 'predecessor', 'main');"
        " return [[...one.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) =>"
        " cell.textContent)), one.textContent]; })()"
    )
    return rows, told


def test_rows_without_a_value_on_either_side_are_one_line(tab: Page, address: str) -> None:
    go(tab, address, "overview")
    gone = [{"reason": "no <b>events</b>"}, {"reason": "no <b>events</b>"}, {"reason": "n/a in asv's file"}]
    rows, told = section(tab, head_of([{"before": 1.0, "reason": "no clock"}, *gone], missing=4))
    assert [row[-2] for row in rows] == ["no clock"]
    assert "3 rows have no value on either side: no <b>events</b>; n/a in asv's file" in told
    assert "All that is not “no change”" in told
    rows, told = section(tab, head_of([{"verdict": "inconclusive"}, *gone], missing=8, inconclusive=1))
    assert len(rows) == 1 and "The gravest 1 of 6 rows" in told


def test_where_all_rows_are_without_a_value_no_table_stands_there(tab: Page, address: str) -> None:
    go(tab, address, "overview")
    rows, told = section(tab, head_of([{"reason": "none"}], **{"missing": 1, "no change": 5}))
    assert rows == [] and "5 series without a change" in told
    assert "1 row has no value on either side: none" in told
    _, told = section(tab, head_of([{}], missing=1, **{"only before": 1}))
    assert "1 row that is not “no change” is in the whole comparison" in told


def test_what_changed_lately_is_at_most_ten_newest_first(tab: Page, address: str) -> None:
    go(tab, address, "overview")
    dates = texts(tab, ".lately tbody tr th")
    assert len(dates) == 10 and dates == sorted(dates, reverse=True)


def test_where_nothing_can_be_compared_the_page_says_what_to_run(tab: Page, address: str) -> None:
    go(tab, address, "overview")
    told = texts(tab, "main .nothing")
    assert any(
        "No commit of main before this one was measured there" in one and "asv run" in one for one in told
    )


def test_a_branch_that_is_not_there_is_told(tab: Page, address: str) -> None:
    go(tab, address, "overview?branch=gone")
    assert texts(tab, "main .nothing") == ["There is no branch gone here: choose one of the others."]


def test_what_an_address_asks_for_in_vain_is_told(tab: Page, address: str) -> None:
    go(tab, address, "overview?base=tag:gone&place=x~y")
    assert texts(tab, "main > div > .note") == [
        "No commit is compared with tag:gone here: the measured commit before is.",
        "There are no results of x~y: all machines and environments are shown.",
    ]
    go(tab, address, "benchmarks?branch=gone&place=x~y")
    assert [one.split(":")[0] for one in texts(tab, "main > div > .note")] == [
        "There is no branch gone here",
        "There are no results of x~y",
    ]


# ---- changes


def test_every_change_of_a_branch_has_a_row(tab: Page, address: str, changes: Any) -> None:
    go(tab, address, "changes")
    main = changes["branches"][0]
    told = len(main["changes"]) + len(main["events"]) + len(main["set_ups"]) + len(main["restarts"])
    rows = texts(tab, "main tbody tr")
    assert told > 10 and len(rows) == told
    slower = [one for one in rows if history.MATMUL in one and "latency" in one]
    assert len(slower) == 2 and all("regression" in one and "+2" in one for one in slower)
    assert any("other set-up" in one and "6.2.0" in one for one in rows)
    assert sum("pending" in one for one in rows) == sum(one["pending"] for one in main["changes"])


def test_changes_are_chosen_without_a_page_load(tab: Page, address: str, changes: Any) -> None:
    go(tab, address, "changes")
    tab.run("window.same = true")
    choose(tab, "what", "set-up")
    assert len(texts(tab, "main tbody tr")) == len(changes["branches"][0]["set_ups"])
    choose(tab, "what", "improvement")
    choose(tab, "metric", "latency")
    rows = texts(tab, "main tbody tr")
    assert len(rows) == 1 and history.FUSED in rows[0] and "latency" in rows[0]
    assert tab.run("[window.same, dcu.router.state().query]") == [
        True,
        {"what": "improvement", "metric": "latency"},
    ]


def test_a_change_tells_its_commit_and_leads_to_both_sides(tab: Page, address: str, published: Site) -> None:
    go(tab, address, "changes?what=improvement&metric=peak_allocated")
    commits = published.history.main
    row = "document.querySelector('main tbody tr')"
    assert f"Change number {history.FASTER}" in tab.run(f"{row}.innerText")
    links = tab.run(f"[...{row}.querySelectorAll('a')].map((one) => one.getAttribute('href'))")
    assert f"https://example.org/kernels/commit/{commits[history.FASTER]}" in links
    compare = next(one for one in links if one.startswith("#/compare?"))
    assert f"after={commits[history.FASTER][:8]}" in compare
    assert f"before={commits[history.FASTER - 1][:8]}" in compare


def test_changes_are_taken_away_with_all_their_figures(tab: Page, address: str, changes: Any) -> None:
    go(tab, address, "changes?what=regression")
    tab.run("dcu.download = (...told) => { window.kept = told; }")
    tab.click("main .exports button")
    name, text, _ = tab.run("kept")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    wanted = [one for one in changes["branches"][0]["changes"] if one["kind"] == "regression"]
    assert name == "changes-main.csv" and len(rows) == len(wanted)
    for column in ("before", "after", "ratio", "ci_high"):
        assert sorted(float(one[column]) for one in rows) == pytest.approx(
            sorted(one[column] for one in wanted)
        )
    assert {one["machine"] for one in rows} == {one["machine"] for one in wanted}


# ---- the list of benchmarks


def test_every_function_of_a_place_has_a_row_and_a_drawing(tab: Page, address: str, published: Site) -> None:
    go(tab, address, "benchmarks")
    index = published_data.read(published, "index")
    here = next(number for number, one in enumerate(index["places"]) if one["key"] == CARD)
    names = sorted(one["name"] for one in index["functions"] if str(here) in one["places"])
    assert sorted(texts(tab, "main tbody th")) == names
    tab.wait("document.querySelectorAll('main .trend:not([data-drawn])').length === 0")
    assert tab.run("document.querySelectorAll('main .sparkline').length") == len(names)
    row = next(one for one in texts(tab, "main tbody tr") if one.startswith(history.FUSED))
    assert "1.6" in row and "ms" in row and "improvement" in row
    assert f"latency over {history.MAIN} commits" in tab.run("document.querySelector('.sparkline').ariaLabel")


def test_data_of_a_function_are_loaded_when_its_row_comes_into_view(tab: Page, address: str) -> None:
    tab.resize(390, 260)
    go(tab, address, "benchmarks")

    def asked() -> int:
        return sum("/data/b/" in one for one in tab.requests())

    rows = tab.run("document.querySelectorAll('main .trend').length")
    before = asked()
    assert before < rows
    tab.run("document.querySelector('main tbody tr:last-child').scrollIntoView()")
    tab.run("document.querySelector('main .trend').scrollIntoView()")
    tab.wait("document.querySelectorAll('main .trend[data-drawn]').length > 0")
    assert asked() > before


def test_other_peoples_benchmarks_are_listed_as_they_are(tab: Page, address: str) -> None:
    go(tab, address, f"benchmarks?place=box~{history.PLAIN_ENV}")
    assert sorted(texts(tab, "main tbody th")) == [history.PLAIN_TIME, history.PLAIN_TRACK]
    assert all("asv's own" in one for one in texts(tab, "main tbody tr"))


# ---- from asv's pages and back


def test_asvs_pages_lead_to_the_overview_and_back(tab: Page, address: str) -> None:
    tab.visit(address)
    tab.wait("document.querySelectorAll('#summarygrid-display a').length > 0")
    tab.click("#nav-li-dcu a")
    ready(tab)
    assert texts(tab, "h1") == ["Overview"]
    tab.click("#top a.away")
    tab.wait("document.querySelectorAll('#summarygrid-display a').length > 0")


def test_asvs_page_that_was_opened_from_a_folder_leads_to_what_can_be_read_there(
    visitor: Page, published: Site
) -> None:
    visitor.open(published.html / "index.html")
    visitor.wait("!!document.querySelector('[role=alert] a')")
    visitor.run("document.querySelector('[role=alert] a').click()")
    ready(visitor)
    assert texts(visitor, "h1") == ["Overview"]


def test_a_graph_leads_to_the_page_of_its_benchmark(visitor: Page, address: str) -> None:
    link = "document.querySelector('#nav-li-dcu-benchmark a').getAttribute('href')"
    seen = "getComputedStyle(document.getElementById('nav-li-dcu-benchmark')).display !== 'none'"
    visitor.visit(address + "#/")
    visitor.wait("document.querySelectorAll('#summarygrid-display a').length > 0")
    assert not visitor.run(seen)
    visitor.run(f"location.hash = '#{history.MATMUL}.latency?p-n=1024&branch=main&x-axis=commit'")
    visitor.wait(seen)
    assert (
        visitor.run(link) == f"dcu/index.html#/benchmark?name={history.MATMUL}.latency&p.n=1024&branch=main"
    )
    same = {"machine": "dcu-2", "p-n": ["a|b\\", "c"], "x-axis-scale": "date", "y-axis-scale": "log"}
    visitor.run(f"location.hash = '#{history.FUSED}.latency?{urlencode(same, doseq=True)}'")
    visitor.wait(f"{link}.includes('dates')")
    told = parse_qs(visitor.run(link).partition("?")[2])
    assert told["machine"] + told["p.n"] + told["x"] + told["y"] == ["dcu-2", "a\\|b\\\\|c", "dates", "log"]
    visitor.run(f"location.hash = '#{history.FUSED}.latency'")
    visitor.wait(f"{link} === 'dcu/index.html#/benchmark?name={history.FUSED}.latency'")
    visitor.wait("document.querySelectorAll('#main-graph canvas').length > 0")
    visitor.click("#nav-li-dcu-benchmark a")
    ready(visitor)
    assert history.FUSED in texts(visitor, "h1")[0]
    # asv's graph asks for combinations of parameters that nobody measured, and passes over them.
    assert [one for one in visitor.complaints() if "404" not in one] == []
