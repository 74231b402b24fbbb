"""The operator table against torch's own of the same run, on the CPU and on both forms of the simulated device."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.simulated_device.scripts import last_line

pytest.importorskip("torch")

SCRIPT = Path(__file__).with_name("profiled_operators.py")
FORMS = ["cpu", *(pytest.param(form, marks=pytest.mark.simulated) for form in ("cuda", "sim"))]
#: The trace has times in us with three digits, and so each call is up to 2 ns off.
DIGITS = 0.002


@cache
def tables(form: str) -> Any:
    return last_line(SCRIPT, form)


@pytest.mark.parametrize("grouping", ["by name", "by shape"])
@pytest.mark.parametrize("form", FORMS)
class TestAgainstTorch:
    def test_the_same_rows(self, form: str, grouping: str) -> None:
        told = tables(form)[grouping]
        assert set(told["ours"]) == set(told["torch"])
        assert len(told["ours"]) > 40

    @pytest.mark.parametrize("column", ["calls", "self_cpu", "self_device"])
    def test_calls_and_self_times_are_torchs(self, form: str, grouping: str, column: str) -> None:
        told = tables(form)[grouping]
        for key, row in told["torch"].items():
            assert told["ours"][key][column] == pytest.approx(row[column], abs=DIGITS * row["calls"]), key
        assert sum(row["self_device"] for row in told["ours"].values()) > 0 or form == "cpu"

    @pytest.mark.parametrize("column", ["cpu", "device"])
    def test_totals_are_torchs_each_counted_once(self, form: str, grouping: str, column: str) -> None:
        told = tables(form)[grouping]
        for key, row in told["torch"].items():
            once = row[f"{column}_once"]
            assert told["ours"][key][column] == pytest.approx(once, abs=DIGITS * row["calls"]), key

    def test_host_totals_of_operators_that_do_not_call_themselves_are_torchs(
        self, form: str, grouping: str
    ) -> None:
        told = tables(form)[grouping]
        plain = {key: row for key, row in told["torch"].items() if not row["nested"]}
        assert len(plain) > 30
        for key, row in plain.items():
            assert told["ours"][key]["cpu"] == pytest.approx(row["cpu"], abs=DIGITS * row["calls"]), key
            assert told["ours"][key]["nested"] == 0, key


@pytest.mark.simulated
@pytest.mark.parametrize("form", ["cuda", "sim"])
def test_there_are_operators_that_call_themselves(form: str) -> None:
    told = tables(form)["by name"]
    nested = {key: row for key, row in told["torch"].items() if row["nested"]}
    assert nested
    for key, row in nested.items():
        assert told["ours"][key]["nested"] == row["nested"], key
        assert told["ours"][key]["cpu"] < row["cpu"], key
