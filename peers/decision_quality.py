"""How often a comparison of two commits is right, on pairs whose true difference is known.

A judge is any function from trials to answers, so that a method under development, the shipped one and asv's rule are
all asked the same questions. Standard errors are by benchmark: trials of one benchmark are not independent.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .decision_data import Array, Suite, Trials

SLOWER, FASTER = "regression", "improvement"
REFUSED = "not comparable"
CHANGES = (0.0, 0.02, 0.05, 0.10)
SHARE_CHANGED, SUITE_CHANGE = 0.05, 0.05


@dataclass(frozen=True)
class Answers:
    """Per comparison: the verdict, and the 95 % interval of the ratio after / before (NaN where none is given)."""

    verdicts: NDArray[np.str_]
    low: Array
    high: Array

    @classmethod
    def of(cls, results: Iterable[Any]) -> Answers:
        """From objects with `verdict`, `ci_low` and `ci_high`."""
        rows = [(one.verdict, _number(one.ci_low), _number(one.ci_high)) for one in results]
        verdicts, low, high = zip(*rows, strict=True)
        return cls(np.array(verdicts), np.array(low), np.array(high))

    @property
    def flagged(self) -> NDArray[np.bool_]:
        return np.isin(self.verdicts, (SLOWER, FASTER))

    def covers(self, ratio: float | Array) -> NDArray[np.bool_]:
        """Whether each interval that was given holds the true ratio."""
        inside = (self.low <= ratio) & (ratio <= self.high)
        return inside[~np.isnan(self.low)]


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


class Compared(Protocol):
    """Shape of a comparison's result, as `dcu_asv_ext.stats` returns it."""

    @property
    def verdict(self) -> str: ...
    @property
    def ci_low(self) -> float | None: ...
    @property
    def ci_high(self) -> float | None: ...


Judge = Callable[[Trials], Answers]
SuiteJudge = Callable[[Suite], Answers]


def one_by_one(compare: Callable[..., Compared], **options: Any) -> Judge:
    """A judge from `compare(before, after, *, history)`."""

    def judge(trials: Trials) -> Answers:
        history: Sequence[Array | None]
        history = [None] * len(trials) if trials.history is None else list(trials.history)
        return Answers.of(
            compare(before, after, history=past, **options)
            for before, after, past in zip(trials.before, trials.after, history, strict=True)
        )

    return judge


def together(compare_suite: Callable[..., Iterable[Compared]], **options: Any) -> SuiteJudge:
    """A suite judge from `compare_suite(pairs, *, history)`."""

    def judge(suite: Suite) -> Answers:
        return Answers.of(compare_suite(suite.pairs, history=suite.histories, **options))

    return judge


def named_function(text: str) -> Callable[..., Any]:
    """The function that `module:name` means."""
    module, _, name = text.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def each_alone(judge: Judge) -> SuiteJudge:
    """A suite judge that decides every pair for itself, as asv does."""

    def judge_suite(suite: Suite) -> Answers:
        before = np.stack([pair[0] for pair in suite.pairs])
        after = np.stack([pair[1] for pair in suite.pairs])
        return judge(Trials(np.array(suite.names), before, after, None))

    return judge_suite


# Rates


@dataclass(frozen=True)
class Rate:
    value: float
    error: float  # standard error

    def __str__(self) -> str:
        return f"{100 * self.value:6.2f} +- {100 * self.error:.2f} %"


def rate(hits: NDArray[np.bool_], names: NDArray[np.str_]) -> Rate:
    """Share of hits, with the standard error of a ratio estimate over clusters (benchmarks)."""
    share = float(hits.mean())
    _, cluster = np.unique(names, return_inverse=True)
    excess = np.bincount(cluster, weights=hits - share)
    clusters = len(excess)
    scale = clusters / max(1, clusters - 1)
    return Rate(share, float(np.sqrt(scale * np.sum(excess**2)) / len(hits)))


@dataclass(frozen=True)
class Quality:
    """What a judge does at each of CHANGES: `flagged` is any verdict of change at no change, "regression" elsewhere;
    `same` is "no change"; `covered` is the true ratio inside the interval, over all changes."""

    flagged: dict[float, Rate]
    same: dict[float, Rate]
    covered: Rate | None

    @property
    def false_alarms(self) -> Rate:
        return self.flagged[0.0]


def quality(judge: Judge, trials: Trials, changes: Sequence[float] = CHANGES) -> Quality:
    flagged, same, inside, names = {}, {}, [], []
    for change in changes:
        answers = judge(trials.changed(1.0 + change))
        hits = answers.flagged if change == 0.0 else answers.verdicts == SLOWER
        flagged[change] = rate(hits, trials.names)
        same[change] = rate(answers.verdicts == "no change", trials.names)
        inside.append(answers.covers(1.0 + change))
        names.append(trials.names[~np.isnan(answers.low)])
    return Quality(flagged, same, _coverage(inside, names))


