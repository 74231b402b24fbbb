"""From raw evidence to the figure that asv stores: pure, so that every summary can be made again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..metrics import METRICS, PROFILE, Metric
from .record import OK, SKIPPED, WRONG

#: metric -> pass whose raw times it reports
_TIMES = {
    "latency": "latency",
    "device_time": "device_time",
    "host_time": "host_time",
    "cold_start": "cold",
    "process_wall": "process_wall",
    "compile_time": "compile",
}


#: Times of something that need not happen at all.
_MAY_BE_NOTHING = frozenset({"compile_time"})


@dataclass(frozen=True)
class Outcome:
    """One metric of one measurement.

    state: "ok" (samples of `number` calls each), "missing" (asv's n/a) or "failed"; `reason` for the last two.
    """

    state: str
    samples: tuple[float, ...] = ()
    number: int = 1
    reason: str = ""


def outcome(record: dict[str, Any], name: str) -> Outcome:
    """What the record says of a metric. A wrong result's times are not offered; its error and memory are."""
    metric = METRICS[name]
    status = str(record.get("status", ""))
    if status.startswith(SKIPPED):
        return Outcome("missing", reason=status)
    wrong = status.startswith(WRONG)
    reason = (record.get("missing") or {}).get(name)
    # What cannot be measured stays n/a, whatever else went wrong.
    unmeasured = bool(reason) and wrong and metric.source != "correctness"
    if status != OK and not unmeasured and not (wrong and _survives(metric)):
        return Outcome("failed", reason=status)
    if reason:
        return Outcome("failed" if wrong and metric.source == "correctness" else "missing", reason=reason)
    if name not in record.get("metrics", ()):
        return Outcome("missing", reason=f"{record['benchmark']} did not report {name} when it was measured")
    return _value(record, metric)


def _survives(metric: Metric) -> bool:
    """Whether a metric still means something once the result is known to be wrong."""
    return not metric.is_time


def _value(record: dict[str, Any], metric: Metric) -> Outcome:
    if metric.name in _TIMES:
        raw = record["times"].get(_TIMES[metric.name])
        number = int(record["batch"].get(_TIMES[metric.name], 1))
        if not raw:
            return Outcome("missing", reason="this measurement has no such pass")
        nothing = metric.name in _MAY_BE_NOTHING
        finite = [value for value in raw if value is not None and math.isfinite(value)]
        good = tuple(value for value in finite if value > 0 or (value == 0 and nothing))
        if not good:
            return Outcome("missing", reason=f"none of {len(raw)} times is finite and positive")
        return Outcome("ok", good, number)
    value = figures_of(record, metric.source).get(metric.name)
    if value is None or not math.isfinite(value):
        return Outcome("missing", reason="this measurement has no such figure")
    return Outcome("ok", (float(value),))


def figures_of(record: Mapping[str, Any], source: str) -> Mapping[str, Any]:
    """Metric -> figure, as a pass that takes no samples left them."""
    if source == PROFILE:
        found = (record.get("profile") or {}).get("per_call")
        return found if isinstance(found, Mapping) else {}
    return record["memory" if source == "memory" else "correctness"]  # type: ignore[no-any-return]


def asv_result(found: Outcome) -> tuple[Any, str | None]:
    """What asv's result file of a benchmark process holds, and the text of a failure (None: no failure)."""
    if found.state == "ok":
        return {"samples": list(found.samples), "number": found.number}, None
    if found.state == "missing":
        return math.nan, None
    return None, found.reason
