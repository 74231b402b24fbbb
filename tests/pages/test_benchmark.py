"""The page of one benchmark, on the published site of `history.py`'s project."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest

from . import history, shown_page
from .accessibility import violations
from .browser import Page
from .serving import Site
from .shown_page import texts

PLACE = f"dcu-1~{history.ENV}"
BOX = f"box~{history.PLAIN_ENV}"
#: What gets slower.
SLOW = {"p.n": "1024", "p.dtype": "'float16'", "metrics": "latency"}
PLOTS = "[...document.querySelectorAll('.page-benchmark .plot')]"
SCRIPT_WINDOW = "window.ran === undefined"

Go = Callable[..., Page]


@pytest.fixture
def go(visitor: Page, address: str) -> Iterator[Go]:
    """Goes to a benchmark by its name, with entries of the address."""

    def visit(name: str, **query: str) -> Page:
        visitor.visit("about:blank")
        visitor.visit(
            f"{address}dcu/index.html#/benchmark?{urlencode({'name': name, **query}, quote_via=quote)}"
        )
        return shown(visitor)

    yield visit
    assert visitor.complaints() == []


def shown(page: Page) -> Page:
    """Every plot is drawn, and the changes have come."""
    page.wait("document.getElementById('main').dataset.shown === 'benchmark'")
    page.wait(f"{PLOTS}.every((one) => one.dataset.points === '0' || one.dataset.drawn)")
    page.wait(
        "document.querySelectorAll('.page-benchmark .plot').length === 0"
        " || [...document.querySelectorAll('h2')].some((one) => one.textContent === 'Change points'"
        " && one.parentElement.querySelector('table'))"
    )
    page.settle()
    return page


def query(page: Page) -> dict[str, str]:
    return {name: value for name, value in shown_page.query(page).items() if name != "name"}


def points(page: Page) -> list[int]:
    return [int(one) for one in page.run(f"{PLOTS}.map((one) => one.dataset.points)")]


def press(page: Page, told: str) -> None:
    """A button of the choices by its text."""
    page.run(
        "[...document.querySelectorAll('.benchmark-choices button')]"
        f".find((one) => one.textContent === {json.dumps(told)}).click()"
    )
    shown(page)


def choose(page: Page, name: str, value: str) -> None:
    page.run(
        f"(() => {{ const one = document.querySelector('select[name={name}]'); one.focus();"
        f" one.value = {json.dumps(value)}; one.dispatchEvent(new Event('change')); }})()"
    )
    shown(page)


def coloured(page: Page, plot: int, series: int) -> int:
    """Pixels of a plot's canvas in the colour of a series."""
    found: int = page.run(
        f"""(() => {{
            const canvas = {PLOTS}[{plot}].querySelector('canvas');
            const probe = document.createElement('canvas').getContext('2d');
            probe.fillStyle = getComputedStyle(document.body).getPropertyValue('--series-{series}').trim();
            probe.fillRect(0, 0, 1, 1);
            const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
            const pen = document.createElement('canvas').getContext('2d', {{willReadFrequently: true}});
            [pen.canvas.width, pen.canvas.height] = [canvas.width, canvas.height];
            pen.drawImage(canvas, 0, 0);
            const all = pen.getImageData(0, 0, canvas.width, canvas.height).data;
            let count = 0;
            for (let i = 0; i < all.length; i += 4) {{
                count += all[i] === red && all[i + 1] === green && all[i + 2] === blue && all[i + 3] === 255;
            }}
            return count;
        }})()"""
    )
    return found


# ---- what is drawn


