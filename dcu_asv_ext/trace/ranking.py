"""Findings of a trace, ranked by the time that they could give back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .analysis import Analysis
from .detectors import (
    allocations,
    copies,
    dominance,
    elementwise,
    holes,
    host,
    streams,
    synchronisations,
)
from .detectors.scope import Scope
from .finding import Finding
from .loading import load

#: Kinds that give back time in which kernels run, and those in which the host waits for the device.
_OF_KERNELS = (elementwise.KIND, streams.KIND)
_OF_WAITS = (copies.PAGEABLE, copies.BLOCKING, copies.SMALL, synchronisations.KIND)
DETECTORS = (
    allocations.detect,
    copies.detect,
    dominance.detect,
    elementwise.detect,
    holes.detect,
    host.detect,
    streams.detect,
    synchronisations.detect,
)


def findings(path: str | os.PathLike[str]) -> Sequence[Finding]:
    """What a trace file shows that costs time, the most first. Raises TraceError."""
    return ranked(Analysis(load(path)))


def ranked(analysis: Analysis) -> Sequence[Finding]:
    """Those that would shorten the whole come first; no two of them claim the same time of a device.

    A trace without rows of a device has none: what its host does costs is in the operator table.
    """
    if not len(analysis.trace.device):
        return []
    found = [one for detect in DETECTORS for one in detect(analysis)]
    return _ordered(_counted_once(analysis.scope, _ordered(found)))


def _ordered(found: Iterable[Finding]) -> list[Finding]:
    return sorted(found, key=lambda one: (-one.seconds, -one.share, one.begin))


def _counted_once(scope: Scope, found: Sequence[Finding]) -> Iterator[Finding]:
    """All together give back no more than there is: of the time without kernels, and of what a host gains that no
    longer waits."""
    free, slack = scope.not_computing * 1e-9, scope.slack * 1e-9
    for one in found:
        if one.kind in _OF_KERNELS:
            yield one
            continue
        gain = min(one.seconds, free)
        if one.kind in _OF_WAITS:
            alone = min(one.data.get("exposed_seconds", 0.0), gain)
            gain = min(gain, alone + slack)
            slack -= gain - alone
        free -= gain
        yield one if gain >= one.seconds - 1e-9 else _less(scope, one, gain)


def _less(scope: Scope, one: Finding, gain: float) -> Finding:
    if scope.worth(gain * 1e9):
        text = f"{one.text} The rest of it is what the larger findings give back already."
        return replace(one, seconds=gain, text=text)
    text = f"{one.text} Beside the larger findings, removing it would not change the end-to-end time."
    return replace(one, seconds=0.0, end_to_end=False, text=text)
