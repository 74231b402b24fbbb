"""What of a report is shown to people, and what is folded into a counted line: shared by text and Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..stats.verdicts import (
    IMPROVEMENT,
    INCONCLUSIVE,
    NO_CHANGE,
    NOT_COMPARABLE,
    POINTS,
    REGRESSION,
    SAME_POINTS,
    VERDICTS,
    Comparison,
)
from . import figures
from .deciding import FIXED, ORDER
from .model import EVIDENCE, FAILED, OK, SAMPLES, SHARE, VALUE, Report, ResultSet, Row

#: Always shown, however many they are.
_MATTER = frozenset({REGRESSION, FAILED, IMPROVEMENT, FIXED, INCONCLUSIVE})
#: Verdicts that have figures; the others have a reason instead.
_FIGURES = frozenset({REGRESSION, IMPROVEMENT, INCONCLUSIVE, NO_CHANGE})
#: From so many alike on, the others are one counted line.
_MANY = 4
#: So many benchmarks are named in a command.
_NAMES = 3
#: Marks an undecided row whose own interval says a change.
CHANCE = "*"
_SOURCES = {
    EVIDENCE: "rounds of the evidence",
    SAMPLES: "asv's samples",
    VALUE: "asv's single figures",
}


@dataclass(frozen=True)
class Line:
    """A row as it is shown: its own verdict, or the one it would have without the suite's common shift."""

    row: Row
    verdict: str
    reason: str
    comparison: Comparison | None
    advice: bool = False

    @property
    def word(self) -> str:
        """The verdict as it is shown: advice is none, so it has a question mark."""
        return f"{self.verdict}?" if self.advice else self.verdict

    @property
    def levels(self) -> tuple[float | None, float | None]:
        return levels(self.row)


@dataclass(frozen=True)
class Fold:
    """Rows of one verdict that are alike: of one metric where they have figures, for one reason where not."""

    verdict: str
    lines: Sequence[Line]

    @property
    def word(self) -> str:
        return self.lines[0].word

    @property
    def hides(self) -> bool:
        """Whether the rows give way to one counted line."""
        if self.verdict in _MATTER:
            return False
        return len(self.lines) >= _MANY or all(_without_number(line.row) for line in self.lines)

    def text(self) -> str:
        """`12 rows of latency, ratios 0.987 to 1.021`; `6 rows of gemm.matmul: the reason`."""
        text = figures.count(len(self.lines), "row")
        for common in (
            {line.row.key.metric for line in self.lines},
            {line.row.key.benchmark for line in self.lines},
        ):
            if len(common) == 1:
                text += f" of {common.pop()}"
                break
        compared = [line.comparison for line in self.lines if line.comparison is not None]
        if self.verdict in _FIGURES and compared:
            return f"{text}, {span(compared)}"
        return f"{text}: {self.lines[0].reason}" if self.lines[0].reason else text


@dataclass(frozen=True)
class View:
    lines: Sequence[Line]
    folds: Sequence[Fold]


def levels(row: Row) -> tuple[float | None, float | None]:
    """Both sides' values: those that were compared, asv's own figures where nothing was."""
    if row.comparison is not None:
        return row.comparison.before, row.comparison.after
    return tuple(None if side is None else side.value for side in (row.before, row.after))  # type: ignore[return-value]


def verdicts(report: Report, everything: bool = False) -> View:
    """The rows with their own verdicts, without those that only the session guard refused."""
    return _view([_line(row) for row in report.rows if row.corrected is None], everything)


def advice(report: Report, everything: bool = False) -> View:
    """The refused rows as they would be decided after the suite's common shift is taken out."""
    lines = [
        Line(row, row.corrected.verdict, row.corrected.reason, row.corrected, advice=True)
        for row in report.rows
        if row.corrected is not None
    ]
    return _view(sorted(lines, key=_weight), everything)


def interval(line: Line) -> str:
    """`[0.981, 1.042]`; figures.exactly where the metric does not vary; of a share's difference `[+1.1, +5.0]`."""
    found = line.comparison
    if found is None:
        return ""
    if exact(line.row.series.exact, found):
        return figures.exactly(found.before, found.after, line.row.series.unit)
    if found.points:
        return figures.interval_of_points(found.difference_low, found.difference_high)
    return figures.interval(found.ci_low, found.ci_high)


def exact(as_a_rule: bool, found: Comparison) -> bool:
    """Whether it was compared as what never varies."""
    return as_a_rule and found.ratio == found.ci_low == found.ci_high


