"""A profile as one plain object for strict JSON: seconds, bytes and counts; what is not known is null."""

from __future__ import annotations

from typing import Any

from ..trace import table_json
from ..trace.finding import Finding
from ..trace.model import Trace
from .as_json import plain
from .profile_choice import Choice
from .profile_page import Page

_NS = 1e-9


def to_json(page: Page, choice: Choice | None = None) -> dict[str, Any]:
    """Everything that is told of a profile; counts and times are of the whole trace. `tables`: see
    `trace.table_json.table`. idle_share, idle_by_cause: of a profile pass within its calls; per_call: its metrics."""
    choice = choice or Choice()
    trace = page.analysis.trace
    rank, size = page.rank or (None, None)
    share, causes = page.idle
    return {
        "name": page.name,
        "params": dict(page.params),
        "code": page.code or None,
        "trace": page.trace or None,
        "first_call": page.first,
        "device": page.device or None,
        "devices": page.devices,
        "flavour": trace.flavour,
        "rank": rank,
        "world_size": size,
        "steps": page.steps,
        "step_seconds": page.step,
        "latency_seconds": page.latency,
        "overhead": page.overhead,
        "overhead_doubtful": page.analysis.doubtful,
        "totals": page.analysis.totals,
        "streams": _streams(page),
        "per_call": None if page.calls is None else page.calls["per_call"],
        "idle_share": share,
        "idle_by_cause": causes if len(trace.device) else None,
        "launches": _launches(page),
        "copies": _copies(page),
        "syncs": _syncs(page),
        "findings": [finding_json(one, trace) for one in page.analysis.findings],
        "findings_note": page.analysis.findings_note or None,
        "tables": table_json.table(
            page.analysis, choice.by_shape, page.overhead, choice.selection(choice.top)
        ),
        "notes": list(page.notes),
    }


def finding_json(one: Finding, trace: Trace) -> dict[str, Any]:
    """begin, end: seconds since the trace's first row; begin_ns: on the trace's own clock."""
    return {
        "kind": one.kind,
        "seconds": one.seconds,
        "share": one.share,
        "end_to_end": one.end_to_end,
        "text": one.text,
        "next_step": one.next_step,
        "source": one.source or None,
        "begin": one.begin * _NS,
        "end": one.end * _NS,
        "begin_ns": one.begin + trace.begin,
        "events": one.events,
        "device": None if one.device < 0 else one.device,
        "data": plain(one.data),
    }


def _streams(page: Page) -> list[dict[str, Any]]:
    lanes = page.analysis.trace.lanes
    return [
        {"device": one.device, "stream": lanes[lane].stream, "busy_seconds": busy * _NS}
        for one in page.analysis.activities
        for lane, busy in one.lanes.items()
    ]


def _launches(page: Page) -> dict[str, Any]:
    found = page.analysis.launches
    return {
        "count": found.count,
        "delay_median_seconds": _seconds(found.delay_median),
        "delay_p95_seconds": _seconds(found.delay_p95),
        "call_median_seconds": _seconds(found.call_median),
        "queue_depth_median": found.depth_median,
        "queue_depth_most": found.depth_max,
        "clocks_differ": found.skewed,
        "launch_bound_share": found.launch_bound_share,
        "launch_bound": [
            {
                "device": one.device,
                "begin": one.begin * _NS,
                "end": one.end * _NS,
                "rows": one.rows,
                "busy_seconds": one.busy * _NS,
                "source": one.source or None,
            }
            for one in found.stretches
        ],
        "missing": found.missing or None,
    }


def _copies(page: Page) -> list[dict[str, Any]]:
    return [
        {
            "direction": one.direction,
            "asked_direction": one.api_direction or None,
            "count": one.count,
            "bytes": one.bytes,
            "seconds": one.nanoseconds * _NS,
            "bytes_per_second": one.bandwidth,
            "pageable": one.pageable,
            "blocking": one.blocking,
            "small": one.small,
            "operator": one.operator or None,
            "source": one.source or None,
        }
        for one in page.analysis.copies
    ]


def _syncs(page: Page) -> list[dict[str, Any]]:
    return [
        {
            "kind": one.kind,
            "name": one.name,
            "count": one.count,
            "seconds": one.nanoseconds * _NS,
            "idle_seconds": _seconds(one.idle),
            "own": one.own,
            "operator": one.operator or None,
            "source": one.source or None,
        }
        for one in page.analysis.syncs
    ]


def _seconds(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds * _NS
