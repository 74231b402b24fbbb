"""The answer of the gates as plain objects for strict JSON: a number that is missing or infinite is null."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..comparing.as_json import no_ratio, number, plain, side
from .model import Answer, Figures, Finding, Gate
from .showing import headline


def as_json(answer: Answer, exit_code: int) -> dict[str, Any]:
    """gates: by name; findings: gravest first."""
    return {
        "before": side(answer.before),
        "after": side(answer.after),
        "outcome": answer.outcome,
        "conclusion": headline(answer),
        "stopped_by": [one.name for one in answer.stopped_by],
        "gates": {one.name: _gate(one) for one in answer.gates},
        "differences": [dataclasses.asdict(one) for one in answer.differences],
        "refused": answer.refused or None,
        "notes": list(dict.fromkeys(answer.notes)),
        "settings": plain(answer.settings),
        "exit_code": exit_code,
    }


def _gate(gate: Gate) -> dict[str, Any]:
    return {"outcome": gate.outcome, "findings": [_finding(one) for one in gate.findings]}


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "outcome": one.outcome,
        "finding": one.word,
        "benchmark": None if one.key is None or not one.key.benchmark else one.key.benchmark,
        "params": [] if one.key is None else list(one.key.params),
        "name": one.name or None,
        "metric": one.metric or None,
        "env": one.env or None,
        **_figures(one.figures),
        "rounds_needed": one.rounds_needed,
        "rule": one.rule or None,
        "reason": one.reason,
    }


def _figures(found: Figures | None) -> dict[str, Any]:
    if found is None:
        return {
            **dict.fromkeys(("before", "after", "ratio", "ci_low", "ci_high", "no_ratio", "unit")),
            "rounds": [0, 0],
            "exact": False,
        }
    names = ("before", "after", "ratio", "ci_low", "ci_high")
    numbers = {name: number(getattr(found, name)) for name in names}
    why = no_ratio(found.ratio, found.before, points=False)
    return {
        **numbers,
        "no_ratio": why,
        "unit": found.unit,
        "rounds": list(found.rounds),
        "exact": found.exact,
    }
