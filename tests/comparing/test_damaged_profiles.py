"""A kept profile with wrong things in it: read as far as it goes, by whoever reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from dcu_asv_ext.comparing import profile_changes_json, profile_changes_text
from dcu_asv_ext.comparing.profile_changes import ProfilesDiffer, compare_profiles
from dcu_asv_ext.comparing.reading import is_sound
from dcu_asv_ext.comparing.table import Style
from dcu_asv_ext.evidence.summary import outcome
from dcu_asv_ext.evidence.thinning import thin

from .measured import record
from .profiles import profile

TABLES = ("kernels", "operators", "copies", "syncs", "gaps")
WRONG: list[Any] = [
    *(None, True, 5, -1, 1.5, 10**400, float("nan"), float("inf"), 1e308, "", "x"),
    *([], [1], [[]], [[1, 2]], [None], {}, {"a": 1}, {"a": [{}]}),
]
WHOLE = {
    **profile(
        copies=[("HtoD", 2, 64, 1e-5, "m.py:1 f")],
        syncs=[("device", "hipDeviceSynchronize", 1, 1e-4, "m.py:2 f")],
        gaps=[("the host was late", 3, 1e-5, "m.py:3 f")],
    ),
    "seconds": [1e-3],
    "stacks": False,
    "first": False,
    "totals": {},
    "varies": {},
    "findings": [],
    "trace": None,
}


def damaged() -> Iterator[dict[str, Any]]:
    """Every part of a profile, figures and cells too, with each wrong thing instead."""
    for value in WRONG:
        for name in WHOLE:
            yield {**WHOLE, name: value}
        for metric in (*WHOLE["per_call"], "sync_count", "overlap_share"):
            yield {**WHOLE, "per_call": {**WHOLE["per_call"], metric: value}}
        for table in TABLES:
            row = WHOLE[table][0]
            for cell in range(len(row)):
                yield {**WHOLE, table: [[*row[:cell], value, *row[cell + 1 :]], row]}


def measured(kept: Any) -> dict[str, Any]:
    return json.loads(  # type: ignore[no-any-return]
        json.dumps(record(1, metrics=["latency", "kernel_count", "idle_share"], profile=kept))
    )


def read_by_all(before: dict[str, Any], after: dict[str, Any]) -> None:
    for one in (before, after):
        for metric in one["metrics"]:
            outcome(one, metric)
        thin(one)
    try:
        change = compare_profiles([before], [after])
    except ProfilesDiffer:
        return
    assert profile_changes_text.render(change, Style(80))
    json.dumps(profile_changes_json.to_json(change), allow_nan=False)


def test_no_reader_is_stopped_by_one() -> None:
    whole = measured(WHOLE)
    read = 0
    for kept in damaged():
        one = measured(kept)
        if is_sound(one):
            read_by_all(one, whole)
            read_by_all(whole, one)
            read += 1
    assert read > 500


@pytest.mark.parametrize("per_call", [None, [1], "x", 5, True, []])
def test_figures_that_are_no_group_are_missing(per_call: Any) -> None:
    one = measured({**WHOLE, "per_call": per_call})
    assert is_sound(one), "its latency is as good as ever"
    found = outcome(one, "kernel_count")
    assert (found.state, found.reason) == ("missing", "this measurement has no such figure")


@pytest.mark.parametrize(
    "change",
    [
        {"profile": {**WHOLE, "per_call": {"kernel_count": 10**400}}},
        {"memory": {"peak_allocated": -(10**400)}},
        {"times": {"latency": [1, 10**400]}},
    ],
)
def test_an_integer_beyond_every_float_is_no_figure(change: dict[str, Any]) -> None:
    assert is_sound(record(1)) and not is_sound({**record(1), **change})
