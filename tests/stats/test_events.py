"""What a third of a suite's benchmarks show at one commit is one event of the machine."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from dcu_asv_ext.stats.changes import ChangePoint, change_points
from dcu_asv_ext.stats.events import MachineEvent, machine_events
from dcu_asv_ext.stats.moves import SeriesChanges

ALWAYS = range(60)


def point(
    index: int, ratio: float = 1.1, first: int | None = None, last: int | None = None, pending: bool = False
) -> ChangePoint:
    first, last = first or index, last or index
    return ChangePoint(index, 1.0, ratio, ratio, ratio, ratio, first, last, pending, "regression", 1e-6, "")


def series(
    name: str,
    *points: ChangePoint,
    unit: str = "seconds",
    exact: bool = False,
    places: Sequence[int] = ALWAYS,
) -> SeriesChanges:
    return SeriesChanges(name, unit, exact, places, [1.0] * len(places), points)


def moved(number: int, at: int = 20, letter: str = "m") -> list[SeriesChanges]:
    return [series(f"{letter}{one}", point(at)) for one in range(number)]


def still(number: int, **more: object) -> list[SeriesChanges]:
    return [series(f"still{one}", **more) for one in range(number)]


def figures(event: MachineEvent) -> tuple[int, int, int]:
    return event.place, event.moved, event.benchmarks


def numbers(event: MachineEvent) -> list[int]:
    return [number for number, _ in event.members]


class TestVotes:
    def test_a_shared_change_is_one_event(self) -> None:
        suite = [
            *(series(f"m{k}", point(20 + k // 3)) for k in range(4)),
            series("own", point(50)),
            *still(5),
        ]
        (event,) = machine_events(suite)
        assert figures(event) == (20, 4, 10)
        assert event.unit == "seconds"
        assert event.members == ((0, 0), (1, 0), (2, 0), (3, 0))

    def test_members_are_told_by_their_position_among_the_points(self) -> None:
        suite = [series(f"m{k}", *([point(5)] if k == 1 else []), point(20)) for k in range(3)]
        assert machine_events(suite)[0].members == ((0, 0), (1, 1), (2, 0))

    @pytest.mark.parametrize(("moving", "others", "events"), [(3, 6, 1), (3, 7, 0), (2, 0, 0), (0, 0, 0)])
    def test_a_third_and_no_fewer_than_three(self, moving: int, others: int, events: int) -> None:
        assert len(machine_events([*moved(moving), *still(others)])) == events

    def test_only_what_was_measured_there_counts(self) -> None:
        suite = [*moved(3), *still(3), *still(30, places=range(22, 60))]
        assert figures(machine_events(suite)[0]) == (20, 3, 6)
        assert machine_events([*moved(3), *still(3), *still(30, places=range(21, 60))]) == []

    def test_too_short_a_series_does_not_vote(self) -> None:
        suite = [*moved(3), *still(7, places=range(18, 23))]
        assert figures(machine_events(suite)[0]) == (20, 3, 3)
        assert machine_events(suite, min_segment=4) == []

    def test_commits_are_as_far_apart_as_measured_ones_between_them(self) -> None:
        rare = range(0, 600, 10)
        suite = [series(f"m{k}", point(20 + k // 2), places=rare) for k in range(3)]
        assert figures(machine_events(suite)[0]) == (200, 3, 3)
        assert machine_events([*suite, *still(1, places=range(600))]) == []

    def test_units_vote_apart(self) -> None:
        suite = [
            *moved(3),
            *still(60, unit="bytes"),
            *(series(f"b{k}", point(20), unit="x") for k in range(2)),
        ]
        (event,) = machine_events(suite)
        assert figures(event) == (20, 3, 3)
        assert numbers(event) == [0, 1, 2]

    def test_exact_series_neither_vote_nor_belong(self) -> None:
        assert machine_events([series(f"m{k}", point(20), exact=True) for k in range(9)]) == []
        (event,) = machine_events([series("m0", point(20), exact=True), *moved(3), *still(30, exact=True)])
        assert figures(event) == (20, 3, 3)
        assert numbers(event) == [1, 2, 3]


class TestBenchmarks:
    def test_one_has_one_vote_however_many_series(self) -> None:
        many = [series("gemm", point(20)) for _ in range(50)]
        assert machine_events([*many, *still(2)]) == []
        (event,) = machine_events([*many, *moved(2), *still(6)])
        assert figures(event) == (20, 3, 9)
        assert len(event.members) == 52

    def test_it_moved_when_a_third_of_its_series_did(self) -> None:
        suite = [*moved(3), *(series(f"m{k}") for k in range(3) for _ in range(2))]
        assert figures(machine_events(suite)[0]) == (20, 3, 3)
        assert machine_events([*suite, series("m0")]) == []

    def test_its_series_may_differ_by_a_commit(self) -> None:
        suite = [*(series("gemm", point(at)) for at in (21, 21, 20, 45)), *moved(2)]
        (event,) = machine_events(suite)
        assert figures(event) == (20, 3, 3)
        assert numbers(event) == [0, 1, 2, 4, 5]

    def test_many_series_do_not_say_how_far_the_machine_moved(self) -> None:
        many = [series("gemm", point(20, 3.0)) for _ in range(50)]
        (event,) = machine_events([*many, *moved(4), *still(5)])
        assert numbers(event) == [50, 51, 52, 53]


class TestMembers:
    def test_what_can_lie_there(self) -> None:
        suite = [
            *moved(3),
            series("a", point(24, first=20, last=26)),
            series("b", point(24, first=21, last=26)),
            series("c", point(15, first=10, last=20)),
            series("d", point(15, first=10, last=19)),
        ]
        (event,) = machine_events(suite)
        assert numbers(event) == [0, 1, 2, 3, 5]
        assert figures(event) == (20, 5, 7)

    def test_a_pending_one_lies_among_the_last_values(self) -> None:
        suite = [*moved(3, 58), *(series(f"p{at}", point(at, pending=True)) for at in (54, 53))]
        assert numbers(machine_events(suite)[0]) == [0, 1, 2, 3]
        suite = [*moved(3, 54), *(series(f"p{at}", point(at, pending=True)) for at in (58, 59))]
        assert numbers(machine_events(suite)[0]) == [0, 1, 2, 3]

    def test_of_two_events_the_nearer_has_it(self) -> None:
        """Even all of one event's changes may be able to lie at the other."""
        wide = [series(f"w{k}", point(28, first=15, last=30)) for k in range(3)]
        first, second = machine_events([*moved(3), *wide])
        assert (figures(first), numbers(first)) == ((20, 3, 6), [0, 1, 2])
        assert (figures(second), numbers(second)) == ((28, 3, 6), [3, 4, 5])

    def test_of_two_changes_of_a_series_the_nearer_belongs(self) -> None:
        both = series("both", point(14, first=10, last=22), point(23, first=18, last=26))
        (event,) = machine_events([*moved(3), both])
        assert event.members[3:] == ((3, 1),)

    def test_not_what_moved_much_further_or_the_other_way(self) -> None:
        suite = [*moved(5), series("far", point(20, 3.0)), series("back", point(20, 0.7))]
        (event,) = machine_events(suite)
        assert figures(event) == (20, 7, 7)
        assert numbers(event) == [0, 1, 2, 3, 4]

    def test_how_far_is_much_depends_on_the_others(self) -> None:
        """Seven ratios from 1.1 to 1.7, and the deviation's middle is about 0.15."""
        ratios = [1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 2.5, 9.0]
        (event,) = machine_events([series(f"m{one}", point(20, one)) for one in ratios])
        assert numbers(event) == list(range(8))

    @pytest.mark.parametrize("ratio", [math.inf, 0.0])
    def test_not_a_change_from_or_to_zero(self, ratio: float) -> None:
        (event,) = machine_events([*moved(3), series("zero", point(20, ratio))])
        assert numbers(event) == [0, 1, 2]
        assert machine_events([series(f"m{k}", point(20, ratio)) for k in range(3)]) == []

    def test_both_directions_may_be_one_machines(self) -> None:
        ratios = [1.25, 0.8, 1.2, 0.85, 1.0]
        (event,) = machine_events([series(f"m{one}", point(20, one)) for one in ratios])
        assert numbers(event) == [0, 1, 2, 3, 4]


