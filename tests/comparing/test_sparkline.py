from __future__ import annotations

import pytest

from dcu_asv_ext.comparing.sparkline import ASCII, BLOCKS, ramp_for, sparkline, squeeze, window


def test_each_value_is_at_its_height() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], 0, 8) == BLOCKS


def test_values_beyond_the_scale_are_at_its_edge() -> None:
    assert sparkline([-5, 8, 1e300], 0, 8) == "▁██"


def test_a_scale_without_height_is_drawn_flat() -> None:
    assert sparkline([3, 3], 3, 3) == "▁▁"


@pytest.mark.parametrize(("ramp", "bar"), [(BLOCKS, "│"), (ASCII, "|")])
def test_a_mark_stands_before_its_value(ramp: str, bar: str) -> None:
    assert sparkline([0, 0, 7], 0, 8, {2}, ramp) == ramp[0] * 2 + bar + ramp[-1]


@pytest.mark.parametrize(
    ("encoding", "ramp"), [("utf-8", BLOCKS), ("ascii", ASCII), (None, ASCII), ("no", ASCII)]
)
def test_ascii_where_the_encoding_has_no_blocks(encoding: str | None, ramp: str) -> None:
    assert ramp_for(encoding) == ramp


def test_a_short_series_is_not_squeezed() -> None:
    assert squeeze([3.0, 1.0, 2.0], 3) == [3.0, 1.0, 2.0]


def test_squeezing_takes_the_median_of_neighbours() -> None:
    """One spike among its neighbours is not seen as a change of all of them."""
    assert squeeze([1.0, 1.0, 9.0, 2.0, 2.0, 2.0], 2) == [1.0, 2.0]
    assert len(squeeze([1.0] * 1000, 7)) == 7


@pytest.mark.parametrize(
    ("length", "middle", "expected"),
    [(100, 50, (45, 55)), (100, 2, (0, 10)), (100, 98, (90, 100)), (4, 2, (0, 4))],
)
def test_window(length: int, middle: int, expected: tuple[int, int]) -> None:
    assert window(length, middle, 10) == expected
