"""One table of asv's comparison, and the verdicts that its rows get."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from asv import util

from ..comparing.outcome import COMPARED
from ..stats.verdicts import EQUIVALENCE, IMPROVEMENT, INCONCLUSIVE, MARGIN, NOT_COMPARABLE, REGRESSION

if TYPE_CHECKING:
    from ..comparing.model import Key, Report, ResultSet, Row

#: asv's default `--factor`; there our own margin holds.
ASV_FACTOR = 1.1

#: A row of asv's table: asv's benchmark name and its parameters.
Place = tuple[str, tuple[str, ...]]
#: Where a report is of: machine and environment.
Where = tuple[str, str]


class Entry(NamedTuple):
    """What asv's table reads of one benchmark on one side, and the commit whose file it is from."""

    name: str
    params: list[list[str]]
    value: Any
    stats: Any
    samples: Any
    version: str | None
    machine: str
    env: str
    commit: str


class Reading(Protocol):
    def results(self, entry: Entry) -> ResultSet:
        """All of the file that an entry is from."""

    def history(self, before: ResultSet) -> Sequence[ResultSet]:
        """Earlier results of the same keys, in commit order."""


@dataclass(frozen=True)
class Mark:
    """Stands for a result's samples in asv's table. after: of the second commit."""

    verdict: str
    after: bool


@dataclass(frozen=True)
class Margins:
    """What counts as a change, and within what bound "no change" is claimed; shares of 1."""

    change: float
    equivalence: float
    given: bool

    @classmethod
    def of(cls, factor: float) -> Margins:
        """asv's default factor is asv's, not the user's wish: there the margin is our own. Raises UserError."""
        if not 1 <= factor < float("inf"):
            raise util.UserError(f"dcu-asv: --factor must be a number of at least 1, not {factor:g}")
        if factor == ASV_FACTOR:
            return cls(MARGIN, EQUIVALENCE, False)
        margin = round(factor - 1, 12)
        return cls(margin, max(margin, EQUIVALENCE), True)


@dataclass
class Table:
    """One table of asv's, and the reports that decide it, one for each machine and environment.

    decided: the verdict and reason of each row that has a number on both sides, as it came.
    """

    margins: Margins
    before: list[Entry]
    after: list[Entry]
    reports: dict[Where, Report] = field(default_factory=dict)
    decided: dict[tuple[Where, Place], tuple[str, str]] = field(default_factory=dict)
    _asked: str = ""

    def decide(self, reading: Reading, report: Callable[..., Report]) -> None:
        """Fill `reports` and `decided`. report: `comparing.deciding.report`."""
        sides = [{_where(one): one for one in entries} for entries in (self.before, self.after)]
        numbers = [set(_numbers(entries)) for entries in (self.before, self.after)]
        shown: dict[Where, set[Place]] = {}
        for where, place in numbers[0] & numbers[1]:
            shown.setdefault(where, set()).add(place)
        for where in sorted(shown):
            before, after = (_only(reading.results(side[where]), shown[where]) for side in sides)
            made = report(
                [before],
                [after],
                history=reading.history(before),
                margin=self.margins.change,
                equivalence=self.margins.equivalence,
            )
            self.reports[where] = made
            rows = {(row.series.asv_name, row.key.params): row for row in made.rows}
            for place in shown[where]:
                self.decided[where, place] = _verdict(rows.get(place))

    def entries(self, after: bool) -> Iterator[tuple[Any, ...]]:
        """What asv's table is to read, one parameter combination at a time: marks for samples, and versions that
        differ where the two must not be compared, so that asv marks the row as it marks a changed version."""
        for one in self.after if after else self.before:
            for place, value, stats in _combinations(one):
                verdict, _ = self.decided.get((_where(one), place), ("", ""))
                refused = verdict == NOT_COMPARABLE
                version = f"not comparable {after}" if refused else one.version
                params = [[part] for part in place[1]]
                mark = Mark(verdict, after)
                yield one.name, params, [value], [stats], [mark], version, one.machine, one.env

    def better(self, first: Any, second: Any) -> bool:
        """asv's question whether the first result is better than the second, each given as (stats, mark).

        Without them asv asks whether the ratio needs its "~", the sign of a difference that is not settled.
        """
        if first is None or second is None:
            return self._asked == INCONCLUSIVE
        mark: Mark = first[1]
        self._asked = mark.verdict
        return mark.verdict == (IMPROVEMENT if mark.after else REGRESSION)

    @property
    def compared(self) -> bool:
        return any(verdict in COMPARED for verdict, _ in self.decided.values())


def _where(entry: Entry) -> Where:
    return entry.machine, entry.env


def _combinations(entry: Entry) -> Iterator[tuple[Place, Any, Any]]:
    """(row, value, stats) for each combination of the parameters; asv keeps one None where all are missing."""
    places = [(entry.name, combination) for combination in itertools.product(*entry.params)]
    nothing = [None] * len(places)
    yield from zip(places, entry.value or nothing, entry.stats or nothing, strict=False)


def _numbers(entries: Iterable[Entry]) -> Iterator[tuple[Where, Place]]:
    for one in entries:
        for place, value, _ in _combinations(one):
            if not util.is_na(value):
                yield _where(one), place


def _only(found: ResultSet, places: set[Place]) -> ResultSet:
    """The rows of the table alone: what is not shown must not weigh in the suite's verdict."""
    series = found.series

    def shown(key: Key) -> bool:
        return (series[key].asv_name, key.params) in places

    return replace(found, sides={key: side for key, side in found.sides.items() if shown(key)})


def _verdict(row: Row | None) -> tuple[str, str]:
    if row is None:
        return NOT_COMPARABLE, "no rounds of it were found"
    if row.verdict in COMPARED:
        return row.verdict, row.reason
    # asv's file has numbers on both sides and the evidence says otherwise.
    reason = row.reason if row.verdict == NOT_COMPARABLE else f"{row.verdict}: {row.reason}"
    return NOT_COMPARABLE, reason
