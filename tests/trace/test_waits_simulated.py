"""Waits in a trace that torch's own profiler wrote, on the simulated device."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.trace.waits import CAUSES, COPY, HOST_LATE, UNKNOWN
from tests.simulated_device.scripts import last_line

pytest.importorskip("torch")
pytestmark = [pytest.mark.simulated, pytest.mark.parametrize("form", ["sim", "cuda"])]

SCRIPT = Path(__file__).with_name("simulated_waits.py")


@cache
def facts(form: str) -> dict[str, Any]:
    told: dict[str, Any] = last_line(SCRIPT, form)
    return told


def test_gaps(form: str) -> None:
    told = facts(form)
    gaps, lines = told["gaps"], told["lines"]
    assert sum(gap["end"] - gap["begin"] for gap in gaps) == told["idle"]
    assert {gap["cause"] for gap in gaps} <= {*CAUSES} - {UNKNOWN}
    late = Counter(gap["source"] for gap in gaps if gap["cause"] == HOST_LATE)
    # The first of 7 comes after a copy that may have been done before the host waited for it.
    assert late[lines["submits_late"]] in range(told["steps"] * 6, told["steps"] * 7 + 1)
    assert lines["submits_ahead"] not in late
    read = Counter(gap["source"] for gap in gaps if gap["cause"] == COPY)
    assert read[lines["reads_a_value"]] == told["steps"]


def test_launches(form: str) -> None:
    told = facts(form)
    launches = told["launches"]
    assert not launches["skewed"]
    assert launches["depth_max"] >= 3  # of the six that are submitted at once
    # The steps' ends are waited for, so each has a stretch of its own.
    assert [one["source"] for one in launches["stretches"]] == [told["lines"]["submits_late"]] * told["steps"]
    assert {one["rows"] for one in launches["stretches"]} <= {6, 7}
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
