"""Rounds that were throttled, or shared their card."""

from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.comparing.deciding import report
from dcu_asv_ext.comparing.disturbed import contended, throttled
from dcu_asv_ext.comparing.model import Key
from tests.comparing.measured import PARAMS, latency_side, read, record

FELL = "the core clock fell to 0.71 of the warm-up's: this round is throttled"
THROTTLED = {"sampled": {"marks": [f"host_time: {FELL}", f"latency: {FELL}"]}}


def test_they_are_counted_beside_the_side() -> None:
    records = [
        record(1, **THROTTLED),
        record(2),
        record(3, state={"contended": True, "others": {"count": 1}}),
    ]
    side = latency_side(records)
    assert [bool(one.throttled) for one in side.rounds] == [True, False, False]
    assert [one.contended for one in side.rounds] == [False, False, True]
    assert side.notes[-2:] == (
        f"1 of 3 rounds was throttled ({FELL})",
        "1 of 3 rounds was measured on a card that others used",
    )


def test_a_mark_is_of_its_pass_alone() -> None:
    found = read([record(1, **THROTTLED)])
    assert found.sides[Key("gemm.matmul", "device_time", PARAMS)].rounds[0].throttled == ""
    assert throttled({**record(1), **THROTTLED}, "host_time") == FELL


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, False),
        ({"state": {"contended": False}}, False),
        ({"state": {"contended": True}}, True),
        ({"memory": {"card": {"contended": True}}}, True),
        ({"memory": {"card": "?"}, "state": {"contended": "?"}}, False),
    ],
)
def test_a_card_is_shared_where_it_was_seen(changes: dict[str, Any], expected: bool) -> None:
    assert contended(record(1, **changes)) is expected


@pytest.mark.parametrize("marks", [None, 3, [], [3], "latency: text", ["latency"]])
def test_marks_in_another_shape_are_none(marks: Any) -> None:
    assert throttled({"sampled": {"marks": marks}}, "latency") == ""


def test_the_report_names_them_once() -> None:
    shared = {"state": {"contended": True}}
    before = read([record(1, **THROTTLED), record(2)])
    after = read([record(1, **shared), record(2, **shared)])
    notes = [one for one in report([before], [after]).notes if "rounds" in one]
    name = "gemm.matmul(n=256, dtype='float32')"
    assert notes == [
        f"before: {name} latency: 1 of 2 rounds was throttled ({FELL})",
        f"after: {name}: 2 of 2 rounds were measured on a card that others used",
    ]
