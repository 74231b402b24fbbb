"""Waits of the host for the device that cut the pipeline: after them the device has nothing to do for a while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .. import units
from ..analysis import Analysis
from ..finding import Finding
from ..model import Ints
from ..waits import SyncGroup
from .copies import waits_of_copies
from .scope import Scope, at, times_each

KIND = "unexpected synchronisation"
#: Operators whose result the host must know before it can go on, and what to do instead.
_READ = "Keep the value on the device, and read it once after the loop or every so many steps."
_SIZE = (
    "The size of the result is not known before the device has computed it: use a mask, `torch.where` or a form"
    " with a fixed size."
)
_ADVICE = {
    "aten::to": _READ,
    "aten::_to_copy": _READ,
    "aten::copy_": _READ,
    "aten::item": _READ,
    "aten::_local_scalar_dense": _READ,
    "aten::is_nonzero": _READ,
    "aten::equal": _READ,
    "aten::allclose": _READ,
    "aten::nonzero": _SIZE,
    "aten::argwhere": _SIZE,
    "aten::masked_select": _SIZE,
    "aten::index": _SIZE,
    "aten::index_put_": _SIZE,
    "aten::unique": _SIZE,
    "aten::_unique2": _SIZE,
    "aten::bincount": _SIZE,
    "aten::repeat_interleave": _SIZE,
}
_EXPLICIT = {
    "device": "Wait only where the host needs a result; streams order work among themselves by events.",
    "stream": "Let the device wait with an event (`Stream.wait_event`) instead of the host.",
    "event": "Wait for the event later, when more work has been submitted, or let a stream wait for it.",
    "copy": "Copy with non_blocking=True to or from pinned memory, and wait for it when its content is needed.",
}


def detect(analysis: Analysis) -> Iterable[Finding]:
    """Groups of waits after which the device lay idle. Silent where clocks differ, or where a copy is the reason."""
    scope = analysis.scope
    copying = waits_of_copies(analysis)
    for group in analysis.syncs:
        # Without steps to tell them apart, who waits for the whole device may be the clock of who profiles.
        clock = group.kind == "device" and not group.operator and not len(analysis.trace.steps)
        if not group.own and not clock:
            yield from _of(scope, group, np.setdiff1d(group.calls, copying))


def _of(scope: Scope, group: SyncGroup, calls: Ints) -> Iterator[Finding]:
    gaps = scope.analysis.gaps
    calls = calls[scope.inside(scope.trace.calls.start[calls])]
    cut = scope.cut_by(calls)
    idle = int(scope.claims[cut].sum())
    if not scope.worth(idle):
        return
    table = scope.trace.calls
    waited = int(table.duration[calls].sum())
    what = f"`{group.operator}` ({group.name})" if group.operator else group.name
    times = times_each(len(calls), len(scope.steps))
    text = (
        f"The host waits for the device in {what}{at(group.source)}, {times},"
        f" for {units.time(waited)}; after that the device lies idle for {scope.part(idle)}, until the host has"
        " submitted more."
    )
    yield scope.finding(
        KIND,
        taken=idle,
        gain=min(idle, scope.slack),
        text=text,
        next_step=_ADVICE.get(group.operator, _EXPLICIT[group.kind]),
        events=(
            np.append(table.start[calls], gaps.begin[cut]),
            np.append(table.end[calls], gaps.end[cut]),
        ),
        why_not="the host works all the time, and is what the device waits for",
        source=group.source,
        device=int(gaps.device[cut[0]]),
        operator=group.operator,
        call=group.name,
        count=len(calls),
        waited_seconds=waited * 1e-9,
    )
