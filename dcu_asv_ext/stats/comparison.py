"""`compare`: two sides of one benchmark, each a sequence of rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import decision, variance
from .linear import compare_linear
from .points import compare_points
from .rounds import Floats, Rounds, check_paired, earlier_runs, levels, read_rounds
from .verdicts import EQUIVALENCE, IMPROVEMENT, MARGIN, NO_CHANGE, REGRESSION, Comparison


def compare(
    before: Rounds,
    after: Rounds,
    *,
    history: Sequence[Rounds] | None = None,
    paired: bool = False,
    exact: bool = False,
    points: bool = False,
    margin: float = MARGIN,
    equivalence: float = EQUIVALENCE,
    direction: str = "lower",
) -> Comparison:
    """Whether `after` differs from `before`.

    before, after: rounds (processes), each a sequence of samples; the unit of replication is the round, as the log of
    the median of its samples. history: such rounds of earlier runs of the benchmark, whose between-round variance
    moderates this comparison's own (variance.py). paired: the rounds were interleaved, k with k.
    exact: counts and bytes that never vary: any change is real and the margin does not apply.
    points: shares of a whole, judged by their difference (points.py); margin and equivalence do not apply.
    margin: changes up to this fraction are none of interest. equivalence: "no change" claims less than this fraction.
    direction: "lower" or "higher", which is better.

    Raises ValueError for rounds or settings that cannot be used, saying which.
    """
    check_settings(margin, equivalence, direction)
    arrays = read_rounds(before, "before"), read_rounds(after, "after")
    check_paired(paired, *arrays)
    if exact and (found := compare_exact(*arrays, direction)) is not None:
        return found
    a, b = levels(arrays[0]), levels(arrays[1])
    runs = [] if history is None else history
    if points:
        return compare_points(a.medians, b.medians, runs, paired, direction)
    earlier = earlier_runs(runs, min(a.samples, b.samples))
    if min(a.medians.min(), b.medians.min()) <= 0:
        return compare_linear(a.medians, b.medians, runs, paired, margin, equivalence, direction)
    made = decision.estimates(np.log(a.medians)[None], np.log(b.medians)[None], paired)
    base = variance.population(np.array([(a.sampling + b.sampling) / 2]), made.df)
    prior = variance.prior_of(base, [earlier], made.variance, made.df, paired)
    settings = decision.Settings(
        np.array([np.log1p(margin)]), np.array([np.log1p(equivalence)]), np.array([direction == "lower"])
    )
    known = variance.posterior(prior, made.variance, made.df)
    return decision.comparisons(made, known, prior, settings, decision.judge(made, known, settings))[0]


def check_settings(margin: Any, equivalence: Any, direction: Any) -> None:
    """Raises ValueError for settings that no comparison can use."""
    if not (_is_number(margin) and margin >= 0):
        raise ValueError(f"margin must be a fraction of at least 0, not {margin!r}")
    if not (_is_number(equivalence) and equivalence > 0):
        raise ValueError(f"equivalence must be a fraction above 0, not {equivalence!r}")
    if equivalence < margin:
        raise ValueError(f"equivalence ({equivalence:g}) must not be smaller than margin ({margin:g})")
    if direction not in ("lower", "higher"):
        raise ValueError(f'direction must be "lower" or "higher", not {direction!r}')


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and bool(np.isfinite(value))


def compare_exact(before: Sequence[Floats], after: Sequence[Floats], direction: str) -> Comparison | None:
    """Equal or not, where neither side varies; None where one does, so that it must be compared as noisy."""
    old, new = np.concatenate(before), np.concatenate(after)
    if (old != old[0]).any() or (new != new[0]).any():
        return None
    return exactly(old[0], new[0], direction, (len(before), len(after)))


def exactly(before: float, after: float, direction: str, rounds: tuple[int, int]) -> Comparison:
    """Two figures that never vary."""
    old, new = float(before), float(after)
    ratio = new / old if old else (1.0 if new == old else float("inf"))
    if new == old:
        verdict, reason = NO_CHANGE, "exactly equal on both sides"
    else:
        verdict = REGRESSION if (new > old) == (direction == "lower") else IMPROVEMENT
        reason = "it never varies within a side, so any change is real"
    return Comparison(
        old, new, ratio, ratio, ratio, float(new == old), verdict, 0, reason, rounds, spread=0.0
    )
