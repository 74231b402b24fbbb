"""A host that submits late: work of its own between launches, and kernels too short for the time a launch takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .. import intervals, units
from ..analysis import Analysis
from ..finding import Finding
from ..linking import innermost
from ..model import Ints
from ..syncing import outermost
from ..waits import CAUSES, HOST_LATE
from .allocations import claimed_by_allocations
from .scope import Scope, at, by_key, covered, places

WORK = "host work between launches"
LAUNCH_BOUND = "launch-bound"
#: ns. A device that waits longer than this waits for more than a launch and torch's dispatch of an operator.
LONG = 100_000

_IN_PYTHON = (
    "Do this work before the loop, on the device, or in another thread or process (a DataLoader's workers), so that"
    " the device has work submitted meanwhile."
)
_IN_OPERATORS = (
    "See what these operators do on the host: a first use loads libraries and kernels (profile steady steps), and"
    " tensors of the CPU are computed there."
)
_FEWER = (
    "Make fewer and larger kernels: fuse (`torch.compile`), batch, use foreach or fused optimisers; or replay the"
    " launches as a graph."
)


def detect(analysis: Analysis) -> Iterable[Finding]:
    """Of gaps in which the host was late for no other reason."""
    scope, gaps = analysis.scope, analysis.gaps
    free = np.maximum(scope.claims - claimed_by_allocations(analysis), 0)
    late = np.flatnonzero((gaps.cause == CAUSES.index(HOST_LATE)) & (free > 0))
    if scope.idle_unprofiled is not None:
        # All that is idle without the profiler, in the proportions of what was seen with it.
        free = (free * min(1.0, scope.idle_unprofiled / max(int(scope.claims.sum()), 1))).astype(np.int64)
    long = gaps.length[late] >= LONG
    yield from _of_work(scope, late[long], free[late[long]])
    yield from _of_launches(scope, late[~long], free[late[~long]])


def _of_work(scope: Scope, gaps: Ints, free: Ints) -> Iterator[Finding]:
    """By the line that submits the next kernel."""
    table, sources = scope.analysis.gaps, scope.analysis.sources
    for members in by_key(sources.numbers_of_calls(table.call[gaps]), free, scope):
        mine, idle = gaps[members], int(free[members].sum())
        during = places(sources.of(*_middle(scope, mine)))
        launching = places(sources.of_calls(table.call[mine]))
        inside = _inside(scope, mine)
        text = (
            f"The device lies idle for {scope.part(idle)}, in {units.count(len(mine), 'gap')} of up to"
            f" {units.time(int(table.length[mine].max()))}: the host is busy with something else"
            f"{at(', '.join(during[:3]))} before it submits the next kernel{at(', '.join(launching[:3]))};"
            f" {_doing(scope, mine, inside)}{scope.profiler_note()}"
        )
        step = _IN_OPERATORS if inside is not None and inside >= 0.5 else _IN_PYTHON
        yield _finding(scope, WORK, mine, idle, text, step, (launching or during or [""])[0], during)


def _of_launches(scope: Scope, gaps: Ints, free: Ints) -> Iterator[Finding]:
    idle = int(free.sum())
    if not scope.worth(idle):
        return
    table = scope.analysis.gaps
    lines = places(scope.analysis.sources.of_calls(table.call[gaps]))
    kernel = int(np.median(scope.trace.device.duration[table.after[gaps]]))
    text = (
        f"The host cannot submit as fast as the device works: before {units.count(len(gaps), 'kernel')} (median"
        f" {units.time(kernel)}) the device had run dry, and lies idle for {scope.part(idle)} until their launch"
        f"{at(', '.join(lines[:3]))}; {_doing(scope, gaps, _inside(scope, gaps))}{scope.profiler_note()}"
    )
    yield _finding(scope, LAUNCH_BOUND, gaps, idle, text, _FEWER, (lines or [""])[0], lines)


def _finding(
    scope: Scope, kind: str, gaps: Ints, idle: int, text: str, step: str, source: str, lines: list[str]
) -> Finding:
    table = scope.analysis.gaps
    return scope.finding(
        kind,
        taken=idle,
        gain=idle,
        text=text,
        next_step=step,
        events=(table.begin[gaps], table.end[gaps]),
        source=source,
        device=int(table.device[gaps[0]]),
        in_operators=_inside(scope, gaps),
        lines=lines[:5],
        overhead=scope.analysis.overhead,
    )


def _middle(scope: Scope, gaps: Ints) -> tuple[Ints, Ints]:
    """Of each gap, the launching thread and a time in the middle of what it did until the launch."""
    table, calls = scope.analysis.gaps, scope.trace.calls
    launch = table.call[gaps]
    until = np.maximum(np.minimum(table.end[gaps], calls.start[launch]), table.begin[gaps])
    return calls.thread[launch], (table.begin[gaps] + until) // 2


def _doing(scope: Scope, gaps: Ints, inside: float | None) -> str:
    """What the host did meanwhile, as far as the trace has its operators."""
    if inside is None:
        return "the trace has no operators that say what the host does."
    if inside < 0.5:
        return f"{units.share(1 - inside)} of that time it is outside operators, in Python."
    found = outermost(scope.trace, innermost(scope.trace, *_middle(scope, gaps)))
    operators = places([scope.trace.name(int(scope.trace.operators.name[one])) for one in found if one >= 0])
    named = f" ({', '.join(operators[:3])})" if operators else ""
    return f"{units.share(inside)} of that time it is inside operators and calls of the runtime{named}."


def _inside(scope: Scope, gaps: Ints) -> float | None:
    """Share of the gaps in which the launching thread was in an operator or a call of the runtime."""
    table, trace = scope.analysis.gaps, scope.trace
    if not len(trace.operators):
        return None
    thread = trace.calls.thread[table.call[gaps]]
    inside = 0
    for one in np.unique(thread).tolist():
        mine = gaps[thread == one]
        of_operators, of_calls = trace.operators.thread == one, trace.calls.thread == one
        busy = intervals.union(
            np.append(trace.operators.start[of_operators], trace.calls.start[of_calls]),
            np.append(trace.operators.end[of_operators], trace.calls.end[of_calls]),
        )
        inside += int(covered(busy, table.begin[mine], table.end[mine]).sum())
    return inside / max(int(table.length[gaps].sum()), 1)
