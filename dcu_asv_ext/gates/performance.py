"""The second gate: no workload's latency regressed, and a gain counts where it is shown end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..comparing import figures
from ..comparing.deciding import FAILED_BOTH, FIXED, MISSING, ONLY_AFTER, ONLY_BEFORE
from ..comparing.model import FAILED as SIDE_FAILED
from ..comparing.model import MICRO, OK, WORKLOAD, Key, Report, ResultSet, Row
from ..stats import verdicts
from .model import FAILED, INCONCLUSIVE, NOT_COMPARABLE, NOT_MEASURED, PASSED, TOLD, Finding, figures_of
from .policy import AN_IMPROVEMENT, END_TO_END, GATE, PARTS, STOP, Performance, Policy

#: (margin, equivalence) -> the comparison by them.
Reports = Callable[[float, float], Report]


@dataclass(frozen=True)
class _Judged:
    """A row by the settings that apply to it. demand: the rule that says what is required of it, "" for none.
    kinds: the benchmark's on both sides: a new name for it neither hides a loss nor makes a gain."""

    row: Row
    settings: Performance
    origin: str
    demand: str
    kinds: frozenset[str]

    @property
    def part(self) -> bool:
        """Of a part of what users wait for: a micro benchmark's latency, a device time."""
        return self.row.key.metric in PARTS or MICRO in self.kinds

    @property
    def gated(self) -> bool:
        return self.row.key.metric in END_TO_END and (WORKLOAD in self.kinds or self.settings.micro == GATE)

    @property
    def may_be_faster(self) -> bool:
        """Undecided, and its interval leaves room for an improvement beyond the margin."""
        found = self.row.comparison
        if self.row.verdict != verdicts.INCONCLUSIVE or found is None:
            return False
        return not found.ci_low * (1 + self.settings.margin) >= 1

    @property
    def seems_faster(self) -> bool:
        """Its own interval says an improvement, which among so many rows may be chance."""
        found = self.row.comparison
        return self.may_be_faster and found is not None and found.ci_high * (1 + self.settings.margin) < 1

    @property
    def rule(self) -> str:
        text = f"no regression beyond {figures.percent(self.settings.margin)}"
        if self.part and not self.gated:
            text = "a gain is shown end to end"
        return f"{text} ({self.origin})" if self.origin else text


def performance(
    rows: Sequence[Row],
    before: Sequence[ResultSet],
    after: Sequence[ResultSet],
    reports: Reports,
    policy: Policy,
) -> list[Finding]:
    """rows: those that are looked at, of a comparison; each is judged by the comparison with its own margin."""
    watched = [row for row in rows if row.key.metric in END_TO_END + PARTS]
    judged = list(_judged(watched, [*before, *after], reports, policy))
    workloads = [one for one in judged if not one.part]
    gains = [one for one in judged if one.part and one.row.verdict == verdicts.IMPROVEMENT]
    shown = any(one.row.verdict == verdicts.IMPROVEMENT for one in workloads)
    unmet = _unmet(workloads)
    stopping = [one for one in gains if one.settings.prototype == STOP] if not shown else []
    # Where a gain is looked for, one that is no slower is not settled: it may be the gain.
    sought = [one for one in workloads if one.may_be_faster and (stopping or one.demand in unmet)]
    apart = {id(one) for one in sought}, {id(one) for one in gains}
    found = [_of_gated(one, id(one) in apart[0]) for one in judged if one.gated and id(one) not in apart[1]]
    found += [_told_regression(one) for one in judged if not one.gated and _regressed(one)]
    found += [_gain(one, shown, sought if stopping else []) for one in gains]
    if not shown and not any(one.seems_faster for one in workloads):
        found += [_seeming_gain(one) for one in judged if one.part and not one.gated and one.seems_faster]
    found += _demands(unmet, sought)
    if not judged and watched:
        return found  # a rule leaves all of them out
    if not any(one.row.comparison is not None for one in workloads) and not any(map(_grave, found)):
        reason = "no workload's latency was measured on both sides"
        found.append(Finding(NOT_COMPARABLE, "not comparable", reason, "there is something to judge"))
    return found


def _judged(
    rows: Sequence[Row], sets: Sequence[ResultSet], reports: Reports, policy: Policy
) -> Iterator[_Judged]:
    known: dict[tuple[float, float], dict[tuple[str, Key], Row]] = {}
    for row in rows:
        applied = policy.performance_of(row.key)
        if applied is None:
            continue
        settings: Performance = applied.settings
        by = settings.margin, settings.bound
        if by not in known:
            known[by] = {(one.env, one.key): one for one in reports(*by).rows}
        found, demand = known[by][row.env, row.key], policy.demanded_by(row.key)
        yield _Judged(found, settings, applied.origin, demand, _kinds(row, sets))


def _kinds(row: Row, sets: Sequence[ResultSet]) -> frozenset[str]:
    own = [one.series[row.key] for one in sets if row.env in ("", one.env) and row.key in one.series]
    return frozenset(one.kind for one in own) or frozenset((row.series.kind,))


