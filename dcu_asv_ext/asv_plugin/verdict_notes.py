"""What is said under asv's table: the rule that decided, what was not decided and why, what else differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..comparing.figures import count, percent
from ..comparing.model import EVIDENCE
from ..stats.verdicts import IMPROVEMENT, INCONCLUSIVE, NO_CHANGE, NOT_COMPARABLE, REGRESSION

if TYPE_CHECKING:
    from ..comparing.model import Difference
    from .verdict_table import Margins, Table, Where

_WORDS = {
    REGRESSION: "worse",
    IMPROVEMENT: "better",
    NO_CHANGE: "no change",
    INCONCLUSIVE: "inconclusive",
    NOT_COMPARABLE: "not comparable",
}
#: Reasons, differences and notes listed before the rest is only counted.
_LISTED = 6


def asv_decided(rule: str) -> str:
    why = '"dcu": {"verdict": "asv"}' if rule == "asv" else "--no-stats"
    return f"\nDecided by asv's own rule ({why})."


def notes(table: Table, before: str, after: str) -> str:
    lines = ["", f"Decided by dcu-asv, not by asv's rule: {_rule(table.margins)}."]
    verdicts = Counter(verdict for verdict, _ in table.decided.values())
    if verdicts:
        lines.append(
            f"  {', '.join(f'{verdicts[one]} {word}' for one, word in _WORDS.items() if verdicts[one])}"
        )
    lines += _refusals(table)
    if verdicts[INCONCLUSIVE]:
        lines.append("  inconclusive (~ in the table): more rounds would tell, dcu-asv compare says how many")
    lines += _sources(table)
    lines += _differences(table)
    lines += _listed([f"  {note}" for report in table.reports.values() for note in report.notes], "note")
    lines.append(f"  Intervals, reasons and rounds: dcu-asv compare {before[:8]} {after[:8]}")
    return "\n".join(lines)


def _rule(margins: Margins) -> str:
    whence = "--factor" if margins.given else "another --factor is the margin"
    return (
        f"a change is one beyond {percent(margins.change)} ({whence}), "
        f"no change one surely within {percent(margins.equivalence)}"
    )


def _refusals(table: Table) -> list[str]:
    lines = [
        f"  {_at(table, where)}{report.refused}" for where, report in table.reports.items() if report.refused
    ]
    # The guard's sentence stands for every row that it refused.
    guarded = {report.refused for report in table.reports.values()}
    reasons = Counter(
        reason
        for verdict, reason in table.decided.values()
        if verdict == NOT_COMPARABLE and reason not in guarded
    )
    counted = [f"  not comparable: {reason} ({number})" for reason, number in reasons.most_common()]
    return lines + _listed(counted, "reason")


def _sources(table: Table) -> list[str]:
    rows = [
        row
        for report in table.reports.values()
        for row in report.rows
        if row.before is not None and row.after is not None
    ]
    without = sum(EVIDENCE not in (row.before.source, row.after.source) for row in rows)  # type: ignore[union-attr]
    lines = []
    if without:
        lines.append(
            f"  {without} of {len(rows)} without rounds of ours: decided from what asv's file keeps of them"
        )
    if any(row.series.better == "higher" for row in rows):
        lines.append("  + is worse and - is better, also where more is better")
    return lines


def _differences(table: Table) -> list[str]:
    found: dict[Difference, Where] = {}
    for where, report in table.reports.items():
        for one in report.differences:
            found.setdefault(one, where)
    return _listed(
        [
            f"  {_at(table, where)}differs besides the commit: {one.name}: {one.before} -> {one.after}"
            for one, where in found.items()
        ],
        "difference",
    )


def _listed(lines: Sequence[str], word: str) -> list[str]:
    """Each line once, and no more than a reader takes in."""
    lines = list(dict.fromkeys(lines))
    rest = len(lines) - _LISTED
    return lines if rest <= 0 else [*lines[:_LISTED], f"  and {count(rest, 'more ' + word)}"]


def _at(table: Table, where: Where) -> str:
    return f"[{where[0]}/{where[1]}] " if len(table.reports) > 1 else ""