def _coverage(inside: list[NDArray[np.bool_]], names: list[NDArray[np.str_]]) -> Rate | None:
    hits = np.concatenate(inside)
    return rate(hits, np.concatenate(names)) if len(hits) else None


def quality_line(name: str, judged: Quality) -> str:
    rates = "  ".join(str(one) for one in judged.flagged.values())
    if judged.covered is None:
        return f"  {name:10} {rates}"
    same = "/".join(f"{100 * one.value:.1f}" for one in judged.same.values())
    return f"  {name:10} {rates}  covered {judged.covered}  no change {same}"


@dataclass(frozen=True)
class SuiteQuality:
    """found: share of the changed pairs called regressions; alarms: other pairs flagged, per suite, with changes in
    the suite and with none; refused: share of suites called not comparable; covered: as in Quality."""

    found: Rate
    alarms: Rate
    alarms_unchanged: Rate
    refused: float
    covered: Rate | None
    suites: int


def suite_quality(
    judge: SuiteJudge, drawn: Sequence[Trials], *, history: bool, seed: int = 0
) -> SuiteQuality:
    """5 % of each suite is made 5 % slower; then the same suites with nothing changed."""
    generator = np.random.default_rng(seed)
    found, alarms, unchanged, refused, inside, names = [], [], [], [], [], []
    for trials in drawn:
        slower = np.zeros(len(trials), dtype=bool)
        count = round(SHARE_CHANGED * len(trials))
        slower[generator.choice(len(trials), count, replace=False)] = True
        ratio = np.where(slower, 1.0 + SUITE_CHANGE, 1.0)
        answers = judge(as_suite(trials.changed(ratio), history=history))
        found.append((answers.verdicts[slower] == SLOWER).mean())
        alarms.append((answers.flagged & ~slower).sum() + (answers.verdicts[slower] == FASTER).sum())
        inside.append(answers.covers(ratio))
        names.append(trials.names[~np.isnan(answers.low)])
        none = judge(as_suite(trials, history=history))
        unchanged.append(none.flagged.sum())
        refused += [(one.verdicts == REFUSED).all() for one in (answers, none)]
    return SuiteQuality(
        _mean(found),
        _mean(alarms),
        _mean(unchanged),
        float(np.mean(refused)),
        _coverage(inside, names),
        len(drawn),
    )


def as_suite(trials: Trials, *, history: bool) -> Suite:
    pairs = list(zip(trials.before, trials.after, strict=True))
    past = [list(one) for one in trials.history] if history and trials.history is not None else None
    return Suite(list(trials.names), pairs, past)


def _mean(values: Sequence[float]) -> Rate:
    array = np.asarray(values, dtype=np.float64)
    return Rate(float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array))))


@dataclass(frozen=True)
class SessionQuality:
    """Consecutive commits, each measured in a session of its own: shares of all (commit, benchmark) pairs.

    flagged: called changed; refused: called not comparable; calm: pairs of suites whose common shift is below 1 %,
    and calm_refused, calm_flagged: the shares of those; found: of pairs made 5 % slower, 5 % of each suite at a time,
    the share called regressions where the suite was not refused (NaN where all were).
    """

    pairs: int
    flagged: float
    refused: float
    calm: int
    calm_refused: float
    calm_flagged: float
    found: float


def session_quality(judge: SuiteJudge, sessions: Sequence[Suite], *, seed: int = 0) -> SessionQuality:
    generator = np.random.default_rng(seed)
    verdicts, calm, found = [], [], []
    for suite in sessions:
        verdicts.append(judge(suite).verdicts)
        calm.append(np.full(len(suite.pairs), abs(suite.common_shift) < np.log(1.01)))
        if not (verdicts[-1] == REFUSED).all():
            count = max(1, round(SHARE_CHANGED * len(suite.pairs)))
            chosen = generator.choice(len(suite.pairs), count, replace=False)
            found.append(judge(suite.slower(chosen, 1.0 + SUITE_CHANGE)).verdicts[chosen] == SLOWER)
    said, quiet = np.concatenate(verdicts), np.concatenate(calm)
    flagged, refused = np.isin(said, (SLOWER, FASTER)), said == REFUSED
    return SessionQuality(
        len(said),
        _share(flagged),
        _share(refused),
        int(quiet.sum()),
        _share(refused[quiet]),
        _share(flagged[quiet]),
        _share(np.concatenate(found)) if found else float("nan"),
    )


def _share(hits: NDArray[np.bool_]) -> float:
    return float(hits.mean()) if len(hits) else float("nan")
