"""The first gate: the candidate's results are right, and not much further from the reference than the base's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..comparing import figures
from ..comparing.deciding import FAILED_BOTH
from ..comparing.model import FAILED as SIDE_FAILED
from ..comparing.model import OK, Key, ResultSet, Row, Side
from ..evidence.record import WRONG
from ..metrics import NEEDS_CHECK, NEEDS_REFERENCE
from ..stats.verdicts import NOT_COMPARABLE as ROW_NOT_COMPARABLE
from .checked import Checked, Record, checked
from .model import FAILED, NOT_COMPARABLE, NOT_MEASURED, PASSED, TOLD, Figures, Finding, figures_of
from .policy import ERROR, FORBID, Correctness, Policy

_NO_EVIDENCE = "there is no evidence beside asv's file, which tells no tolerance"

#: Whether a benchmark was measured on a side, and what came of it.
_ABSENT, _MISSING, _FAILED, _RAN = range(4)


@dataclass(frozen=True)
class _Subject:
    """A benchmark with its parameters, and all that is known of it on both sides (None: no evidence)."""

    rows: Sequence[Row]
    before: Checked | None
    after: Checked | None

    @property
    def key(self) -> Key:
        """That its error has, or would have."""
        first = self.rows[0].key
        return Key(first.benchmark, ERROR, first.params)

    @property
    def error_row(self) -> Row | None:
        return next((row for row in self.rows if row.key.metric == ERROR), None)

    def state(self, before: bool) -> int:
        sides = [row.before if before else row.after for row in self.rows]
        known = [side for side in sides if side is not None]
        found = self.before if before else self.after
        if found is not None and found.failed:
            return _FAILED
        # Of a wrong result the times are failed too, and what its error cannot be told for.
        wrong = found is not None and bool(found.wrong)
        if not wrong and any(one.state == SIDE_FAILED and not one.reason.startswith(WRONG) for one in known):
            return _FAILED
        if any(one.state in (OK, SIDE_FAILED) for one in known):
            return _RAN
        return _MISSING if known else _ABSENT

    def reason(self, state: str) -> str:
        """Of the candidate's sides in this state."""
        sides = [row.after for row in self.rows if row.after is not None]
        reasons = [side.reason for side in sides if side.state == state]
        return (self.after.failed if self.after is not None else "") or next(iter(reasons), "")


def correctness(
    rows: Sequence[Row], before: Sequence[ResultSet], after: Sequence[ResultSet], policy: Policy
) -> list[Finding]:
    """A finding for each benchmark and its parameters, environment by environment. rows: of a comparison."""
    evidence = _by_subject(before), _by_subject(after)
    groups: dict[tuple[str, str, tuple[str, ...]], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.env, row.key.benchmark, row.key.params), []).append(row)
    found = []
    for (env, benchmark, params), members in groups.items():
        sides = [
            _checked(records.get((env, benchmark, params)) or records.get(("", benchmark, params)), given)
            for records, given in zip(
                evidence, ([row.before for row in members], [row.after for row in members]), strict=True
            )
        ]
        subject = _Subject(members, *sides)
        applied = policy.correctness_of(subject.key)
        if applied is not None:
            found.append(_Judge(subject, applied.settings, applied.origin).finding())
    return found


def _by_subject(sets: Sequence[ResultSet]) -> Mapping[tuple[str, str, tuple[str, ...]], list[Record]]:
    """(environment, benchmark, parameters) -> its evidence; the environment is "" where there is one."""
    found: dict[tuple[str, str, tuple[str, ...]], list[Record]] = {}
    for one in sets:
        env = one.env if len(sets) > 1 else ""
        for record in one.records:
            key = (env, str(record["benchmark"]), tuple(record["params"].values()))
            found.setdefault(key, []).append(record)
    return found


def _checked(records: Sequence[Record] | None, sides: Sequence[Side | None]) -> Checked | None:
    if not records:
        return None
    return checked(records, {one.session for side in sides if side is not None for one in side.rounds})


