"""What a design can find: power, the smallest change it detects, the rounds that a change needs.

For two sides of equal rounds and Student's t against the interval null (noncentral t). spread: standard deviation
between rounds, of the log (`Comparison.spread`). changes and margins are fractions: 0.05 is 5 %.
"""

from __future__ import annotations

import numpy as np

from .decision import CHANGE_LEVEL, MOST_ROUNDS
from .verdicts import MARGIN

#: The power that is asked of a design where nothing else is said.
ASSURANCE = 0.8


def power(
    change: float,
    spread: float,
    rounds: int,
    *,
    margin: float = MARGIN,
    lent: float = 0.0,
    paired: bool = False,
) -> float:
    """Chance that a slowdown by `change` is called a regression. lent: degrees of freedom from a history.

    Raises ValueError for rounds that leave no degree of freedom, and a spread that is none.
    """
    from scipy.special import nctdtr, stdtrit

    error, df = _error(spread, rounds, lent, paired)
    distance = float(np.log1p(change) - np.log1p(margin))
    if error == 0:
        return float(distance > 0)
    found = float(nctdtr(df, distance / error, -stdtrit(df, CHANGE_LEVEL)))
    # The noncentral t of scipy gives no number far out, where the answer is certain.
    return 1.0 - found if np.isfinite(found) else float(distance > 0)


def smallest_change(
    spread: float,
    rounds: int,
    *,
    margin: float = MARGIN,
    lent: float = 0.0,
    paired: bool = False,
    assurance: float = ASSURANCE,
) -> float:
    """The slowdown that is called a regression with the given chance, as a fraction. Raises ValueError as `power`."""
    from scipy.special import nctdtrinc, stdtrit

    if not 0 < assurance < 1:
        raise ValueError(f"assurance must lie between 0 and 1, not {assurance!r}")
    error, df = _error(spread, rounds, lent, paired)
    distance = float(nctdtrinc(df, 1.0 - assurance, -stdtrit(df, CHANGE_LEVEL)))
    return float(np.expm1(np.log1p(margin) + distance * error))


def rounds_for(
    change: float,
    spread: float,
    *,
    margin: float = MARGIN,
    lent: float = 0.0,
    paired: bool = False,
    assurance: float = ASSURANCE,
) -> int | None:
    """Rounds a side from which on a slowdown by `change` is found; None where MOST_ROUNDS do not do."""
    for rounds in range(1 if lent > 0 else 2, MOST_ROUNDS + 1):
        if (
            smallest_change(spread, rounds, margin=margin, lent=lent, paired=paired, assurance=assurance)
            <= change
        ):
            return rounds
    return None


def _error(spread: float, rounds: int, lent: float, paired: bool) -> tuple[float, float]:
    if not (np.isfinite(spread) and spread >= 0):
        raise ValueError(f"spread must be a number of at least 0, not {spread!r}")
    df = lent + (rounds - 1 if paired else 2 * (rounds - 1))
    if rounds < 1 or df <= 0:
        raise ValueError(f"{rounds} rounds a side leave nothing to judge the spread by")
    return spread * float(np.sqrt((1 if paired else 2) / rounds)), df