def ratio(found: Comparison) -> str:
    """after / before; of a share the difference, `+3.1 points`."""
    return figures.change(found.after - found.before, SHARE) if found.points else figures.ratio(found.ratio)


def span(found: Sequence[Comparison]) -> str:
    """The smallest and the largest ratio, `ratios 0.987 to 1.021`; `by -0.5 points to +1.2 points`."""
    ordered = sorted(found, key=lambda one: one.after - one.before if one.points else one.ratio)
    ends = list(dict.fromkeys((ratio(ordered[0]), ratio(ordered[-1]))))
    what = "by" if ordered[0].points else "ratio" if len(ends) == 1 else "ratios"
    return f"{what} {' to '.join(ends)}"


def name(row: Row) -> str:
    """`gemm.matmul(n=256)`, with its environment where several are compared."""
    return figures.name(row.key, row.series) + (f" [{row.env}]" if row.env else "")


def reason(line: Line) -> str:
    """What the figures beside it do not say; "" where they say all."""
    return "" if line.comparison is not None and line.verdict in _FIGURES else line.reason


def why(line: Line) -> str:
    """`why: of +1.20 ms a call: ...`, where the profiles of both sides surely tell it; advice has none."""
    told = "" if line.advice else line.row.explanation
    return f"why: {figures.printable(told)}" if told else ""


def needed(line: Line) -> str:
    """`+7`: how many more rounds a side would settle an undecided row."""
    if line.verdict != INCONCLUSIVE or line.comparison is None:
        return ""
    more = line.comparison.rounds_needed
    return f"+{more}" if more else "many"


def by_chance(line: Line, report: Report) -> bool:
    """Whether an undecided row's own interval says a change, which among so many rows may be chance."""
    found = line.comparison
    if line.verdict != INCONCLUSIVE or found is None:
        return False
    margin = 1 + float(report.settings.get("margin", 0.0))
    return found.ci_low > margin or found.ci_high < 1 / margin


def _without_number(row: Row) -> bool:
    """Whether neither side has one, so that there is nothing to see in the row."""
    return not any(side is not None and side.state == OK for side in (row.before, row.after))


def refusal(report: Report) -> str:
    return report.refused.removeprefix(f"{NOT_COMPARABLE}: ")


def advised(report: Report) -> str:
    """What the advice's rows are."""
    if report.shift is None:
        return "the refused rows as they would have been decided"
    return f"the refused rows once the suite's common shift, {figures.ratio(report.shift)}, is taken out"


def _line(row: Row) -> Line:
    return Line(row, row.verdict, row.reason, row.comparison)


def _weight(line: Line) -> tuple[int, float]:
    if line.comparison is not None and line.comparison.points:
        return ORDER.index(line.verdict), -abs(line.comparison.after - line.comparison.before)
    value = math.nan if line.comparison is None else line.comparison.ratio
    return ORDER.index(line.verdict), -abs(math.log(value)) if value > 0 else -math.inf


def _view(lines: Sequence[Line], everything: bool) -> View:
    folded = [] if everything else [fold for fold in folds(lines) if fold.hides]
    hidden = {id(line) for fold in folded for line in fold.lines}
    return View([line for line in lines if id(line) not in hidden], folded)


def folds(lines: Sequence[Line]) -> list[Fold]:
    """The rows that are alike, together."""
    alike: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        same = line.row.key.metric if line.verdict in _FIGURES else line.reason
        alike.setdefault((line.verdict, same), []).append(line)
    return [Fold(verdict, found) for (verdict, _), found in alike.items()]


def summary(report: Report) -> str:
    """`2 regressions, 1 improvement, 30 no change`."""
    counted = counts(report)
    return ", ".join(
        figures.count(number, verdict) if verdict in (REGRESSION, IMPROVEMENT) else f"{number:,} {verdict}"
        for verdict, number in counted.items()
        if number
    )


def counts(report: Report) -> dict[str, int]:
    """Verdict -> rows, the five of the statistics always, in the order of what matters."""
    found: dict[str, int] = {verdict: 0 for verdict in ORDER if verdict in VERDICTS}
    for row in report.rows:
        found[row.verdict] = found.get(row.verdict, 0) + 1
    return dict(sorted(found.items(), key=lambda item: ORDER.index(item[0])))


def side_name(sets: Sequence[ResultSet]) -> str:
    """`b57389c9, two-cores, overlay-py3.11`: commit, machine and environment, each once."""
    commits = _once(_commit(one) for one in sets)
    machines = _once(one.machine for one in sets)
    envs = _once(one.env for one in sets)
    return ", ".join(part for part in (commits, machines, envs) if part)


