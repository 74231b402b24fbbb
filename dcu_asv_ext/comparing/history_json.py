"""A `HistoryReport` as one JSON-able object; a number that is missing or infinite is null."""

from __future__ import annotations

from typing import Any

from .as_json import no_ratio, number
from .history import Change, Event, HistoryReport, Restart, Timeline, series_of, short
from .history_text import Entry, entries_of, ordered
from .identity import of_facts
from .set_ups import SetUpChange


def to_json(report: HistoryReport, order: str, limit: int = 0, series: bool = False) -> dict[str, Any]:
    """order: of `history_text`. limit: so many changes and events, 0 for all. series: every series' values too."""
    entries = ordered(entries_of(report), order)
    shown = entries[:limit] if limit else entries
    found: dict[str, Any] = {
        "branch": report.branch,
        "since": report.since and report.since.hash,
        "commits": len(report.commits),
        "series": len(series_of(report.timelines)),
        "too_short": short(report.timelines),
        "changes": [_change(one, report) for one in shown if isinstance(one, Change)],
        "events": [_event(one, report) for one in shown if isinstance(one, Event)],
        "set_ups": [_set_up(one, report) for one in shown if isinstance(one, SetUpChange)],
        "not_shown": len(entries) - len(shown),
        "restarts": [_restart(one, report) for one in report.restarts],
        "notes": list(report.notes),
    }
    if series:
        found["timelines"] = [_timeline(one, report) for one in report.timelines]
    return found


def _change(one: Change, report: HistoryReport) -> dict[str, Any]:
    return {
        **_where(one, report),
        **_name(one.timeline),
        "kind": one.kind,
        "before": number(one.point.before),
        "after": number(one.point.after),
        "ratio": number(one.point.ratio),
        "ci_low": number(one.point.ci_low),
        "ci_high": number(one.point.ci_high),
        "difference": number(one.difference),
        "difference_low": number(one.point.difference_low),
        "difference_high": number(one.point.difference_high),
        "no_ratio": no_ratio(one.point.ratio, one.point.before, one.point.points),
        "pending": one.pending,
        "reason": one.point.reason,
    }


def _event(one: Event, report: HistoryReport) -> dict[str, Any]:
    return {
        **_where(one, report),
        "machine": one.machine,
        "environment": one.env,
        "unit": one.unit,
        "kind": one.kind,
        "ratio": number(one.ratio),
        "difference": number(one.difference) if one.points else None,
        "moved": one.moved,
        "benchmarks": one.benchmarks,
        "pending": one.pending,
        "members": [_change(member, report) for member in one.members],
    }


def _set_up(one: SetUpChange, report: HistoryReport) -> dict[str, Any]:
    return {
        **_where(one, report),
        "machine": one.machine,
        "environment": one.env,
        "text": one.sentence,
        "differences": [
            {"name": each.name, "before": each.before, "after": each.after} for each in one.differences
        ],
        "side_by_side": one.beside,
        "series": len(one.lines),
        "ratio": number(one.ratio),
        "members": [_change(member, report) for member in one.members],
    }


def _where(one: Entry, report: HistoryReport) -> dict[str, Any]:
    """range: the change lies after the first of the two commits, and no later than the second."""
    commits = report.commits
    commit = commits[one.place]
    return {
        "commit": commit.hash,
        "date": commit.date,
        "subject": commit.subject,
        "range": [commits[one.after].hash, commits[one.upto].hash],
        "range_commits": one.upto - one.after,
    }


def _name(one: Timeline) -> dict[str, Any]:
    names = one.series.param_names
    return {
        "machine": one.machine,
        "environment": one.env,
        "benchmark": one.key.benchmark,
        "metric": one.key.metric,
        "params": {
            names[place] if place < len(names) and names[place] else str(place): value
            for place, value in enumerate(one.key.params)
        },
        "unit": one.series.unit,
        "better": one.series.better,
        "version": one.version,
        "protocol": one.protocol,
    }


def _timeline(one: Timeline, report: HistoryReport) -> dict[str, Any]:
    return {
        **_name(one),
        "too_short": one.few,
        "set_up": of_facts(one.set_up).digest if one.set_up else None,
        "commits": [report.commits[place].hash for place in one.places],
        "values": list(one.values),
    }


def _restart(one: Restart, report: HistoryReport) -> dict[str, Any]:
    commit = report.commits[one.place]
    return {
        "machine": one.machine,
        "environment": one.env,
        "commit": commit.hash,
        "date": commit.date,
        "changed": one.what,
        "benchmarks": list(one.benchmarks),
    }
