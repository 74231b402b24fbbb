"""Comparison of shares of a whole, by their difference: 1 % and 2 % idle are the same, 10 % and 20 % are not."""

from __future__ import annotations

from collections.abc import Sequence

from .decision import CHANGE_LEVEL, MOST_ROUNDS, SAME_LEVEL
from .linear import Errors, errors
from .rounds import Floats, Rounds, history_spread
from .verdicts import (
    IMPROVEMENT,
    INCONCLUSIVE,
    NO_CHANGE,
    POINTS,
    REGRESSION,
    SAME_POINTS,
    Comparison,
)


def compare_points(
    a: Floats, b: Floats, history: Sequence[Rounds], paired: bool, direction: str
) -> Comparison:
    """Two sides of round medians: the difference of their means, with Welch's degrees of freedom. A change is called
    where its 95 % interval lies beyond POINTS, "no change" where the 90 % interval lies within SAME_POINTS, or where
    it is smaller than POINTS and nothing tells a spread. Raises BadRounds for what is no history.
    """
    counts = (len(a), len(b))
    old, new = float(a.mean()), float(b.mean())
    found = errors(a, b, history_spread(history), paired)
    moved = new - old
    half = float("inf") if found is None else found.half(CHANGE_LEVEL)
    told = f"{moved * 100:+.1f} points"
    more: int | None = 0
    p = 1.0
    if found is None and abs(moved) < POINTS:
        verdict, reason = NO_CHANGE, f"it moved by {told}, and less than {100 * POINTS:g} are no change"
    elif found is None:
        verdict, more = INCONCLUSIVE, 2
        reason = "one round a side has no spread to judge by; 2 more rounds a side would give one"
    else:
        p = min(1.0, 2 * found.tail(abs(moved) - POINTS, 1.0)) if abs(moved) > POINTS else 1.0
        verdict, reason = _judged(moved, p, found, direction, told)
        if verdict == INCONCLUSIVE:
            gap = max(abs(moved) - POINTS, SAME_POINTS - abs(moved))
            more = found.rounds_needed(gap, max(counts))
    return Comparison(
        old, new, float("nan"), float("nan"), float("nan"), p, verdict,
        more if more is None or more <= MOST_ROUNDS else None, reason, counts,
        spread=float("nan") if found is None else found.spread, df=0.0 if found is None else found.df,
        paired=paired, difference_low=moved - half, difference_high=moved + half,
    )  # fmt: skip


def _judged(moved: float, p: float, found: Errors, direction: str, told: str) -> tuple[str, str]:
    if abs(moved) > POINTS and p <= 2 * CHANGE_LEVEL:
        verdict = REGRESSION if (moved > 0) == (direction == "lower") else IMPROVEMENT
        interval = _interval(moved, found.half(CHANGE_LEVEL))
        return verdict, f"it moved by {told}: the 95 % interval, {interval}, lies beyond {100 * POINTS:g}"
    if found.tail(SAME_POINTS - abs(moved), 1.0) <= SAME_LEVEL:
        interval = _interval(moved, found.half(SAME_LEVEL))
        return (
            NO_CHANGE,
            f"it moved by {told}: the 90 % interval, {interval}, lies within {100 * SAME_POINTS:g}",
        )
    return INCONCLUSIVE, f"it moved by {told}, within the spread of the rounds"


def _interval(moved: float, half: float) -> str:
    return f"{100 * (moved - half):+.1f} to {100 * (moved + half):+.1f}"
