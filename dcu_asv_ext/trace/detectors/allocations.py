"""Memory: allocations of the runtime where the caching allocator should have had the block, and many temporaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .. import kinds, units
from ..analysis import Analysis
from ..finding import Finding
from ..grouping import grouped
from ..model import Ints
from ..waits import CAUSES, HOST_LATE
from .scope import Scope, at, places, times_each

BLOCKING = "blocking allocation"
TEMPORARIES = "many temporary allocations"
#: Temporaries of one size, from one line, in one step from which on they are many ...
MANY = 16
#: ... and the bytes from which on each matters.
LARGE = 1 << 20
#: Fewer allocations than this, in a trace without steps, may be those of a start.
STEADY = 3


def detect(analysis: Analysis) -> Iterable[Finding]:
    yield from _blocking(analysis.scope)
    yield from _temporaries(analysis.scope)


def claimed_by_allocations(analysis: Analysis) -> Ints:
    """Of every gap, ns in which the host was in allocating or freeing calls that the finding is about."""
    claims = analysis.scope.claims
    found = np.zeros(len(analysis.gaps), np.int64)
    calls = _steady_calls(analysis.scope)
    if not len(calls):
        return found
    gaps, table = analysis.gaps, analysis.trace.calls
    late = np.flatnonzero((gaps.cause == CAUSES.index(HOST_LATE)) & (claims > 0))
    first = np.searchsorted(table.end[calls], gaps.begin[late], "right")
    last = np.searchsorted(table.start[calls], gaps.end[late], "left")
    for gap, begin, end in zip(late.tolist(), first.tolist(), last.tolist(), strict=True):
        inside = calls[begin:end]
        if not len(inside):
            continue
        held = np.minimum(table.end[inside], gaps.end[gap]) - np.maximum(table.start[inside], gaps.begin[gap])
        # A free waits for the device before it frees: what comes after it is its doing.
        dry = (table.kind[inside] == kinds.FREE) & (table.start[inside] <= gaps.begin[gap])
        found[gap] = claims[gap] if dry.any() else min(int(held.sum()), int(claims[gap]))
    return found


def _steady_calls(scope: Scope) -> Ints:
    """Allocating and freeing calls after the first step; without steps, of the second half of the trace."""
    calls = scope.trace.calls
    memory: Ints = np.flatnonzero(np.isin(calls.kind, (kinds.ALLOCATE, kinds.FREE)))
    start, end = int(scope.within[0][0]), int(scope.within[1][-1])
    if len(scope.steps):
        after_the_first = scope.step_of(calls.start[memory]) > 0
        return memory[after_the_first & (calls.start[memory] < end)]
    steady: Ints = memory[calls.start[memory] >= (start + end) // 2]
    return steady if len(steady) >= STEADY else memory[:0]


def _blocking(scope: Scope) -> Iterator[Finding]:
    claim = claimed_by_allocations(scope.analysis)
    idle = int(claim.sum())
    if not scope.worth(idle):
        return
    table, gaps = scope.trace.calls, scope.analysis.gaps
    calls, cut = _steady_calls(scope), np.flatnonzero(claim)
    names = places([scope.trace.names[name] for name in table.name[calls].tolist()])
    lines = places(scope.analysis.sources.of_calls(calls))
    spent = int(table.duration[calls].sum())
    text = (
        f"After the first step the runtime still allocates and frees ({', '.join(names)}),"
        f" {units.count(len(calls), 'call')} of {units.time(spent)} in all{at(', '.join(lines[:3]))};"
        f" the device lies idle for {scope.part(idle)} because of them."
    )
    yield scope.finding(
        BLOCKING,
        taken=idle,
        gain=idle,
        text=text,
        next_step=(
            "Let torch's caching allocator keep its blocks: no empty_cache() in the loop, room for the peak, and the"
            " same sizes in every step; for fragments PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True."
        ),
        events=(gaps.begin[cut], gaps.end[cut]),
        source=(lines or [""])[0],
        device=int(gaps.device[cut[0]]),
        calls=len(calls),
        names=names,
    )


def _temporaries(scope: Scope) -> Iterator[Finding]:
    """Blocks of one size that one line allocates and frees again and again within a step."""
    made, freed = _pairs(scope)
    if not len(made):
        return
    memory = scope.trace.memory
    lines = scope.analysis.sources.numbers(memory.thread[made], memory.start[made])
    step = scope.step_of(memory.start[made])
    for mine in grouped(memory.bytes[made], lines):
        if len(mine) < MANY:
            continue
        steps = len(np.unique(step[mine]))
        if len(mine) < MANY * steps:
            continue
        source = scope.analysis.sources.texts(lines[mine[:1]])[0]
        size = int(memory.bytes[made[mine[0]]])
        start, end = memory.start[made[mine]], memory.start[freed[mine]]
        text = (
            f"{units.count(len(mine), 'temporary block')} of {units.size(size)} are allocated and freed again within"
            f" a step{at(source)} ({times_each(len(mine), steps)}). The caching allocator serves them without the"
            " device, but each is memory that is written and read once."
        )
        yield Finding(
            kind=TEMPORARIES,
            seconds=0.0,
            text=f"{text} By itself that would not change the end-to-end time.",
            next_step="Write into a tensor that is made once (`out=`, in-place operators), or fuse the operators.",
            share=0.0,
            begin=int(start.min()),
            end=int(end.max()),
            events=len(mine),
            source=source,
            end_to_end=False,
            data={"bytes_each": size, "count": len(mine), "bytes": size * len(mine)},
        )


def _pairs(scope: Scope) -> tuple[Ints, Ints]:
    """Rows of large allocations on a device, and of their frees within the same step."""
    memory = scope.trace.memory
    rows = np.flatnonzero((memory.on_cpu == 0) & (np.abs(memory.bytes) >= LARGE))
    order = rows[np.lexsort((memory.start[rows], memory.address[rows]))]
    this, following = order[:-1], order[1:]
    pair = (
        (memory.address[this] == memory.address[following])
        & (memory.bytes[this] > 0)
        & (memory.bytes[following] == -memory.bytes[this])
        & (scope.step_of(memory.start[this]) == scope.step_of(memory.start[following]))
        & scope.inside(memory.start[this])
        & scope.inside(memory.start[following])
    )
    return this[pair], following[pair]
