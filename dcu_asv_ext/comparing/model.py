"""What is compared: rounds of two sides by benchmark, metric and parameters, and the report of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..stats.verdicts import NOT_COMPARABLE, Comparison

if TYPE_CHECKING:
    from ..stats.rounds import Run
    from .clock import ClockChange
    from .identity import Identity

#: Where a side's rounds come from, best first.
EVIDENCE, SAMPLES, VALUE = "evidence", "samples", "value"

OK, MISSING, FAILED = "ok", "missing", "failed"

#: asv's unit of what is a share of a whole, and judged by its difference in points.
SHARE = "share"


#: Kinds of a benchmark: what users wait for, and a part of it.
WORKLOAD, MICRO = "workload", "micro"


class ComparisonError(Exception):
    """What was asked for cannot be compared; the text says why, and what to do, in one sentence."""


@dataclass(frozen=True, order=True)
class Key:
    """benchmark: `module.function` (asv's own name for other people's suites); metric: a name of `metrics.METRICS`
    (asv's benchmark type for other people's); params: asv's own strings, in asv's order."""

    benchmark: str
    metric: str
    params: tuple[str, ...] = ()


@dataclass(frozen=True)
class Series:
    """What does not change from commit to commit: asv's name, the parameters' names, unit, direction, exactness, and
    the benchmark's kind."""

    asv_name: str
    param_names: tuple[str, ...] = ()
    unit: str = ""
    better: str = "lower"
    exact: bool = False
    kind: str = WORKLOAD

    @property
    def points(self) -> bool:
        """Whether changes are differences, not ratios."""
        return self.unit == SHARE

    def never_varies(self, values: Iterable[float]) -> bool:
        """Whether every difference of these values is a change: counts and bytes, but not the mean of a count over
        calls that differ, which is no whole number."""
        return self.exact and all(float(one).is_integer() for one in values)


@dataclass(frozen=True)
class Round:
    """samples: what the verdict uses (the steady segment), in acquisition order. cut: samples left out as not steady.
    number, session, started_at: which process it was ("" and 0 where only asv's samples are known).
    clock_mhz: median core clock of the card while it was timed, None where nobody looked. throttled: what was seen of
    a lowered clock. contended: somebody else used the card.
    """

    samples: tuple[float, ...]
    number: int = 0
    session: str = ""
    started_at: str = ""
    cut: int = 0
    note: str = ""
    clock_mhz: float | None = None
    throttled: str = ""
    contended: bool = False


@dataclass(frozen=True)
class Side:
    """One key on one side. state: "ok", "missing" or "failed", with a reason for the last two.

    value: asv's own figure, None where it has none. source: where the rounds come from.
    facts: what these rounds hung on (comparing/facts.py). identity: their set-up, None where nothing tells it.
    conflict: why evidence and asv's file cannot both be true.
    """

    rounds: tuple[Round, ...] = ()
    source: str = EVIDENCE
    state: str = OK
    reason: str = ""
    value: float | None = None
    version: str | None = None
    protocol: int | None = None
    notes: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    conflict: str = ""
    identity: Identity | None = None


class Lender(NamedTuple):
    """A sound figure's rounds, for comparisons that have it in their history, and what they must have in common."""

    run: Run
    version: str | None
    protocol: int | None
    identity: Identity | None


@dataclass
class ResultSet:
    """The results of one (machine, commit, environment): asv's file and the evidence beside it.

    facts: flat name -> text of what the measurements hung on ("device.product", "software.torch",
    "environment.OMP_NUM_THREADS", ...; comparing/facts.py), of asv's file alone: each side has its own besides.
    dirty: measured from an uncommitted tree. records: the evidence's own lines.
    """

    machine: str
    commit: str
    env: str
    sides: Mapping[Key, Side] = field(default_factory=dict)
    series: Mapping[Key, Series] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    label: str = ""
    date: int = 0
    dirty: bool = False
    notes: list[str] = field(default_factory=list)
    records: Sequence[Mapping[str, Any]] = ()

    @cached_property
    def lenders(self) -> tuple[tuple[Key, ...], list[Lender | None]]:
        """Its keys, and of each what it lends to later comparisons, None where it has no sound figure. Equal keys of
        result sets are the same tuple."""
        from ..stats.rounds import Run

        lenders = [
            None
            if side.state != OK or side.conflict or not side.rounds
            else Lender(Run(one.samples for one in side.rounds), side.version, side.protocol, side.identity)
            for side in self.sides.values()
        ]
        return _shared(tuple(self.sides)), lenders


@lru_cache(maxsize=256)
def _shared(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    return keys


@dataclass(frozen=True)
class Difference:
    """A fact that is not the same on both sides. matters: it forbids the comparison unless it was declared.
    declared: `--vary` named it, so it is the experiment."""

    name: str
    before: str
    after: str
    matters: bool
    declared: bool = False


@dataclass(frozen=True)
class Row:
    """One key of a report. comparison is None where one side has no number or the two cannot be compared;
    `verdict` and `reason` then say why. corrected: the comparison after the suite's common shift is taken out,
    given as advice where the session guard refused. env: the environment, where several are compared.
    clock: what cycles say, where the sides' clocks differ. explanation: why a latency changed, "" where that is not
    sure."""

    key: Key
    series: Series
    before: Side | None
    after: Side | None
    verdict: str
    reason: str
    comparison: Comparison | None = None
    corrected: Comparison | None = None
    env: str = ""
    clock: ClockChange | None = None
    explanation: str = ""


@dataclass
class Report:
    """rows: ordered by what matters. refused: the session guard's sentence, "" where it let the comparison pass.
    shift: the suite's common ratio (None: not estimated)."""

    before: Sequence[ResultSet]
    after: Sequence[ResultSet]
    rows: list[Row] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    refused: str = ""
    shift: float | None = None
    notes: list[str] = field(default_factory=list)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def count(self, verdict: str) -> int:
        return sum(row.verdict == verdict for row in self.rows)

    @property
    def compared(self) -> bool:
        """Whether anything was: a pair of numbers that got a verdict, "inconclusive" included."""
        return any(row.comparison is not None and row.verdict != NOT_COMPARABLE for row in self.rows)
