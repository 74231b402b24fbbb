from __future__ import annotations

import dataclasses
import math

import pytest

from dcu_asv_ext.comparing.events import split_events
from dcu_asv_ext.comparing.history import Change, Timeline, changes_of

from .histories import change, timeline


def _stepping(place: int, ratio: float, benchmark: str, **more: object) -> tuple[Timeline, Change]:
    line = timeline([1.0] * place + [ratio] * (30 - place), benchmark, **more)
    return line, change(line, place, "regression" if ratio > 1 else "improvement")


def _still(number: int, **more: object) -> list[Timeline]:
    return [timeline([1.0] * 30, f"still.b{one}", **more) for one in range(number)]


def _split(moved: list[tuple[Timeline, Change]], still: list[Timeline]) -> tuple[list[Change], list]:
    return split_events([*(line for line, _ in moved), *still], [one for _, one in moved])


def test_a_third_of_the_benchmarks_is_an_event() -> None:
    moved = [_stepping(12, 1.1 + number / 100, f"m.b{number}") for number in range(4)]
    alone, (event,) = _split(moved, _still(8))
    assert alone == [] and set(event.members) == {one for _, one in moved}
    assert (event.place, event.after, event.upto) == (12, 11, 12)
    assert (event.moved, event.benchmarks, event.kind) == (4, 12, "regression")
    assert event.ratio == pytest.approx(1.115)


def test_less_than_a_third_is_none() -> None:
    moved = [_stepping(12, 1.1, f"m.b{number}") for number in range(4)]
    alone, events = _split(moved, _still(9))
    assert events == [] and len(alone) == 4


def test_the_metrics_of_one_function_are_one_vote() -> None:
    """One function's five metrics are most of this suite's series."""
    names = ("latency", "device_time", "cold_start", "host_time", "process_wall")
    moved = [_stepping(12, 1.5, "gemm.matmul", metric=name) for name in names]
    alone, events = _split(moved, _still(3))
    assert events == [] and len(alone) == 5


def test_a_benchmark_votes_when_a_third_of_its_series_moved() -> None:
    metrics = ("latency", "device_time", "cold_start")
    moved = [_stepping(12, 1.1, f"m.b{number}") for number in range(3)]
    for number in range(3):
        still = [timeline([1.0] * 30, f"m.b{number}", name) for name in metrics[1:]]
        assert _split(moved, still)[1][0].benchmarks == 3
    diluted = [timeline([1.0] * 30, f"m.b{number}", f"x{one}") for number in range(3) for one in range(3)]
    assert _split(moved, diluted)[1] == []


def test_memory_does_not_vote_on_time() -> None:
    moved = [_stepping(12, 1.1, f"m.b{number}") for number in range(3)]
    memory = [*_still(60, metric="peak_allocated", unit="bytes")]
    (event,) = _split(moved, memory)[1]
    assert event.unit == "seconds" and event.benchmarks == 3


def test_exact_series_are_no_machines() -> None:
    moved = [_stepping(12, 2.0, f"m.b{number}", exact=True, unit="count") for number in range(9)]
    alone, events = _split(moved, [])
    assert events == [] and len(alone) == 9


def test_machines_do_not_vote_together() -> None:
    moved = [_stepping(12, 1.1, f"m.b{number}", machine=f"host{number}") for number in range(3)]
    assert _split(moved, [])[1] == []


def test_what_fits_best_at_a_neighbouring_commit_is_a_member_too() -> None:
    """It says nothing about where the event lies."""
    moved = [_stepping(place, 1.1, f"m.b{number}") for number, place in enumerate((11, 12, 12, 12, 13))]
    alone, (event,) = _split(moved, [])
    assert alone == [] and len(event.members) == 5
    assert (event.place, event.after, event.upto) == (12, 11, 12)


def test_series_with_negative_values_do_not_vote() -> None:
    moved = [_stepping(12, 1.1, f"m.b{number}") for number in range(3)]
    negative = [timeline([-1.0] * 30, f"n.b{number}") for number in range(9)]
    assert _split(moved, negative)[1][0].benchmarks == 3


def test_what_can_lie_at_the_events_commit_is_a_member_too() -> None:
    moved = [_stepping(12, 1.1, f"m.b{number}") for number in range(3)]
    line = timeline([1.0] * 16 + [1.1] * 14, "m.late")
    near = change(line, 16, behind=5)
    sure = change(line, 16, behind=4)
    assert near in _split([*moved, (line, near)], [])[1][0].members
    assert _split([*moved, (line, sure)], [])[0] == [sure]
    early = timeline([1.0] * 9 + [1.1] * 21, "m.early")
    last, sooner = (
        Change(early, 9, 8, upto, dataclasses.replace(change(early, 9).point, last=upto)) for upto in (12, 11)
    )
    assert last in _split([*moved, (early, last)], [])[1][0].members
    assert _split([*moved, (early, sooner)], [])[0] == [sooner]


