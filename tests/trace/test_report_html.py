"""The page as a file: what is in it without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from dcu_asv_ext.trace import report_html, report_html_tables
from dcu_asv_ext.trace.picture_data import ROLES
from dcu_asv_ext.trace.picture_texts import ENGLISH, fill
from dcu_asv_ext.trace.report_html import render_html, write_html
from dcu_asv_ext.trace.waits import CAUSES

from .building import Building

ASSETS = Path(report_html.__file__).with_name("assets")


def built() -> Building:
    found = Building()
    found.operator("aten::mm", 10, 60)
    found.launch(20, 100, 150)
    return found


def block(page: str, name: str) -> str:
    found = re.search(f'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return found[1]


def test_a_page_is_the_same_each_time_and_needs_no_other_file(tmp_path: Path) -> None:
    analysis = built().analysis(tmp_path)
    page = render_html(analysis, title="step")
    assert page == render_html(analysis, title="step")
    assert not re.search(r"""(src|href)=["'](?!data:)""", page)
    assert set(re.findall(r"\w+://[^\"' ]*", page)) == {"http://www.w3.org/2000/svg"}


def test_only_its_own_script_and_styles_may_run(tmp_path: Path) -> None:
    page = render_html(built().analysis(tmp_path), title="step")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; img-src data:; ")
    bodies = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    bodies += re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    assert len(bodies) == 3
    for body in bodies:
        assert base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() in policy[1]


def test_no_name_ends_its_block(tmp_path: Path) -> None:
    trace = built()
    trace.operator("</script><script>taken</script><!--", 200, 210)
    page = render_html(trace.analysis(tmp_path), title="</title><script>taken</script>")
    assert "<" not in block(page, "data")
    assert "</script><script>taken</script><!--" in json.loads(block(page, "data"))["names"]
    assert "<script>taken" not in page


def test_the_overhead_is_told_beside_every_time(tmp_path: Path) -> None:
    analysis = built().analysis(tmp_path)
    known = render_html(analysis, title="step", overhead=1.5)
    figures = re.findall(r'<div class="figure">.*?</div>', known)
    timed = [figure for figure in figures if re.search(r"\d (ns|us|ms|s|%)\b|\d %", figure)]
    assert len(timed) >= 5
    assert all("profiled, 1.50 times as long" in figure for figure in timed)
    assert "profiled, cost unknown" in render_html(analysis, title="step")


def test_rows_that_are_left_out_are_told(tmp_path: Path) -> None:
    trace = Building()
    for number in range(300):
        trace.launch(10 * number, 10 * number + 5, 10 * number + 9, took=3)
    page = render_html(trace.analysis(tmp_path), title="step", most_rows=200)
    assert re.search(r"4\d\d of 601 rows are left out", page)


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    analysis, path = built().analysis(tmp_path), tmp_path / "page.html"
    write_html(path, analysis, title="步骤 \ud800")
    assert path.read_text(encoding="utf-8") == render_html(analysis, title="步骤 \ud800")


def test_a_file_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysis, path = built().analysis(tmp_path), tmp_path / "page.html"
    path.write_text("the older one")

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report_html, "tables", full)
    with pytest.raises(OSError, match="No space left"):
        write_html(path, analysis, title="step")
    assert path.read_text() == "the older one"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["page.html", "trace.json"]


def test_every_text_is_used_and_every_used_one_is_there() -> None:
    sources = "".join(path.read_text() for path in [*ASSETS.glob("*.js"), *ASSETS.parent.glob("*.py")])
    sources = sources.replace("`", '"')
    told = set(re.findall(r'(?:told|button|go|step)\("(\w+)"', sources)) | set(
        re.findall(r'texts\["(\w+)"\]', sources)
    )
    assert told <= set(ENGLISH)
    rest = re.sub(r'"\w+":', "", sources)
    made = ("cause_", "column_", "role_", "lane_")  # and a name that a trace or a table gives
    unused = {key for key in ENGLISH if not re.search(f"[\"']{key}[\"']", rest) and not key.startswith(made)}
    assert unused == set()


def test_texts_are_filled_with_what_is_known() -> None:
    assert fill("{a} of {b}: {c", a="{b}", b=2) == "{b} of 2: {c"


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    """As WCAG 2 defines it."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1])
def test_colours_can_be_read_in_both_schemes(scheme: int) -> None:
    blocks = re.findall(r":root \{(.*?)\}", (ASSETS / "report.css").read_text(), re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", blocks[scheme]))
    for ground in ("page", "card", "band"):
        for text in ("text", "quiet", "link"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    boxes = {
        name
        for name in colours
        if re.match(r"(kernel|gap)-|operator$|span|\w*call|launch|sync|copy|fill|finding", name)
    }
    boxes = {name for name in boxes if not name.endswith("-ink")}
    assert len(boxes) == 23
    for name in boxes:
        ink = colours.get(f"{name}-ink", colours["box-ink"])
        assert contrast(colours[name], ink) >= 4.5, name
        # What nothing can be done about stays in the background.
        assert name == "gap-quiet" or contrast(colours[name], colours["page"]) >= 3, name


def test_every_column_and_cause_and_role_has_a_text() -> None:
    columns = {*report_html_tables._OPERATORS, *report_html_tables._KERNELS}
    assert {f"column_{key}" for key in columns} <= set(ENGLISH)
    assert {f"cause_{cause}" for cause in CAUSES} <= set(ENGLISH)
    assert {f"role_{role}" for role in (*ROLES, "gap", "finding")} <= set(ENGLISH)


def test_the_page_knows_the_roles_and_causes_of_the_data() -> None:
    script = (ASSETS / "model.js").read_text()
    for name, known in (("ROLES", (*ROLES, "gap", "finding")), ("CAUSES", CAUSES)):
        told = re.search(f"^const {name} = (.*);$", script, re.MULTILINE)
        assert told is not None and json.loads(told[1]) == list(known)


def figure_of(page: str, key: str) -> tuple[str, str]:
    """Value, and what stands below it."""
    found = re.search(
        rf'<dt>{ENGLISH[key]}</dt><dd class="value">(.*?)</dd><dd class="more">(.*?)</dd>', page
    )
    assert found is not None
    return found[1], found[2]


def test_what_the_harness_does_is_no_figure_of_the_calls(tmp_path: Path) -> None:
    made = Building()
    for number, begin in enumerate((10, 210)):
        made.span(f"ProfilerStep#{number}", begin, begin + 100)
        made.operator("aten::mm", begin + 1, begin + 6)
        for called in (begin + 1, begin + 40):
            made.launch(called, called + 4, called + 14)
        made.call("hipStreamSynchronize", begin + 20, begin + 22)
        made.span("dcu_asv_ext.wait", begin + 60, begin + 90)
        made.call("hipDeviceSynchronize", begin + 61, begin + 80)
    page = render_html(made.analysis(tmp_path), title="step")
    assert figure_of(page, "syncs") == (
        "2",
        "stream 2; and 2 of the profiler&#x27;s or the harness&#x27;s own",
    )
    # A call's rows: 10 us, 29 us of nothing, 10 us. Between the two calls it is the harness that is late.
    assert figure_of(page, "idle") == ("59 %", "58.0 us within the calls")


def test_operators_are_counted_as_the_table_does(tmp_path: Path) -> None:
    made = Building()
    made.operator("aten::mm", 10, 60)
    made.operator("ProfilerStep#0", 5, 70)
    analysis = made.analysis(tmp_path)
    calls = str(sum(one.calls for one in analysis.operators))
    assert figure_of(render_html(analysis, title="step"), "operators_count")[0] == calls
