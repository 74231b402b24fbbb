"""The timeline of a profile's page, in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from .browser import Page
from .profiles import STEP, finding, launch, training, written

NS = 1000  # per microsecond
SEEN = "[...document.querySelectorAll('.lane-group, .lane-label')].map((one) => one.textContent.trim())"


def seen(page: Page) -> tuple[int, int]:
    """The time range of the timeline, in ns."""
    begin, end = page.run(
        "(({begin, end}) => [Number(begin), Number(end)])(document.getElementById('timeline').dataset)"
    )
    return begin, end


def dataset(page: Page, name: str) -> int:
    return int(page.run(f"document.getElementById('timeline').dataset.{name}"))


def colour(page: Page, lane: str, time: float) -> list[int]:
    """Red, green and blue in the middle of a lane's first level at a time in us."""
    begin, end = seen(page)
    found: list[int] = page.run(
        f"""(() => {{
            const label = [...document.querySelectorAll('.lane-label')].find((one) => one.textContent === '{lane}');
            const canvas = document.getElementById('lanes');
            const x = 190 + ({time * NS} - {begin}) / ({end - begin}) * (canvas.clientWidth - 190);
            const y = parseFloat(label.style.top) + 3;
            const pen = document.createElement('canvas').getContext('2d', {{willReadFrequently: true}});
            pen.drawImage(canvas, x, y, 1, 1, 0, 0, 1, 1);
            return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
        }})()"""
    )
    return found


@pytest.fixture
def opened(page: Page, tmp_path: Path) -> Page:
    page.open(written(tmp_path, training(), [finding(500, 2700)]))
    return page


def test_lanes_are_named_from_the_host_down_to_the_streams(opened: Page) -> None:
    assert opened.run(SEEN) == [
        "findings", "▾ thread 100", "operators", "runtime calls",
        "▾ Device 0", "stream 0", "stream 1", "idle, by cause",
    ]  # fmt: skip


def test_every_row_has_a_box_at_its_time(opened: Page) -> None:
    # Of each step: three operators, three launches, a copying call, three kernels, a copy, gaps; and the finding.
    assert dataset(opened, "boxes") == dataset(opened, "rows")
    matmul, back = [0x7B, 0x4F, 0xB0], colour(opened, "stream 0", 250)
    assert colour(opened, "stream 0", 170) == matmul
    assert colour(opened, "stream 0", 1170) == matmul
    assert back != matmul
    assert colour(opened, "stream 1", 170) != matmul


def test_a_finding_is_gone_to_step_by_step(opened: Page) -> None:
    opened.click("[data-finding]")
    begin, end = seen(opened)
    assert begin <= 500 * NS and STEP * NS * 0.98 <= end < STEP * NS * 1.1
    opened.click("[data-finding]")
    begin, end = seen(opened)
    assert STEP * NS * 0.9 <= begin <= STEP * NS and end < 2 * STEP * NS * 1.1
    assert "unexpected synchronisation" in opened.run("document.getElementById('details').textContent")


def test_a_finding_within_one_step_is_gone_to(page: Page, tmp_path: Path) -> None:
    page.open(written(tmp_path, training(), [finding(1500, 1700)]))
    page.click("[data-finding]")
    begin, end = seen(page)
    assert 1400 * NS < begin <= 1500 * NS and 1700 * NS <= end < 1800 * NS


def test_the_keyboard_does_all(opened: Page) -> None:
    whole = seen(opened)
    opened.run("document.getElementById('timeline').focus()")
    opened.key("+")
    nearer = seen(opened)
    assert nearer[1] - nearer[0] == pytest.approx((whole[1] - whole[0]) / 2, abs=2)
    opened.key("ArrowRight")
    right = seen(opened)
    assert right[0] > nearer[0] and right[1] - right[0] == pytest.approx(nearer[1] - nearer[0], abs=2)
    opened.key("ArrowLeft")
    assert seen(opened) == pytest.approx(nearer, abs=2)
    opened.key("0")
    assert seen(opened) == whole
    opened.key("n")
    first = dataset(opened, "chosen")
    opened.key("n")
    assert dataset(opened, "chosen") != first
    opened.key("p")
    assert dataset(opened, "chosen") == first
    assert "aten::mm" in opened.run("document.getElementById('details').textContent")
    opened.key("Enter")
    begin, end = seen(opened)
    assert (begin, end) == (91 * NS, 169 * NS)  # the row and 15 % at either side
    for _ in range(2):
        opened.key("j")
    assert "kernel" in opened.run("document.querySelector('.details-role').textContent")
    opened.key("Escape")
    assert dataset(opened, "chosen") == -1


def test_a_row_tells_its_launch_and_its_shapes(opened: Page) -> None:
    opened.run("document.getElementById('timeline').focus()")
    for key in "njj":
        opened.key(key)
    told = opened.run("document.getElementById('details').innerText")
    for part in (
        "matmul_kernel",
        "Launch to start",
        "30.0 us",
        "60.0 us",
        "Device 0, stream 0",
        "3, 180 us in all",
    ):
        assert part in told
    opened.click("#details button")
    assert "hipLaunchKernel" in opened.run("document.getElementById('details').textContent")


