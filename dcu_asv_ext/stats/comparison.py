"""`compare`: two sides of one benchmark, each a sequence of rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import decision, variance
from .linear import compare_linear
from .rounds import BadRounds, Levels, Rounds, earlier_runs, levels
from .verdicts import IMPROVEMENT, NO_CHANGE, REGRESSION, Comparison


def compare(
    before: Rounds,
    after: Rounds,
    *,
    history: Sequence[Rounds] | None = None,
    paired: bool = False,
    exact: bool = False,
    margin: float = 0.01,
    equivalence: float = 0.05,
    direction: str = "lower",
) -> Comparison:
    """Whether `after` differs from `before`.

    before, after: rounds (processes), each a sequence of samples; the unit of replication is the round, as the log of
    the median of its samples. history: such rounds of earlier runs of the benchmark, whose between-round variance
    moderates this comparison's own (variance.py). paired: the rounds were interleaved, k with k.
    exact: counts and bytes that never vary: any change is real and the margin does not apply.
    margin: changes up to this fraction are none of interest. equivalence: "no change" claims less than this fraction.
    direction: "lower" or "higher", which is better.

    Raises ValueError for rounds or settings that cannot be used, saying which.
    """
    check_settings(margin, equivalence, direction)
    a, b = levels(before, "before"), levels(after, "after")
    if paired and len(a.medians) != len(b.medians):
        raise BadRounds(
            f"paired rounds must be as many on both sides, not {len(a.medians)} and {len(b.medians)}"
        )
    if exact and (found := compare_exact(before, after, direction)) is not None:
        return found
    runs: Sequence[Rounds] = () if history is None else history
    if min(a.medians.min(), b.medians.min()) <= 0:
        return compare_linear(a.medians, b.medians, runs, paired, margin, equivalence, direction)
    made = decision.estimates(np.log(a.medians)[None], np.log(b.medians)[None], paired)
    prior = _prior(a, b, runs)
    if paired:
        prior = variance.shared_between_sides(prior)
    settings = decision.Settings(
        np.array([np.log1p(margin)]), np.array([np.log1p(equivalence)]), np.array([direction == "lower"])
    )
    known = variance.posterior(prior, made.variance, made.df)
    return decision.comparisons(made, known, prior, settings, decision.judge(made, known, settings))[0]


def _prior(a: Levels, b: Levels, runs: Sequence[Rounds]) -> variance.Mixture:
    base = variance.population(np.array([(a.sampling + b.sampling) / 2]))
    earlier = earlier_runs(runs, min(a.samples, b.samples))
    return variance.with_history(base, earlier.variances[None], earlier.df[None]) if len(earlier) else base


def check_settings(margin: float, equivalence: float, direction: str) -> None:
    """Raises ValueError for settings that no comparison can use."""
    if not (np.isfinite(margin) and margin >= 0):
        raise ValueError(f"margin must be a fraction of at least 0, not {margin!r}")
    if not (np.isfinite(equivalence) and equivalence > 0):
        raise ValueError(f"equivalence must be a fraction above 0, not {equivalence!r}")
    if equivalence < margin:
        raise ValueError(f"equivalence ({equivalence:g}) must not be smaller than margin ({margin:g})")
    if direction not in ("lower", "higher"):
        raise ValueError(f'direction must be "lower" or "higher", not {direction!r}')


def compare_exact(before: Rounds, after: Rounds, direction: str) -> Comparison | None:
    """Equal or not, where neither side varies; None where one does, so that it must be compared as noisy."""
    sides = [
        np.unique(np.concatenate([np.asarray(r, dtype=np.float64) for r in side])) for side in (before, after)
    ]
    if len(sides[0]) != 1 or len(sides[1]) != 1:
        return None
    old, new = float(sides[0][0]), float(sides[1][0])
    ratio = new / old if old else (1.0 if new == old else np.inf)
    if new == old:
        verdict, reason = NO_CHANGE, "exactly equal on both sides"
    else:
        verdict = REGRESSION if (new > old) == (direction == "lower") else IMPROVEMENT
        reason = "it never varies within a side, so any change is real"
    counts = (len(before), len(after))
    p = float(new == old)
    return Comparison(old, new, ratio, ratio, ratio, p, verdict, 0, reason, counts, spread=0.0)
