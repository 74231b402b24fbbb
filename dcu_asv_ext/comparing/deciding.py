"""The report of two sides: which keys match, which may be compared, what the statistics say of them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..stats.verdicts import (
    EQUIVALENCE,
    FDR,
    IMPROVEMENT,
    INCONCLUSIVE,
    MARGIN,
    NO_CHANGE,
    NOT_COMPARABLE,
    REGRESSION,
    Comparison,
)
from . import clock, disturbed, memory_directions
from .clock import clocks_differ, in_cycles, judged
from .differences import check_vary, differences, sentence, together, undeclared
from .explaining import explanation
from .facts import all_facts
from .lending import Past, earlier, lent
from .model import FAILED, OK, ComparisonError, Difference, Key, Report, ResultSet, Row, Series, Side
from .sessions import moment

if TYPE_CHECKING:
    from ..stats.rounds import Run
    from ..stats.suite import SuiteComparison

#: Earlier results of a series that its noise is learned from.
HISTORY = 50

MISSING, FIXED = "missing", "fixed"
FAILED_BOTH = "failed before and after"
ONLY_BEFORE, ONLY_AFTER = "only before", "only after"

#: Row verdicts by what matters.
ORDER = (
    REGRESSION,
    FAILED,
    IMPROVEMENT,
    FIXED,
    INCONCLUSIVE,
    NO_CHANGE,
    NOT_COMPARABLE,
    MISSING,
    FAILED_BOTH,
    ONLY_BEFORE,
    ONLY_AFTER,
)


def report(
    before: Sequence[ResultSet],
    after: Sequence[ResultSet],
    *,
    history: Sequence[Past] = (),
    vary: Sequence[str] = (),
    margin: float = MARGIN,
    equivalence: float = EQUIVALENCE,
    fdr: float = FDR,
    match: Callable[[Key], bool] | None = None,
) -> Report:
    """Compare two sides, environment by environment.

    history: result sets in commit order; of each series the newest 50 before `before`'s commit lend their noise.
    vary: facts that are the experiment (differences.py). match: which keys are compared (None: all).
    Raises ComparisonError where the sides share no environment, and for a wrong `vary`.
    """
    pairs = _matched(before, after)
    rows = [
        row for pair in pairs for row in _pair_rows(*pair, several=len(pairs) > 1, match=match, vary=vary)
    ]
    found = together(row.differences for row in rows)
    check_vary(vary, found, (name for row in rows for name in row.fact_names))
    made = Report(before, after, differences=found)
    made.settings = {"margin": margin, "equivalence": equivalence, "fdr": fdr, "vary": list(vary)}
    declared = any(one.declared for one in found)
    options = {"margin": margin, "equivalence": equivalence, "fdr": fdr}
    good = [row for row in rows if row.comparable and not row.refused]
    refused = [row for row in rows if row.comparable and row.refused]
    _compare(made, good, history, guard=not declared, options=options)
    _count_cycles(good, history, options, decide=not declared)
    _advise(made, refused, history, options)
    for one in good:
        one.row = replace(one.row, explanation=explanation(one.row, *one.sets))
    made.rows = sorted((row.row for row in rows), key=_place)
    made.notes = _notes(made, rows, declared)
    if refused and not good:
        made.refused = refused[0].row.reason
    return made


@dataclass
class _Row:
    """A row in the making. comparable: both sides have numbers of the same benchmark."""

    row: Row
    sets: tuple[ResultSet, ResultSet]
    comparable: bool = False
    refused: bool = False
    paired: bool = False
    differences: list[Difference] = field(default_factory=list)
    fact_names: frozenset[str] = frozenset()


# ---- matching


def _matched(before: Sequence[ResultSet], after: Sequence[ResultSet]) -> list[tuple[ResultSet, ResultSet]]:
    """Pairs of the same environment; one environment on each side is compared whatever their names."""
    if not before or not after:
        raise ComparisonError(f"there are no results on the {'first' if not before else 'second'} side")
    if len(before) == 1 and len(after) == 1:
        return [(before[0], after[0])]
    by_env = {one.env: one for one in after}
    pairs = [(one, by_env[one.env]) for one in before if one.env in by_env]
    if not pairs:
        sides = [", ".join(sorted(one.env for one in side)) for side in (before, after)]
        raise ComparisonError(
            f"the two sides have no environment in common ({sides[0]} against {sides[1]}); name one for each"
        )
    return pairs


def _pair_rows(
    before: ResultSet,
    after: ResultSet,
    *,
    several: bool,
    match: Callable[[Key], bool] | None,
    vary: Sequence[str],
) -> list[_Row]:
    keys = sorted({*before.sides, *after.sides})
    env = before.env if several else ""
    return [_row(key, before, after, env, vary) for key in keys if match is None or match(key)]


def _row(key: Key, before: ResultSet, after: ResultSet, env: str, vary: Sequence[str]) -> _Row:
    one, other = before.sides.get(key), after.sides.get(key)
    series = after.series.get(key) or before.series.get(key) or Series(key.benchmark)
    verdict, reason = _without_statistics(one, other)
    made = _Row(Row(key, series, one, other, verdict, reason, env=env), (before, after))
    if one is None or other is None:
        return made
    left, right = all_facts(before.facts, one.facts), all_facts(after.facts, other.facts)
    if one.rounds and other.rounds:
        made.differences = differences(left, right, vary)
        made.fact_names = frozenset({*left, *right})
    made.comparable = verdict == ""
    if made.comparable:
        forbidding = undeclared(made.differences)
        made.refused = bool(forbidding)
        made.paired = interleaved(one, other)
        if forbidding:
            made.row = replace(made.row, verdict=NOT_COMPARABLE, reason=sentence(forbidding))
    return made


def _without_statistics(before: Side | None, after: Side | None) -> tuple[str, str]:
    """(verdict, reason) of a row whose figures are not to be compared; ("", "") where they are."""
    if before is None or after is None:
        return (ONLY_AFTER if before is None else ONLY_BEFORE), "it was measured on one side only"
    states = (before.state, after.state)
    if states == (FAILED, FAILED):
        return FAILED_BOTH, after.reason
    if states == (OK, FAILED):
        return FAILED, after.reason
    if states == (FAILED, OK):
        return FIXED, f"before: {before.reason}"
    if states != (OK, OK):
        return MISSING, after.reason if after.state != OK else before.reason
    conflict = before.conflict or after.conflict
    if conflict:
        return NOT_COMPARABLE, conflict
    if None not in (before.version, after.version) and before.version != after.version:
        was, now = str(before.version)[:8], str(after.version)[:8]
        return NOT_COMPARABLE, f"the benchmark changed (version {was} before, {now} after)"
    if None not in (before.protocol, after.protocol) and before.protocol != after.protocol:
        return NOT_COMPARABLE, (
            f"the way of measuring changed (protocol {before.protocol} before, {after.protocol} after)"
        )
    return "", ""


# ---- pairing


def interleaved(before: Side, after: Side) -> bool:
    """Whether round k of both sides was measured before round k+1 of either.

    Asks for one session a side and at least two rounds of the same numbers, half of the longer side at least.
    """
    common = _common(before, after)
    if len(common) < 2 or 2 * len(common) < max(len(before.rounds), len(after.rounds)):
        return False
    started = []
    for side in (before, after):
        if len({one.session for one in side.rounds}) != 1:
            return False
        moments = {one.number: moment(one.started_at) for one in side.rounds}
        started.append([moments[number] for number in common])
    latest: datetime.datetime | None = None
    for pair in zip(*started, strict=True):
        if None in pair or (latest is not None and min(pair) <= latest):
            return False
        latest = max(pair)
    return True


def _common(before: Side, after: Side) -> list[int]:
    return sorted({one.number for one in before.rounds} & {one.number for one in after.rounds})


# ---- statistics


def _compare(
    made: Report, rows: Sequence[_Row], history: Sequence[Past], *, guard: bool, options: dict[str, Any]
) -> None:
    """Fill in what the statistics say; the session guard may refuse."""
    suite = _statistics(rows, history, use_guard=guard, **options)
    if suite is None:
        return
    _keep_shift(made, suite)
    made.settings = {**made.settings, "level": suite.level}
    if not suite.comparable:
        made.refused = suite.reason
    for row, found, corrected in zip(rows, suite, suite.corrected or [None] * len(rows), strict=True):
        advice = corrected if found.verdict == NOT_COMPARABLE else None
        row.row = replace(
            row.row, verdict=found.verdict, reason=found.reason, comparison=found, corrected=advice
        )


def _count_cycles(
    rows: Sequence[_Row], history: Sequence[Past], options: dict[str, Any], *, decide: bool
) -> None:
    """Where the sides' clocks differ: compare in cycles too. decide: withhold what only follows the clock."""
    moved = [row for row in rows if row.row.verdict != NOT_COMPARABLE and clocks_differ(row.row)]
    counted = [replace(row, row=_cycles_of(row.row)) for row in moved]
    suite = _statistics(counted, history, use_guard=False, **options)
    for row, found in zip(moved, suite or (), strict=True):
        row.row = judged(row.row, found, decide)