def _regressed(one: _Judged) -> bool:
    return one.row.verdict == verdicts.REGRESSION


def _grave(one: Finding) -> bool:
    return one.outcome in (FAILED, NOT_COMPARABLE, NOT_MEASURED)


# ---- one row


def _of_gated(one: _Judged, sought: bool) -> Finding:
    row, found = one.row, one.row.comparison
    if row.verdict == verdicts.REGRESSION:
        return _made(one, FAILED, row.verdict, row.reason)
    if row.verdict in (verdicts.IMPROVEMENT, verdicts.NO_CHANGE):
        return _made(one, PASSED, row.verdict, row.reason)
    if row.verdict == verdicts.INCONCLUSIVE and found is not None:
        if one.seems_faster and not sought:
            reason = "its own interval says a gain; among so many rows it may be chance"
            return _made(one, PASSED, "likely faster", reason)
        if found.ci_high <= 1 + one.settings.bound and not sought:
            reason = (
                f"surely no slower than {figures.percent(one.settings.bound)}; whether it is faster is open"
            )
            return _made(one, PASSED, "no slower", reason)
        return _made(one, INCONCLUSIVE, row.verdict, row.reason, found.rounds_needed)
    return _without_figures(one)


def _without_figures(one: _Judged) -> Finding:
    row = one.row
    if row.verdict == verdicts.NOT_COMPARABLE:
        return _made(one, NOT_COMPARABLE, row.verdict, row.reason)
    if row.verdict in (SIDE_FAILED, ONLY_BEFORE) or (row.verdict == MISSING and _was_measured(row)):
        reason = "the candidate has no result of it" if row.verdict == ONLY_BEFORE else row.reason
        return _made(one, NOT_MEASURED, "not measured", reason)
    words = {FAILED_BOTH: FAILED_BOTH, FIXED: FIXED, ONLY_AFTER: "new"}
    return _made(one, TOLD, words.get(row.verdict, "not measured"), row.reason)


def _was_measured(row: Row) -> bool:
    return row.before is not None and row.before.state == OK


def _told_regression(one: _Judged) -> Finding:
    what = "a micro benchmark's" if MICRO in one.kinds else f"of {one.row.key.metric}"
    return _made(one, TOLD, one.row.verdict, f"{what}: told, and not gated")


def _made(one: _Judged, outcome: str, word: str, reason: str, rounds_needed: int | None = None) -> Finding:
    row = one.row
    name = figures.name(row.key, row.series)
    rule = one.rule if outcome != TOLD else ""
    return Finding(outcome, word, reason, rule, row.key, name, row.env, figures_of(row), rounds_needed)


# ---- gains


def _gain(one: _Judged, shown: bool, open_ones: Sequence[_Judged]) -> Finding:
    what = "of a micro benchmark" if MICRO in one.kinds else f"in {one.row.key.metric} alone"
    if shown:
        return _made(one, TOLD, one.row.verdict, f"{what}: told, and no gain end to end")
    if one.settings.prototype != STOP:
        return _made(
            one, PASSED, "prototype", f'{what}, not shown end to end; allowed by "prototype": "allow"'
        )
    if open_ones:
        names = ", ".join(figures.name(each.row.key, each.row.series) for each in open_ones[:2])
        return _made(
            one, TOLD, "prototype", f"{what}, not shown end to end as long as {names} is inconclusive"
        )
    reason = f"{what}, not shown end to end: no workload's latency improved"
    return _made(one, FAILED, "prototype", reason)


def _seeming_gain(one: _Judged) -> Finding:
    """As uncertain as a loss of that size would be: the gate is not open before it is settled."""
    if one.settings.prototype != STOP or one.row.comparison is None:
        return _made(one, TOLD, "prototype", "not shown end to end, and among so many rows it may be chance")
    reason = f"its own interval says a gain, not shown end to end; {one.row.reason.rpartition('; ')[2]}"
    return _made(one, INCONCLUSIVE, "prototype", reason, one.row.comparison.rounds_needed)


def _unmet(workloads: Sequence[_Judged]) -> dict[str, list[_Judged]]:
    """What demands an improvement (a rule, or "") -> its workloads, where none of them has improved."""
    groups: dict[str, list[_Judged]] = {}
    for one in workloads:
        if one.settings.require == AN_IMPROVEMENT:
            groups.setdefault(one.demand, []).append(one)
    return {
        demand: members
        for demand, members in groups.items()
        if not any(one.row.verdict == verdicts.IMPROVEMENT for one in members)
    }


def _demands(unmet: dict[str, list[_Judged]], sought: Sequence[_Judged]) -> Iterator[Finding]:
    """A finding for each demand that no further rounds would meet."""
    for demand, members in unmet.items():
        compared = [one for one in members if one.row.comparison is not None]
        if not compared or any(one.demand == demand for one in sought):
            continue
        of = f"{figures.count(len(compared), 'workload')}"
        rule = "an improvement is required" + (f" ({demand})" if demand else "")
        yield Finding(FAILED, "no improvement", f"of {of} none has an improved latency", rule)