@dataclass(frozen=True)
class _Judge:
    subject: _Subject
    settings: Correctness
    origin: str

    def finding(self) -> Finding:
        subject = self.subject
        before, after = subject.state(before=True), subject.state(before=False)
        if after == _FAILED:
            reason = subject.reason(SIDE_FAILED)
            if before == _FAILED:
                return self._told(FAILED_BOTH, reason)
            return self._made(FAILED, "failed", reason, "it runs to its end", crashed=True)
        if after in (_ABSENT, _MISSING):
            reason = subject.reason("missing") or "the candidate has no result of it"
            if before in (_ABSENT, _MISSING):
                return self._told("not measured", reason)
            return self._made(NOT_MEASURED, "not measured", reason, "what the base ran is run")
        return self._of_result()

    def _of_result(self) -> Finding:
        now, was = self.subject.after, self.subject.before
        wrong = now.wrong if now is not None else self.subject.reason(SIDE_FAILED)
        if wrong:
            text = wrong.removeprefix(f"{WRONG}: ")
            also = " (and was wrong in the base)" if was is not None and was.wrong else ""
            word = "not finite" if now is not None and now.not_finite else "wrong result"
            return self._made(FAILED, word, f"{text}{also}", "each result is finite and within its tolerance")
        if now is None or not now.checked:
            why = _NO_EVIDENCE if now is None else now.why_not
            if was is not None and was.checked:
                reason = f"it was checked in the base and is not in the candidate: {why}"
                return self._made(NOT_MEASURED, "not checked", reason, "what the base checked is checked")
            if self.settings.unchecked == FORBID:
                return self._made(FAILED, "unchecked", why, "each benchmark has a reference or a check")
            return self._told("unchecked", why)
        refused = self._refused()
        if refused is not None:
            return self._made(NOT_COMPARABLE, "not comparable", refused.reason, self._growth_rule())
        return self._of_growth(now, was)

    def _refused(self) -> Row | None:
        """The row that says why both sides' errors must not be compared."""
        errors = [row for row in self.subject.rows if row.key.metric in NEEDS_REFERENCE | NEEDS_CHECK]
        # Of a benchmark that reports no error, what forbids to compare its bytes does so for it too.
        rows = errors or [row for row in self.subject.rows if row.series.unit != "seconds"]
        return next((row for row in rows if row.verdict == ROW_NOT_COMPARABLE), None)

    def _of_growth(self, now: Checked, was: Checked | None) -> Finding:
        base = was.error if was is not None else self._kept_by_asv()
        if now.error is None or base is None:
            return self._made(PASSED, "right", "within its tolerance", self._growth_rule())
        told = _times(now.error, base)
        if now.error <= max(self.settings.growth * base, now.floor):
            return self._made(PASSED, "right", f"its largest error is {told}", self._growth_rule())
        reason = f"its largest error, {now.error:.3g}, is {told}"
        return self._made(FAILED, "larger error", reason, self._growth_rule(now.floor))

    def _kept_by_asv(self) -> float | None:
        """The base's error where it has no evidence: asv's file has the figure too."""
        row = self.subject.error_row
        return None if row is None or row.before is None else row.before.value

    def _growth_rule(self, floor: float | None = None) -> str:
        beyond = "" if floor is None else f", {floor:.2g} here"
        return (
            f"the largest error is no more than {self.settings.growth:g} times the base's, or within rounding (10 "
            f"ulp) or a tenth of the tolerance{beyond}"
        )

    def _told(self, word: str, reason: str) -> Finding:
        return self._made(TOLD, word, reason, "")

    def _made(self, outcome: str, word: str, reason: str, rule: str, crashed: bool = False) -> Finding:
        subject = self.subject
        row = subject.rows[0]
        shown = None if crashed or outcome == NOT_MEASURED else self._figures()
        origin = f" ({self.origin})" if self.origin and rule else ""
        name = figures.name(row.key, row.series)
        key = subject.key if shown is not None else replace(subject.key, metric="")
        return Finding(outcome, word, reason, rule + origin, key, name, row.env, shown, crashed=crashed)

    def _figures(self) -> Figures | None:
        subject, row = self.subject, self.subject.error_row
        before, after = (None if one is None else one.error for one in (subject.before, subject.after))
        if before is None and after is None:
            return None if row is None else figures_of(row)
        if subject.before is None:
            before = self._kept_by_asv()
        sides = (None, None) if row is None else (row.before, row.after)
        old, new = (0 if side is None else len(side.rounds) for side in sides)
        return Figures(before, after, "relative", rounds=(old, new))


def _times(now: float, base: float) -> str:
    if now == base:
        return f"the base's, {base:.3g}"
    if base == 0:
        return f"{now:.3g} where the base's is 0"
    return f"{now / base:.3g} times the base's, {base:.3g}"
