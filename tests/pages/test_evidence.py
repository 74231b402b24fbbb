"""The page of one measurement."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from dcu_asv_ext.pages.writing import slug

from . import evidence_site, history
from .accessibility import violations
from .browser import Page
from .evidence_site import COMMITS, NAME, SEED, TRACEBACK
from .serving import Site
from .shown_page import query, texts

PLACE = f"dcu-1~{history.ENV}"
Go = Callable[..., Page]


def shown(page: Page, name: str = "evidence") -> None:
    page.wait(f"!!document.querySelector('.page-{name} h1') && !document.querySelector('main[aria-busy]')")
    page.settle()


def visit(page: Page, site: str, place: str) -> None:
    """Goes to a place of a site; who is there already goes on without a page load."""
    if page.run("location.href").partition("#")[0] == site:
        page.run(
            "new Promise((done) => { document.addEventListener('dcu:shown', () => done(true), {once: true});"
            f" location.hash = {json.dumps(place)}; }})"
        )
    else:
        page.visit(site + place)
    shown(page, place.split("/")[1])


def place_of(name: str, place: str, commit: str, page: str = "evidence", **query: str) -> str:
    told = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    return f"#/{page}/{quote(slug(name))}/{quote(place, safe='')}/{commit[:8]}?{told}"


@pytest.fixture
def go(visitor: Page, address: str) -> Iterator[Go]:
    """Goes to the evidence of a benchmark of the published site."""

    def there(name: str, commit: str, place: str = PLACE, **query: str) -> Page:
        visit(visitor, f"{address}dcu/index.html", place_of(name, place, commit, **query))
        return visitor

    yield there
    assert visitor.complaints() == []


@pytest.fixture
def odd(visitor: Page, odd_site: Path) -> Iterator[Go]:
    """Goes to the evidence of a shape of `evidence_site`, as a file."""

    def there(shape: str, commit: str = COMMITS[0], **query: str) -> Page:
        place = place_of(NAME, evidence_site.PLACE, commit, params=shape, **query)
        visit(visitor, (odd_site / "index.html").resolve().as_uri(), place)
        return visitor

    yield there
    assert visitor.complaints() == []


def lines(site: Site, benchmark: str, commit: str) -> list[str]:
    file = site.history.files.results / "dcu-1" / f"{commit[:8]}-{history.ENV}.evidence.jsonl"
    return [line for line in file.read_text().splitlines() if json.loads(line)["benchmark"] == benchmark]


# ---- samples and rounds


def test_first_call_warm_up_and_steady_samples_are_told_apart(go: Go, published: Site) -> None:
    head = published.history.main[-1]
    page = go(history.FUSED, head)
    page.wait("!!document.querySelector('.part-times .plot[data-drawn]')")
    parts = page.run(
        "(() => { const rows = dcu.index.functions.find((one) => one.name === 'attention.fused');"
        f"return dcu.evidence.load(rows, dcu.find.place('{PLACE}'), dcu.find.commit('{head}')).then((found) =>"
        "dcu.evidence.newest(dcu.evidence.sessions(found.entries[0].rows)).rows.map((row) =>"
        "dcu.evidence.sequence(row, 'latency').map((one) => one.part))); })()"
    )
    assert len(parts) == 5
    for one in parts:
        assert one[:9] == ["cold"] + ["warm_up"] * 8
        assert len(one) == 21 and set(one[9:]) <= {"before", "steady"}
    told = texts(page, ".part-times .plot-legend button")
    assert [one for one in ("first call", "warm-up", "timed, steady") if one not in told] == []


def test_the_table_of_samples_is_in_the_order_in_which_they_were_taken(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1])
    page.wait("!!document.querySelector('.part-times .plot[data-drawn]')")
    page.click(".part-times .plot-table summary")
    page.wait("!!document.querySelector('.part-times .plot-table table')")
    assert texts(page, ".part-times .plot-table thead th") == ["Sample", "Round", "Series", "Value"]
    rows = page.run(
        "[...document.querySelectorAll('.part-times .plot-table tbody tr')]"
        ".map((row) => [...row.cells].slice(0, 3).map((cell) => cell.textContent))"
    )
    assert [row[0] for row in rows] == [f"sample {number}" for number in range(1, 106)]
    assert [row[1] for row in rows] == [str(number) for number in range(1, 6) for _ in range(21)]
    assert [row[2] for row in rows[:3]] == ["first call", "warm-up", "warm-up"]


def test_each_round_has_a_row_of_dots_and_a_row_of_figures(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1])
    assert page.run("document.querySelectorAll('.evidence-strip').length") == 5
    assert page.run("document.querySelectorAll('.evidence-strip circle').length") == 60
    assert len(texts(page, ".part-rounds tbody tr")) == 5


def test_a_pass_without_a_warm_up_is_shown_alone(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1], **{"pass": "host_time"})
    assert page.run("document.querySelectorAll('.evidence-strip circle').length") == 30
    assert texts(page, ".part-times .plot-legend button") == ["timed"]


def test_parameters_session_and_round_are_chosen_without_a_page_load(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1])
    page.run("window.stays = true")
    assert len(texts(page, "select[name=session] option")) == 2
    choose(page, "session", "older")
    assert len(texts(page, ".part-rounds tbody tr")) == 3
    choose(page, "round", "2")
    assert texts(page, ".part-rounds tbody tr th") == ["2"]
    assert query(page) == {"session": "older", "round": "2"}
    assert page.run("window.stays")
    page = go(history.MATMUL, published.history.main[-1])
    choose(page, "params", "1024,'float32'")
    assert "n=1024, dtype='float32'" in texts(page, "h1")[0]


def pick(page: Page, name: str, value: str) -> None:
    """As a reader does with a choice."""
    told = json.dumps(value)
    page.run(
        f"(() => {{ const one = document.querySelector('select[name={name}]'); one.focus();"
        f" one.value = {told}; one.dispatchEvent(new Event('change')); }})()"
    )


def choose(page: Page, name: str, value: str) -> None:
    """Of the same view: focus and place stay."""
    pick(page, name, value)
    shown(page)
    assert page.run(f"document.querySelector('select[name={name}]').value") == value
    assert page.run("document.activeElement.name") == name


def test_an_address_shows_the_same_choice(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1], session="older", round="3")
    assert texts(page, ".part-rounds tbody tr th") == ["3"]


# ---- figures


def test_the_figure_is_the_one_of_asvs_file(go: Go, published: Site) -> None:
    head = published.history.main[-1]
    file = published.history.files.results / "dcu-1" / f"{head[:8]}-{history.ENV}.json"
    value = json.loads(file.read_text())["results"][f"{history.FUSED}.peak_allocated"][0][0]
    page = go(history.FUSED, head)
    (row,) = page.run(
        "[...document.querySelectorAll('.part-summary tbody tr')].map((row) => [...row.cells].map((cell) =>"
        " cell.textContent)).filter((row) => row[0].endsWith('peak_allocated'))"
    )
    assert row[1] == page.run(f"dcu.format.bytes({value})") == "48 MiB"


def test_a_wrong_result_and_one_that_ended_are_told_with_their_text(go: Go, published: Site) -> None:
    head = published.history.main[-1]
    page = go(history.HUGE, head)
    assert len(texts(page, ".fault")) == 1  # the five rounds ended in the same way
    assert "out of memory" in texts(page, ".fault")[0]
    page.click(".fault summary")
    assert texts(page, ".fault pre")[0].startswith("Traceback <most recent call last>")
    page = go(history.WRONG, head)
    assert "wrong result" in texts(page, ".fault")[0]


def test_what_could_not_be_measured_has_its_reason(go: Go, published: Site) -> None:
    page = go(history.CHINESE, published.history.main[-1])
    told = texts(page, ".part-missing tbody tr")
    assert any("the device's events tell no time here" in one for one in told)
    assert any("nothing is reserved" in one for one in told)


# ---- memory and clocks


def test_memory_stands_side_by_side(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1])
    rows = page.run(
        "[...document.querySelectorAll('.evidence-levels')].map((table) => [...table.tBodies[0].rows].map((row) =>"
        " [...row.cells].map((cell) => cell.textContent)))"
    )
    steady, first = rows
    assert steady[1] == ["allocated", "12 MiB", "48 MiB", "12 MiB", "+36 MiB", "0"]
    assert [row[0] for row in steady] == ["requested by tensors", "allocated", "reserved", "whole card"]
    assert first[0][1:4] == ["12 MiB", "56 MiB", "24 MiB"]


def test_who_was_alive_at_the_peak_adds_up_to_it(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1])
    cells = page.run(
        "[...document.querySelectorAll('.part-alive .table')][0].querySelectorAll('tbody tr')"
        " && [...document.querySelectorAll('.part-alive .table')[0].querySelectorAll('tbody tr')].map((row) =>"
        " [row.cells[0].textContent, row.cells[3].textContent])"
    )
    assert ["model.py:41 in forward", "24 MiB"] in cells
    assert sum(float(size.removesuffix(" MiB")) for _, size in cells) == 48
    assert "Every call keeps 4 KiB" in texts(page, ".part-alive .note")[0]


def test_the_clocks_are_drawn_or_their_absence_is_told(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1])
    page.wait("document.querySelectorAll('.part-clocks .plot[data-drawn]').length === 3")
    page = go(history.MATMUL, published.history.main[-1])
    assert page.run("document.querySelectorAll('.part-clocks .plot').length") == 0
    assert "The record has no readings of a card." in texts(page, ".part-clocks p")


# ---- records


def test_the_records_are_saved_line_for_line(go: Go, published: Site) -> None:
    head = published.history.main[-1]
    page = go(history.FUSED, head)
    page.run("dcu.download = (name, content) => { window.kept = [name, content]; }")
    buttons = texts(page, ".part-records .tools button")
    assert len(buttons) == 2
    page.run("document.querySelectorAll('.part-records .tools button')[1].click()")
    name, content = page.run("window.kept")
    assert name == f"{slug(history.FUSED)}-{head[:8]}.jsonl"
    assert content.splitlines() == lines(published, history.FUSED, head)


def test_a_record_is_looked_at_with_all_its_digits(odd: Go) -> None:
    page = odd("warm")
    assert page.run("document.querySelectorAll('.part-records pre').length") == 0
    page.click(".part-records details summary")
    (shown_text,) = texts(page, ".part-records pre")
    assert f'"seed": {SEED},' in shown_text
    assert json.loads(shown_text)["params"] == {"case": "warm"}
    assert str(SEED) in texts(page, ".part-conditions dd")


# ---- ways


def test_steps_lead_to_the_commits_beside_and_links_to_the_other_pages(go: Go, published: Site) -> None:
    main = published.history.main
    page = go(history.FUSED, main[-2])
    links = page.run("[...document.querySelectorAll('.evidence-ways a')].map((one) => one.hash)")
    assert any(one.startswith("#/benchmark/") for one in links)
    assert any(one.startswith("#/compare?") and f"before={main[-3][:8]}" in one for one in links)
    assert any(one.startswith("#/profile/") for one in links)
    page.run("document.querySelector('.evidence-step').click()")
    page.wait(f"location.hash.includes('{main[-3][:8]}')")
    shown(page)
    assert main[-3][:8] in texts(page, ".evidence-facts dd")[0]


def test_a_part_of_the_page_is_jumped_to_by_keys(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1])
    page.run(
        "[...document.querySelectorAll('.evidence-contents button')]"
        ".find((one) => one.textContent === 'Memory').focus()"
    )
    page.key("Enter")
    assert page.run("document.activeElement.id") == "part-memory"


def test_what_is_not_in_the_site_is_told(visitor: Page, address: str, published: Site) -> None:
    head = published.history.main[-1]
    for name, place, commit, told in (
        ("no.such", PLACE, head, "There is no benchmark"),
        (history.FUSED, "elsewhere~none", head, "has no results of elsewhere~none"),
        (history.FUSED, PLACE, "0" * 40, "The commit 00000000 is not in this site."),
    ):
        visitor.visit("about:blank")
        visitor.visit(f"{address}dcu/index.html{place_of(name, place, commit)}")
        visitor.wait("!!document.querySelector('[role=alert] p')")
        assert told in texts(visitor, "[role=alert] p")[0]
    visitor.run("location.hash = '#/evidence'")
    visitor.wait("document.querySelector('[role=alert] p').textContent.startsWith('The address names no')")
    assert visitor.complaints() == []


def test_other_parameters_are_never_shown_as_those_of_the_address(go: Go, published: Site) -> None:
    page = go(history.MATMUL, published.history.main[-1], PLACE, params="7,'int8'", session="x", round="99")
    told = texts(page, "main > div > .note")
    assert told[0].startswith("There is none of 7,'int8' here: gemm.matmul(n=") and len(told) == 3
    assert "no session x" in told[1] and "no round 99" in told[2]


def test_another_suites_benchmark_has_a_number_and_no_evidence(go: Go, published: Site) -> None:
    page = go(history.PLAIN_TIME, published.history.main[-1], f"box~{history.PLAIN_ENV}")
    assert "asv measured this benchmark by itself" in texts(page, ".nothing")[0]
    assert len(texts(page, ".part-known tbody tr")) == 1


# ---- shapes


def test_a_commit_without_published_evidence_shows_what_the_history_knows(odd: Go) -> None:
    page = odd("quick", COMMITS[1])
    assert "m/bbbbbbbb-e.evidence.jsonl" in texts(page, ".nothing")[0]
    assert "dcu-asv matrix bbbbbbbb" in texts(page, ".nothing code")[0]
    (row,) = page.run(
        "[...document.querySelectorAll('.part-known tbody tr')]"
        ".map((one) => [...one.cells].map((cell) => cell.textContent))"
    )
    # 2 ms * exp(-+ 0.2 / sqrt(4))
    assert row[1:4] == ["2 ms", "1.81 ms to 2.21 ms", "4"]
    assert row[4] == "1.9 ms, 2 ms, 2 ms, 2.1 ms"


@pytest.mark.parametrize(
    ("published_of", "notes", "wanted"),
    [
        ([], [], "as far as it was kept"),
        ([0], [], "none was kept, or it could not be read (see the notes of the publish)"),
        ([0], ["passed over: m/bbbbbbbb-e.evidence.jsonl <b>is damaged</b>"], "<b>is damaged</b>"),
        ([], ["passed over: m/bbbbbbbb-e cannot be read"], "the publish could not read it"),
        ([0], ["passed over: m/aaaaaaaa-e.json", "m/bbbbbbbb-f.json", "am/bbbbbbbb-e.json"], "none was kept"),
    ],
)
def test_why_there_is_no_evidence_is_told(
    odd: Go, published_of: list[int], notes: list[str], wanted: str
) -> None:
    page = odd("quick")
    page.run(f"Object.assign(dcu.index, {{evidence: {{0: {published_of}}}, notes: {json.dumps(notes)}}})")
    page = odd("quick", COMMITS[1])
    assert wanted in texts(page, ".nothing")[0]


def test_rounds_that_failed_alike_stand_in_one_box_with_their_text(odd: Go) -> None:
    page = odd("failed")
    assert texts(page, ".fault p") == ["Round 1 to 3: failed in the first call"]
    page.click(".fault summary")
    assert texts(page, ".fault pre") == [TRACEBACK]
    assert "Nothing was timed." in texts(page, ".part-times p")
    assert page.run("document.querySelectorAll('script:not([src])').length") == 0


def test_what_is_special_is_told(odd: Go) -> None:
    for shape, part, told in (
        ("quick", ".part-summary li", "Measured with --quick"),
        ("protocol", ".part-summary li", "Measured by another protocol"),
        ("thinned", ".part-summary li", "Old evidence, thinned"),
        ("thinned", ".part-clocks p", "thinned out"),
        ("unsampled", ".part-clocks p", "no card of this <address>"),
        ("no device", ".part-correctness p", "Nothing was checked"),
        ("gaps", ".part-times p", "1 of 4 samples are no times"),
        ("warm", ".part-clocks .note", "this round is throttled"),
    ):
        # Another address each time: the page knows no `part`.
        assert any(told in one for one in texts(odd(shape, part=part), part)), (shape, told)


def test_samples_before_the_steady_part_are_hollow(odd: Go) -> None:
    page = odd("warm")
    # The 9th entry of 3 warm-up and 40 timed ones is the first that counts.
    assert page.run("document.querySelectorAll('.evidence-strip .dot.before').length") == 5
    assert page.run("document.querySelectorAll('.evidence-strip .dot.steady').length") == 35


def test_a_pass_of_a_later_protocol_is_shown_by_its_name(odd: Go) -> None:
    page = odd("protocol", **{"pass": "new_pass"})
    assert page.run("document.querySelectorAll('.evidence-strip circle').length") == 2


def test_no_shape_is_wider_than_a_narrow_screen(odd: Go, visitor: Page) -> None:
    visitor.resize(390, 800)
    for shape in ("warm", "quick", "failed", "protocol", "thinned", "no device", "unsampled"):
        page = odd(shape)
        open_details(page)
        assert page.run("document.documentElement.scrollWidth") == 390, shape


# ---- for everybody


@pytest.mark.parametrize(("scheme", "name"), [("light", history.FUSED), ("dark", history.HUGE)])
def test_axe_finds_nothing_serious(go: Go, published: Site, visitor: Page, scheme: str, name: str) -> None:
    visitor.scheme(scheme)
    page = go(name, published.history.main[-1])
    open_details(page)
    assert violations(page) == []


def open_details(page: Page) -> None:
    """Of the records one: they are all alike, and long."""
    page.run(
        "document.querySelectorAll('.part:not(.part-records) details, .part-records details:first-of-type')"
        ".forEach((one) => { one.open = true; })"
    )
    page.settle()


def test_the_same_commit_on_another_machine_is_chosen(go: Go, published: Site) -> None:
    page = go(history.FUSED, published.history.main[-1])
    pick(page, "place", f"dcu-2~{history.ENV}")
    page.wait("location.hash.includes('dcu-2')")
    shown(page)
    assert "dcu-2" in texts(page, ".evidence-facts dd")[1]