def _cycles_of(row: Row) -> Row:
    assert row.before is not None and row.after is not None
    return replace(row, before=in_cycles(row.before), after=in_cycles(row.after))


def _advise(made: Report, rows: Sequence[_Row], history: Sequence[Past], options: dict[str, Any]) -> None:
    """Figures of pairs that differ in more than the code: advice, never a verdict."""
    why = sorted({row.row.reason for row in rows})
    suite = _statistics(rows, history, differences=why, **options)
    _keep_shift(made, suite)
    for row, found, corrected in zip(rows, suite or (), suite.corrected if suite else (), strict=True):
        row.row = replace(row.row, comparison=found, corrected=corrected)


def _statistics(rows: Sequence[_Row], history: Sequence[Past], **options: Any) -> SuiteComparison | None:
    """The suite's comparison of these rows, None where there are none."""
    if not rows:
        return None
    from ..stats import compare_suite

    found: SuiteComparison = compare_suite(
        [_samples(row) for row in rows],
        history=_histories(history, rows),
        paired=[row.paired for row in rows],
        exact=[_never_varies(row) for row in rows],
        points=[row.row.series.points for row in rows],
        direction=[row.row.series.better for row in rows],
        across_sessions=True,
        # Bytes do not follow a slower machine.
        groups=[row.row.key.benchmark if row.row.series.unit == "seconds" else None for row in rows],
        **options,
    )
    return found


