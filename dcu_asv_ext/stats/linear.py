"""Comparison on the plain scale, for figures of which some are zero and have no logarithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .decision import CHANGE_LEVEL, MOST_ROUNDS, SAME_LEVEL
from .rounds import Floats, Rounds, history_spread
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
    """Two sides of round medians, some of them zero: Fieller's interval (1954) of the ratio of the means with Welch's
    degrees of freedom, and the tests that agree with it. Earlier runs lend their spread only where these rounds have
    none of their own. Raises BadRounds for what is no history.
    """
    counts = (len(a), len(b))
    largest = float(max(a.max(), b.max()))
    if np.all(a == a[0]) and np.all(b == a[0]):
        level = float(a[0])
        reason = "every round of both sides has the same figure"
        return Comparison(
            level, level, 1.0, 1.0, 1.0, 1.0, NO_CHANGE, 0, reason, counts, spread=0.0, paired=paired
        )
    # Relative to the largest, so that no square leaves the range of numbers.
    a, b = a / largest, b / largest
    found = errors(a, b, history_spread(history) / largest, paired)
    old, new = float(a.mean()), float(b.mean())
    if found is None:
        reason = (
            "one round a side, with zeros, has no spread to judge by; 2 more rounds a side would give one"
        )
        verdict, p, more, low, high = INCONCLUSIVE, 1.0, 2, 0.0, np.inf
        spread, df = float("nan"), 0.0
    else:
        low, high = found.interval(old, new)
        df, spread = found.df, found.spread
        upper, widest = 1 + margin, 1 + equivalence
        gap = max(new - upper * old, old / upper - new)
        p = min(1.0, 2 * found.tail(gap, upper if new > old else 1 / upper)) if gap > 0 else 1.0
        below, above = widest * old - new, new - old / widest
        same_gap = min(below, above)
        more = 0
        if p <= 2 * CHANGE_LEVEL:
            verdict = REGRESSION if (new > old) == (direction == "lower") else IMPROVEMENT
            reason = "some rounds are zero, so the means were compared, not their logarithms"
        elif max(found.tail(below, widest), found.tail(above, 1 / widest)) <= SAME_LEVEL:
            verdict, reason = NO_CHANGE, f"any change is smaller than {100 * equivalence:.3g} %"
        else:
            verdict, reason = INCONCLUSIVE, "some rounds are zero, and the change is within their spread"
            more = found.rounds_needed(max(gap, same_gap), max(counts))
    needed = more if more <= MOST_ROUNDS else None
    ratio = new / old if old > 0 else np.inf
    return Comparison(
        old * largest, new * largest, ratio, low, high, p, verdict, needed, reason, counts, spread * largest, df,
        0.0, paired,
    )  # fmt: skip


@dataclass(frozen=True)
class Errors:
    """Variances of both means and their covariance, degrees of freedom, and the standard deviation between rounds."""

    before: float
    after: float
    together: float
    df: float
    spread: float

    def of_difference(self, bound: float = 1.0) -> float:
        """Standard error of the second mean less `bound` times the first."""
        return float(np.sqrt(max(bound**2 * self.before + self.after - 2 * bound * self.together, 0.0)))

    def half(self, level: float) -> float:
        """Half width of the interval of the difference whose ends have this tail."""
        from scipy.special import stdtrit

        return -float(stdtrit(self.df, level)) * self.of_difference()

    def tail(self, distance: float, bound: float) -> float:
        """P(error > distance) for a distance between the second mean and `bound` times the first."""
        from scipy.special import stdtr

        error = self.of_difference(bound)
        return float(stdtr(self.df, -distance / error)) if error > 0 else float(distance <= 0)

    def interval(self, old: float, new: float) -> tuple[float, float]:
        """Fieller's 95 % interval of new / old; an end is infinite where `old` may be zero, or is."""
        from scipy.special import stdtrit

        square = float(stdtrit(self.df, CHANGE_LEVEL)) ** 2
        lead = old**2 - square * self.before
        middle = old * new - square * self.together
        rest = new**2 - square * self.after
        # The roots of lead r^2 - 2 middle r + rest.
        reach = middle + float(np.sqrt(max(middle**2 - lead * rest, 0.0)))
        low = 0.0 if rest <= 0 else rest / reach if reach > 0 else np.inf
        return low, reach / lead if lead > 0 else np.inf

    def rounds_needed(self, gap: float, rounds: int) -> int:
        """Further rounds at which an error of 2.8 (95 %, and 80 % power) is no larger than the gap."""
        error = self.of_difference()
        if gap <= 0 or error == 0:
            return MOST_ROUNDS + 1
        wanted = rounds * min((2.8 * error / gap) ** 2, MOST_ROUNDS + 1.0)
        return max(int(np.ceil(wanted)) - rounds, 1)


def errors(a: Floats, b: Floats, pool: float, paired: bool) -> Errors | None:
    """None where nothing tells how much rounds differ. pool: standard deviation of earlier runs, 0 if not known."""
    r, s = len(a), len(b)
    if paired and r > 1:
        matrix = np.cov(a, b) / r
        return Errors(matrix[0, 0], matrix[1, 1], matrix[0, 1], r - 1.0, float(np.std(b - a, ddof=1)))
    known = [float(side.var(ddof=1)) for side in (a, b) if len(side) > 1]
    largest = max(known, default=0.0) or pool**2
    if largest == 0 and len(known) < 2:
        return None
    # A side of one round, or of equal ones (zeros, mostly), tells no spread: it has the other's.
    own = (float(side.var(ddof=1)) if len(side) > 1 else 0.0 for side in (a, b))
    first, second = ((one or largest) / n for one, n in zip(own, (r, s), strict=True))
    weights = first**2 / max(r - 1, 1) + second**2 / max(s - 1, 1)
    df = (first + second) ** 2 / weights if weights > 0 else r + s - 2.0
    return Errors(first, second, 0.0, df, float(np.sqrt(largest)))
