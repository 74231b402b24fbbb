"""The steps of `asv publish`, in asv's format, from our change points."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from asv import graph as asv_graph
from asv.console import log

from ..metrics import METRICS
from .regressing import Step, find_regressions

if TYPE_CHECKING:
    from ..stats.changes import ChangePoint
    from ..stats.events import MachineEvent

_ASVS_OWN = '"dcu": {"verdict": "asv"}'
#: Series given to a process of asv's pool at a time.
_AT_A_TIME = 8
#: A change is more than its event when it is further from it than so many times the spread, and than this factor.
_FAR, _MUCH = 4.0, 1.5


@dataclass
class _Line:
    """One line of a graph: value by revision, without what is missing.

    starts: revisions at which a step begins. machine: those of them that the machine made.
    """

    metric: str
    values: dict[int, float] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    machine: set[int] = field(default_factory=set)

    @property
    def negative(self) -> bool:
        return any(value < 0 for value in self.values.values())

    def row(self, axis: Sequence[int]) -> list[float | None]:
        return [self.values.get(revision) for revision in axis]

    def steps(self) -> list[Step]:
        revisions = list(self.values)
        edges = [0, *(bisect_left(revisions, one) for one in self.starts), len(revisions)]
        higher = _of(self.metric, "better") == "higher"
        return [
            Step(_figures(self.values, revisions[left:right]), higher, revisions[left] in self.machine)
            for left, right in itertools.pairwise(edges)
            if left < right
        ]


def _figures(values: dict[int, float], revisions: Sequence[int]) -> tuple[int, int, float, float, float]:
    """As asv's: the level, its smallest value, and the mean distance of its values from it."""
    here = [values[one] for one in revisions]
    level = statistics.median(here)
    error = math.fsum(abs(value - level) for value in here) / len(here)
    return revisions[0], revisions[-1] + 1, level, min(here), error


def _of(metric: str, what: str) -> Any:
    return getattr(METRICS.get(metric), what, None)


_PUBLISHING: list[bool] = []


@contextmanager
def publishing(ours: bool) -> Iterator[None]:
    """`asv publish` is at work. ours: with our change points; otherwise with asv's own step detection."""
    if ours:
        # Before asv forks its pool, or each of its processes imports them anew.
        import scipy.special  # noqa: F401

        from ..stats import changes, events  # noqa: F401
    _PUBLISHING.append(ours)
    try:
        yield
    finally:
        _PUBLISHING.pop()


def detect_steps(original: Any) -> Any:
    """For asv's `GraphSet.detect_steps`."""

    def detect_steps(self: Any, pool: Any = None, dots: Any = None) -> None:
        if _PUBLISHING and _PUBLISHING[-1]:
            fill(self, pool, dots)
        else:
            original(self, pool, dots)

    return detect_steps


def detect_regressions(original: Any) -> Any:
    """For asv's `detect_regressions`, as its regressions page calls it."""
    return functools.wraps(original)(functools.partial(find_regressions, original))


def fill(graphs: Any, pool: Any = None, dots: Any = None) -> None:
    """Give each graph of a set its steps. pool: asv's processes, or None; dots: called as the work goes on."""
    found = [(graph, _lines(graph)) for _, graph in graphs]
    suites: dict[Any, list[_Line]] = defaultdict(list)
    for graph, lines in found:
        # What shares machine, environment and branch can share an event of the machine.
        suites[frozenset(graph.params.items())] += [one for one in lines if one.values and not one.negative]
    log.info(f"Steps are the change points of dcu-asv ({_ASVS_OWN} for asv's)")
    for suite in suites.values():
        _detect(suite, pool, dots)
    made = sum(len(one.machine) for suite in suites.values() for one in suite)
    if made:
        log.info(f"{made} steps that a third of a suite shares are the machine's, and no regressions")
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


def _lines(graph: Any) -> list[_Line]:
    """The graph's lines. An infinity, which asv's files should not have, is no value."""
    data = graph.get_data()
    lines = []
    for column in range(graph.n_series):
        line = _Line(graph.benchmark_name.rpartition(".")[2])
        for revision, value, _ in data:
            one = value if graph.scalar_series else value[column]
            if one is not None and math.isfinite(one):
                line.values[revision] = one
        lines.append(line)
    return lines


def _detect(suite: Sequence[_Line], pool: Any, dots: Any) -> None:
    from ..stats.events import machine_events

    axis = sorted({revision for line in suite for revision in line.values})
    rows = [line.row(axis) for line in suite]
    jobs = [(row, bool(_of(line.metric, "exact"))) for line, row in zip(suite, rows, strict=True)]
    points: dict[int, list[ChangePoint]] = {}
    results = map(_points, jobs) if pool is None else pool.imap(_points, jobs, _AT_A_TIME)
    for place, found in enumerate(results):
        points[place] = found
        suite[place].starts = [axis[one.index] for one in found]
        if dots is not None:
            dots()
    for event in machine_events(points, dict(enumerate(rows))):
        for place, point in event.members.items():
            if _explained(point, event):
                suite[place].machine.add(axis[point.index])


def _explained(point: ChangePoint, event: MachineEvent[int]) -> bool:
    """Whether the machine made this change. One far larger than the others of its event is more than that: another
    CPU makes benchmarks slower by different factors, but not one of them ten times."""
    logs = [math.log(one.ratio) for one in event.members.values() if 0 < one.ratio < math.inf]
    if not 0 < point.ratio < math.inf or not logs:
        return False
    common = statistics.median(logs)
    spread = 1.4826 * statistics.median(abs(one - common) for one in logs)
    return abs(math.log(point.ratio) - common) <= max(_FAR * spread, math.log(_MUCH))


def _points(job: tuple[list[float | None], bool]) -> list[ChangePoint]:
    """Found by its name in asv's pool of processes, so it is a function of the module."""
    from ..stats.changes import change_points

    row, exact = job
    return change_points(row, exact=exact)
