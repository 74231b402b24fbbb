"""Where some benchmarks of a suite have a change point, the others are asked whether they moved there too."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from dcu_asv_ext.stats import second_look
from dcu_asv_ext.stats.boundary import Step
from dcu_asv_ext.stats.changes import ChangePoint, change_points
from dcu_asv_ext.stats.events import MachineEvent, machine_events
from dcu_asv_ext.stats.moves import SeriesChanges

from .histories import Values, noisy, stepped

COUNT, AT = 80, 40


def series(name: str, values: Sequence[float] | Values, *points: ChangePoint) -> SeriesChanges:
    return SeriesChanges(name, "seconds", False, range(len(values)), [float(one) for one in values], points)


def point(at: int, ratio: float, first: int | None = None, last: int | None = None) -> ChangePoint:
    verdict = "regression" if ratio > 1 else "improvement"
    return ChangePoint(at, 1.0, ratio, ratio, ratio, ratio, first or at, last or at, False, verdict, 1e-6, "")


def sure(number: int, ratio: float = 1.2, at: int = AT, letter: str = "sure") -> list[SeriesChanges]:
    """With a change point."""
    values = [1.0] * at + [ratio] * (COUNT - at)
    return [series(f"{letter}{one}", values, point(at, ratio)) for one in range(number)]


def others(
    number: int, size: float = 0.0, at: int = AT, kind: str = "normal", seed: int = 0, letter: str = "other"
) -> list[SeriesChanges]:
    """Without one: noise of 2 %, and a step of this size (logarithm)."""
    return [
        series(f"{letter}{one}", stepped(noisy(kind, COUNT, 1000 * seed + one), [at], [size]))
        for one in range(number)
    ]


def figures(suite: Sequence[SeriesChanges]) -> list[tuple[int, int, int]]:
    return [(event.place, event.moved, event.benchmarks) for event in machine_events(suite)]


def members(event: MachineEvent) -> list[int]:
    return [number for number, _ in event.members]


class TestAsked:
    def test_votes_of_those_that_moved_too_make_an_event(self) -> None:
        suite = [*sure(4, 1.03), *others(16, 0.03), *others(10, letter="still")]
        (event,) = machine_events(suite)
        assert (event.place, event.moved, event.benchmarks) == (AT, 20, 30)
        assert members(event) == [0, 1, 2, 3]

    def test_of_an_event_that_needs_no_more_votes_they_are_counted(self) -> None:
        assert figures([*sure(4), *others(6, 0.03)]) == [(AT, 10, 10)]
        assert figures([*sure(4), *others(6)]) == [(AT, 4, 10)]

    @pytest.mark.parametrize(
        ("number", "all_of_them", "asked"), [(3, 30, True), (3, 31, False), (2, 10, False)]
    )
    def test_by_a_tenth_and_no_fewer_than_three(self, number: int, all_of_them: int, asked: bool) -> None:
        suite = [*sure(number), *others(all_of_them - number, 0.04)]
        assert bool(figures(suite)) == asked

    @pytest.mark.parametrize(("down", "asked"), [(0, True), (2, True), (3, False)])
    def test_by_those_who_agree(self, down: int, asked: bool) -> None:
        suite = [*sure(4), *sure(down, 0.8, letter="down"), *others(18, 0.04)]
        assert bool(figures(suite)) == asked

    def test_whether_they_moved_the_same_way(self) -> None:
        assert figures([*sure(4), *others(16, -0.04)]) == []
        assert figures([*sure(4, 0.9), *others(16, -0.04)]) == [(AT, 20, 20)]
        assert figures([*sure(4, 0.9), *others(16, 0.04)]) == []

    def test_by_the_test_and_by_the_middle(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(second_look, "step_at", lambda *_: Step(0.2, 0.0, 0.2, evidence=9.0))
        assert figures([*sure(4), *others(6, 0.04)]) == [(AT, 10, 10)]
        assert figures([*sure(4), *others(6, -0.04)]) == [(AT, 4, 10)]
        monkeypatch.setattr(second_look, "step_at", lambda *_: Step(-0.2, 0.2, 0.0, evidence=9.0))
        assert figures([*sure(4), *others(6, 0.04)]) == [(AT, 4, 10)]

    def test_by_the_margin_at_least(self) -> None:
        quiet = [series(f"q{one}", [1.0] * AT + [1.0 + 0.0001 * (60 + one)] * AT) for one in range(16)]
        assert figures([*sure(4), *quiet]) == []
        assert [event.moved for event in machine_events([*sure(4), *quiet], margin=0.005)] == [20]

    def test_by_as_many_values_as_a_change_point_needs(self) -> None:
        short = [
            dataclasses.replace(one, places=range(30), values=one.values[10:40]) for one in others(9, 0.2, 35)
        ]
        at = [dataclasses.replace(one, places=range(30), values=one.values[:30]) for one in sure(4, at=25)]
        assert figures([*at, *short]) == [(25, 13, 13)]
        assert [event.moved for event in machine_events([*at, *short], min_segment=6)] == []

    def test_zeros_are_no_obstacle(self) -> None:
        rising = [series(f"z{one}", [0.0] * AT + [1.0 + one] * AT) for one in range(5)]
        assert figures([*sure(4, 2.0), *rising, *others(11)]) == [(AT, 9, 20)]
        assert figures([*sure(4, 0.5), *rising, *others(11)]) == []
        assert members(machine_events([*sure(4, 2.0), *rising])[0]) == [0, 1, 2, 3]


class TestWhere:
    def test_between_the_neighbouring_change_points(self) -> None:
        """Those that came back hide that they moved, unless it is known where they came back."""
        backs = [AT + away for away in (5, 7, 9) for _ in range(2)]
        hidden = [
            series(f"b{one}", stepped(noisy("normal", COUNT, one), [AT, back], [0.05, -0.05]))
            for one, back in enumerate(backs)
        ]
        known = [
            dataclasses.replace(one, points=[point(back, 0.95)])
            for one, back in zip(hidden, backs, strict=True)
        ]
        suite = [*sure(3, 1.05), *others(6)]
        assert figures([*suite, *known]) == [(AT, 9, 15)]
        assert figures([*suite, *hidden]) == []

    def test_between_the_neighbouring_events(self) -> None:
        came_back, dipped = (
            [
                series(f"b{one}", stepped(noisy("normal", COUNT, one), [at, at + 6], [size, -size]))
                for one in range(12)
            ]
            for at, size in ((AT, 0.05), (AT - 6, -0.05))
        )
        suite = sure(4, 1.05)
        assert figures([*suite, *came_back]) == figures([*suite, *dipped]) == []
        back, dip = sure(10, 0.95, AT + 6, "back"), sure(10, 0.95, AT - 6, "dip")
        assert figures([*suite, *came_back, *back]) == [(AT, 16, 26), (AT + 6, 10, 26)]
        assert figures([*suite, *dipped, *dip]) == [(AT - 6, 10, 26), (AT, 16, 26)]
        asked = [*dip[:6], *others(8, -0.05, AT - 6)]
        assert figures([*suite, *dipped, *asked]) == [(AT - 6, 14, 30), (AT, 16, 30)]

    def test_not_where_an_event_may_be_what_they_show(self) -> None:
        """What is left of an event, since its change points do not agree, is no other event."""
        wide, narrow = (
            [
                dataclasses.replace(one, points=[point(AT + 8, 1.2, first, AT + 9)])
                for one in sure(4, at=AT + 8, letter="late")
            ]
            for first in (AT, AT + 1)
        )
        late = others(6, 0.05, AT + 8)
        weak = others(4, 0.05, letter="weak")
        for left, places in ((wide, [AT]), (narrow, [AT, AT + 8])):
            events = machine_events([*sure(5), *weak, *left, *late])
            assert [event.place for event in events] == places

    def test_a_change_point_that_can_lie_there_is_a_vote(self) -> None:
        values = [1.0] * (AT + 8) + [1.2] * (COUNT - AT - 8)
        can, cannot = (
            [series(f"wide{one}", values, point(AT + 8, 1.2, first, AT + 12)) for one in range(3)]
            for first in (AT, AT + 1)
        )
        assert figures([*sure(3), *can, *others(12)]) == [(AT, 6, 18)]
        assert figures([*sure(3), *cannot, *others(12)]) == []

    def test_a_drift_of_the_suite_is_no_step(self) -> None:
        drifting = [series(f"d{one}", noisy("drift", COUNT, one)) for one in range(17)]
        assert figures([*sure(3), *drifting]) == []
        assert figures([*sure(3), *others(17, 0.03)]) != []


class TestSeveralSeries:
    """One series of three is enough, so each of them is tested at a third of the significance."""

    @pytest.mark.parametrize(
        ("each", "moving", "evidence", "moved"),
        [
            (1, 1, 2.01, 10),
            (1, 1, 1.99, 0),
            (3, 1, 2.47, 0),
            (3, 1, 2.48, 10),
            (4, 1, 9.0, 0),
            (4, 2, 2.31, 10),
        ],
    )
    def test_significance(
        self, monkeypatch: pytest.MonkeyPatch, each: int, moving: int, evidence: float, moved: int
    ) -> None:
        monkeypatch.setattr(second_look, "step_at", lambda *_: Step(0.2, 0.0, 0.2, evidence=evidence))
        values = [1.0] * AT + [1.2] * AT
        suite = sure(3)
        for one in range(7):
            suite += [series(f"b{one}", values if which < moving else [1.0] * COUNT) for which in range(each)]
        assert sum(event.moved for event in machine_events(suite)) == moved


class TestMembers:
    def test_what_moved_much_further_is_told_by_all_that_moved(self) -> None:
        """By change points alone, half of them triple."""
        suite = [*sure(4, 1.05), *sure(4, 3.0, letter="far"), *others(22, 0.05)]
        (event,) = machine_events(suite)
        assert (event.moved, members(event)) == (30, [0, 1, 2, 3])

    def test_nothing_is_the_machines_when_all_change_points_went_much_further(self) -> None:
        assert figures([*sure(4, 1.6), *others(16, 0.03)]) == []


class TestNoise:
    """Change points in the values themselves."""

    @pytest.mark.parametrize("kind", ["normal", "spikes", "correlated 0.3", "bimodal"])
    @pytest.mark.parametrize("share", [0.0, 0.15, 0.25])
    def test_does_not_make_a_regression_an_event(self, kind: str, share: float) -> None:
        for seed in range(4):
            assert machine_events(self.suite(kind, share, 0.1, seed)) == []

    @pytest.mark.parametrize("kind", ["normal", "spikes", "correlated 0.3", "bimodal"])
    def test_nor_does_it_hide_an_event(self, kind: str) -> None:
        for seed in range(4):
            (event,) = machine_events(self.suite(kind, 1.0, 0.045, seed))
            assert abs(event.place - AT) <= 1
            assert event.moved >= 12

    def suite(self, kind: str, share: float, size: float, seed: int) -> list[SeriesChanges]:
        made = []
        for one in range(20):
            values = noisy(kind, COUNT, 1000 * seed + one)
            if one < round(share * 20):
                values = stepped(values, [AT], [size])
            made.append(series(f"b{one}", values, *change_points(values, include_pending=True)))
        return made


def test_the_significance_is_what_it_says() -> None:
    """Of still series less than 1 % seem to have moved, since a step of half the margin is not enough."""
    asked, moved = 0, 0
    for seed in range(40):
        suite = [*sure(20), *others(39, kind="correlated 0.3", seed=seed)]
        (event,) = machine_events(suite)
        asked, moved = asked + 39, moved + event.moved - 20
    assert moved / asked < np.float64(0.01)
