"""What a comparison says: the words, and the object that carries them with their figures."""

from __future__ import annotations

from dataclasses import dataclass

REGRESSION = "regression"
IMPROVEMENT = "improvement"
NO_CHANGE = "no change"
INCONCLUSIVE = "inconclusive"
#: Given by a suite's session guard, never by the comparison of one benchmark.
NOT_COMPARABLE = "not comparable"

VERDICTS = (REGRESSION, IMPROVEMENT, NO_CHANGE, INCONCLUSIVE, NOT_COMPARABLE)


#: What is asked where nothing else is said: changes up to the margin do not count, "no change" claims less than the
#: equivalence bound, and of the changes called in a suite chance may have made this share.
MARGIN, EQUIVALENCE, FDR = 0.01, 0.05, 0.02
#: The same of shares of a whole, as differences: a ratio of two shares near 0 is large where nothing happened.
POINTS, SAME_POINTS = 0.02, 0.05


@dataclass(frozen=True)
class Comparison:
    """One benchmark's figures on two sides.

    before, after: the levels, in the unit of the samples. ratio: after / before, with its 95 % interval; infinite
    where only `before` is zero, NaN where nothing can be said, and of shares.
    difference_low, difference_high: 95 % interval of after - before where that was judged (shares), else NaN.
    p_value: against the interval null (the change is within the margin); for exact metrics 0 or 1.
    rounds_needed: further rounds on each side that would settle it; 0 where it is settled, None where no number of
    rounds can be told to do.
    rounds: how many each side had. spread: standard deviation between rounds used (of the log; of the value where
    zeros forbid logs), with `df` degrees of freedom, `prior_df` of them lent by the history or the suite.
    """

    before: float
    after: float
    ratio: float
    ci_low: float
    ci_high: float
    p_value: float
    verdict: str
    rounds_needed: int | None
    reason: str
    rounds: tuple[int, int] = (0, 0)
    spread: float = float("nan")
    df: float = float("nan")
    prior_df: float = 0.0
    paired: bool = False
    difference_low: float = float("nan")
    difference_high: float = float("nan")

    @property
    def points(self) -> bool:
        """Whether the difference was judged, not the ratio."""
        return self.difference_low == self.difference_low

    @property
    def decided(self) -> bool:
        return self.verdict in (REGRESSION, IMPROVEMENT, NO_CHANGE)
