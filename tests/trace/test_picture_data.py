"""What the page's timeline gets, read back as the page does."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from typing import Any

from dcu_asv_ext.trace import picture_data
from dcu_asv_ext.trace.picture_data import ROLES, picture
from dcu_asv_ext.trace.picture_names import Names, shortened

from .building import Building


def rows(data: dict[str, Any]) -> list[dict[str, Any]]:
    """All rows of the lanes, in the order of their numbers."""
    found = []
    for lane in data["lanes"]:
        for number, start in enumerate(accumulate(lane["s"])):
            row = {"start": start, "end": start + lane["d"][number], "role": ROLES[lane["r"][number]]}
            row["name"] = data["names"][lane["n"][number]]
            for key in ("i", "b", "c", "o"):
                row[key] = lane[key][number] if key in lane else -1
            found.append(row)
    return found


def built() -> Building:
    found = Building()
    found.events.clear()
    found.span("ProfilerStep#4", 0, 500)
    found.frame("train.py(3): step", 0, 500)
    found.operator("aten::mm", 10, 60, **{"Input Dims": [[8, 8], [8, 8]]})
    found.launch(20, 100, 150)
    found.events[-1]["args"] |= {"grid": [1, 2, 3], "block": [64, 1, 1]}
    found.copies("Memcpy DtoH", (160, 300), (200, 290), size=4096, asked="2")
    return found


def test_rows_have_their_times_names_and_roles(tmp_path: Path) -> None:
    found = rows(picture(built().analysis(tmp_path)))
    assert [(row["role"], row["name"], row["start"], row["end"]) for row in found] == [
        ("operator", "aten::mm", 10_000, 60_000),
        ("launch", "hipLaunchKernel", 20_000, 25_000),
        ("copy_call", "hipMemcpyWithStream", 160_000, 300_000),
        ("kernel", "work", 100_000, 150_000),
        ("copy", "Memcpy DtoH", 200_000, 290_000),
    ]


def test_rows_name_their_call_shape_bytes_and_line(tmp_path: Path) -> None:
    data = picture(built().analysis(tmp_path))
    found, names = rows(data), data["names"]
    assert [row["c"] for row in found] == [-1, -1, -1, 1, 2]
    assert names[found[0]["i"]] == "[[8, 8], [8, 8]]"
    assert names[found[3]["i"]] == "grid 1x2x3 block 64x1x1"
    assert found[4]["b"] == 4096
    assert names[found[1]["o"]] == "train.py:3 step"


def test_gaps_steps_and_how_busy(tmp_path: Path) -> None:
    data = picture(built().analysis(tmp_path))
    assert data["steps"] == [[0, 500_000, "4"]]
    assert data["gaps"]["0"]["s"] == [150_000] and data["gaps"]["0"]["d"] == [50_000]
    (overview,) = data["overview"]
    # Busy from 100 to 150 and from 200 to 290 us: 140 of 500 parts.
    assert sum(overview["busy"]) == 100 * 140 and overview["device"] == "0"
    assert data["overview"][0]["busy"][99:101] == [0, 100]


def test_without_a_device_the_operators_are_the_overview(tmp_path: Path) -> None:
    only = Building()
    only.operator("aten::mm", 0, 50)
    only.operator("aten::mm", 75, 100)
    (overview,) = picture(only.analysis(tmp_path))["overview"]
    assert overview["device"] == "" and sum(overview["busy"]) == 100 * 375


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    many = Building()
    for number in range(300):
        many.launch(10 * number, 10 * number + 5, 10 * number + 9, took=3)
    analysis = many.analysis(tmp_path)
    data = picture(analysis, most=200)
    assert data["rows"] == 601 and data["left_out"] == 601 - len(rows(data)) > 400
    # A kernel whose call is not here has none.
    numbers = [row["role"] for row in rows(data)]
    assert all(numbers[row["c"]] == "launch" for row in rows(data) if row["c"] >= 0)


def test_of_very_many_gaps_the_longest_are_there(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(picture_data, "_MOST_GAPS", 3)
    many = Building()
    end = 0
    for gap in (1, 9, 2, 8, 3, 7):
        many.launch(end + gap - 1, end + gap, end + gap + 5, took=0.5)
        end += gap + 5
    assert picture(many.analysis(tmp_path))["gaps"]["0"]["d"] == [9_000, 8_000, 7_000]


def test_the_longest_kernels_get_colours(tmp_path: Path) -> None:
    many = Building()
    for number in range(9):
        many.launch(100 * number, 100 * number + 10, 100 * number + 20 + number)
        many.events[-1]["name"] = f"kernel_{number}"
    data = picture(many.analysis(tmp_path))
    assert [data["names"][one] for one in data["colours"]] == [
        f"kernel_{number}" for number in range(8, 1, -1)
    ]


def test_names_are_cut_until_they_fit() -> None:
    names = Names()
    for number in range(2000):
        names.number(f"{number:04}" + "x" * 2000)
    assert {len(text) for text in names.texts} == {300}
    assert len(set(names.texts)) == 2000
    assert shortened("abcdefghij", 7) == "abcd…ij"


def test_everything_is_json(tmp_path: Path) -> None:
    hostile = built()
    hostile.operator("\ud800</script>", 400, 410)
    assert json.loads(json.dumps(picture(hostile.analysis(tmp_path)), allow_nan=False))
