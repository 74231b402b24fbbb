"""Waits in a trace that torch's own profiler wrote, on the simulated device."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.trace.waits import CAUSES, HOST_LATE, STREAM, SYNC, UNKNOWN
from tests.simulated_device.scripts import last_line

pytest.importorskip("torch")
pytestmark = [pytest.mark.simulated, pytest.mark.parametrize("form", ["sim", "cuda"])]

SCRIPT = Path(__file__).with_name("simulated_waits.py")


@cache
def facts(form: str) -> dict[str, Any]:
    told: dict[str, Any] = last_line(SCRIPT, form)
    told["lines"] = {name: line(told, name) for name in told["begins"]}
    return told


def line(told: dict[str, Any], function: str, statement: int = 0) -> str:
    """Of the line a function begins on, or so many after it."""
    return f"simulated_waits.py:{told['begins'][function] + statement} {function}"


def test_gaps(form: str) -> None:
    told = facts(form)
    gaps, lines = told["gaps"], told["lines"]
    assert sum(gap["end"] - gap["begin"] for gap in gaps) == told["idle"]
    assert {gap["cause"] for gap in gaps} <= {*CAUSES} - {UNKNOWN}
    late = Counter(gap["source"] for gap in gaps if gap["cause"] == HOST_LATE)
    # A busy machine may hold up the device, or the host where it hurries.
    assert late.most_common(1)[0][0] == lines["submits_late"]
    assert STREAM in {gap["cause"] for gap in gaps}
    read = Counter(gap["source"] for gap in gaps if gap["cause"] == SYNC)
    assert read[lines["reads_a_value"]] in range(1, told["steps"] + 1)


def test_launches(form: str) -> None:
    told = facts(form)
    launches = told["launches"]
    assert not launches["skewed"]
    assert launches["depth_max"] >= 3  # of the six that are submitted at once
    # The steps' ends are waited for, so each has a stretch of its own; the first of 7 rows comes after a copy.
    assert {one["source"] for one in launches["stretches"]} == {told["lines"]["submits_late"]}
    assert {one["rows"] for one in launches["stretches"]} <= {5, 6, 7}
    assert 0 < launches["launch_bound_share"] < 1


def test_copies(form: str) -> None:
    told = facts(form)
    (copy,) = [one for one in told["copies"] if one["direction"] == "HtoD"]
    assert (copy["count"], copy["bytes"]) == (told["steps"], told["steps"] * 64 * 64 * 4)
    assert (copy["pageable"], copy["blocking"], copy["small"]) == (told["steps"],) * 3
    assert (copy["source"], copy["operator"]) == (told["lines"]["sends_a_batch"], "aten::to")


def test_syncs(form: str) -> None:
    told = facts(form)
    read = [one for one in told["syncs"] if one["operator"] == "aten::item"]
    assert [(one["count"], one["source"], one["own"]) for one in read] == [
        (told["steps"], told["lines"]["reads_a_value"], False)
    ]
    whole = [one for one in told["syncs"] if one["kind"] == "device"]
    assert whole and all(one["own"] for one in whole)
    assert sum(one["count"] for one in whole) >= told["steps"]


def test_a_backward_pass_has_the_lines_of_its_forward_pass(form: str) -> None:
    told = facts(form)
    assert told["backward"] == [told["lines"]["forward_pass"]] * told["steps"]
    assert told["with_lines"]["backward"] == [line(told, "forward_pass", 1)] * told["steps"]


def test_lines_of_statements(form: str) -> None:
    told = facts(form)
    found = told["with_lines"]
    read = [one["source"] for one in found["syncs"] if one["operator"] == "aten::item"]
    assert read == [line(told, "reads_a_value", 1)]
    assert [one["source"] for one in found["copies"] if one["direction"] == "HtoD"] == [
        line(told, "sends_a_batch", 1)
    ]
    # `mul` is called two lines further down, after the loop and a sleep.
    assert {one["source"] for one in found["launches"]["stretches"]} == {line(told, "submits_late", 4)}
