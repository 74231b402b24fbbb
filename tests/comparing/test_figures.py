from __future__ import annotations

import math

import pytest

from dcu_asv_ext.comparing import figures
from dcu_asv_ext.comparing.model import Key, Series


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.0123456, "seconds", "12.3 ms"),
        (9.996e-4, "seconds", "1.00 ms"),
        (9.994e-4, "seconds", "999 us"),
        (3.2e-8, "seconds", "32.0 ns"),
        (1e-12, "seconds", "0.00100 ns"),
        (123.4, "seconds", "123 s"),
        (5000.0, "seconds", "5000 s"),
        (0.0, "seconds", "0 s"),
        (4404019.0, "bytes", "4.20 MiB"),
        (41943040.0, "bytes", "40 MiB"),
        (1023.9, "bytes", "1.00 KiB"),
        (0.0, "bytes", "0 B"),
        (7.7e-08, "relative", "7.70e-08"),
        (0.731, "value", "0.731"),
        (1234.5, "GFLOP/s", "1234 GFLOP/s"),
        (12345678.0, "unit", "1.23e+07"),
        (-0.5, "value", "-0.500"),
        (math.inf, "seconds", "inf s"),
        (math.nan, "seconds", "-"),
        (None, "bytes", "-"),
    ],
)
def test_a_quantity_has_its_units_prefix(value: float | None, unit: str, shown: str) -> None:
    assert figures.quantity(value, unit) == shown


@pytest.mark.parametrize(
    ("before", "after", "unit", "shown"),
    [
        (0.0123, 0.0246, "seconds", ("12.3 ms", "24.6 ms")),
        (0.01231, 0.01234, "seconds", ("12.31 ms", "12.34 ms")),
        # Beyond five digits nobody looks for the difference.
        (0.01234561, 0.01234562, "seconds", ("12.3 ms", "12.3 ms")),
        (41943040.0, 41943041.0, "bytes", ("41,943,040 B", "41,943,041 B")),
        (1.0, 1.0, "value", ("1", "1")),
        (None, 1.0, "seconds", ("-", "1.00 s")),
    ],
)
def test_sides_that_differ_look_different(
    before: float | None, after: float | None, unit: str, shown: tuple[str, str]
) -> None:
    assert figures.pair(before, after, unit) == shown


def test_ratios() -> None:
    shown = [
        figures.ratio(one) for one in (1.0, 0.98765, 12.345, 1234567.0, 0.012345, math.inf, math.nan, None)
    ]
    assert shown == ["1.000", "0.988", "12.3", "1.23e+06", "0.0123", "from 0", "-", "-"]
    assert figures.interval(0.5, math.inf) == "[0.500, open]"
    assert figures.interval(math.inf, math.inf) == ""
    assert figures.interval(math.nan, 2.0) == ""


def test_counts_and_shares() -> None:
    assert figures.count(1, "row") == "1 row" and figures.count(1200, "row") == "1,200 rows"
    assert figures.count(2, "series", "series") == "2 series"
    assert figures.percent(0.015) == "1.5 %"


def test_a_name_has_its_parameters() -> None:
    series = Series("gemm.matmul.latency", ("n", "dtype"))
    assert figures.name(Key("gemm.matmul", "latency"), series) == "gemm.matmul"
    named = figures.name(Key("gemm.matmul", "latency", ("256", "'float32'")), series)
    assert named == "gemm.matmul(n=256, dtype='float32')"
    unnamed = figures.name(Key("time_it", "time", ("256", "7")), Series("time_it", ("n",)))
    assert unnamed == "time_it(n=256, 7)"


def test_a_name_cannot_command_the_terminal() -> None:
    name = figures.name(Key("a", "latency", ("'\x1b[31m\n'",)), Series("a.latency", ("x",)))
    assert name == "a(x=' [31m ')"


def test_wide_letters_take_two_columns() -> None:
    assert figures.columns("矩阵a") == 5
    assert figures.left("矩阵", 6) == "矩阵  " and figures.right("矩阵", 6) == "  矩阵"


def test_shares_are_percents_and_their_differences_points() -> None:
    shown = [figures.quantity(one, "share") for one in (0.0, 1e-7, 0.0007, 0.001, 0.018, 0.1, 0.1234, 1.0)]
    assert shown == ["0 %", "0.00 %", "0.07 %", "0.100 %", "1.80 %", "10 %", "12.3 %", "100 %"]
    assert figures.pair(0.1, 0.35, "share") == ("10 %", "35 %")
    assert figures.change(-0.031, "share") == "-3.1 points"
    assert figures.around(0.5, 0.25, 0.75, "share") == "[25, 75 %]"
    assert figures.interval_of_points(0.011, -0.05) == "[+1.1, -5.0]"
    assert figures.interval_of_points(-math.inf, math.inf) == ""


def test_counts_have_no_unit() -> None:
    assert [figures.quantity(one, "count") for one in (0.0, 2.0, 12.5)] == ["0", "2", "12.5"]


def test_a_part_has_the_digits_of_the_whole() -> None:
    parts = [figures.part(one, 1.2e-3, "seconds") for one in (0.95e-3, -0.05e-3, 1e-6, 0.0)]
    assert parts == ["+0.95 ms", "-0.05 ms", "+1.00 us", "+0 s"]
    assert figures.part(1e-6, 0.0, "seconds") == "+1.00 us"
