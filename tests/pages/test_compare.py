"""The page of two commits: verdicts where they were told at publishing, figures alone where not."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from . import history, published_data
from .accessibility import violations
from .browser import Browser, Page
from .serving import Site
from .shown_page import query, texts

PLACE = f"dcu-1~{history.ENV}"


@pytest.fixture
def compare(visitor: Page, address: str) -> Any:
    """Goes to the comparison of an address's query, and waits until it stands there."""

    def go(**query: str) -> Page:
        told = "&".join(f"{name}={quote(value)}" for name, value in query.items())
        visitor.visit(f"{address}dcu/index.html#/compare?{told}")
        shown(visitor)
        return visitor

    yield go
    assert visitor.complaints() == []


def shown(page: Page) -> None:
    page.wait("!!document.querySelector('.page-compare h1') && !document.querySelector('main[aria-busy]')")
    page.settle()


def told(site: Site) -> tuple[dict[str, str], dict[str, Any]]:
    """The pair of v1.0 and the newest commit, and what was published of it."""
    before, after = site.history.main[history.TAGS["v1.0"]], site.history.main[-1]
    index = published_data.read(site, "index")
    place = next(at for at, one in enumerate(index["places"]) if one["key"] == PLACE)
    report = published_data.read(site, f"c/{place}/{before[:8]}-{after[:8]}")
    return {"place": PLACE, "before": before[:8], "after": after[:8]}, report


ROWS = ".page-compare tbody tr"
VERDICTS = f"{ROWS} .badge"


# ---- what was told at publishing


def test_every_row_stands_in_the_table_with_its_verdict(compare: Any, published: Site) -> None:
    pair, report = told(published)
    page = compare(**pair)
    shown_verdicts = [word[1:] for word in texts(page, VERDICTS)]  # without their symbols
    assert shown_verdicts == [row["verdict"] for row in report["rows"]]
    assert "regression" in shown_verdicts and "improvement" in shown_verdicts


def test_an_interval_is_drawn_for_each_ratio(compare: Any, published: Site) -> None:
    pair, report = told(published)
    page = compare(**pair)
    ratios = [row for row in report["rows"] if row["ratio"] is not None and row["ratio"] > 0]
    assert page.run(f"document.querySelectorAll('{ROWS} svg.interval').length") == len(ratios)
    assert page.run("!!document.querySelector('svg.interval .margin')")


def test_what_level_before_and_after_are_is_said(compare: Any, published: Site) -> None:
    pair, _ = told(published)
    page = compare(**pair)
    assert any(
        "geometric means of the rounds' medians" in one for one in texts(page, ".page-compare p.quiet")
    )
    for side in ("before", "after"):
        title = page.run(f"document.querySelector('th[data-key={side}] button').title")
        assert title.startswith("The geometric mean of the rounds' medians")
    page = compare(**other_pair(published), all="1")
    page.wait("!!document.querySelector('th[data-key=before]')")
    assert page.run("document.querySelector('th[data-key=before] button').title").startswith("The median of")


def test_a_verdict_filters_the_rows_and_stands_in_the_address(compare: Any, published: Site) -> None:
    pair, report = told(published)
    page = compare(**pair)
    page.run("document.querySelector('.counts button:not(:disabled)').focus()")
    page.key("Enter")
    page.wait("document.querySelector('.counts button').getAttribute('aria-pressed') === 'true'")
    assert query(page)["verdicts"] == "regression"
    assert len(texts(page, ROWS)) == report["counts"]["regression"]
    assert set(texts(page, VERDICTS)) == {"✗regression"}
    # Who used the keyboard goes on from where they were.
    assert page.run("document.activeElement.name") == "verdict regression"


def test_a_shared_address_shows_the_same_rows(compare: Any, published: Site) -> None:
    pair, report = told(published)
    page = compare(**pair, verdicts="regression,improvement", metric="latency", **{"rows.sort": "ratio:desc"})
    wanted = [
        row
        for row in report["rows"]
        if row["verdict"] in ("regression", "improvement") and row["metric"] == "latency"
    ]
    wanted.sort(key=lambda row: -row["ratio"])
    assert wanted
    assert texts(page, f"{ROWS} th .name") == [_name(row) for row in wanted]


def test_rows_of_one_parameter_are_chosen(compare: Any, published: Site) -> None:
    pair, _ = told(published)
    page = compare(**pair, benchmark=history.MATMUL, **{"p.n": "1024"})
    names = texts(page, f"{ROWS} th .name")
    assert names and all("n=1024" in name and name.startswith(history.MATMUL) for name in names)
    assert page.run("[...document.querySelectorAll('details')].some((one) => one.open)")