def short(sets: Sequence[ResultSet]) -> str:
    """How a side is called in a sentence or a command."""
    return _once(one.label or one.commit[:8] for one in sets)


def _commit(one: ResultSet) -> str:
    name = one.commit[:8]
    if one.label and not one.commit.startswith(one.label):
        name = f"{one.label} ({name})" if name else one.label
    return f"{name} with uncommitted changes" if one.dirty else name


def _once(names: Iterable[str]) -> str:
    return " + ".join(dict.fromkeys(name for name in names if name))


def rule(report: Report) -> str:
    """Which rule decided, on what, in a sentence or two."""
    compared = [row for row in report.rows if row.comparison is not None]
    margin, equivalence = report.settings.get("margin"), report.settings.get("equivalence")
    parts = ["dcu-asv's rule, on the median of each round"]
    if isinstance(margin, float) and isinstance(equivalence, float):
        parts.append(
            f"a change counts beyond {figures.percent(margin)}, no change is claimed within "
            f"{figures.percent(equivalence)}"
        )
    fdr = report.settings.get("fdr")
    if isinstance(fdr, float):
        parts.append(f"of the changes called, {figures.percent(fdr)} at most are expected by chance")
    past = report.settings.get("history")
    if past:
        parts.append(f"the noise is learned from {figures.count(past, 'earlier commit')} too")
    text = "; ".join(parts) + "."
    sources = [f"{number:,} from {_SOURCES[source]}" for source, number in _by_source(compared)]
    paired = sum(row.comparison.paired for row in compared if row.comparison is not None)
    if paired:
        sources.append(f"{paired:,} with interleaved rounds paired")
    same = sum(exact(row.series.exact, row.comparison) for row in compared if row.comparison is not None)
    if same:
        sources.append(f"{same:,} exact, where any change counts")
    shares = sum(row.comparison.points for row in compared if row.comparison is not None)
    if shares:
        within = f"none is claimed within {100 * SAME_POINTS:g}"
        sources.append(f"{shares:,} of shares, where {100 * POINTS:g} points do, and {within}")
    return f"{text} Rows: {', '.join(sources)}." if sources else text


def _by_source(rows: Sequence[Row]) -> Iterator[tuple[str, int]]:
    """The weaker source of a row's two sides is what it rests on."""
    ranks = list(_SOURCES)
    used = [
        max((side.source for side in (row.before, row.after) if side is not None), key=ranks.index)
        for row in rows
    ]
    for source in ranks:
        if source in used:
            yield source, used.count(source)


def cut(report: Report) -> str:
    """How many samples were left out as not yet steady, and how many rounds never became so; "" for none."""
    rounds = [
        one
        for row in report.rows
        for side in (row.before, row.after)
        if side is not None
        for one in side.rounds
    ]
    out, used = sum(one.cut for one in rounds), sum(len(one.samples) for one in rounds)
    touched = sum(1 for one in rounds if one.cut)
    parts = []
    if out:
        parts.append(
            f"{out:,} of {figures.count(out + used, 'sample')}, in {figures.count(touched, 'round')}, "
            "came before the steady state and were left out"
        )
    unsteady = sum(1 for one in rounds if one.note and not one.cut)
    if unsteady:
        parts.append(f"{figures.count(unsteady, 'round')} never became steady and were used whole")
    return f"{'; '.join(parts)}." if parts else ""


def undecided(report: Report) -> str:
    """What would settle the inconclusive rows; "" where none is."""
    lines = [_line(row) for row in report.rows if row.verdict == INCONCLUSIVE]
    if not lines:
        return ""
    text = 'The column "to settle" tells how many more rounds a side would do'
    against = report.settings.get("against")
    # Only functions that left evidence are ours to measure.
    ours = [line.row for line in lines if line.row.after is not None and line.row.after.source == EVIDENCE]
    if against and ours:
        names = list(dict.fromkeys(row.key.benchmark for row in ours))
        said = " ".join(names) if len(names) <= _NAMES else "NAME"
        text += f"; dcu-asv run {said} --against {against} measures more"
    return f"{text}."


def chance(report: Report) -> str:
    """What the mark of `by_chance` means; "" where no row has it."""
    if not any(by_chance(_line(row), report) for row in report.rows):
        return ""
    return f"{CHANCE} Its own interval says a change; so many rows, or an early look, ask for more evidence."
