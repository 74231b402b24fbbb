"""Simulated pairs, for checking that a rule chosen on one set of real data holds elsewhere.

A sample is exp(session + round + within) times, in one sample of twenty, 1 + Exp(mean 15 %): lognormal levels with
spikes. Every trial is a benchmark of its own, with 20 earlier runs of the same design.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .decision_data import HISTORY, Array, Trials
from .decision_quality import named_function, one_by_one, quality, quality_line

SPIKES, SPIKE_SIZE = 0.05, 0.15
MOST_ROUNDS = 60
DESIGNS = ((2, 5), (5, 5), (10, 5))


@dataclass(frozen=True)
class Scenario:
    """Standard deviations of the log: within a round, between rounds, of a side's session, of a round's drift that
    both sides of an interleaved comparison share."""

    what: str
    within: float
    between: float
    session: float = 0.0
    drift: float = 0.0

    @property
    def paired(self) -> bool:
        return self.drift > 0.0


SCENARIOS = (
    Scenario("S0 rounds do not differ", 0.01, 0.0),
    Scenario("S1 hosted runner", 0.01, 0.017),
    Scenario("S2 bare metal", 0.003, 0.004),
    Scenario("S3 S1, a session a side", 0.01, 0.017, session=0.015),
    Scenario("S4 S1, drift shared by interleaved rounds", 0.01, 0.017, drift=0.02),
)


def simulate(scenario: Scenario, rounds: int, samples: int, count: int, *, seed: int = 0) -> Trials:
    generator = np.random.default_rng(seed)

    def normal(deviation: float, *shape: int) -> Array:
        return deviation * generator.standard_normal(shape)

    def measured(runs: int, drift: Array) -> Array:
        shape = (count, runs, rounds, samples)
        level = normal(scenario.session, count, runs, 1, 1) + normal(scenario.between, count, runs, rounds, 1)
        spike = generator.exponential(SPIKE_SIZE, shape) * (generator.random(shape) < SPIKES)
        return np.exp(level + drift + normal(scenario.within, *shape)) * (1.0 + spike)

    sides = measured(2, normal(scenario.drift, count, 1, rounds, 1))
    history = measured(HISTORY, normal(scenario.drift, count, HISTORY, rounds, 1))
    names = np.array([f"trial {index}" for index in range(count)])
    return Trials(names, sides[:, 0], sides[:, 1], history)


@dataclass(frozen=True)
class Settling:
    """inconclusive: share of comparisons; promised: the median of the further rounds these ask for; settled: share of
    these that are decided once they have them, of those that ask for no more than MOST_ROUNDS in all (within)."""

    inconclusive: float
    promised: float
    within: float
    settled: float

    def __str__(self) -> str:
        return (
            f"inconclusive {100 * self.inconclusive:.0f} %, asking for {self.promised:.0f} more rounds;"
            f" {100 * self.within:.0f} % ask for few enough, and {100 * self.settled:.0f} % of those are then decided"
        )


def settling(
    compare: Callable[..., Any], scenario: Scenario, rounds: int, change: float, count: int
) -> Settling:
    """Whether the further rounds that an inconclusive comparison asks for do settle it."""
    trials = simulate(scenario, MOST_ROUNDS, 5, count).changed(1.0 + change)
    assert trials.history is not None
    promised, settled = [], []
    for before, after, runs in zip(trials.before, trials.after, trials.history[:, :, :rounds], strict=True):
        first = compare(before[:rounds], after[:rounds], history=runs, paired=scenario.paired)
        if first.verdict != "inconclusive":
            continue
        promised.append(float("inf") if first.rounds_needed is None else float(first.rounds_needed))
        if rounds + promised[-1] <= MOST_ROUNDS:
            enough = rounds + int(promised[-1])
            again = compare(before[:enough], after[:enough], history=runs, paired=scenario.paired)
            settled.append(again.verdict != "inconclusive")
    none = float("nan")
    return Settling(
        len(promised) / count,
        float(np.median(promised)) if promised else none,
        len(settled) / len(promised) if promised else none,
        float(np.mean(settled)) if settled else none,
    )


def report(compare: Callable[..., Any], count: int) -> None:
    for scenario in (SCENARIOS[1], SCENARIOS[2]):
        for change in (0.0, 0.03, 0.05):
            found = settling(compare, scenario, 3, change, count)
            print(f"{scenario.what}, 3 rounds x 5, {100 * change:+.0f} %: {found}", flush=True)
    for scenario in SCENARIOS:
        judge = one_by_one(compare, paired=scenario.paired)
        for rounds, samples in DESIGNS:
            print(f"{scenario.what}, {rounds} rounds x {samples} ({count} trials)")
            trials = simulate(scenario, rounds, samples, count)
            print(quality_line("history", quality(judge, trials)))
            print(quality_line("no history", quality(judge, trials.without_history())), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="peers.decision_simulation", description=__doc__)
    parser.add_argument("--trials", type=int, default=1000, help="a scenario and design")
    parser.add_argument("--compare", default="dcu_asv_ext.stats:compare", metavar="MODULE:NAME")
    options = parser.parse_args()
    report(named_function(options.compare), options.trials)


if __name__ == "__main__":
    main()