def _name(row: dict[str, Any]) -> str:
    params = ", ".join(f"{name}={value}" for name, value in row["params"].items())
    return f"{row['benchmark']}({params})" if params else row["benchmark"]


def test_the_gates_stand_above_the_rows(compare: Any, published: Site) -> None:
    pair, report = told(published)
    page = compare(**pair)
    assert len(texts(page, ".gate h3")) == len(report["gates"]["gates"]) == 3
    assert report["gates"]["conclusion"] in texts(page, "section[aria-labelledby=compare-gates] > p")[0]


def test_the_rule_and_the_command_stand_below(compare: Any, published: Site) -> None:
    pair, report = told(published)
    page = compare(**pair)
    assert report["rule"] in texts(page, "section[aria-labelledby=compare-rule] p")
    command = (
        f"dcu-asv compare {pair['before']} {pair['after']} --machine dcu-1 "
        f"--env overlay-py3.11-devicehip-torch2.7.1"
    )
    assert texts(page, ".command code") == [command]


def test_the_csv_has_the_figures_of_the_report(compare: Any, published: Site) -> None:
    pair, report = told(published)
    page = compare(**pair)
    page.run("dcu.download = (name, content) => { window.kept = [name, content]; }")
    page.click(".exports button")
    name, content = page.run("window.kept")
    assert name == f"compare-{pair['before']}-{pair['after']}.csv"
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [row["benchmark"] for row in rows] == [row["benchmark"] for row in report["rows"]]
    for mine, theirs in zip(rows, report["rows"], strict=True):
        for column in ("before", "after", "ratio", "ci_low", "ci_high", "p_value"):
            assert (float(mine[column]) if mine[column] else None) == theirs[column]
        assert mine["verdict"] == theirs["verdict"]


# ---- which two


def test_the_newest_commit_against_its_predecessor_is_the_usual_pair(compare: Any, published: Site) -> None:
    main = published.history.main
    page = compare(place=PLACE)
    assert page.run("document.querySelector('select[name=before]').value") == main[-2][:8]
    assert page.run("document.querySelector('select[name=after]').value") == main[-1][:8]
    assert len(texts(page, ROWS)) > 0


def test_the_pair_moves_along_the_branch(compare: Any, published: Site) -> None:
    main = published.history.main
    page = compare(place=PLACE)
    page.click("button[name=previous]")
    shown(page)
    assert (query(page)["before"], query(page)["after"]) == (main[-3][:8], main[-2][:8])
    page.run("history.back()")
    page.wait(f"document.querySelector('select[name=after]').value === '{main[-1][:8]}'")


def test_the_pair_can_be_turned_round(compare: Any, published: Site) -> None:
    pair, _ = told(published)
    page = compare(**pair)
    page.click("button[name=swap]")
    shown(page)
    assert (query(page)["before"], query(page)["after"]) == (pair["after"], pair["before"])
    link = page.run(
        "[...document.querySelectorAll('.note a')].map((one) => one.hash.includes('before=')).join()"
    )
    assert link == "true"


def test_heads_and_tags_are_named_first(compare: Any) -> None:
    page = compare(place=PLACE)
    named = texts(page, "select[name=before] optgroup:first-child option")
    assert len(named) == 4
    for name in ("main", history.BRANCH, "v1.0", "v1.1"):
        assert any(f" {name} · " in one for one in named)


def test_what_the_address_names_and_is_not_there_is_told(compare: Any) -> None:
    page = compare(place="nowhere~none", before="00000000")
    assert texts(page, "[role=alert]") == [
        "There are no results of nowhere~none.",
        "The commit 00000000 is not among the published ones.",
    ]
    assert len(texts(page, ROWS)) > 0


# ---- any other pair


def other_pair(site: Site) -> dict[str, str]:
    """Not neighbours, no tags, no heads: nothing compares them at publishing."""
    return {"place": PLACE, "before": site.history.main[5][:8], "after": site.history.main[8][:8]}


def test_no_verdict_is_told_where_none_was_computed(compare: Any, published: Site) -> None:
    pair = other_pair(published)
    page = compare(**pair)
    assert "no verdict is told" in texts(page, ".note p")[0]
    assert f"dcu-asv compare {pair['before']} {pair['after']} --machine dcu-1" in texts(page, ".command")[0]
    assert texts(page, ".page-compare .badge") == []
    # Nobody asked for a benchmark yet, so none is loaded.
    assert [one for one in page.requests() if "/data/b/" in one] == []


