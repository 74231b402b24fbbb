"""The small static picture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from dcu_asv_ext.trace.picture_svg import render_svg

from .building import Building

SVG = "{http://www.w3.org/2000/svg}"


def drawn(built: Building, folder: Path, width: int = 960) -> ET.Element:
    return ET.fromstring(render_svg(built.analysis(folder), width=width))


def test_boxes_lie_at_their_times(tmp_path: Path) -> None:
    built = Building()
    built.launch(0, 250, 500)
    boxes = drawn(built, tmp_path, 178 + 1000).findall(f".//{SVG}rect[@class='p-kernel']")
    assert [(box.get("x"), box.get("width")) for box in boxes] == [("670.0", "500.0")]
    title = boxes[0].find(f"{SVG}title")
    assert title is not None and title.text == "work, 250 us"


def test_names_cannot_leave_their_place(tmp_path: Path) -> None:
    built = Building()
    for number, name in enumerate(("</title><script>x</script>", "a\x00b\ud800", '"&<核')):
        built.operator(name, 100 * number, 100 * number + 90)
    found = drawn(built, tmp_path)
    titles = [title.text or "" for title in found.iter(f"{SVG}title")]
    assert not list(found.iter(f"{SVG}script"))
    told = [title.rsplit(",", 1)[0] for title in titles if "90.0 us" in title]
    assert told[::2] == ["</title><script>x</script>", '"&<核']
    assert re.fullmatch("a[ \ufffd]b[ \ufffd]", told[1])


def test_very_many_rows_are_few_boxes(tmp_path: Path) -> None:
    built = Building()
    for number in range(20_000):
        built.operator("aten::add", number, number + 1)
    assert len(list(drawn(built, tmp_path).iter(f"{SVG}rect"))) < 1000  # of 20 000


def test_a_trace_with_nothing_to_show_is_a_picture_too(tmp_path: Path) -> None:
    built = Building()
    built.events.clear()
    built.frame("train.py(3): step", 0, 10)
    assert drawn(built, tmp_path).tag == f"{SVG}svg"