def test_what_moved_much_further_is_a_change_of_its_own() -> None:
    moved = [_stepping(12, 1.1, f"m.b{number}") for number in range(6)]
    worse, other_way = _stepping(12, 3.0, "gemm.matmul"), _stepping(12, 0.7, "gemm.other")
    alone, (event,) = _split([*moved, worse, other_way], [])
    assert set(alone) == {worse[1], other_way[1]} and len(event.members) == 6


def test_how_far_is_much_depends_on_the_others() -> None:
    """What two machines differ in is not the same for all benchmarks."""
    ratios = (1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7)
    moved = [_stepping(12, ratio, f"m.b{ratio}") for ratio in ratios]
    far, further = _stepping(12, 2.5, "m.far"), _stepping(12, 9.0, "m.further")
    alone, (event,) = _split([*moved, far, further], [])
    assert alone == [further[1]] and far[1] in event.members


def test_a_change_from_zero_is_a_change_of_its_own() -> None:
    moved = [_stepping(12, 1.1, f"m.b{number}") for number in range(3)]
    line = timeline([1.0] * 12 + [1.1] * 18, "m.zero")
    zero = change(line, 12, ratio=math.inf)
    alone, (event,) = _split([*moved, (line, zero)], [])
    assert alone == [zero] and len(event.members) == 3


def test_pending_changes_among_the_last_commits_belong_together() -> None:
    places = (28, 28, 28, 26)
    lines = [timeline([1.0] * place + [1.1] * (30 - place), f"m.b{at}") for at, place in enumerate(places)]
    pending = [change(line, place, pending=True) for line, place in zip(lines, places, strict=True)]
    alone, (event,) = split_events(lines, pending)
    assert alone == [] and event.pending and event.place == 28


def test_neighbouring_events_share_no_change() -> None:
    early = [_stepping(12, 1.1, f"m.b{number}") for number in range(3)]
    late = [_stepping(20, 1.1, f"m.c{number}") for number in range(3)]
    alone, events = _split([*early, *late], [])
    assert alone == [] and [event.place for event in events] == [12, 20]
    assert len({one for event in events for one in event.members}) == 6


class TestShares:
    """They have no ratios: the difference votes."""

    def line(self, before: float, after: float, benchmark: str) -> Timeline:
        values = [before] * 12 + [after] * 12
        return timeline(values, benchmark, "idle_share", unit="share")

    def test_a_slower_host_makes_every_device_wait(self) -> None:
        lines = [self.line(0.0, 0.10 + number / 100, f"m.b{number}") for number in range(5)]
        changes = [one for line in lines for one in changes_of(line)]
        assert len(changes) == 5
        alone, (event,) = split_events(lines, changes)
        assert alone == [] and (event.unit, event.place, event.kind) == ("share", 12, "regression")
        assert event.points and math.isnan(event.ratio)
        assert event.difference == pytest.approx(0.12) and event.size == pytest.approx(0.12)

    def test_one_that_moved_much_further_is_its_own(self) -> None:
        lines = [self.line(0.1, 0.13, f"m.b{number}") for number in range(6)]
        lines.append(self.line(0.1, 0.8, "m.more"))
        alone, (_,) = split_events(lines, [one for line in lines for one in changes_of(line)])
        assert [one.timeline.key.benchmark for one in alone] == ["m.more"]
        assert alone[0].size == pytest.approx(0.7)

    def test_less_than_two_points_are_no_change(self) -> None:
        assert changes_of(self.line(0.001, 0.018, "m.b")) == []


class TestCounts:
    def test_a_mean_of_calls_that_differ_is_noisy(self) -> None:
        """Whole numbers change at once; others must stay changed as any noisy figure does."""
        whole = timeline([12.0] * 8 + [13.0] * 2, metric="kernel_count", unit="count", exact=True)
        assert [one.pending for one in changes_of(whole)] == [False]
        mean = timeline([12.5] * 8 + [13.5] * 2, metric="kernel_count", unit="count", exact=True)
        assert [one.pending for one in changes_of(mean)] == [True]
        assert changes_of(timeline([12.5, 12.6], metric="kernel_count", unit="count", exact=True)) == []
