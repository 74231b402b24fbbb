from __future__ import annotations

import pytest

from dcu_asv_ext.trace import units


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(None, "-"), (0, "0"), (1, "1.00 ns"), (999.4, "999 ns"), (999.6, "1.00 us"), (12_345, "12.3 us"),
     (999_600, "1.00 ms"), (3.5e9, "3.50 s"), (1.2e12, "1200 s"), (-2_000, "-2.00 us"), (0.5, "0.50 ns")],
)  # fmt: skip
def test_time(nanoseconds: float | None, text: str) -> None:
    assert units.time(nanoseconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, "-"), (0, "0"), (512, "512 B"), (1024, "1.00 KiB"), (-3 << 20, "-3.00 MiB"), (5 << 30, "5.00 GiB"),
     (2 << 40, "2.00 TiB")],
)  # fmt: skip
def test_size(count: float | None, text: str) -> None:
    assert units.size(count) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0 %"), (0.034, "3.4 %"), (0.0996, "10 %"), (1, "100 %")])
def test_share(value: float, text: str) -> None:
    assert units.share(value) == text


def test_count() -> None:
    assert [units.count(number, "call") for number in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]
