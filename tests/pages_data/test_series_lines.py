"""One series in figures: digits, rounds, intervals, gaps."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.comparing.model import FAILED, MISSING, Key
from dcu_asv_ext.pages.series_columns import read
from dcu_asv_ext.pages.series_lines import line, significant
from dcu_asv_ext.stats.point_interval import half_width
from tests.comparing.histories import branch

from .histories import result, set_up, side, work

KEY = Key("suite.step", "latency", ("256", "'a/b\"'"))
COMMITS = branch(40)


def made(out: Path, *sides: Any, unit: str = "seconds") -> dict[str, Any]:
    sets = [result(commit, {KEY: one}, unit=unit) for commit, one in zip(COMMITS, sides, strict=False)]
    found: dict[str, Any] = json.loads(
        json.dumps(line(read(work(sets, COMMITS, out), 0), KEY), allow_nan=False)
    )
    return found


@pytest.mark.parametrize("digits", [1, 5, 6])
def test_numbers_are_the_nearest_with_so_many_digits(digits: int) -> None:
    random = np.random.default_rng(digits)
    values = np.concatenate(
        [random.normal(size=500) * 10.0 ** random.integers(-14, 20, 500), [0.0, 5e-324, 1e300]]
    )
    assert significant(values[:-2], digits) == [
        float(f"{one:.{digits - 1}e}") for one in values[:-2].tolist()
    ]
    assert significant(values, digits) == [float(f"{one:.{digits - 1}e}") for one in values.tolist()]


def test_whole_numbers_stay_as_they_are() -> None:
    assert json.dumps(significant(np.array([268435456.0, 0.0, -3.0]), 5)) == "[268435456, 0, -3]"
    assert significant(np.array([1e20]), 5) == [1e20]


def test_a_line_has_values_rounds_and_the_interval(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    rounds = 1e-3 * np.exp(0.01 * random.normal(size=(40, 3)))
    found = made(tmp_path, *(side(one, identity=set_up(driver="6")) for one in rounds.tolist()))
    assert found["metric"] == "latency" and found["params"] == ["256", "'a/b\"'"]
    (one,) = found["timelines"]
    assert (one["version"], one["protocol"], one["set_up"]) == ("1", 1, {"device.driver": "6"})
    assert one["commits"] == list(range(40))
    assert one["values"] == [float(f"{value:.6g}") for value in np.median(rounds, axis=1)]
    assert one["rounds"] == [[float(f"{value:.5g}") for value in row] for row in rounds]
    assert one["h"] == pytest.approx(half_width(rounds.ravel(), np.full(40, 3)), rel=1e-3)


def test_rounds_that_are_all_equal_are_a_number_and_count_for_the_interval(tmp_path: Path) -> None:
    rounds = [[1.0, 1.25], [1.5, 1.5], [2.0]]
    (one,) = made(tmp_path, *map(side, rounds))["timelines"]
    assert one["rounds"] == [[1, 1.25], 2, 1] or one["rounds"] == [[1.0, 1.25], 2, 1]
    levels = np.array([1.0, 1.25, 1.5, 1.5, 2.0])
    assert one["h"] == pytest.approx(half_width(levels, np.array([2, 2, 1])), rel=1e-3)


def test_exact_values_and_single_rounds_have_no_interval(tmp_path: Path) -> None:
    (one,) = made(tmp_path / "a", side([7.0] * 5), side([8.0] * 5), unit="bytes")["timelines"]
    assert (one["h"], one["values"], one["rounds"]) == (None, [7, 8], [5, 5])
    (one,) = made(tmp_path / "b", side([1.5]), side([1.25]))["timelines"]
    assert (one["h"], one["rounds"]) == (None, [1, 1])


def test_the_interval_of_a_share_is_in_points(tmp_path: Path) -> None:
    rounds = [[0.2, 0.22], [0.0, 0.02]]
    (one,) = made(tmp_path, *map(side, rounds), unit="share")["timelines"]
    assert one["h"] == pytest.approx(
        half_width(np.array(rounds).ravel(), np.array([2, 2]), points=True), rel=1e-3
    )


def test_what_has_no_number_has_a_reason(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        side([], state=FAILED, reason="<script>"),
        side([math.nan]),
        side([1.0]),
        side([], state=MISSING, reason="no device"),
    )
    assert found["failed"] == [[0, "<script>"]]
    assert found["missing"] == [[1, "its value is no finite number"], [3, "no device"]]
    assert [one["commits"] for one in found["timelines"]] == [[2]]


def test_a_version_of_its_own_is_a_timeline_of_its_own(tmp_path: Path) -> None:
    found = made(tmp_path, side([1.0], "1"), side([2.0], "2"), side([3.0], "1"))
    assert [(one["version"], one["commits"]) for one in found["timelines"]] == [("1", [0, 2]), ("2", [1])]