def test_the_mouse_pans_zooms_and_points(opened: Page) -> None:
    opened.run("document.getElementById('lanes').scrollIntoView({block: 'center'})")
    x, y = opened.run(
        "(({x, y}) => [x + 700, y + 95])(document.getElementById('lanes').getBoundingClientRect())"
    )
    whole = seen(opened)
    opened.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    opened.settle()
    assert seen(opened) == whole  # the page's, until the timeline is chosen
    opened.run("document.getElementById('lanes').scrollIntoView({block: 'center'})")
    x, y = opened.run(
        "(({x, y}) => [x + 700, y + 95])(document.getElementById('lanes').getBoundingClientRect())"
    )
    opened.click_at(x, y)
    opened.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    opened.settle()
    opened.wait(f"document.getElementById('timeline').dataset.begin != '{whole[0]}'")
    nearer = seen(opened)
    assert nearer[0] > whole[0] and nearer[1] < whole[1]
    opened.mouse("mousePressed", x, y)
    opened.mouse("mouseMoved", x - 100, y, buttons=1)
    opened.mouse("mouseReleased", x - 100, y)
    opened.settle()
    assert seen(opened)[0] > nearer[0]
    opened.key("0")
    width = opened.run("document.getElementById('lanes').clientWidth - 190")
    left = opened.run("document.getElementById('lanes').getBoundingClientRect().x")
    at = left + 190 + (130 * NS - whole[0]) / (whole[1] - whole[0]) * width
    opened.mouse("mouseMoved", at, opened.run(
        "document.getElementById('lanes').getBoundingClientRect().y"
        " + parseFloat([...document.querySelectorAll('.lane-label')][1].style.top) + 8"))  # fmt: skip
    opened.settle()
    assert not opened.run("document.getElementById('tip').hidden")
    assert "aten::mm" in opened.run("document.getElementById('tip').textContent")


def test_rows_are_found_by_name(opened: Page) -> None:
    opened.run("document.getElementById('find').focus()")
    opened.type("RELU")
    opened.key("Enter")
    # An operator and a kernel in each step.
    assert opened.run("document.querySelector('.found').textContent") == "1 of 6 rows"
    opened.key("Enter")
    assert "relu_kernel" in opened.run("document.getElementById('details').textContent")
    opened.run("document.getElementById('find').select()")
    opened.type("nowhere")
    assert opened.run("document.querySelector('.found').textContent") == "no row has this in its name"


def test_groups_are_folded(opened: Page) -> None:
    opened.click(".lane-group")
    assert "operators" not in opened.run(SEEN)
    assert opened.run("document.querySelector('.lane-group').getAttribute('aria-expanded')") == "false"
    opened.click(".lane-group")
    assert "operators" in opened.run(SEEN)


def test_a_dark_scheme_changes_boxes_too(opened: Page) -> None:
    opened.scheme("dark")
    opened.settle()
    opened.settle()
    assert opened.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
    assert colour(opened, "stream 0", 170) == [0xC3, 0xA5, 0xEC]


def test_a_narrow_page_needs_no_sideways_scrolling(opened: Page) -> None:
    opened.resize(420, 900)
    opened.settle()
    opened.settle()
    assert opened.run("document.documentElement.scrollWidth") == 420
    # Labels stand above the lanes then.
    tops = opened.run("[...document.querySelectorAll('.lane-label')].map((one) => parseFloat(one.style.top))")
    assert tops == sorted(set(tops))
    assert dataset(opened, "boxes") > 0


@pytest.mark.parametrize("built", ["empty", "host", "device"])
def test_traces_that_have_only_a_part(page: Page, tmp_path: Path, built: str) -> None:
    trace = training(1)
    kept = {"empty": "none", "host": "cpu_op", "device": "kernel"}[built]
    trace.events = [one for one in trace.events if one["cat"] == kept]
    trace.frame("train.py(3): step", 0, 10)
    page.open(written(tmp_path, trace, []))
    text = page.run("document.body.innerText")
    if built == "empty":
        assert "The trace has no rows that a timeline could show." in text
    else:
        assert dataset(page, "boxes") >= 3


def test_many_rows_are_drawn_as_few_boxes_and_soon(page: Page, tmp_path: Path) -> None:
    trace = training(0)
    for number in range(25_000):
        at = 10.0 * number
        trace.operator(f"aten::op{number % 40}", at, at + 9)
        trace.operator(f"aten::inner{number % 20}", at + 1, at + 8)
        launch(trace, f"kernel_{number % 30}", at + 2, at + 8, at + 12, took=4, stream=number % 3)
    path = written(tmp_path, trace, [])
    assert path.stat().st_size < 5_000_000
    soonest = 60_000
    for _ in range(3):
        page.open(path)
        page.wait("document.getElementById('timeline').dataset.firstFrame !== undefined")
        soonest = min(soonest, dataset(page, "firstFrame"))
        if soonest <= 2000:
            break
    assert dataset(page, "rows") > 100_000
    # At most a box for each pixel of each level.
    assert dataset(page, "boxes") < 1400 * 8
    assert soonest <= 2000  # ms, of everything from the page's beginning on
