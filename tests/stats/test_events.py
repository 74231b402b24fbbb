"""What a third of a suite shows at one commit is one event of the machine."""

from __future__ import annotations

import math

import pytest

from dcu_asv_ext.stats.changes import ChangePoint, change_points
from dcu_asv_ext.stats.events import machine_events


def point(index: int, ratio: float = 1.1) -> ChangePoint:
    return ChangePoint(index, 1.0, ratio, ratio, ratio, ratio, index, index, False, "regression", 1e-6, "")


def test_a_shared_change_is_one_event() -> None:
    suite = {f"s{k}": [point(20 + k % 2, 1.0 + k / 10)] for k in range(4)}
    suite["own"] = [point(50)]
    suite.update({f"quiet{k}": [] for k in range(5)})
    (event,) = machine_events(suite)
    assert (event.first, event.last, event.share) == (20, 21, 0.4)
    assert event.ratio == pytest.approx(1.15)
    assert list(event.members) == ["s0", "s1", "s2", "s3"]
    assert event.members["s1"] is suite["s1"][0]


def test_fewer_than_a_third_or_than_three_is_no_event() -> None:
    assert machine_events({f"s{k}": [point(20)] if k < 3 else [] for k in range(10)}) == []
    assert len(machine_events({f"s{k}": [point(20)] if k < 3 else [] for k in range(9)})) == 1
    assert machine_events({"a": [point(20)], "b": [point(20)]}) == []
    assert machine_events({}) == []


def test_only_series_measured_there_count() -> None:
    suite = {f"s{k}": [point(20)] if k < 3 else [] for k in range(12)}
    late = [math.nan] * 25 + [1.0] * 15
    values = {f"s{k}": late if k >= 6 else [1.0] * 40 for k in range(12)}
    (event,) = machine_events(suite, values)
    assert event.share == 0.5
    with pytest.raises(ValueError, match="'s11' has change points but no values"):
        machine_events(suite, {series: values[series] for series in values if series != "s11"})


def test_both_directions_and_two_events() -> None:
    suite = {k: [point(10, 1.2 if k % 2 else 0.8), point(12), point(30, 0.5)] for k in range(5)}
    events = machine_events(suite)
    assert [(event.first, event.last, len(event.members)) for event in events] == [
        (10, 10, 5),
        (12, 12, 5),
        (30, 30, 5),
    ]


def test_a_point_belongs_to_one_event_and_the_nearest_counts() -> None:
    suite = {k: [point(10), point(11)] for k in range(4)}
    events = machine_events(suite)
    assert [[member.index for member in event.members.values()] for event in events] == [[10] * 4, [11] * 4]


def test_a_bad_share() -> None:
    with pytest.raises(ValueError, match="share"):
        machine_events({}, share=0.0)


def test_with_real_change_points() -> None:
    values = {k: [1.0 + k] * 20 + [(1.0 + k) * 1.2] * 20 for k in range(3)}
    values[3] = [1.0] * 40
    (event,) = machine_events({k: change_points(row) for k, row in values.items()}, values)
    assert (event.first, event.share, sorted(event.members)) == (20, 0.75, [0, 1, 2])
