"""What a page of one measurement shows besides the record itself, by the functions that the commands use. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..comparing.fields import is_number
from ..comparing.model import MISSING, OK, Side
from ..comparing.reading import steady_of
from ..evidence.matrix import Statistic
from ..evidence.summary import figures_of, outcome
from ..metrics import METRICS, PROTOCOL

Record = Mapping[str, Any]

#: Significant digits of what is derived: as many as the evidence has.
_DIGITS = 6


def of_record(record: Record, session: int, used: Sequence[str]) -> dict[str, Any]:
    """session: the number of its session among those of its benchmark and parameters. used: metrics whose figure
    this round is part of."""
    found: dict[str, Any] = {
        "used": list(used),
        "session": session,
        "quick": bool(record["switches"].get("quick")),
        "ours": record["protocol"] == PROTOCOL,
        "steady": _steady(record),
        "figures": dict(_figures(dict(record))),
    }
    if isinstance(record.get("thinned"), list):
        found["thinned"] = [str(one) for one in record["thinned"]]
    steady = found["steady"]
    latency = found["figures"].get("latency")
    if steady is not None and steady["level"] is not None and latency is not None and "value" in latency:
        latency["steady"] = steady["level"]
    return found


def _steady(record: Record) -> dict[str, Any] | None:
    """The steady segment of the warm-up and the latency samples together, by position in both; None without samples.

    start: None: never steady. cut: samples before it that no figure uses.
    """
    warm_up, timed = ([_time(x) for x in record["times"].get(name) or ()] for name in ("warm_up", "latency"))
    if not timed:
        return None
    state = steady_of((*warm_up, *timed), len(warm_up))
    return {
        "start": state.start,
        "kind": state.kind,
        "reason": state.reason,
        "cut": max((state.start or 0) - len(warm_up), 0),
        "warm_up": len(warm_up),
        "level": _short(_level([*warm_up, *timed], max(state.start or 0, len(warm_up)))),
        "segments": [[one.start, one.stop, _short(one.level)] for one in state.segments],
    }


def _time(value: float | None) -> float | None:
    """What is not positive and finite is no time that was taken."""
    return value if value is not None and 0 < value < math.inf else None


def _level(times: Sequence[float | None], start: int) -> float | None:
    """The median of the timed samples that count."""
    kept = [one for one in times[start:] if one is not None]
    return statistics.median(kept) if kept else None


def _figures(record: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of each metric that the benchmark reports, and of those that a pass told unasked."""
    asked = [name for name in record["metrics"] if name in METRICS]
    for name in asked:
        found = outcome(record, name)
        if found.state != OK:
            yield name, {"state": found.state, "reason": found.reason}
            continue
        median = _short(statistics.median(found.samples))
        yield name, {"value": median, "n": len(found.samples), "number": found.number}
    for name, metric in METRICS.items():
        if name in asked or metric.is_time:
            continue
        value = figures_of(record, metric.source).get(name)
        if is_number(value) and math.isfinite(value):
            yield name, {"value": _short(value), "n": 1, "number": 1, "unasked": True}


def of_side(side: Side) -> dict[str, Any]:
    """The figure of one metric over the rounds that count, as comparisons and the matrix tell it, or why there is
    none."""
    notes = [text for text in (side.conflict, *side.notes) if text]
    found = Statistic.of([one.samples for one in side.rounds]) if side.state == OK else None
    if found is None:
        reason = side.reason or "no round has samples"
        return {"state": side.state, "reason": reason, "notes": notes}
    return {
        "median": _short(found.median),
        "ci_low": _short(found.ci_low),
        "ci_high": _short(found.ci_high),
        "min": _short(found.least),
        "max": _short(found.most),
        "rounds": len(side.rounds),
        "notes": notes,
    }


def _short(value: float | None) -> float | None:
    """Whole numbers (bytes, counts) stay whole; JSON has no word for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    if float(value).is_integer():
        return int(value)
    return float(f"{value:.{_DIGITS}g}")


def of_asv(side: Side, benchmark: str) -> dict[str, Any]:
    """What asv's file has of one metric. benchmark: asv's name of it. "value" is null where it failed, or was n/a."""
    return {
        "benchmark": benchmark,
        "value": _short(side.value),
        "n/a": side.state == MISSING,
        "version": side.version,
        "samples": sum(one.cut + len(one.samples) for one in side.rounds),
    }