def test_every_metric_has_its_picture_and_questions_are_not_mixed(go: Go) -> None:
    page = go(history.FUSED)
    assert texts(page, ".picture h2") == ["Clocks", "Memory", "Correctness"]
    names = page.run(f"{PLOTS}.map((one) => one.querySelector('figcaption').textContent)")
    metrics = [[part.split(":")[0] for part in one.split("; ")[:-1]] for one in names]
    assert metrics == [
        ["latency", "device_time", "host_time"],
        ["cold_start", "process_wall", "compile_time"],
        ["peak_allocated", "peak_reserved", "peak_card"],
        ["memory_growth"],
        ["max_error"],
    ]
    assert points(page) == [42, 42, 42, 14, 14]
    for plot, series in ((0, 1), (0, 2), (0, 3), (1, 1), (2, 3), (4, 1)):
        assert coloured(page, plot, series) > 100, (plot, series)
    assert page.run("document.querySelectorAll('.u-axis').length") == 2 * 5  # ticks and units are uPlot's


def test_a_change_is_marked_and_its_two_sides_are_compared(go: Go, published: Site) -> None:
    page = go(history.MATMUL, place=PLACE, branch=history.BRANCH, **SLOW)
    row = page.run(
        "[...document.querySelectorAll('.page-benchmark tbody tr')].map((one) => one.innerText)"
        ".find((text) => text.includes('Change number'))"
    )
    assert "regression" in row and "+2" in row
    link = page.run(
        "document.querySelector('.page-benchmark td a[href*=\"#/compare\"]').getAttribute('href')"
    )
    told = parse_qs(urlsplit(link.removeprefix("#")).query)
    main = published.history.main
    assert told["place"] == [PLACE]
    assert told["before"] == [main[history.SLOWER - 1][:8]]
    assert told["after"] == [main[history.SLOWER][:8]]
    signs = texts(page, ".plot-signs")[0]
    assert "change point" in signs and "the set-up changed" in signs and "tag" in signs
    assert "begins anew" not in signs


def test_levels_are_those_between_the_changes(go: Go) -> None:
    page = go(history.MATMUL, place=PLACE, branch=history.BRANCH, **SLOW)
    levels = page.run(
        """Promise.all([dcu.load('changes'), dcu.load(dcu.find.byName('gemm.matmul').places[dcu.find.place(
            new URLSearchParams(location.hash.split('?')[1]).get('place'))].parts[0])]).then(([changes, data]) => {
            const choice = dcu.benchmark.choices.read(dcu.router.state());
            const axis = dcu.benchmark.axis.make(choice.branch, false);
            const series = dcu.benchmark.series.make(choice, axis, data.lines, ['latency']);
            const found = dcu.benchmark.changes.of(changes, choice);
            return dcu.benchmark.changes.dress(choice, axis, found, series).series[0].levels;
        })"""
    )
    (first, last) = levels[-2:]
    assert (first[1], last[0], last[1]) == (history.SLOWER - 1, history.SLOWER, history.FORK + history.SIDE)
    assert last[2] / first[2] == pytest.approx(1.25, rel=0.02)


def test_failed_and_missing_measurements_have_their_reasons(go: Go) -> None:
    page = go(history.HUGE)
    assert any("out of memory: 40 GiB were asked for" in one for one in texts(page, "td"))
    assert "failed" in texts(page, ".plot-signs")[0]
    page = go(history.CHINESE, place=PLACE)
    assert "missing: the device's events tell no time here" in texts(page, "td")
    assert texts(page, "h1") == [history.CHINESE]


def test_other_peoples_benchmarks_have_the_same(go: Go) -> None:
    page = go(history.PLAIN_TRACK)
    assert texts(page, "h1") == [history.PLAIN_TRACK]
    assert texts(page, ".picture h2") == ["Other figures"]
    assert points(page) == [14]
    assert coloured(page, 0, 1) > 100


def test_a_metric_that_was_never_measured_has_a_place_all_the_same(go: Go) -> None:
    page = go(history.CHINESE, place=PLACE, metrics="device_time")
    assert points(page) == [history.MAIN]  # all of them missing
    assert page.run("document.querySelector('.plot-unit').textContent") == ""  # no value, so no unit


