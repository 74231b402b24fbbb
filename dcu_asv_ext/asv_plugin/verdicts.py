"""The table of `asv compare` and `asv continuous` with our verdicts: asv prints it, the rounds decide.

asv asks `_is_result_better` about the samples of two results and does not say whose they are, so the samples that it
is given are marks that know their row.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from asv import util
from asv.console import log
from asv.repo import NoSuchNameError, get_repo
from asv.results import get_filename, iter_results_for_machine_and_hash

from ..comparing.outcome import COMPARED
from ..exit_codes import NOTHING_COMPARABLE
from ..stats.verdicts import EQUIVALENCE, IMPROVEMENT, INCONCLUSIVE, MARGIN, NOT_COMPARABLE, REGRESSION

if TYPE_CHECKING:
    from ..comparing.model import Key, Report, ResultSet, Row
    from .settings import Settings

#: asv's default `--factor`; there our own margin holds.
ASV_FACTOR = 1.1

#: A row of asv's table: asv's benchmark name and its parameters.
Place = tuple[str, tuple[str, ...]]
#: Where a report is of: machine and environment.
Where = tuple[str, str]


class NothingComparable(Exception):
    """`asv continuous` compared nothing, which must not look like "nothing changed"; the text says why."""


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


def _entries(given: Mapping[str, Any], number: int) -> list[Entry]:
    """What asv's table is given of a side, or would read by itself."""
    commit, found = given[f"hash_{number}"], given[f"resultset_{number}"]
    if found is None:
        return list(_stored(given["conf"], commit, given["machine"], given["env_names"]))
    return [Entry._make((*one, commit)) for one in found]


def _stored(conf: Any, commit: str, machine: str, env_names: Any) -> Iterator[Entry]:
    """The results of a commit on a machine, as asv's own table reads them."""
    for one in iter_results_for_machine_and_hash(conf.results_dir, machine, commit):
        if env_names is not None and one.env_name not in env_names:
            continue
        for name in one.get_all_result_keys():
            params = one.get_result_params(name)
            yield Entry(
                name,
                params,
                one.get_result_value(name, params),
                one.get_result_stats(name, params),
                None,
                one.benchmark_version.get(name),
                one.params["machine"],
                one.env_name,
                one.commit_hash,
            )


#: The table that asv is printing.
_TABLES: list[Table] = []


@contextmanager
def printing(table: Table) -> Iterator[None]:
    _TABLES.append(table)
    try:
        yield
    finally:
        _TABLES.pop()


def is_result_better(original: Any) -> Any:
    """For asv's `_is_result_better`, which decides a row of its table."""

    def is_result_better(a: Any, b: Any, a_ss: Any, b_ss: Any, factor: float, use_stats: bool = True) -> bool:
        if _TABLES:
            return _TABLES[-1].better(a_ss, b_ss)
        return bool(original(a, b, a_ss, b_ss, factor, use_stats))

    return is_result_better


def continuous_run(original: Any) -> Any:
    """For asv's `Continuous.run`, whose exit code is what its table found."""

    def run(cls: Any, conf: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(cls, conf, *args, **kwargs)
        except NothingComparable as fault:
            log.error(f"dcu-asv: {fault}")
            return NOTHING_COMPARABLE

    return run


def print_table(settings: Callable[[Any], Settings], original: Any) -> Any:
    """For asv's `Compare.print_table`. settings: those of a configuration."""
    signature = inspect.signature(original)

    def print_table(cls: Any, *args: Any, **kwargs: Any) -> tuple[bool, bool]:
        given = signature.bind(cls, *args, **kwargs)
        given.apply_defaults()
        return decided(original, given.arguments, settings(given.arguments["conf"]).verdict)

    return print_table


def decided(
    original: Callable[..., tuple[bool, bool]], given: Mapping[str, Any], rule: str
) -> tuple[bool, bool]:
    """asv's table with our verdicts. given: the arguments of asv's `print_table`; rule: "dcu" or "asv".

    Raises NothingComparable under `asv continuous` when no row could be compared and none failed or was fixed.
    """
    from .verdict_notes import asv_decided, notes

    if rule == "asv" or not given["use_stats"]:
        done = original(**given)
        print(asv_decided(rule))
        return done
    conf, continuous = given["conf"], given["resultset_1"] is not None
    first, second = (_entries(given, number) for number in (1, 2))
    table = Table(Margins.of(given["factor"]), first, second)
    _decide(table, conf)
    with printing(table):
        worsened, improved = original(
            **{**given, "resultset_1": table.entries(False), "resultset_2": table.entries(True)}
        )
    print(notes(table, given["hash_1"], given["hash_2"]))
    if continuous and not (worsened or improved or table.compared):
        raise NothingComparable("nothing could be compared: see the reasons above")
    return worsened, improved


class _Files:
    """The result files of an asv project."""

    def __init__(self, conf: Any) -> None:
        from .results import Project

        self._folder = Path(conf.results_dir)
        self._project = Project(Path.cwd(), self._folder, list(conf.branches), get_repo(conf))

    def results(self, entry: Entry) -> ResultSet:
        from .results import load_file

        return load_file(self._folder / get_filename(entry.machine, entry.commit, entry.env))

    def history(self, before: ResultSet) -> Sequence[ResultSet]:
        """What was measured before a commit; on the first branch where the repository does not know the commit."""
        from ..comparing.deciding import HISTORY

        known = None
        with suppress(NoSuchNameError):
            known = self._project.repo.get_hash_from_name(before.commit)
        return self._project.history(
            before.machine, before.env, known, match=before.sides.__contains__, newest=HISTORY + 2
        )


def _decide(table: Table, conf: Any) -> None:
    from ..comparing.deciding import report
    from ..comparing.model import ComparisonError
    from .results import ResultsError

    try:
        table.decide(_Files(conf), report)
    except (ResultsError, ComparisonError) as fault:
        raise util.UserError(f"dcu-asv: {fault}") from None
