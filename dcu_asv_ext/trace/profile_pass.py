"""What a profile pass of a measurement tells of its calls alone: between two of them the harness waits."""

from __future__ import annotations

from typing import Any

from .analysis import Analysis
from .digest import digest
from .syncs import OWN_SPAN

_NS = 1e-9


def calls(analysis: Analysis) -> dict[str, Any] | None:
    """What `digest` tells of it; None of any other trace."""
    steps = len(analysis.trace.steps)
    return digest(analysis, steps) if steps and OWN_SPAN in analysis.trace.names else None


def idle(analysis: Analysis) -> tuple[float | None, dict[str, float]]:
    """Share of the devices' span in which nothing ran, and its seconds by cause; of a profile pass within its calls
    alone."""
    within = analysis.calls
    if within is None:
        causes = analysis.gaps.time_by_cause()
        return analysis.totals["idle_share"], {cause: time * _NS for cause, time in causes.items()}
    found: dict[str, float] = {}
    for cause, _, seconds, _ in within["gaps"]:
        found[cause] = found.get(cause, 0.0) + seconds
    return within["per_call"].get("idle_share"), found
