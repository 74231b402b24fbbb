"""Comparison on the plain scale, for figures of which some are zero and have no logarithm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .decision import CHANGE_LEVEL, SAME_LEVEL
from .rounds import Floats, Rounds
from .verdicts import IMPROVEMENT, INCONCLUSIVE, NO_CHANGE, REGRESSION, Comparison


def compare_linear(
    a: Floats,
    b: Floats,
    history: Sequence[Rounds],
    paired: bool,
    margin: float,
    equivalence: float,
    direction: str,
) -> Comparison:
    """Two sides of round medians, some of them zero: Student's t of the difference of means, its bounds taken
    relative to the mean of `before`. Earlier runs lend their variance only where this one has none of its own.
    """
    from scipy.special import stdtr, stdtrit

    old, new = float(a.mean()), float(b.mean())
    counts = (len(a), len(b))
    if np.all(a == a[0]) and np.all(b == a[0]):
        same_reason = "every round of both sides has the same figure"
        return Comparison(
            old, new, 1.0, 1.0, 1.0, 1.0, NO_CHANGE, 0, same_reason, counts, spread=0.0, paired=paired
        )
    variance, df, factor = _variance(a, b, paired)
    if df <= 0 or (variance == 0 and min(counts) < 2):
        reason = (
            "one round a side, with zeros, has no spread to judge by; 2 more rounds a side would give one"
        )
        return Comparison(
            old, new, _ratio(new, old), 0.0, np.inf, 1.0, INCONCLUSIVE, 2, reason, counts, paired=paired
        )
    pool = _history_variance(history)
    error = float(np.sqrt(max(variance, pool if variance == 0 else 0.0) * factor))
    change, t = new - old, float(-stdtrit(df, CHANGE_LEVEL))
    low, high = change - t * error, change + t * error
    size, scale = abs(change), old if old > 0 else new
    gap = size - margin * old
    p = 1.0 if gap <= 0 else (0.0 if error == 0 else min(1.0, 2 * float(stdtr(df, -gap / error))))
    same_gap = equivalence * scale - size if old > 0 else -size
    same = same_gap >= 0 and (error == 0 or float(stdtr(df, -same_gap / error)) <= SAME_LEVEL)
    interval = (_ratio(max(old + low, 0.0), old), _ratio(max(old + high, 0.0), old))
    if p <= 2 * CHANGE_LEVEL:
        verdict = REGRESSION if (change > 0) == (direction == "lower") else IMPROVEMENT
        reason, more = f"{old:.4g} to {new:.4g} (some rounds are zero, compared by differences)", 0
    elif same:
        verdict, reason, more = NO_CHANGE, f"any change is smaller than {100 * equivalence:.3g} %", 0
    else:
        needed = max(gap, same_gap)
        more = int(np.ceil((2.8 * error / needed) ** 2 * max(counts))) - max(counts) if needed > 0 else 0
        verdict, reason = INCONCLUSIVE, f"{old:.4g} to {new:.4g}, with zeros, within the spread of the rounds"
        more = max(more, 1)
    spread = float(np.sqrt(variance))
    return Comparison(
        old, new, _ratio(new, old), *interval, p, verdict, more, reason, counts, spread, df, 0.0, paired
    )


def _ratio(new: float, old: float) -> float:
    if old > 0:
        return new / old
    return 1.0 if new == old else float("inf")


def _variance(a: Floats, b: Floats, paired: bool) -> tuple[float, float, float]:
    if paired:
        steps = b - a
        return (float(steps.var(ddof=1)) if len(a) > 1 else 0.0), len(a) - 1.0, 1.0 / len(a)
    df = len(a) + len(b) - 2.0
    squares = float(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum())
    return (squares / df if df > 0 else 0.0), df, 1.0 / len(a) + 1.0 / len(b)


def _history_variance(runs: Sequence[Rounds]) -> float:
    found = []
    for run in runs:
        medians = [float(np.median(np.asarray(one, dtype=np.float64))) for one in run if len(one)]
        if len(medians) >= 2 and np.isfinite(medians).all():
            found.append(float(np.var(medians, ddof=1)))
    return float(np.median(found)) if found else 0.0