def test_a_chosen_benchmark_shows_both_sides(compare: Any, published: Site) -> None:
    index = published_data.read(published, "index")
    matmul = next(one for one in index["functions"] if one["name"] == history.MATMUL)
    page = compare(**other_pair(published), function=matmul["slug"])
    page.wait(f"document.querySelectorAll('{ROWS}').length > 0")
    assert {one.rsplit("/", 2)[-2] for one in page.requests() if "/data/b/" in one} == {matmul["slug"]}
    assert len(texts(page, ROWS)) == 4 * len(matmul["metrics"])
    # n=1024 is 25 % slower from commit 7 on, n=256 as fast as ever.
    page.run("document.querySelector('.table input').value = 'n=1024 float16 latency'")
    page.run("document.querySelector('.table input').dispatchEvent(new Event('input'))")
    (cells,) = page.run(
        f"[...document.querySelectorAll('{ROWS}')].map((row) => [...row.cells].map((one) => one.textContent))"
    )
    assert 1.2 < float(cells[6]) < 1.3
    assert texts(page, ".page-compare .badge") == []


def test_a_benchmark_that_a_link_names_is_shown_at_once(compare: Any, published: Site) -> None:
    index = published_data.read(published, "index")
    matmul = next(one for one in index["functions"] if one["name"] == history.MATMUL)
    page = compare(**other_pair(published), benchmark=history.MATMUL, **{"p.n": "1024"})
    page.wait(f"document.querySelectorAll('{ROWS}').length > 0")
    assert page.run("document.querySelector('select[name=function]').value") == matmul["slug"]
    names = texts(page, f"{ROWS} th")
    assert len(names) == 2 * len(matmul["metrics"]) and all("n=1024" in one for one in names)
    page.click("button[name=params]")
    page.wait(f"document.querySelectorAll('{ROWS}').length === {4 * len(matmul['metrics'])}")
    assert "p.n" not in query(page)
    page = compare(**other_pair(published), benchmark="no.such")
    assert "There is no benchmark no.such here." in texts(page, ".note")


def test_few_files_are_all_shown_at_once(compare: Any, published: Site) -> None:
    page = compare(place=PLACE)
    page.run(
        f"(() => {{ const pi = dcu.find.place({PLACE!r}); const here = dcu.index.functions.filter((one) =>"
        " one.places[pi] && one.places[pi].parts.length === 1);"
        " dcu.index.functions = here.slice(0, 4); })()"
    )
    pair = other_pair(published)
    page.run(f"dcu.router.change({{before: {pair['before']!r}, after: {pair['after']!r}}})")
    page.wait("!!document.querySelector('#compare-series')")
    page.wait(f"document.querySelectorAll('{ROWS}').length > 0")
    assert len({one.partition("(")[0] for one in texts(page, f"{ROWS} th")}) == 4


def test_all_are_shown_when_they_are_asked_for(compare: Any, published: Site) -> None:
    page = compare(**other_pair(published))
    page.click("button[name=all]")
    page.wait(f"document.querySelectorAll('{ROWS}').length > 0")
    assert query(page)["all"] == "1"
    names = " ".join(texts(page, f"{ROWS} th"))
    assert history.SCRIPT in names and history.CHINESE in names and history.STRANGE[0] in names


# ---- for everybody


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_in_the_way_of_anybody(compare: Any, published: Site, visitor: Page, scheme: str) -> None:
    visitor.scheme(scheme)
    pair, _ = told(published)
    page = compare(**pair)
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.settle()
    assert violations(page) == []
    page.resize(390, 844)
    page.settle()
    assert violations(page) == []
    assert page.run("document.documentElement.scrollWidth") == 390
    page = compare(**other_pair(published), all="1")
    page.wait(f"document.querySelectorAll('{ROWS}').length > 0")
    assert violations(page) == []


# ---- what no made-up history brings about

REPORT: dict[str, Any] = {
    "differences": [
        {"name": "driver", "before": "<b>1</b>", "after": "2", "matters": True, "declared": False},
        {"name": "torch", "before": "2.4", "after": "2.7", "matters": True, "declared": True},
        {"name": "load", "before": "0.1", "after": "0.9", "matters": False, "declared": False},
    ],
    "refused": "the suite as a whole moved",
    "shift": 1.043,
    "gates": {"error": "no gate could be asked"},
    "notes": ["a <script>note</script>"],
    "rule": "the rule",
    "settings": {"margin": 0.01, "vary": [], "history": None},
    "counts": {"regression": 1, "no change": 0},
}


