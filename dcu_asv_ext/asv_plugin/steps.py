"""The steps of `asv publish`, in asv's format, from our change points."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asv import graph as asv_graph
from asv.console import log

from ..comparing.events import voting
from ..comparing.history import MIN_SEGMENT, Change, Timeline
from ..comparing.identity import SetUps
from ..pages.cache import Cache
from .regressing import Step, find_regressions

if TYPE_CHECKING:
    from ..comparing.identity import Identity
    from ..comparing.model import Key, Series
    from ..pages.change_points import ChangePoints
    from ..stats.moves import SeriesChanges
    from .published_set_ups import Place, Revisions

_ASVS_OWN = '"dcu": {"verdict": "asv"}'
#: Series given to a process of asv's pool at a time.
_AT_A_TIME = 8


@dataclass
class _Line:
    """One line of a graph: value by revision, without what is missing.

    key, series: as `dcu-asv history` knows it. starts: revisions at which a step begins. machine: those of them that
    the machine made; moved: at which its set-up is known to have changed. set_ups: what each value hung on, as far as
    it is known.
    """

    key: Key
    series: Series
    values: dict[int, float] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    machine: set[int] = field(default_factory=set)
    moved: set[int] = field(default_factory=set)
    set_ups: Mapping[int, Identity] = field(default_factory=dict)

    @property
    def timeline(self) -> Timeline:
        return Timeline("", "", self.key, self.series, tuple(self.values), tuple(self.values.values()))

    @property
    def negative(self) -> bool:
        return any(value < 0 for value in self.values.values())

    def other_set_ups(self) -> list[int]:
        """Places among the values at which the set-up is another one than before."""
        known = SetUps()
        numbers = [known.number(self.set_ups.get(one)) for one in self.values]
        return [place for place in range(1, len(numbers)) if numbers[place] != numbers[place - 1]]

    def steps(self) -> list[Step]:
        revisions = list(self.values)
        edges = [0, *(bisect_left(revisions, one) for one in self.starts), len(revisions)]
        higher = self.series.better == "higher"
        return [
            Step(
                _figures(self.values, revisions[left:right]),
                higher,
                revisions[left] in self.machine | self.moved,
                self.series.points,
            )
            for left, right in itertools.pairwise(edges)
            if left < right
        ]


def _figures(values: dict[int, float], revisions: Sequence[int]) -> tuple[int, int, float, float, float]:
    """As asv's: the level, its smallest value, and the mean distance of its values from it."""
    here = [values[one] for one in revisions]
    level = statistics.median(here)
    error = math.fsum(abs(value - level) for value in here) / len(here)
    return revisions[0], revisions[-1] + 1, level, min(here), error


_PUBLISHING: list[_Publish] = []


def _no_revisions(commits: set[str]) -> Mapping[str, int]:
    return {}


@dataclass(frozen=True)
class _Publish:
    """What `asv publish` is at work on. results: their folder, None: with asv's own step detection. revisions: what
    numbers their commits. kept: folder of the cache."""

    results: Path | None
    revisions: Revisions
    kept: Path | None


@contextmanager
def publishing(
    results: Path | None, revisions: Revisions = _no_revisions, kept: Path | None = None
) -> Iterator[None]:
    """`asv publish` is at work. results: their folder, to have our change points; None for asv's step detection.
    revisions: asv's numbers of commits. kept: folder of the cache, None to do without."""
    if results is not None:
        # Before asv forks its pool, or each of its processes imports them anew.
        import scipy.special  # noqa: F401

        from ..pages import change_points  # noqa: F401
        from ..stats import events  # noqa: F401
    _PUBLISHING.append(_Publish(results, revisions, kept))
    try:
        yield
    finally:
        _PUBLISHING.pop()


def detect_steps(original: Any) -> Any:
    """For asv's `GraphSet.detect_steps`."""

    def detect_steps(self: Any, pool: Any = None, dots: Any = None) -> None:
        publish = _PUBLISHING[-1] if _PUBLISHING else None
        if publish is None or publish.results is None:
            original(self, pool, dots)
            return
        from .published_set_ups import set_ups_of
        from .result_files import load_benchmarks

        cache = Cache(publish.kept)
        set_ups = set_ups_of(publish.results, publish.revisions)
        fill(self, pool, dots, load_benchmarks(publish.results), set_ups, cache)
        # What is wrong with it the publish tells, which opens it too.
        cache.close()

    return detect_steps