class TestSeveral:
    def test_in_commit_order(self) -> None:
        suite = [series(f"m{k}", point(10), point(30), *([point(50)] if k else [])) for k in range(4)]
        assert [figures(event) for event in machine_events(suite)] == [(10, 4, 4), (30, 4, 4), (50, 3, 4)]
        other = [series(f"m{k}", point(20), unit="x") for k in range(3)]
        assert [event.place for event in machine_events([*suite, *other])] == [10, 20, 30, 50]

    def test_neighbours_share_no_change_and_the_larger_is_first(self) -> None:
        suite = [*moved(3, 20, "a"), *moved(4, 21, "b"), *moved(4, 23, "c")]
        first, second = machine_events(suite)
        assert (figures(first), numbers(first)) == ((21, 7, 11), list(range(7)))
        assert (figures(second), numbers(second)) == ((23, 4, 11), [7, 8, 9, 10])

    def test_also_when_votes_were_taken_from_one_that_was_larger(self) -> None:
        """At 22 nine could vote; three of these are the first event's, and then 23 has more."""
        votes = {19: 5, 20: 1, 21: 3, 22: 1, 23: 5, 24: 2}
        suite = [one for at, number in votes.items() for one in moved(number, at, f"at{at}-")]
        assert [figures(event) for event in machine_events(suite)] == [(19, 9, 17), (23, 8, 17)]

    def test_where_most_changes_fit_and_the_first_of_these(self) -> None:
        suite = [*moved(2, 20, "a"), *moved(2, 21, "b")]
        assert [figures(event) for event in machine_events(suite)] == [(20, 4, 4)]
        suite += moved(1, 21, "c")
        assert [figures(event) for event in machine_events(suite)] == [(21, 5, 5)]

    def test_what_a_larger_event_took_is_lost_to_the_next(self) -> None:
        suite = [*moved(4, 20, "a"), *moved(2, 21, "b"), *moved(2, 22, "c")]
        (event,) = machine_events(suite)
        assert numbers(event) == list(range(6))

    def test_a_series_that_changes_twice_there_votes_with_the_nearer(self) -> None:
        suite = [series(f"m{k}", point(10), point(11)) for k in range(4)]
        events = machine_events(suite)
        assert [(event.place, event.members) for event in events] == [
            (10, ((0, 0), (1, 0), (2, 0), (3, 0))),
            (11, ((0, 1), (1, 1), (2, 1), (3, 1))),
        ]
        events = machine_events([*suite, *moved(3, 11, "n")])
        assert [figures(event) for event in events] == [(10, 7, 7), (11, 7, 7)]


def test_with_real_change_points() -> None:
    values = [[1.0 + k] * 20 + [(1.0 + k) * 1.2] * 20 for k in range(3)]
    suite = [series(f"m{k}", *change_points(row), places=range(40)) for k, row in enumerate(values)]
    (event,) = machine_events([*suite, *still(1, places=range(40))])
    assert (figures(event), numbers(event)) == ((20, 3, 4), [0, 1, 2])