# ---- choices and the address


def test_choices_change_the_plots_and_the_address_without_a_page_load(go: Go) -> None:
    page = go(history.FUSED)
    page.run("window.stays = true")
    choose(page, "branch", history.BRANCH)
    assert query(page) == {"branch": history.BRANCH}
    assert points(page)[0] == 3 * (history.FORK + 1 + history.SIDE)
    assert page.run("document.activeElement.name") == "branch"
    choose(page, "x", "dates")
    choose(page, "y", "log")
    assert query(page) == {"branch": history.BRANCH, "x": "dates", "y": "log"}
    press(page, "host_time")
    assert points(page)[0] == 2 * (history.FORK + 1 + history.SIDE)
    choose(page, "machine", "dcu-2")
    assert query(page)["place"] == f"dcu-2~{history.ENV}"
    assert points(page)[0] == 2 * 6  # every second commit, up to where the branch begins
    assert page.run("window.stays")
    address = page.run("location.href")
    page.visit("about:blank")
    page.visit(address)
    shown(page)
    assert points(page)[0] == 2 * 6
    assert texts(page, ".several button[aria-pressed=false]") == ["host_time"]


def test_parameters_are_chosen_one_by_one_and_together(go: Go) -> None:
    page = go(history.MATMUL, place=PLACE)
    assert points(page)[0] == 2 * history.MAIN  # one combination, two clocks
    press(page, "1024")
    press(page, "'float32'")
    assert query(page)["p.n"] == "256|1024"
    assert points(page)[0] == 2 * 4 * history.MAIN
    legend = texts(page, ".plot:first-of-type .plot-legend li")
    assert legend[:2] == ["latency", "device_time"] and "n=1024, dtype='float32'" in legend
    press(page, "256")
    assert query(page)["p.n"] == "1024"
    press(page, "1024")  # the last one stays
    assert query(page)["p.n"] == "1024"


@pytest.mark.parametrize("value", [*history.STRANGE, "a|b", "a\\|b", "\\", "|", "", "中文 & ="])
def test_any_value_of_a_parameter_can_be_in_an_address(go: Go, value: str) -> None:
    page = go(history.SCRIPT, place=PLACE)
    values = json.dumps([value, "other"])
    found = page.run(
        f"""(() => {{
            const {{ join, read }} = dcu.benchmark.choices;
            const fn = dcu.find.byName({json.dumps(history.SCRIPT)});
            const at = fn.params[0].values.indexOf({json.dumps(value)});
            const before = fn.params[0].values;
            fn.params[0].values = {values};
            const link = dcu.router.link('benchmark', [fn.slug], {{ 'p.<i>value</i>': join({values}) }});
            const query = Object.fromEntries(new URLSearchParams(link.split('?')[1]));
            const measured = fn.places[dcu.find.place({json.dumps(PLACE)})].combos;
            const kept = measured.splice(0, measured.length, ...{values}.map((one) => [one]));
            const chosen = read({{ path: [fn.slug], query: {{ ...query, place: {json.dumps(PLACE)} }} }}).combos;
            measured.splice(0, measured.length, ...kept);
            fn.params[0].values = before;
            return chosen;
        }})()"""
    )
    assert found == [[value], ["other"]]


def test_names_are_only_text(go: Go) -> None:
    page = go(history.SCRIPT, place=PLACE)
    press(page, "All")
    assert texts(page, "h1") == [history.SCRIPT]
    assert page.run("document.querySelectorAll('main script, main u, main b, main i').length") == 0
    assert page.run(SCRIPT_WINDOW)
    assert page.run("document.documentElement.scrollWidth") == 1400


# ---- from here on, and back


