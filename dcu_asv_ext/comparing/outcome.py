"""The exit code of a comparison."""

from __future__ import annotations

from collections.abc import Collection

from ..exit_codes import BENCHMARK_FAILED, FINE, NOTHING_COMPARABLE, REGRESSED, UNDECIDED
from ..stats.verdicts import IMPROVEMENT, INCONCLUSIVE, NO_CHANGE, NOT_COMPARABLE, REGRESSION
from .figures import count
from .model import FAILED, Report

#: Verdicts that say something of the ratio.
COMPARED = frozenset({REGRESSION, IMPROVEMENT, NO_CHANGE, INCONCLUSIVE})

#: Words of `--fail-on`.
NONE, NOT_COMPARABLE_WORD = "none", "not-comparable"
FAIL_ON = (REGRESSION, FAILED, INCONCLUSIVE, NOT_COMPARABLE_WORD, NONE)
DEFAULT_FAIL_ON = (REGRESSION, FAILED)


def exit_code(report: Report, fail_on: Collection[str] = DEFAULT_FAIL_ON) -> int:
    """The gravest of what was found and asked for: 1 a regression, 2 a failure, 4 nothing comparable, 5 inconclusive.

    Nothing comparable at all is 4 whatever was asked for: it must never pass for "no regression".
    """
    found = {row.verdict for row in report.rows}
    if REGRESSION in fail_on and REGRESSION in found:
        return REGRESSED
    if FAILED in fail_on and FAILED in found:
        return BENCHMARK_FAILED
    if not found & COMPARED or (NOT_COMPARABLE_WORD in fail_on and NOT_COMPARABLE in found):
        return NOTHING_COMPARABLE
    if INCONCLUSIVE in fail_on and INCONCLUSIVE in found:
        return UNDECIDED
    return FINE


def refusal(report: Report) -> str:
    """What is said beside exit code 4."""
    if report.refused:
        return report.refused
    verdicts = [row.verdict for row in report.rows]
    if not COMPARED.isdisjoint(verdicts):
        return f"not comparable: {count(verdicts.count(NOT_COMPARABLE), 'row')}"
    return "nothing could be compared"
