"""Change points, ours beside asv's `step_detect`: on real series of unchanged code, on synthetic ones, and in time.

Half of the benchmarks in the data chose the method and its constants; the figures are of the other half.
"""

from __future__ import annotations

import hashlib
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from asv.step_detect import detect_steps

from dcu_asv_ext.stats.changes import History, change_points

from .report import Row

Values = npt.NDArray[np.float64]
Detector = Callable[[Values], list[int]]

ASV = "asv.step_detect.detect_steps"
#: How far from the true commit a step is still found.
NEAR = 3
#: Steps are injected at least so many values from both ends.
EDGE = 5
NOISE = 0.02


def ours(values: Values) -> list[int]:
    return [point.index for point in change_points(values)]


def theirs(values: Values) -> list[int]:
    return [int(step[0]) for step in detect_steps(values.tolist())[1:]]


@dataclass(frozen=True)
class Case:
    values: Values
    steps: tuple[int, ...] = ()


@dataclass(frozen=True)
class Score:
    """hits, false, missed: change points, over all cases; a found one is one within NEAR of a true one."""

    hits: int
    false: int
    missed: int
    values: int

    @property
    def f1(self) -> float:
        return 2 * self.hits / max(2 * self.hits + self.false + self.missed, 1)

    @property
    def recall(self) -> float:
        return self.hits / max(self.hits + self.missed, 1)

    @property
    def false_per_1000(self) -> float:
        return 1000 * self.false / self.values


def score(detector: Detector, cases: Iterable[Case]) -> Score:
    hits = false = missed = values = 0
    for case in cases:
        left = detector(case.values)
        for step in case.steps:
            near = [index for index in left if abs(index - step) <= NEAR]
            if near:
                left.remove(min(near, key=lambda index: abs(index - step)))
                hits += 1
            else:
                missed += 1
        false += len(left)
        values += len(case.values)
    return Score(hits, false, missed, values)


def unchanged(data: Path) -> list[Values]:
    """The half of the A/A series on which nothing was chosen."""
    with np.load(data / "aa_sandmark.npz") as packed:
        return [
            packed[key] for key in packed.files if hashlib.md5(key.split("/")[3].encode()).digest()[0] % 2
        ]


def injected(series: Sequence[Values], size: float, times: int = 2) -> list[Case]:
    """Each series with one step of this relative size, at random places."""
    rng = np.random.default_rng(int(1000 * size))
    cases = []
    for values in series:
        for _ in range(times):
            at = int(rng.integers(EDGE, len(values) - EDGE + 1))
            cases.append(Case(np.concatenate([values[:at], values[at:] * (1.0 + size)]), (at,)))
    return cases


def rows(data: Path) -> list[Row]:
    """Figures on real series of unchanged code, and on the same with steps injected."""
    series = unchanged(data)
    nothing = [Case(values) for values in series]
    found = [_false_row(f"false change points, {len(series)} real series of unchanged code", nothing, 0.5)]
    for size, reach in ((0.02, 0.74), (0.05, 0.88), (0.10, 0.94)):
        cases = injected(series, size)
        what = f"F1, a step of +{100 * size:.0f} % in {len(cases)} real series"
        found.append(_row(what, cases, lambda result: result.f1, "", reach, at_least=True))
    return found


def simulated_rows() -> list[Row]:
    """Figures on synthetic histories with noise of 2 %."""
    found = [
        _false_row(f"false change points, 60 x 300 values, {kind}", _nulls(kind), reach)
        for kind, reach in (
            ("normal", 0.5),
            ("spikes", 0.5),
            ("correlated .3", 0.1),
            ("correlated .6", 0.5),
            ("bimodal", 0.5),
            ("drift of 10 %", 0.5),
            ("two states of 20 values, 8 % apart", 0.5),
        )
    ]
    three = [_with_steps("correlated .3", 300, 3, seed, 15, (0.08, 0.08)) for seed in range(60)]
    what = "F1, 3 steps of 8 % in 300 values, correlated .3"
    found.append(_row(what, three, lambda result: result.f1, "", 0.97, at_least=True))
    for name, sizes in (("5 to 20 %", (0.05, 0.20)), ("8 % (4 sigma)", (0.08, 0.08))):
        cases = [_with_steps("normal", 5000, 50, seed, 10, sizes) for seed in range(4)]
        what = f"found, 50 steps of {name} in 5 000 commits"
        found.append(_row(what, cases, lambda result: result.recall, "", 0.9, at_least=True))
        found.append(_false_row("    false ones there", cases, 0.5))
    return found


def timing_rows(turns: int = 5) -> list[Row]:
    values = _with_steps("normal", 5000, 50, 1, 10, (0.05, 0.20)).values
    mine, other, added = [], [], []
    ours(values[:200]), theirs(values[:200])
    for _ in range(turns):
        mine.append(_seconds(lambda: ours(values)))
        other.append(_seconds(lambda: theirs(values)))
    history = History(values[:4900])
    assert history.points
    for value in values[4900:]:

        def append(value: float = float(value)) -> None:
            history.append(value)
            assert history.points

        added.append(_seconds(append))
    return [
        Row(
            "change points of 5 000 values",
            statistics.median(mine),
            statistics.median(other),
            "s",
            1.0,
            ASV,
        ),
        Row("change points after one more value", 1000 * statistics.median(added), None, "ms", 15.0),
    ]


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def _row(
    what: str,
    cases: Sequence[Case],
    figure: Callable[[Score], float],
    unit: str,
    reach: float,
    at_least: bool = False,
) -> Row:
    mine, other = figure(score(ours, cases)), figure(score(theirs, cases))
    return Row(what, mine, other, unit, reach, ASV, absolute=True, at_least=at_least)


def _false_row(what: str, cases: Sequence[Case], reach: float) -> Row:
    return _row(what, cases, lambda result: result.false_per_1000, "/1000", reach)


def _nulls(kind: str) -> list[Case]:
    return [Case(_noisy(kind, 300, np.random.default_rng(seed))) for seed in range(60)]


def _noisy(kind: str, count: int, rng: np.random.Generator) -> Values:
    plain = rng.normal(0.0, NOISE, count)
    if kind == "spikes":
        return np.exp(plain) * (1.0 + (rng.random(count) < 0.05) * rng.exponential(0.15, count))
    if kind.startswith("correlated"):
        correlation = float(kind.split()[1])
        logs = plain.copy()
        for index in range(1, count):
            logs[index] = correlation * logs[index - 1] + (1.0 - correlation**2) ** 0.5 * plain[index]
        return np.exp(logs)
    if kind == "bimodal":
        return np.exp(plain) * (1.0 + 0.08 * (rng.random(count) < 0.3))
    if kind.startswith("two states"):
        return np.exp(plain) * (1.0 + 0.08 * (np.cumsum(rng.random(count) < 1 / 20) % 2))
    if kind.startswith("drift"):
        return np.exp(plain) * np.linspace(1.0, 1.1, count)
    return np.exp(plain)


def _with_steps(kind: str, count: int, steps: int, seed: int, apart: int, sizes: tuple[float, float]) -> Case:
    """Steps up or down of a size between the two (relative), at random places at least so far apart."""
    rng = np.random.default_rng(1000 + seed)
    room = count - 2 * apart - (steps - 1) * apart
    at = np.sort(rng.choice(room, steps, replace=False)) + apart * np.arange(1, steps + 1)
    level = np.zeros(count)
    for index in at:
        level[index:] += rng.choice([-1.0, 1.0]) * np.log1p(rng.uniform(*sizes))
    return Case(_noisy(kind, count, rng) * np.exp(level), tuple(int(index) for index in at))
