"""When a growing comparison is looked at, and how much each look may risk.

Whoever looks at every round and stops when he likes what he sees finds a change in anything. Here the looks are fixed
beforehand, and the level at which a single look may call a change (stats.suite) is spent on them in shares that add
up to one (alpha spending: Lan and DeMets 1983, doi 10.1093/biomet/70.3.659; with fixed shares, so by Bonferroni's
bound): whenever the rounds end, a verdict is wrong no more often than after so many rounds planned from the start.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..comparing.deciding import ORDER
from ..comparing.model import Report, Row
from ..stats.decision import CHANGE_LEVEL, SAME_LEVEL
from ..stats.verdicts import IMPROVEMENT, INCONCLUSIVE, NO_CHANGE, REGRESSION, Comparison

#: A look comes after so many times the rounds of the one before.
GROWTH = 1.6
#: What every look but the last may spend; the last has what is left.
EARLY = 0.1


@dataclass(frozen=True)
class Schedule:
    """first: rounds before the first look. most: rounds at all."""

    first: int
    most: int

    def looks(self) -> Iterator[int]:
        """Rounds after which the comparison is made: 5, 8, 13 and 20 of at most 20."""
        number = float(self.first)
        while round(number) < self.most:
            yield round(number)
            number *= GROWTH
        yield self.most

    def share(self, earlier: int, last: bool) -> float:
        """Of the level, for a look after so many earlier ones. The last one takes what those left."""
        return max(1.0 - EARLY * earlier, EARLY) if last else EARLY


def spend(report: Report, share: float) -> None:
    """Take back the verdicts that this look's share of the level does not carry.

    A row's own `rounds_needed` stays: it tells of the full level, of which the last look has most.
    """
    rows = [_spent(row, share, report.settings) for row in report.rows]
    report.rows = sorted(rows, key=lambda row: ORDER.index(row.verdict))


def _spent(row: Row, share: float, settings: Mapping[str, Any]) -> Row:
    found = row.comparison
    if found is None:
        return row
    level = 2 * float(settings.get("level", CHANGE_LEVEL)) * share
    if row.verdict in (REGRESSION, IMPROVEMENT) and found.p_value > level:
        what = f"p = {found.p_value:.2g} would have to be {level:.2g} at this look"
    elif row.verdict == NO_CHANGE and same_p(found, settings["equivalence"]) > SAME_LEVEL * share:
        what = "no change is not yet sure enough at this look"
    else:
        return row
    reason = f"{row.reason}; {what}, so more rounds decide"
    again = replace(found, verdict=INCONCLUSIVE, reason=reason, rounds_needed=1)
    return replace(row, verdict=INCONCLUSIVE, reason=reason, comparison=again)


def same_p(found: Comparison, equivalence: float) -> float:
    """The larger p of the two one-sided tests against the equivalence bound, from the 95 % interval."""
    from scipy.special import stdtr, stdtrit

    if found.ratio == found.ci_low == found.ci_high:
        return 0.0  # exact
    if not (found.ratio > 0 and math.isfinite(found.ratio) and found.ci_high > found.ratio and found.df > 0):
        return 0.0  # levels of zero have no ratio; their verdict stands
    error = math.log(found.ci_high / found.ratio) / -float(stdtrit(found.df, CHANGE_LEVEL))
    return float(stdtr(found.df, -(math.log1p(equivalence) - abs(math.log(found.ratio))) / error))
