"""Gaps that nobody's lateness explains: those of a trace that does not tell, and those between queued kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .. import units
from ..analysis import Analysis
from ..finding import Finding
from ..waits import CAUSES, SCHEDULING, UNKNOWN
from .scope import Scope, at

UNTOLD = "gaps between kernels"
DISPATCH = "gaps between queued kernels"
#: ns. Shorter gaps are the runtime's own distance between rows.
LARGE = 20_000
#: Share from which on gaps without a known cause are worth a word: the harness's own may be among them.
UNTOLD_SHARE = 0.2
#: Share from which on the distance between queued kernels is worth a word, and how many it takes.
DISPATCH_SHARE, MANY = 0.1, 10


def detect(analysis: Analysis) -> Iterable[Finding]:
    yield from _untold(analysis.scope)
    yield from _between_queued(analysis.scope)


def _untold(scope: Scope) -> Iterator[Finding]:
    """As many of the longest as there are steps are left out: there the harness waits."""
    gaps = scope.analysis.gaps
    unknown = np.flatnonzero((gaps.cause == CAUSES.index(UNKNOWN)) & (scope.claims >= LARGE))
    order = unknown[np.argsort(-scope.claims[unknown], kind="stable")]
    holes = np.sort(order[max(len(scope.steps), len(scope.own_calls)) :])
    idle = int(scope.claims[holes].sum())
    if not scope.worth(idle, UNTOLD_SHARE):
        return
    if scope.analysis.launches.skewed:
        why = "the clocks of host and device differ in this trace, so that it does not tell why"
    else:
        why = "the calls that launched what came next are not in the trace, so that it does not tell why"
    waits = [one for one in scope.analysis.syncs if not one.own]
    suspects = ", ".join(f"{one.operator or one.name}{at(one.source)} ({one.count})" for one in waits[:3])
    text = (
        f"Nothing ran on the device for {scope.part(idle)}, in {units.count(len(holes), 'gap')} of up to"
        f" {units.time(int(scope.claims[holes].max()))}; {why}."
        + (f" The host waits for the device in {suspects}." if suspects else "")
    )
    yield scope.finding(
        UNTOLD,
        taken=idle,
        gain=idle,
        text=text,
        next_step="Record the host too (ProfilerActivity.CPU, with_stack=True) to see what it does meanwhile.",
        events=(gaps.begin[holes], gaps.end[holes]),
        device=int(gaps.device[holes[0]]),
    )


def _between_queued(scope: Scope) -> Iterator[Finding]:
    """By the median: single long ones come from a busy machine."""
    gaps = scope.analysis.gaps
    queued = np.flatnonzero((gaps.cause == CAUSES.index(SCHEDULING)) & (scope.claims > 0))
    if len(queued) < MANY:
        return
    each = int(np.median(scope.claims[queued]))
    idle = each * len(queued)
    if not scope.worth(idle, DISPATCH_SHARE):
        return
    device = scope.trace.device
    in_graphs = float((device.call[gaps.before[queued]] == device.call[gaps.after[queued]]).mean())
    shorter = int(np.median(device.duration[gaps.after[queued]]))
    text = (
        f"Between kernels that were submitted in time the device takes {units.time(each)} each"
        f" ({units.count(len(queued), 'gap')}), {scope.part(idle)}: the kernels are short for that (median"
        f" {units.time(shorter)})."
    )
    yield scope.finding(
        DISPATCH,
        taken=idle,
        gain=idle,
        text=text,
        next_step="Make fewer and longer kernels: fuse, or batch"
        + ("." if in_graphs > 0.5 else "; a graph's launches are closer to each other."),
        events=(gaps.begin[queued], gaps.end[queued]),
        device=int(gaps.device[queued[0]]),
        gap_seconds=each * 1e-9,
    )