def row(**more: Any) -> dict[str, Any]:
    names = (
        *(
            "env",
            "ratio",
            "ci_low",
            "ci_high",
            "p_value",
            "rounds_needed",
            "no_ratio",
            "explanation",
            "clock",
        ),
        *("difference", "difference_low", "difference_high", "corrected"),
    )
    known = {
        "benchmark": "a.b",
        "metric": "latency",
        "params": {},
        "before": 1.0,
        "after": 1.1,
        "exact": False,
    }
    found = {"verdict": "regression", "reason": "", "rounds": [5, 5], "unit": "seconds"}
    found["source"] = {"before": "evidence", "after": "evidence"}
    return {**dict.fromkeys(names), **known, **found, **more}


@pytest.fixture(scope="module")
def standing(browser: Browser, address: str) -> Iterator[Page]:
    """A tab that stands at the page, for what is built from data that are given."""
    page = browser.page()
    page.visit(f"{address}dcu/index.html#/compare")
    shown(page)
    yield page
    assert page.complaints() == []
    page.close()


def built(page: Page, expression: str, **given: Any) -> Any:
    """The text of what an expression makes of the given values, each element's on a line."""
    names = "".join(f"const {name} = {json.dumps(value)};" for name, value in given.items())
    return page.run(
        f"(() => {{ {names} const box = dcu.el('div', {{}}, {expression}); document.body.append(box);"
        " const told = box.innerText; box.remove(); return told; })()"
    )


def test_what_differs_stands_on_top_and_what_matters_first(standing: Page) -> None:
    text = built(standing, "dcu.compareReport.above(report, 0)", report=REPORT)
    wanted = (
        *(
            "What differs besides the code",
            "<b>1</b>",
            "matters: not declared",
            "2.7",
            "declared: the experiment",
        ),
        *("1 fact that is not held to", "The comparison was refused", "the suite as a whole moved", "+4.3 %"),
        "no gate could be asked",
    )
    places = [text.find(one) for one in wanted]
    assert -1 not in places and places == sorted(places)


def test_notes_and_settings_are_text(standing: Page) -> None:
    text = built(standing, "dcu.compareReport.below(report, 'command')", report=REPORT)
    assert "a <script>note</script>" in text and "the rule" in text


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (row(ratio=1.1, ci_low=1.05, ci_high=1.15), "1.100 [1.050, 1.150]"),
        (row(ratio=1.1, ci_low=1.1, ci_high=1.1, exact=True), "1.100 exact"),
        (row(no_ratio="it was 0 before", before=0.0), "it was 0 before"),
        (
            row(difference=0.031, difference_low=0.011, difference_high=0.05, unit="share"),
            "+3.1 points [+1.1, +5.0]",
        ),
        (row(verdict="inconclusive", ratio=1.0, ci_low=0.9, ci_high=1.1, rounds_needed=7), "+7"),
        (row(verdict="inconclusive", ratio=1.0, ci_low=0.9, ci_high=1.1), "many"),
        (row(verdict="failed", after=None, reason="<i>out of memory</i>"), "<i>out of memory</i>"),
        (row(explanation="1.1 ms in kernel x"), "why: 1.1 ms in kernel x"),
        (row(clock={"before_mhz": 1500, "after_mhz": 1400, "ratio": 1.01, "ci_low": 0.99, "ci_high": 1.02,
                    "verdict": "no change"}), "in cycles the ratio is 1.010 [0.990, 1.020]: no change"),
        (row(corrected={"verdict": "regression", "ratio": 1.06, "ci_low": 1.05, "ci_high": 1.07}),
         "Without the common shift it would have been: regression, ratio 1.060 [1.050, 1.070]"),
    ],
)  # fmt: skip
def test_a_row_says(standing: Page, given: dict[str, Any], wanted: str) -> None:
    report = {**REPORT, "rows": [given]}
    found = "{ pi: 0, before: 0, after: 1 }"
    text = built(standing, f"dcu.compareRows({{ query: {{}} }}, {found}, report)", report=report)
    told = " ".join(text.split("Rounds", 1)[1].split())
    assert wanted in told


def test_a_command_is_safe_to_paste(standing: Page) -> None:
    standing.run("dcu.index.places.push({ machine: \"it's; rm -rf ~\", env: '$(env)' })")
    command = standing.run("dcu.sides.command(dcu.index.places.length - 1, 0, 1)")
    assert "--machine 'it'\\''s; rm -rf ~' --env '$(env)'" in command
