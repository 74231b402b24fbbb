"""Rounds by turns: their order, their looks, and each way to end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import pytest

from dcu_asv_ext.asv_plugin.interleaving import MeasuringError
from dcu_asv_ext.comparing.model import Key, Report, Row, Series
from dcu_asv_ext.daily.looks import Schedule
from dcu_asv_ext.daily.loop import BUDGET, FAULT, INTERRUPTED, ROUNDS, SETTLED, Limits, Loop, duration
from dcu_asv_ext.stats.verdicts import INCONCLUSIVE, NO_CHANGE, REGRESSION, Comparison

OPEN = Comparison(1.0, 1.0, 1.0, 0.9, 1.1, 1.0, INCONCLUSIVE, 3, "not sure")


def row(name: str, verdict: str, needed: int | None = 3) -> Row:
    found = replace(OPEN, verdict=verdict, rounds_needed=needed)
    return Row(Key(name, "latency"), Series(name), None, None, verdict, "", comparison=found)


class Table:
    """Both lanes, a clock, and what is to be judged after how many rounds."""

    def __init__(
        self,
        verdicts: Callable[[int], Sequence[Row]],
        *,
        first: int = 2,
        most: int = 8,
        budget: float = 1e9,
        fails: Collection[str] = (),
        stop_at: int | None = None,
        stop_by: BaseException | None = None,
    ) -> None:
        self.measured: list[tuple[str, frozenset[str]]] = []
        self.shares: list[tuple[int, float]] = []
        self.told: list[str] = []
        self.clock = 0.0
        self.verdicts, self.fails, self.stop_at = verdicts, fails, stop_at
        self.stop_by = stop_by or KeyboardInterrupt()
        self.loop = Loop(
            _Lane(self, "A"),
            _Lane(self, "B"),
            {"f", "g"},
            Limits(Schedule(first, most), budget),
            self.judge,
            self.told.append,
            lambda: self.clock,
        )

    def judge(self, share: float) -> Report:
        rounds = len(self.measured) // 2
        self.shares.append((rounds, share))
        return Report([], [], rows=list(self.verdicts(rounds)))

    @property
    def lanes(self) -> str:
        return "".join(lane for lane, _ in self.measured)


class _Lane:
    def __init__(self, table: Table, name: str) -> None:
        self.table, self.name = table, name

    def measure(self, functions: Collection[str]) -> set[str]:
        if len(self.table.measured) == self.table.stop_at:
            raise self.table.stop_by
        self.table.measured.append((self.name, frozenset(functions)))
        self.table.clock += 5.0
        return set(self.table.fails) & set(functions)


def never(rounds: int) -> list[Row]:
    return [row("f", INCONCLUSIVE), row("g", INCONCLUSIVE)]


def test_who_was_last_is_first_in_the_next_round() -> None:
    table = Table(never, first=4, most=4)
    table.loop.run()
    assert table.lanes == "ABBAABBA"


def test_looks_come_by_the_schedule_and_the_last_has_what_the_others_left() -> None:
    table = Table(never, first=5, most=20)
    outcome = table.loop.run()
    assert table.shares == [(5, 0.1), (8, 0.1), (13, 0.1), (20, pytest.approx(0.7))]
    assert (outcome.ended, outcome.rounds, outcome.seconds) == (ROUNDS, 20, 200.0)


def test_settled_functions_are_not_measured_on() -> None:
    def verdicts(rounds: int) -> list[Row]:
        return [row("f", REGRESSION, 0), row("g", INCONCLUSIVE if rounds < 3 else NO_CHANGE)]

    table = Table(verdicts)
    outcome = table.loop.run()
    assert outcome.ended == SETTLED and outcome.rounds == 3
    assert [sorted(one) for _, one in table.measured] == [["f", "g"]] * 4 + [["g"]] * 2
    assert outcome.report is not None and outcome.report.count(REGRESSION) == 1


def test_a_row_that_would_need_far_more_rounds_does_not_keep_the_others_going() -> None:
    rows = [row("f", INCONCLUSIVE, 500), row("f", NO_CHANGE), row("g", INCONCLUSIVE, None)]
    outcome = Table(lambda rounds: rows).loop.run()
    assert outcome.ended == SETTLED and outcome.rounds == 2
    rows = [row("f", INCONCLUSIVE, 500), row("f", INCONCLUSIVE, 4)]
    assert Table(lambda rounds: rows).loop.run().rounds == 8


def test_no_round_is_begun_that_the_budget_does_not_allow() -> None:
    table = Table(never, first=5, most=20, budget=39.0)
    outcome = table.loop.run()
    assert (outcome.ended, outcome.rounds) == (BUDGET, 3)
    assert table.shares == [(3, 1.0)], "there was no earlier look"
    assert any("more than the budget of 39 s: it ends after 3" in line for line in table.told)


def test_a_budget_that_ends_after_a_look_leaves_the_rest_of_the_level_for_the_last() -> None:
    table = Table(never, first=2, most=20, budget=40.0)
    assert table.loop.run().ended == BUDGET
    assert table.shares == [(2, 0.1), (3, 0.1), (4, pytest.approx(0.8))]


def test_one_round_is_always_measured() -> None:
    outcome = Table(never, budget=1.0).loop.run()
    assert outcome.rounds == 1 and outcome.report is not None


def test_what_failed_is_not_measured_again() -> None:
    table = Table(lambda rounds: [row("f", "failed"), row("g", INCONCLUSIVE)], fails={"f"})
    table.loop.run()
    assert [sorted(one) for _, one in table.measured] == [["f", "g"]] * 2 + [["g"]] * 14


def test_everything_failed_ends_at_once_with_a_report() -> None:
    outcome = Table(lambda rounds: [row("f", "failed")], fails={"f", "g"}).loop.run()
    assert outcome.rounds == 1 and outcome.report is not None


def test_interrupted_it_compares_what_there_is() -> None:
    table = Table(never, stop_at=5)
    outcome = table.loop.run()
    assert (outcome.ended, outcome.rounds) == (INTERRUPTED, 2)
    assert outcome.report is not None


def test_a_fault_in_a_later_round_does_not_lose_the_earlier_ones() -> None:
    outcome = Table(never, stop_at=5, stop_by=MeasuringError("the disk is full")).loop.run()
    assert (outcome.ended, outcome.rounds, outcome.fault) == (FAULT, 2, "the disk is full")
    assert outcome.report is not None


def test_a_fault_in_the_first_round_is_all_there_is_to_tell() -> None:
    with pytest.raises(MeasuringError, match="the disk is full"):
        Table(never, stop_at=1, stop_by=MeasuringError("the disk is full")).loop.run()


def test_interrupted_in_the_first_round_there_is_nothing() -> None:
    outcome = Table(never, stop_at=1).loop.run()
    assert (outcome.ended, outcome.rounds, outcome.report) == (INTERRUPTED, 0, None)


@pytest.mark.parametrize(
    "seconds, text",
    [(0.34, "0.3 s"), (48.2, "48 s"), (200, "3 min 20 s"), (600, "10 min"), (7500, "2 h 5 min"), (-3, "0 s")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