def test_enter_on_a_point_opens_its_evidence(go: Go, published: Site) -> None:
    page = go(history.MATMUL, place=PLACE, **{"p.n": "256", "p.dtype": "'float32'"})
    page.run("document.querySelector('.plot-host').focus()")
    page.key("End")
    spoken = texts(page, ".plot-spoken")[0]
    head = published.history.main[-1]
    assert spoken.startswith("latency; ") and head[:8] in spoken and "95 % interval" in spoken
    page.key("ArrowDown")
    assert texts(page, ".plot-spoken")[0].startswith("device_time; ")
    page.key("ArrowLeft")
    before = published.history.main[-2]
    assert before[:8] in texts(page, ".plot-spoken")[0]
    page.key("Enter")
    page.wait("document.getElementById('main').dataset.shown === 'evidence'")
    path, _, told = page.run("location.hash").partition("?")
    assert path.split("/")[3:] == [quote(PLACE, safe="~"), before[:8]]
    assert parse_qs(told) == {"params": ["256,'float32'"]}


def test_a_commit_without_published_evidence_is_told_beside(go: Go, published: Site) -> None:
    page = go(history.PLAIN_TIME, place=BOX)
    page.run("document.querySelector('.plot-host').focus()")
    page.key("Home")
    page.key("Enter")
    shown(page)
    first = published.history.main[0][:8]
    assert query(page)["commit"] == first
    assert page.run("document.activeElement.textContent") == f"Commit {first}"  # read out, and near its links
    beside = page.run("document.querySelector('.benchmark-commit').innerText")
    assert f"Commit {first}" in beside and "Change number 0" in beside
    assert f"results/box/{first}-{history.PLAIN_ENV}.json" in beside
    page.click(".benchmark-commit button[name=close]")
    shown(page)
    assert "commit" not in query(page)


def test_the_files_and_the_command_of_ours_are_told(go: Go, published: Site) -> None:
    commit = published.history.main[3][:8]
    page = go(history.SCRIPT, place=PLACE, commit=commit)
    beside = page.run("document.querySelector('.benchmark-commit').innerText")
    assert f"results/dcu-1/{commit}-{history.ENV}.evidence.jsonl" in beside
    command = texts(page, ".benchmark-commit .command code")[0]
    assert command == (
        f"dcu-asv matrix {commit} --machine dcu-1 --env {history.ENV} --bench '^odd\\.<script>ran=1</script>'"
    )
    link = page.run("document.querySelector('.benchmark-commit a[href*=\"#/compare\"]').getAttribute('href')")
    assert f"before={published.history.main[2][:8]}" in link


def test_asvs_own_graph_opens_on_the_same_choice(go: Go, address: str) -> None:
    page = go(history.MATMUL, place=PLACE, **{"p.n": "1024", "p.dtype": "'float32'"})
    links = page.run(
        "[...document.querySelectorAll('.picture-clocks a')].map((one) => [one.textContent, one.href])"
    )
    assert [name for name, _ in links] == ["latency", "device_time", "cold_start"]
    page.visit("about:blank")
    page.visit(links[0][1])
    page.wait("typeof $ !== 'undefined' && !!$.asv.main_json && $('#graph-display').is(':visible')")
    assert page.run("$.asv.parse_hash_string(location.hash).location[0]") == f"{history.MATMUL}.latency"
    page.wait("$('#graphdisplay-navigation .btn.active').length > 0")
    active = texts(page, "#graphdisplay-navigation .btn.active")
    assert "1024" in active and "256" not in active and "dcu-1" in active


# ---- zoom


