"""Rounds of both sides in turn, looked at by a fixed schedule, until every question is answered or time is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from ..asv_plugin.interleaving import MeasuringError
from ..comparing.figures import count
from ..comparing.model import Report
from ..comparing.showing import summary
from ..stats.verdicts import INCONCLUSIVE
from .looks import Schedule

SETTLED, ROUNDS, BUDGET, INTERRUPTED, FAULT = "settled", "rounds", "budget", "interrupted", "fault"


@dataclass(frozen=True)
class Limits:
    """schedule: of the looks. budget: seconds of wall time for the rounds."""

    schedule: Schedule
    budget: float

    @property
    def first(self) -> int:
        return self.schedule.first

    @property
    def most(self) -> int:
        return self.schedule.most


class Lane(Protocol):
    """One side, as the loop needs it."""

    def measure(self, functions: Collection[str]) -> set[str]:
        """One more round of these functions; the names of those of which nothing could be measured."""


@dataclass
class Outcome:
    """rounds: whole ones. ended: why there were no more of them. fault: why the next one could not be measured."""

    report: Report | None = None
    rounds: int = 0
    ended: str = SETTLED
    seconds: float = 0.0
    fault: str = ""


class Loop:
    """Measures functions (of the second side, whose partners the first side knows) by turns.

    judge: makes the report of what was measured so far, by a share of the level. tell: gets a line for the user.
    now: seconds of a clock.
    """

    def __init__(
        self,
        before: Lane,
        after: Lane,
        functions: Collection[str],
        limits: Limits,
        judge: Callable[[float], Report],
        tell: Callable[[str], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lanes = (before, after)
        self.active = set(functions)
        self.limits = limits
        self.judge = judge
        self.tell = tell
        self.now = now
        self.outcome = Outcome()
        self._begun = now()
        self._last = 0.0
        self._looks = 0

    def run(self) -> Outcome:
        """Ends with the comparison of what there is, also when it is interrupted, unless nothing was measured.

        Raises MeasuringError where not one round could be.
        """
        outcome = self.outcome
        try:
            for number in self.limits.schedule.looks():
                outcome.ended = self._measure_until(number)
                if outcome.ended == BUDGET:
                    break
                self._look(last=number == self.limits.most)
                if not self.active and number < self.limits.most:
                    outcome.ended = SETTLED
                    break
        except KeyboardInterrupt:
            outcome.ended = INTERRUPTED
        except MeasuringError as fault:
            if not outcome.rounds:
                raise
            outcome.ended, outcome.fault = FAULT, str(fault)
        if outcome.rounds and (outcome.ended in (BUDGET, INTERRUPTED, FAULT) or outcome.report is None):
            self._look(last=True)
        outcome.seconds = self.now() - self._begun
        return outcome

    def _look(self, last: bool) -> None:
        """The comparison by what this look may spend."""
        report = self.judge(self.limits.schedule.share(self._looks, last))
        self._looks += 1
        self.outcome.report = report
        self._drop_settled(report)
        self.tell(self._standing(report))

    def _measure_until(self, number: int) -> str:
        """ROUNDS once there are so many, BUDGET where the time does not suffice for another."""
        while self.outcome.rounds < number and self.active:
            if self.outcome.rounds and self._left() < self._last:
                return BUDGET
            began = self.now()
            self._round()
            self._last = self.now() - began
            if self.outcome.rounds == 1:
                self.tell(self._estimate())
        return ROUNDS

    def _round(self) -> None:
        """Who was last in one round is first in the next: a drift hits both alike."""
        order = self.lanes if self.outcome.rounds % 2 == 0 else self.lanes[::-1]
        number = self.outcome.rounds + 1
        self.tell(
            f"round {number} of at most {self.limits.most}, {count(len(self.active), 'function')}{self._time_left()}"
        )
        failed: set[str] = set()
        for lane in order:
            failed |= lane.measure(self.active)
        self.outcome.rounds = number
        # Another round would fail too, and may take its whole time limit for it.
        self.active -= failed

    def _drop_settled(self, report: Report) -> None:
        open_rows: dict[str, list[int | None]] = {}
        for row in report.rows:
            if row.verdict == INCONCLUSIVE and row.comparison is not None:
                open_rows.setdefault(row.key.benchmark, []).append(row.comparison.rounds_needed)
        # A metric that would need far more rounds than there will be does not keep the others' rounds going.
        within = 2 * (self.limits.most - self.outcome.rounds)
        self.active &= {
            name
            for name, needs in open_rows.items()
            if any(needed is not None and needed <= within for needed in needs)
        }

    def _left(self) -> float:
        return self._begun + self.limits.budget - self.now()

    def _time_left(self) -> str:
        return f", {duration(self._left())} of the budget left" if self.outcome.rounds else ""

    def _estimate(self) -> str:
        first = self.limits.first * self._last
        text = f"a round takes {duration(self._last)}; {count(self.limits.first, 'round')}: {duration(first)}"
        if first > self.limits.budget:
            allowed = max(int(self.limits.budget / self._last), 1)
            budget = duration(self.limits.budget)
            text += f", which is more than the budget of {budget}: it ends after {allowed}"
        return text

    def _standing(self, report: Report) -> str:
        more = f"; {count(len(self.active), 'function')} measured on" if self.active else ""
        return f"after {count(self.outcome.rounds, 'round')}: {summary(report) or 'nothing to compare'}{more}"


def duration(seconds: float) -> str:
    """`48 s`, `3 min 20 s`, `1 h 5 min`."""
    whole = max(round(seconds), 0)
    if whole < 100:
        return f"{whole} s" if seconds >= 10 or seconds <= 0 else f"{seconds:.1f} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 100:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
