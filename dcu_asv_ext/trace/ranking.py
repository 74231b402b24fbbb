"""Findings of a trace, ranked by the time that they could give back."""

from __future__ import annotations

import os
from collections.abc import Sequence

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
from .finding import Finding
from .loading import load

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
    return sorted(found, key=lambda one: (-one.seconds, -one.share, one.begin))
