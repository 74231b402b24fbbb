"""What the gates answer: findings with the figures that decided them, a gate's outcome, and that of all three."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..comparing.model import Difference, Key, ResultSet, Row
from ..exit_codes import BENCHMARK_FAILED, FINE, NOTHING_COMPARABLE, REGRESSED, UNDECIDED

PASSED, FAILED, INCONCLUSIVE = "passed", "failed", "inconclusive"
NOT_COMPARABLE, NOT_MEASURED = "not comparable", "not measured"
#: Of a finding that decides nothing.
TOLD = "told"

#: Gravest first: a gate has the gravest of its findings' outcomes, the answer that of its gates.
OUTCOMES = (FAILED, NOT_COMPARABLE, NOT_MEASURED, INCONCLUSIVE, PASSED)


@dataclass(frozen=True)
class Figures:
    """before, after: None where there is no number. ratio, ci_low, ci_high: NaN where nothing was compared.
    rounds: of each side. exact: it does not vary from round to round."""

    before: float | None
    after: float | None
    unit: str
    ratio: float = float("nan")
    ci_low: float = float("nan")
    ci_high: float = float("nan")
    rounds: tuple[int, int] = (0, 0)
    exact: bool = False


@dataclass(frozen=True)
class Finding:
    """One thing that a gate found.

    word: what it is, in a word or two ("regression", "heavier", "wrong result", "unchecked", ...). name: the
    benchmark as it is shown, "" for the candidate as a whole. rule: what was asked, and by which rule of the
    configuration. rounds_needed: more rounds a side that would settle an inconclusive one, None where no number can
    be told. crashed: the benchmark raised, crashed, or ran out of memory or time.
    """

    outcome: str
    word: str
    reason: str
    rule: str
    key: Key | None = None
    name: str = ""
    env: str = ""
    figures: Figures | None = None
    rounds_needed: int | None = None
    crashed: bool = False

    @property
    def metric(self) -> str:
        return "" if self.key is None else self.key.metric


@dataclass(frozen=True)
class Gate:
    """findings: gravest first."""

    name: str
    findings: Sequence[Finding]

    @property
    def outcome(self) -> str:
        found = {one.outcome for one in self.findings}
        return next((outcome for outcome in OUTCOMES if outcome in found), PASSED)


@dataclass
class Answer:
    """Of a candidate (after) against its base (before). differences, refused, notes: as a comparison's report.
    can_rerun: both are commits, which can be measured again."""

    before: Sequence[ResultSet]
    after: Sequence[ResultSet]
    gates: Sequence[Gate]
    differences: Sequence[Difference] = ()
    refused: str = ""
    notes: list[str] = field(default_factory=list)
    settings: Mapping[str, object] = field(default_factory=dict)
    can_rerun: bool = False

    @property
    def outcome(self) -> str:
        found = {one.outcome for one in self.gates}
        return next((outcome for outcome in OUTCOMES if outcome in found), PASSED)

    @property
    def findings(self) -> list[Finding]:
        return [one for gate in self.gates for one in gate.findings]

    @property
    def stopped_by(self) -> list[Gate]:
        """The gates that more rounds would not open; empty unless there is one that is not just inconclusive."""
        return [one for one in self.gates if one.outcome not in (PASSED, INCONCLUSIVE)]

    @property
    def open_findings(self) -> list[Finding]:
        """What more rounds may settle."""
        return [one for one in self.findings if one.outcome == INCONCLUSIVE]


def exit_code(answer: Answer) -> int:
    """0 passed; 1 failed, 2 where a benchmark failed; 4 not comparable or not measured; 5 inconclusive."""
    if answer.outcome == FAILED:
        crashed = any(one.crashed for one in answer.findings if one.outcome == FAILED)
        return BENCHMARK_FAILED if crashed else REGRESSED
    if answer.outcome == PASSED:
        return FINE
    return UNDECIDED if answer.outcome == INCONCLUSIVE else NOTHING_COMPARABLE


def place(one: Finding) -> tuple[int, str, Key]:
    """Gravest first, what decides nothing last."""
    rank = OUTCOMES.index(one.outcome) if one.outcome in OUTCOMES else len(OUTCOMES)
    return rank, one.word, one.key or Key("", "")


def figures_of(row: Row) -> Figures:
    """The levels that were compared, asv's own figures where nothing was."""
    found = row.comparison
    if found is None:
        before, after = (None if side is None else side.value for side in (row.before, row.after))
        return Figures(before, after, row.series.unit)
    return Figures(
        found.before,
        found.after,
        row.series.unit,
        found.ratio,
        found.ci_low,
        found.ci_high,
        found.rounds,
        exact=found.ratio == found.ci_low == found.ci_high,
    )