def detect_regressions(original: Any) -> Any:
    """For asv's `detect_regressions`, as its regressions page calls it."""
    return functools.wraps(original)(functools.partial(find_regressions, original))


def fill(
    graphs: Any,
    pool: Any = None,
    dots: Any = None,
    benchmarks: Mapping[str, Any] | None = None,
    set_ups: Mapping[Place, Mapping[int, Identity]] | None = None,
    cache: Cache | None = None,
) -> None:
    """Give each graph of a set its steps. pool: asv's processes, or None; dots: called as the work goes on.
    benchmarks: asv's descriptions by name, set_ups: by line and revision, where there are any. cache: of change
    points that were found before."""
    about = benchmarks or {}
    found = [
        (graph, _lines(graph, about.get(graph.benchmark_name, {}), set_ups or {})) for _, graph in graphs
    ]
    suites: dict[Any, list[_Line]] = defaultdict(list)
    for graph, lines in found:
        # What shares machine, environment and branch can share an event of the machine.
        suites[frozenset(graph.params.items())] += [one for one in lines if one.values and not one.negative]
    log.info(f"Steps are the change points of dcu-asv ({_ASVS_OWN} for asv's)")
    from ..pages.change_points import ChangePoints

    known = ChangePoints(cache or Cache(None))
    for suite in suites.values():
        _detect(suite, pool, dots, known)
    made = sum(len(one.machine - one.moved) for suite in suites.values() for one in suite)
    if made:
        log.info(f"{made} steps that a third of the benchmarks share are the machine's, and no regressions")
    moved = sum(len(one.moved) for suite in suites.values() for one in suite)
    if moved:
        log.info(f"{moved} steps begin where the machine or its set-up changed, and are no regressions")
    for graph, lines in found:
        graph._steps = [
            _asvs_own(graph, one) if line.negative else line.steps() for one, line in enumerate(lines)
        ]


def _asvs_own(graph: Any, column: int) -> Any:
    """Negative figures have no ratios, so ours are not for them."""
    data = graph.get_data()
    if not graph.scalar_series:
        data = [(revision, values[column], weights[column]) for revision, values, weights in data]
    return asv_graph._compute_graph_steps(data)


def _lines(
    graph: Any, about: Mapping[str, Any], set_ups: Mapping[Place, Mapping[int, Identity]]
) -> list[_Line]:
    """The graph's lines. An infinity, which asv's files should not have, is no value."""
    from .published_set_ups import graph_place
    from .result_files import key_of

    data = graph.get_data()
    where = graph_place(graph.params)
    lines = []
    for column in range(graph.n_series):
        line = _Line(*key_of(graph.benchmark_name, about))
        line.set_ups = set_ups.get((where, line.key.benchmark, column), {})
        for revision, value, _ in data:
            one = value if graph.scalar_series else value[column]
            if one is not None and math.isfinite(one):
                line.values[revision] = one
        lines.append(line)
    return lines


def _detect(suite: Sequence[_Line], pool: Any, dots: Any, known: ChangePoints) -> None:
    """Of all lines of one machine and environment. Pending change points vote, but begin no step yet."""
    from ..stats.events import machine_events

    changes: list[SeriesChanges] = []
    for line, found in zip(suite, _found([line.timeline for line in suite], pool, known), strict=True):
        points = [one.point for one in found]
        revisions, values = list(line.values), list(line.values.values())
        changes.append(voting(line.key, line.series, revisions, values, points))
        line.starts = [revisions[one.index] for one in points if not one.pending]
        others = line.other_set_ups()
        line.moved = {
            revisions[one.index]
            for one in points
            if not one.pending and any(one.first <= place <= one.last for place in others)
        }
        if dots is not None:
            dots()
    for event in machine_events(changes, min_segment=MIN_SEGMENT):
        for number, which in event.members:
            series, point = changes[number], changes[number].points[which]
            if not point.pending:
                suite[number].machine.add(series.places[point.index])


def _found(lines: Sequence[Timeline], pool: Any, known: ChangePoints) -> Iterator[list[Change]]:
    """The changes of each line; those of new ones are found by the pool's processes."""
    from ..pages import change_points

    before = [known.known(line) for line in lines]
    new = [line for line, changes in zip(lines, before, strict=True) if changes is None]
    made = map(change_points.found, new) if pool is None else pool.imap(change_points.found, new, _AT_A_TIME)
    for line, changes in zip(lines, before, strict=True):
        yield known.keep(line, next(made)) if changes is None else changes
