"""What changed between two commits' profiles as plain objects for strict JSON: what is not known is null."""

from __future__ import annotations

from typing import Any

from .as_json import number
from .profile_explaining import why
from .profile_model import Explanation, Figure, ProfileChange, ProfiledSide, RowChange, RowSide


def to_json(found: ProfileChange) -> dict[str, Any]:
    """All figures are of a call; seconds, bytes and counts; each is {"value", "rounds"}, a round a profile."""
    return {
        "benchmark": found.benchmark,
        "params": dict(found.params),
        "before": _side(found.before),
        "after": _side(found.after),
        "latency_verdict": found.verdict or None,
        "kernels": [_row(row) for row in found.kernels],
        "copies": [_row(row) for row in found.copies],
        "syncs": [_row(row) for row in found.syncs],
        "operators": [_row(row) for row in found.operators],
        "explanation": None if found.explanation is None else _explanation(found.explanation),
        "not_explained": found.why_not or None,
        "why": why(found) or None,
        "notes": list(found.notes),
    }


def _side(side: ProfiledSide) -> dict[str, Any]:
    return {
        "profiles": side.profiles,
        "measurements": side.rounds,
        "steps": list(side.steps),
        "overhead": number(side.overhead),
        "latency": _figure(side.latency),
        "busy": _figure(side.busy),
        "idle": _figure(side.idle),
        "metrics": {name: _figure(one) for name, one in side.figures.items()},
        "faults": list(side.faults),
    }


def _figure(one: Figure | None) -> dict[str, Any] | None:
    return None if one is None else {"value": number(one.value), "rounds": list(one.rounds)}


def _row(row: RowChange) -> dict[str, Any]:
    return {
        "name": row.name,
        "changes": list(row.words),
        "sure": row.sure,
        "was": row.was or None,
        "detail": row.detail or None,
        "source": row.source or None,
        "operator": row.operator or None,
        "seconds": row.seconds,
        "before": _row_side(row.before),
        "after": _row_side(row.after),
    }


def _row_side(side: RowSide | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {"count": _figure(side.count), "seconds": _figure(side.seconds), "bytes": _figure(side.bytes)}


def _explanation(one: Explanation) -> dict[str, Any]:
    return {
        "of": one.of,
        "change": one.change,
        "explained": one.explained,
        "unexplained": one.unexplained,
        "shown": one.shown,
        "not_counted_idle": one.capped,
        "parts": [
            {
                "seconds": part.seconds,
                "what": part.what,
                "text": part.text,
                "sure": part.sure,
                "source": part.source or None,
            }
            for part in one.parts
        ],
        "notes": list(one.notes),
    }