def _histories(history: Sequence[Past], rows: Sequence[_Row]) -> list[list[Run] | None]:
    """Of each row, from the history of its own sides."""
    sides: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        sides.setdefault(id(row.sets[0]), []).append(place)
    found: list[list[Run] | None] = [None] * len(rows)
    for places in sides.values():
        asked = [(row.row.key, row.row.before) for row in map(rows.__getitem__, places)]
        past = earlier(history, *rows[places[0]].sets)
        runs = lent(past, [(key, side) for key, side in asked if side is not None], HISTORY)
        for place, one in zip(places, runs, strict=True):
            found[place] = one
    return found


def _never_varies(row: _Row) -> bool:
    sides = row.row.before, row.row.after
    return row.row.series.never_varies(
        x for side in sides if side is not None for one in side.rounds for x in one.samples
    )


def _keep_shift(made: Report, suite: SuiteComparison | None) -> None:
    """The first comparison's common shift is the report's."""
    if suite is not None and made.shift is None and math.isfinite(suite.shift):
        made.shift = suite.shift


def _samples(row: _Row) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    before, after = row.row.before, row.row.after
    assert before is not None and after is not None
    if not row.paired:
        return [one.samples for one in before.rounds], [one.samples for one in after.rounds]
    common = _common(before, after)
    sides = [{one.number: one.samples for one in side.rounds} for side in (before, after)]
    return [sides[0][number] for number in common], [sides[1][number] for number in common]


# ---- the report


def _place(row: Row) -> tuple[int, float, str, Key]:
    found = row.comparison
    size = _change(found, row.verdict) if found is not None else 0.0
    return ORDER.index(row.verdict), -size, row.env, row.key


def _change(found: Comparison, verdict: str) -> float:
    """How large the change is; of an undecided one, how large it may be. Logarithms: infinite from or to zero; of
    shares the difference."""
    if found.points:
        return abs(found.after - found.before)
    ends = (found.ci_low, found.ci_high) if verdict == INCONCLUSIVE else (found.ratio,)
    return max(_log_size(end) for end in ends)


def _log_size(ratio: float) -> float:
    if math.isnan(ratio):
        return 0.0
    return abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf


def _notes(made: Report, rows: Sequence[_Row], declared: bool) -> list[str]:
    notes = list(
        dict.fromkeys(note for side in (made.before, made.after) for one in side for note in one.notes)
    )
    if declared:
        named = ", ".join(one.name for one in made.differences if one.declared)
        notes.append(f"declared as the experiment: {named}; a change that all benchmarks share is part of it")
    kept = {row.env for row in made.before} & {row.env for row in made.after}
    left_out = sorted({one.env for side in (made.before, made.after) for one in side} - kept)
    if left_out and len(made.before) + len(made.after) > 2:
        notes.append(f"left out, since only one side has it: {', '.join(left_out)}")
    if not any(row.row.before is not None and row.row.after is not None for row in rows):
        notes.append("no benchmark was measured on both sides")
    for label, sides in (("before", made.before), ("after", made.after)):
        if any(one.dirty for one in sides):
            notes.append(f"{label}: measured from a tree with uncommitted changes")
    found = [row.row for row in rows]
    notes += [*clock.notes(found), *disturbed.notes(found)]
    return [*notes, *memory_directions.notes((row.row, *row.sets) for row in rows)]