def test_a_drag_zooms_all_plots_and_the_address_keeps_it(go: Go, published: Site) -> None:
    page = go(history.FUSED)
    box = "document.querySelector('.u-over').getBoundingClientRect()"
    left, top, width = page.run(f"(({{x, y, width}}) => [x, y, width])({box})")
    page.mouse("mousePressed", left + width * 0.31, top + 50)
    page.mouse("mouseMoved", left + width * 0.5, top + 50, buttons=1)
    page.mouse("mouseMoved", left + width * 0.7, top + 50, buttons=1)
    page.mouse("mouseReleased", left + width * 0.7, top + 50)
    page.wait("location.hash.includes('from=')")
    main = published.history.main
    numbers = [
        next(i for i, one in enumerate(main) if one[:8] == query(page)[name]) for name in ("from", "to")
    ]
    assert 3 <= numbers[0] <= 5 and 8 <= numbers[1] <= 10
    assert page.run("[...document.querySelectorAll('.plot-reset')].map((one) => one.hidden)") == [False] * 5
    choose(page, "x", "dates")  # the same commits, whatever the axis
    told = query(page)
    assert page.run("[...document.querySelectorAll('.plot-reset')].map((one) => one.hidden)") == [False] * 5
    page.click(".plot-reset")
    page.wait("!location.hash.includes('from=')")
    assert {name: told[name] for name in told if name == "x"} == query(page)
    assert page.run("[...document.querySelectorAll('.plot-reset')].map((one) => one.hidden)") == [True] * 5


# ---- bad addresses


def test_an_unknown_name_lists_those_like_it(go: Go) -> None:
    page = go("gem.matmull")
    assert texts(page, "h1") == ["No such benchmark"]
    assert "There is no benchmark gem.matmull in these results." in texts(page, ".page-benchmark p")[0]
    assert texts(page, ".near a")[0] == history.MATMUL
    page.click(".near a")
    shown(page)
    assert texts(page, "h1") == [history.MATMUL]


def test_asvs_name_leads_here_too(go: Go) -> None:
    assert texts(go(f"{history.MATMUL}.device_time"), "h1") == [history.MATMUL]
    page = go(f"{history.FUSED}.latency", machine="dcu-2")
    assert page.run("document.querySelector('select[name=machine]').value") == "dcu-2"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"place": "nowhere~<b>"}, "nowhere~<b> has no results of this benchmark"),
        ({"branch": "<i>gone"}, "There is no branch <i>gone here"),
        ({"p.n": "3"}, "There is no value 3 of the parameter n."),
        ({"machine": "<u>"}, "<u> has no results of this benchmark"),
        ({"from": "ffffffff"}, "The commit ffffffff is not in this site."),
        ({"to": "zzz"}, "The commit zzz is not in this site."),
        ({"commit": "1234"}, "The commit 1234 is not in this site."),
        ({"metrics": "speed|'"}, "There is none of the metrics speed, ': all are shown."),
        ({"x": "no", "y": "no"}, ""),
        ({"metrics": "latency"}, ""),
    ],
)
def test_what_an_address_asks_for_in_vain_is_told(go: Go, asked: dict[str, Any], told: str) -> None:
    page = go(history.MATMUL, **asked)
    notes = texts(page, ".note")
    assert len(notes) == bool(told) and all(told in one for one in notes)
    assert min(points(page)) > 0


def test_a_benchmark_that_no_place_has_says_so(go: Go) -> None:
    page = go(history.TRAIN)
    page.run("dcu.find.byName('convnet.train').places = {}; dcu.router.show()")
    page.wait("!!document.querySelector('.nothing')")
    assert "No result of this benchmark is published" in texts(page, ".nothing")[0]


# ---- for everybody


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_it_is_read_by_everybody(go: Go, visitor: Page, published: Site, width: int, scheme: str) -> None:
    visitor.resize(width, 1000)
    visitor.scheme(scheme)
    page = go(history.MATMUL, place=PLACE, commit=published.history.main[7][:8], **{"p.n": "256|1024"})
    assert violations(page) == []
    assert page.run("document.documentElement.scrollWidth") == width
    summary = "document.querySelector('.plot-table summary')"
    page.run(f"{summary}.click()")
    page.wait("!!document.querySelector('.plot-table table')")
    assert len(texts(page, ".plot-table tbody tr")) > 20
    assert "latency" in texts(page, ".plot-table caption")[0]
    assert violations(page) == []
