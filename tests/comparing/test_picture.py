from __future__ import annotations

import math

import pytest

from dcu_asv_ext.comparing.picture import ASCII, UNICODE, Axis, axis_end, glyphs_for
from tests.comparing.reports import comparison

AXIS = Axis(1.2, 1.01, 31, ASCII)


@pytest.mark.parametrize(
    ("low", "ratio", "high", "drawn"),
    [
        (1.02, 1.05, 1.09, "..............:|:[-o--]........"),
        (0.97, 1.0, 1.03, "............[--o-].............."),
        (0.96, 0.98, 1.02, "............[o-+-].............."),
        (1.0, 1.0, 1.0, "..............:o:.............."),
        (1.5, 2.0, 3.0, "..............:|:.............>"),
        (0.3, 0.5, 0.6, "<.............:|:.............."),
        (0.0, 0.9, math.inf, "<-----o--------+-------------->"),
        (math.nan, 1.1, math.nan, "..............:|:......o......."),
        (math.inf, math.inf, math.inf, "..............:|:.............>"),
        (0.0, 0.0, 0.0, "<.............:|:.............."),
    ],
)
def test_an_interval_on_the_axis(low: float, ratio: float, high: float, drawn: str) -> None:
    made = AXIS.draw(low, ratio, high)
    assert len(made) == 31
    assert made == drawn.ljust(31, ".")[:31]


def test_no_ratio_is_no_picture() -> None:
    assert AXIS.draw(math.nan, math.nan, math.nan) == ""


def test_the_axis_is_symmetric_in_the_log() -> None:
    assert [AXIS.column(1 / 1.1) + AXIS.column(1.1), AXIS.column(1.0)] == [30, 15]


def test_the_scale_stands_above_the_ends_and_the_middle() -> None:
    scale = AXIS.scale()
    assert len(scale) == 31 and scale.startswith("0.83 ") and scale.endswith(" 1.2") and scale[15] == "1"


def test_a_wide_margin_fills_the_axis() -> None:
    assert Axis(1.1, 1.5, 15, ASCII).draw(1.0, 1.0, 1.0) == ":::::::o:::::::"


def test_one_wild_row_does_not_flatten_the_others() -> None:
    calm = [comparison(1.0, 0.97, 1.03, "no change") for _ in range(9)]
    wild = comparison(100.0, 90.0, 110.0, "regression")
    assert axis_end(calm) == axis_end([*calm, wild]) == 1.1
    assert axis_end([wild]) == 5.0


def test_an_axis_without_intervals_has_a_length() -> None:
    assert axis_end([]) == 1.1
    assert axis_end([comparison(1.0, 0.0, math.inf, "inconclusive")]) == 1.1
    assert axis_end([], least=1.3) == 1.3


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", None, "no-such-encoding"])
def test_ascii_where_the_stream_cannot_more(encoding: str | None) -> None:
    assert glyphs_for(encoding) is ASCII


def test_unicode_where_it_can() -> None:
    assert glyphs_for("utf-8") is UNICODE and glyphs_for("gb18030") is UNICODE
