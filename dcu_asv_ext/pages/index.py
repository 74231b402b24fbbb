"""What every page loads first: which commits, branches, places, benchmarks and metrics there are, and which files."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

from ..metrics import METRICS
from .functions import functions, metric_order
from .model import Branch, Unreadable, Work

FORMAT = 1


def build(work: Work, version: str, made_at: datetime.datetime) -> None:
    """Writes "index", after all other data. version: of the package."""
    work.out.put("index", index(work, version, made_at))


def index(work: Work, version: str, made_at: datetime.datetime) -> dict[str, Any]:
    listed = functions(work)
    return {
        "format": FORMAT,
        "version": version,
        "made_at": made_at.isoformat(timespec="seconds"),
        "project": work.project.name,
        "project_url": work.project.url,
        "show_commit_url": work.project.show_commit_url,
        "hash_length": work.project.hash_length,
        "commits": [[one.hash, one.date, one.subject] for one in work.commits],
        "branches": [_branch(one) for one in work.branches.values()],
        "tags": sorted(work.tags.items(), key=lambda tag: (tag[1], tag[0])),
        "places": [_place(work, number) for number in range(len(work.places))],
        "functions": listed,
        "metrics": _metrics(listed),
        "comparisons": sorted(work.comparisons),
        "evidence": {str(place): commits for place, commits in sorted(work.evidence.items())},
        "matrices": sorted(work.matrices),
        "notes": work.notes,
    }


def _branch(one: Branch) -> dict[str, Any]:
    return {
        "name": one.name,
        "commits": list(one.commits),
        "numbers": list(one.numbers),
        "length": len(one.line),
        "head": one.head,
    }


def _place(work: Work, number: int) -> dict[str, Any]:
    place = work.places[number]
    facts = _facts(work, number)
    return {
        "machine": place.machine,
        "env": place.env,
        "key": place.key,
        "device": facts.get("device.kind"),
        "product": facts.get("device.product"),
        "facts": facts,
        "commits": work.measured(number),
    }


def _facts(work: Work, number: int) -> Mapping[str, str]:
    """Of the newest result; nothing where none can be read."""
    for commit in reversed(work.measured(number)):
        try:
            return work.extract(work.entries[number, commit]).facts
        except Unreadable:  # told by who read it first
            continue
    return {}


def _metrics(listed: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of each metric that a benchmark has; asv's types have no more than a name."""
    found = {metric: one["units"][metric] for one in listed for metric in one["metrics"]}
    return {name: _metric(name, found[name]) for name in sorted(found, key=metric_order)}


def _metric(name: str, unit: str) -> dict[str, Any]:
    known = METRICS.get(name)
    if known is None:
        return {"label": name, "unit": unit, "better": "lower", "exact": False, "source": "asv"}
    return {
        "label": known.label,
        "unit": known.unit,
        "better": known.better,
        "exact": known.exact,
        "source": known.source,
    }
