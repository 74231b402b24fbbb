"""From the difference of two sides and its variance to intervals, p-values and verdicts, for many at once.

All of it is on the log scale: `difference` is log(after / before). Intervals are those of Student's t over the
mixture of variance.py. A change is called when the 95 % interval lies wholly beyond the margin (a test against an
interval null), "no change" when both one-sided tests against the equivalence bound reject (Schuirmann 1987, TOST).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from .rounds import Floats
from .tails import Tails
from .variance import Mixture
from .verdicts import IMPROVEMENT, INCONCLUSIVE, NO_CHANGE, REGRESSION, Comparison

#: One-sided levels: of a change (the 95 % interval beyond the margin), and of each of the two tests of "no change".
CHANGE_LEVEL, SAME_LEVEL = 0.025, 0.05

#: Chance with which the rounds said to be needed settle the matter, if the change is as large as it looks now.
_ASSURANCE = 0.8
#: No larger number of rounds is ever recommended.
MOST_ROUNDS = 1000
_ROUNDS = np.unique(np.round(np.geomspace(1, MOST_ROUNDS, 120)).astype(int))


@dataclass(frozen=True)
class Estimates:
    """N comparisons. difference, before, after: (N,) logs. variance, df: between rounds, from the comparison itself.
    factor: the difference's variance is `variance * factor`, and `lasting`, the part that more rounds do not lessen
    (differences between sessions). rounds: (N, 2). paired: (N,).
    """

    difference: Floats
    before: Floats
    after: Floats
    variance: Floats
    df: Floats
    factor: Floats
    lasting: Floats
    rounds: NDArray[np.int64]
    paired: NDArray[np.bool_]

    def take(self, index: NDArray[np.intp]) -> Estimates:
        return Estimates(*(getattr(self, one.name)[index] for one in fields(self)))


@dataclass(frozen=True)
class Settings:
    """margin, equivalence: (N,) logs. lower_is_better: (N,)."""

    margin: Floats
    equivalence: Floats
    lower_is_better: NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """half: half width of the 95 % interval. p: against the interval null, two-sided convention (0.05 exactly where
    the interval touches the margin). same: the larger p of the two equivalence tests."""

    half: Floats
    p: Floats
    same: Floats


def estimates(before: Floats, after: Floats, paired: bool) -> Estimates:
    """before: (N, R) log medians; after: (N, S); S = R where paired."""
    count, r, s = len(before), before.shape[1], after.shape[1]
    a, b = before.mean(axis=1), after.mean(axis=1)
    if paired:
        steps = after - before
        variance = steps.var(axis=1, ddof=1) if r > 1 else np.zeros(count)
        df, factor = r - 1.0, 1.0 / r
    else:
        squares = ((before - a[:, None]) ** 2).sum(axis=1) + ((after - b[:, None]) ** 2).sum(axis=1)
        df = r + s - 2.0
        variance = squares / df if df else np.zeros(count)
        factor = 1.0 / r + 1.0 / s
    full = np.ones(count)
    rounds, pairs = np.tile([r, s], (count, 1)), np.full(count, paired)
    return Estimates(b - a, a, b, variance, df * full, factor * full, 0.0 * full, rounds, pairs)


def upper_tail(known: Mixture, factor: Floats, distance: Floats) -> Floats:
    """P(error > distance), (N,)."""
    return Tails(known, factor).beyond(distance)


def distance_of(
    known: Mixture, factor: Floats, level: float, near: tuple[float, Floats] | None = None
) -> Floats:
    """The distance whose upper tail is `level`, (N,). near: another level, and its distances."""
    return Tails(known, factor).distance(level, near)


def judge(made: Estimates, known: Mixture, settings: Settings, half: Floats | None = None) -> Judged:
    """half: of the intervals, where it is known: it does not hang on the difference."""
    size = np.abs(made.difference)
    if half is None:
        half = distance_of(known, made.factor, CHANGE_LEVEL)
    p = np.ones(len(size))
    if len(beyond := np.flatnonzero(size > settings.margin)):
        reach = (size - settings.margin)[beyond]
        p[beyond] = np.minimum(1.0, 2 * upper_tail(known.take(beyond), made.factor[beyond], reach))
    same = upper_tail(known, made.factor, settings.equivalence - size)
    return Judged(half, p, same)


def comparisons(
    made: Estimates,
    known: Mixture,
    prior: Mixture,
    settings: Settings,
    judged: Judged,
    level: float = CHANGE_LEVEL,
) -> list[Comparison]:
    """The finished objects. level: one-sided, at which a change is called; a suite may need a stricter one."""
    changed = judged.p <= 2 * level
    worse = (made.difference > 0) == settings.lower_is_better
    same = ~changed & (judged.same <= SAME_LEVEL)
    needed = np.zeros(len(changed), dtype=int)
    if len(open_ones := np.flatnonzero(~changed & ~same)):
        needed[open_ones] = _rounds_needed(made, known, settings, level, open_ones)
    half = judged.half.copy()
    if len(settled := np.flatnonzero(same)):
        near = CHANGE_LEVEL, half[settled]
        half[settled] = distance_of(known.take(settled), made.factor[settled], SAME_LEVEL, near)
    with np.errstate(over="ignore"):
        ratio, before, after = np.exp(made.difference), np.exp(made.before), np.exp(made.after)
        low, high = np.exp(made.difference - judged.half), np.exp(made.difference + judged.half)
        told = np.exp(made.difference - half), np.exp(made.difference + half)
    spread, df, lent = np.sqrt(_of_rounds(made, known)), known.mean_df, prior.mean_df
    found = []
    for i in range(len(changed)):
        if changed[i]:
            verdict = REGRESSION if worse[i] else IMPROVEMENT
        else:
            verdict = NO_CHANGE if same[i] else INCONCLUSIVE
        more = int(needed[i]) if needed[i] <= MOST_ROUNDS else None
        margin, bound = float(np.expm1(settings.margin[i])), float(np.expm1(settings.equivalence[i]))
        interval = f"{percent(told[0][i])} to {percent(told[1][i])}"
        if verdict == INCONCLUSIVE:
            reason = _open(interval, more, judged.p[i] <= 2 * CHANGE_LEVEL, bool(made.lasting[i] > 0))
        elif verdict == NO_CHANGE:
            reason = f"the 90 % interval, {interval}, lies within {100 * bound:.3g} %"
        else:
            reason = f"the 95 % interval, {interval}, lies beyond the margin of {100 * margin:.3g} %"
        found.append(
            Comparison(
                float(before[i]), float(after[i]), float(ratio[i]), float(low[i]), float(high[i]), float(judged.p[i]),
                verdict, more, reason, (int(made.rounds[i, 0]), int(made.rounds[i, 1])), float(spread[i]),
                float(df[i]), float(lent[i]), bool(made.paired[i]),
            )
        )  # fmt: skip
    return found


def _of_rounds(made: Estimates, known: Mixture) -> Floats:
    """The variance between rounds alone, (N,)."""
    scale = known.mean_scale
    # What sessions add is never all of it; where it was left out of the mixture, half is on the cautious side.
    return np.asarray(np.maximum(scale - made.lasting / made.factor, 0.5 * np.minimum(scale, made.variance)))


def _rounds_needed(
    made: Estimates, known: Mixture, settings: Settings, level: float, index: NDArray[np.intp]
) -> NDArray[np.int64]:
    """Further rounds a side for the comparisons of `index`; MOST_ROUNDS + 1 where even that many would not do."""
    from scipy.special import stdtrit

    size = np.abs(made.difference[index])[:, None]
    spread = _of_rounds(made, known)[index][:, None]
    df = known.take(index).mean_df[:, None]
    more = _ROUNDS[None, :]
    a, b = made.rounds[index, :1] + more, made.rounds[index, 1:] + more
    paired = made.paired[index][:, None]
    lasting = made.lasting[index][:, None]
    error = np.sqrt(spread * np.where(paired, 1.0 / a, 1.0 / a + 1.0 / b) + lasting)
    # The degrees of freedom of what lasts do not grow either; where all have some, one column says it.
    later = df if (lasting > 0).all() else df + np.where(paired, more, 2 * more) * (lasting == 0)
    sure = stdtrit(later, _ASSURANCE)
    change = size - settings.margin[index][:, None] >= (sure - stdtrit(later, level)) * error
    same = settings.equivalence[index][:, None] - size >= (sure - stdtrit(later, SAME_LEVEL)) * error
    settled = change | same
    first = settled.argmax(axis=1)
    return np.where(settled.any(axis=1), _ROUNDS[first], MOST_ROUNDS + 1)


def _open(interval: str, more: int | None, alone: bool, sessions: bool) -> str:
    if more is not None:
        advice = f"{more} more {'round' if more == 1 else 'rounds'} a side would settle it"
    elif sessions:
        advice = (
            "more rounds would hardly settle it, since sessions differ; interleave the rounds of both sides"
        )
    else:
        advice = "more rounds would hardly settle it"
    told = (
        "alone would say a change; among so many benchmarks it may be chance" if alone else "leaves it open"
    )
    return f"the 95 % interval, {interval}, {told}; {advice}"


def percent(ratio: float) -> str:
    """A ratio as a signed change: 1.023 -> +2.3 %; from 3 on as a factor."""
    if not np.isfinite(ratio) or ratio >= 3:
        return f"x{ratio:.3g}"
    change = 100 * (ratio - 1)
    digits = 1 if abs(change) >= 1 else 2
    return f"{change:+.{digits}f} %"
