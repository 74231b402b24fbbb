"""What is known of each measured function's memory as one JSON-able object; bytes, and null for what is missing."""

from __future__ import annotations

import dataclasses
from typing import Any

from .memory_advice import HOW, advice, outside_by_first_call
from .memory_model import ALLOCATED, REQUESTED, RESERVED, Call, Figure, MemoryOf
from .model import ResultSet


def to_json(one: ResultSet, found: list[MemoryOf]) -> dict[str, Any]:
    """Of one (commit, machine, environment)."""
    return {
        "commit": one.commit,
        "machine": one.machine,
        "environment": one.env,
        "dirty": one.dirty,
        "notes": list(one.notes),
        "functions": [_function(each) for each in found],
    }


def _function(one: MemoryOf) -> dict[str, Any]:
    ranges: dict[str, list[float]] = {}
    return {
        "benchmark": one.benchmark,
        "params": dict(one.params),
        "variant": one.variant,
        "status": one.status,
        "rounds": one.rounds,
        "quick": one.quick,
        "device": one.device,
        "steady": _call(one.steady, "steady", ranges),
        "first": _call(one.first, "first", ranges),
        "rounding": _difference(one.steady.beyond(ALLOCATED, REQUESTED)),
        "cache": _difference(one.steady.beyond(RESERVED, ALLOCATED)),
        "outside_allocator": _figure(one.outside, "outside_allocator", ranges),
        "outside_by_first_call": _difference(outside_by_first_call(one)),
        **{
            name: None if group is None else dataclasses.asdict(group)
            for name, group in (
                ("card", one.card),
                ("alive", one.alive),
                ("growth", one.growth),
                ("empty_cache", one.emptied),
            )
        },
        "ranges": ranges,
        "advice": [{**dataclasses.asdict(each), "how": HOW[each.kind]} for each in advice(one)],
    }


def _call(call: Call, name: str, ranges: dict[str, list[float]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        kind.replace(" ", "_"): {
            part: _figure(getattr(level, part), f"{name}.{kind.replace(' ', '_')}.{part}", ranges)
            for part in ("before", "peak", "after")
        }
        for kind, level in call.levels.items()
    }
    found["retries"] = _figure(call.retries, f"{name}.retries", ranges)
    found["ooms"] = _figure(call.ooms, f"{name}.ooms", ranges)
    found["missing"] = dict(call.missing)
    return found


def _figure(one: Figure | None, name: str, ranges: dict[str, list[float]]) -> float | None:
    """The median; `ranges` gets what it lay between, where the rounds do not agree."""
    if one is not None and one.differs:
        ranges[name] = [_plain(one.low), _plain(one.high)]
    return None if one is None else _plain(one.value)


def _difference(value: float | None) -> float | None:
    return None if value is None else _plain(value)


def _plain(value: float) -> float:
    return int(value) if value == int(value) else value
