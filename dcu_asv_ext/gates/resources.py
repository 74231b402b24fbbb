"""The third gate: the candidate is no heavier than its allowances, in memory, cold start, compile time and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..comparing import figures
from ..comparing.deciding import FAILED_BOTH, FIXED, MISSING, ONLY_AFTER, ONLY_BEFORE
from ..comparing.fields import at, number
from ..comparing.model import FAILED as SIDE_FAILED
from ..comparing.model import OK, Key, ResultSet, Row
from ..stats.verdicts import EQUIVALENCE, MARGIN, REGRESSION, Comparison
from ..stats.verdicts import NOT_COMPARABLE as ROW_NOT_COMPARABLE
from .model import (
    FAILED,
    INCONCLUSIVE,
    NOT_COMPARABLE,
    NOT_MEASURED,
    PASSED,
    TOLD,
    Figures,
    Finding,
    figures_of,
)
from .policy import DEFAULT_ALLOWANCES, GROWTH, PACKAGE_SIZE, Allowance, Applied, Policy

_SIZE = Key("", PACKAGE_SIZE)


def resources(
    rows: Sequence[Row], before: Sequence[ResultSet], after: Sequence[ResultSet], policy: Policy
) -> list[Finding]:
    """rows: those that are looked at, of a comparison (the intervals of its figures do not hang on its margin)."""
    gated = [(row, policy.allowance_of(row.key)) for row in rows if row.key.metric in DEFAULT_ALLOWANCES]
    judged = [(row, applied) for row, applied in gated if applied is not None]
    found = [_of_row(row, applied) for row, applied in judged]
    undecided = [
        (place, row, applied.settings)
        for place, (row, applied) in enumerate(judged)
        if found[place].outcome == INCONCLUSIVE
    ]
    for (place, *_), needed in zip(undecided, _rounds_needed(undecided), strict=True):
        found[place] = replace(found[place], rounds_needed=needed)
    sized = policy.allowance_of(_SIZE)
    package = None if sized is None else _of_package(before, after, sized)
    if package is not None:
        found.append(package)
    asked = {name for name, allowance in policy.resources.items() if allowance is not None}
    absent = sorted(asked - {one.metric for one in found} - {row.key.metric for row in rows})
    if absent:
        what = f"measured on neither side, so not gated: {', '.join(absent)}"
        found.append(Finding(TOLD, "not measured", what, ""))
    return found


def _of_row(row: Row, applied: Applied) -> Finding:
    if row.verdict == ROW_NOT_COMPARABLE:
        return _made(row, applied, NOT_COMPARABLE, row.verdict, row.reason)
    if row.comparison is not None:
        return _of_figures(row, row.comparison, applied)
    measured_before = row.before is not None and row.before.state == OK
    if row.verdict in (SIDE_FAILED, ONLY_BEFORE) or (row.verdict == MISSING and measured_before):
        reason = "the candidate has no figure of it" if row.verdict == ONLY_BEFORE else row.reason
        return _made(row, applied, NOT_MEASURED, "not measured", reason)
    words = {FAILED_BOTH: FAILED_BOTH, FIXED: FIXED, ONLY_AFTER: "new"}
    return _made(row, applied, TOLD, words.get(row.verdict, "not measured"), row.reason)


def _of_figures(row: Row, found: Comparison, applied: Applied) -> Finding:
    """What never varies is held against the allowance itself; of what does the 95 % interval has to lie within."""
    limit = applied.settings.limit(found.before)
    if found.after <= found.before and found.after <= limit and _exact(found):
        word = "lighter" if found.after < found.before else "unchanged"
        return _made(row, applied, PASSED, word, "")
    if _exact(found) or found.before <= 0:
        if found.after <= limit:
            return _made(row, applied, PASSED, "within the allowance", "")
        if row.key.metric == GROWTH and found.before == 0:
            reason = "each further call keeps memory, which none did in the base"
            return _made(row, applied, FAILED, "growth", reason)
        if _exact(found) or row.verdict == REGRESSION:
            return _made(row, applied, FAILED, "heavier", "")
        return _made(row, applied, INCONCLUSIVE, INCONCLUSIVE, row.reason)
    beyond, within = _factors(limit, found.before)
    if found.ci_low > beyond:
        return _made(row, applied, FAILED, "heavier", "its whole interval lies beyond the allowance")
    if found.ci_high <= within:
        return _made(
            row, applied, PASSED, "within the allowance", "its whole interval lies within the allowance"
        )
    reason = "its interval reaches from within the allowance to beyond it"
    return _made(row, applied, INCONCLUSIVE, INCONCLUSIVE, reason)


def _exact(found: Comparison) -> bool:
    return found.ratio == found.ci_low == found.ci_high


def _factors(limit: float, before: float) -> tuple[float, float]:
    """Beyond which ratio it is too heavy, and within which it is not.

    Of figures that vary from round to round nobody can say that they did not change at all: an allowance smaller than
    that is widened to the margin and the bound by which every comparison decides.
    """
    allowed = limit / before
    return max(allowed, 1 + MARGIN), max(allowed, 1 + EQUIVALENCE)


def _rounds_needed(undecided: Sequence[tuple[int, Row, Allowance]]) -> list[int | None]:
    """For each, the further rounds a side that would settle on which side of its allowance it lies."""
    if not undecided:
        return []
    from ..stats import compare_suite

    bounds = [_bounds(row, allowance) for _, row, allowance in undecided]
    compared = compare_suite(
        [_samples(row) for _, row, _ in undecided],
        paired=[bool(row.comparison and row.comparison.paired) for _, row, _ in undecided],
        direction=[row.series.better for _, row, _ in undecided],
        margin=[margin for margin, _ in bounds],
        equivalence=[bound for _, bound in bounds],
        across_sessions=True,
        use_guard=False,
    )
    return [one.rounds_needed or None for one in compared]


def _bounds(row: Row, allowance: Allowance) -> tuple[float, float]:
    assert row.comparison is not None
    before = row.comparison.before
    if before <= 0:
        return MARGIN, EQUIVALENCE
    beyond, within = _factors(allowance.limit(before), before)
    return beyond - 1, within - 1


def _samples(row: Row) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    assert row.before is not None and row.after is not None and row.comparison is not None
    sides = [{one.number: one.samples for one in side.rounds} for side in (row.before, row.after)]
    if row.comparison.paired:
        common = sorted(set(sides[0]) & set(sides[1]))
        return [sides[0][number] for number in common], [sides[1][number] for number in common]
    return [one.samples for one in row.before.rounds], [one.samples for one in row.after.rounds]


def _made(row: Row, applied: Applied, outcome: str, word: str, reason: str) -> Finding:
    name = figures.name(row.key, row.series)
    rule = "" if outcome == TOLD else _rule(row.key.metric, applied)
    return Finding(outcome, word, reason, rule, row.key, name, row.env, figures_of(row))


def _rule(metric: str, applied: Applied) -> str:
    allowance: Allowance = applied.settings
    origin = f" ({applied.origin})" if applied.origin else ""
    return f"{metric} may grow by {allowance.text}{origin}"


# ---- the package


def _of_package(before: Sequence[ResultSet], after: Sequence[ResultSet], applied: Applied) -> Finding | None:
    """Of the commit as it was installed, so one figure a side: the newest. None: neither side has one."""
    (old, _), (new, why) = _size(before), _size(after)
    rule = _rule(PACKAGE_SIZE, applied)
    if old is None and new is None:
        return None
    if old is None or new is None:
        shown = Figures(old, new, "bytes")
        if old is None:
            return Finding(TOLD, "new", "not measured in the base", "", _SIZE, figures=shown)
        return Finding(NOT_MEASURED, "not measured", why, rule, _SIZE, figures=shown)
    ratio = new / old if old else (1.0 if new == old else float("inf"))
    shown = Figures(old, new, "bytes", ratio, ratio, ratio, (1, 1), exact=True)
    if new > applied.settings.limit(old):
        return Finding(FAILED, "heavier", "the installed project is larger", rule, _SIZE, figures=shown)
    word = "unchanged" if new == old else "lighter" if new < old else "within the allowance"
    return Finding(PASSED, word, "", rule, _SIZE, figures=shown)


def _size(sets: Sequence[ResultSet]) -> tuple[float | None, str]:
    why = "the candidate's evidence does not tell it"
    for record in (record for one in sets for record in reversed(one.records)):
        value = number(record, "project", "package_size")
        if value is not None and value >= 0:
            return float(value), ""
        missing = at(record, "project", "missing")
        why = missing if isinstance(missing, str) else why
    return None, why
