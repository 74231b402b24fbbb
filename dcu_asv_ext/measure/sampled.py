"""Card readings joined to the passes of a measurement: what the record keeps of them, and what they say against it.

Pure: samples, spans and looks in, plain facts out. Polling every 50 ms cannot see a clock that dips for a few
milliseconds.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..devices.cards.processes import MIB, Company
from ..devices.cards.samples import Samples, told
from ..devices.cards.source import Reading
from ..evidence.record import SAMPLED

#: Readings that a record keeps.
MOST_KEPT = 24
#: Fewer readings in a pass tell nothing of it.
FEWEST = 3
#: Below this share of the warm-up's core clock, a pass counts as throttled.
THROTTLED = 0.9
#: The passes whose times are compared.
JUDGED = ("latency", "device_time")

#: Of the memory in use each pass's highest reading says more than single ones.
_COLUMNS = (*SAMPLED, "used_bytes")
#: What a pass's readings come to.
_SUMMARIES: dict[str, Callable[[list[Any]], Any]] = {
    "core_clock_mhz": statistics.median,
    "power_w": statistics.median,
    "temperature_c": max,
    "used_bytes": max,
}


def summarise(samples: Samples, spans: Mapping[str, Sequence[float]], began: float) -> dict[str, Any]:
    """The record's `sampled`. spans: pass -> [begin, end] in seconds since `began`, a time of `perf_counter`."""
    if not samples.readings:
        return {"missing": samples.reason or "there was no reading before the measurement was over"}
    times = [time - began for time in samples.times]
    kept = thin(len(times), MOST_KEPT)
    columns = {name: [_rounded(getattr(samples.readings[at], name)) for at in kept] for name in SAMPLED}
    passes = {name: _inside(times, samples.readings, span) for name, span in spans.items()}
    found = {
        "source": samples.source,
        "interval": samples.interval,
        "count": samples.taken,
        "times": [round(times[at], 2) for at in kept],
        **{name: column for name, column in columns.items() if any(one is not None for one in column)},
        "peak_used_bytes": max(
            (one.used_bytes for one in samples.readings if one.used_bytes is not None), default=""
        ),
        "passes": {name: _summary(readings) for name, readings in passes.items()},
        "throttle": _reasons(samples.readings),
        "marks": marks(times, samples.readings, spans),
        "missing": samples.reason,
    }
    return {name: value for name, value in found.items() if value not in ("", [], {})}


def thin(count: int, most: int) -> list[int]:
    """At most `most` of the numbers below `count`, evenly spread, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return [round(at * (count - 1) / (most - 1)) for at in range(most)]


def _summary(readings: Sequence[Reading]) -> dict[str, Any]:
    values = {
        name: [value for one in readings if (value := getattr(one, name)) is not None] for name in _COLUMNS
    }
    found: dict[str, Any] = {
        name: _rounded(summary(values[name])) for name, summary in _SUMMARIES.items() if values[name]
    }
    return {**found, "readings": len(readings)}


def _rounded(value: float | None) -> int | None:
    # Whole MHz, W and degrees: the sensors tell no more, and a thousand records are read at once.
    return None if value is None else round(value)


def _reasons(readings: Iterable[Reading]) -> list[str]:
    return sorted({reason for one in readings for reason in one.throttle or ()})


def marks(
    times: Sequence[float], readings: Sequence[Reading], spans: Mapping[str, Sequence[float]]
) -> list[str]:
    """What speaks against comparing the times of a pass, a sentence each. times: on the clock of the spans."""
    found = []
    reference = _median_clock(_end_of_warm_up(times, readings, spans))
    for name in JUDGED:
        inside = _inside(times, readings, spans.get(name))
        clock = _median_clock(inside)
        if clock is not None and reference is not None and clock < THROTTLED * reference:
            share = f"{clock / reference:.2f} of the warm-up's"
            found.append(f"{name}: the core clock fell to {share}: this round is throttled")
        reasons = _reasons(inside) if len(inside) >= FEWEST else []
        if reasons:
            found.append(f"{name}: the driver says that it lowered the clock: {', '.join(reasons)}")
    return found


def _end_of_warm_up(
    times: Sequence[float], readings: Sequence[Reading], spans: Mapping[str, Sequence[float]]
) -> list[Reading]:
    """Those of its second half, where the clock has come up; of all of it where these are too few."""
    begin, end = spans.get("warm_up", (0.0, 0.0))
    late = _inside(times, readings, ((begin + end) / 2, end))
    return late if len(late) >= FEWEST else _inside(times, readings, (begin, end))


def _inside(
    times: Sequence[float], readings: Sequence[Reading], span: Sequence[float] | None
) -> list[Reading]:
    if span is None:
        return []
    begin, end = span
    return [reading for time, reading in zip(times, readings, strict=True) if begin <= time <= end]


def _median_clock(readings: Iterable[Reading]) -> float | None:
    told_clocks = [one.core_clock_mhz for one in readings if one.core_clock_mhz is not None]
    return statistics.median(told_clocks) if len(told_clocks) >= FEWEST else None


def describe_state(
    before: Reading | None, after: Reading | None, company: Sequence[Company | None], load: float
) -> dict[str, Any]:
    """The record's `state`. company: of each look; the one with most others counts."""
    known = [one for one in company if one is not None]
    seen = max(
        (one for one in known if one.others is not None), key=lambda one: one.others or 0, default=None
    )
    own = [one.own_bytes for one in known if one.own_bytes is not None]
    found: dict[str, Any] = {
        "before": told(before) if before is not None else {},
        "after": told(after) if after is not None else {},
        "own_bytes": max(own, default=None),
        "others": {} if seen is None else _others(seen),
        "load_1min": load,
    }
    if seen is not None:
        found["contended"] = any(one.contended for one in known)
    reasons = [one.reason for one in known if one.reason]
    if reasons and (seen is None or not own):
        found["missing"] = {"others" if seen is None else "own_bytes": reasons[-1]}
    return {name: value for name, value in found.items() if value not in (None, {})}


def _others(seen: Company) -> dict[str, Any]:
    told_of = {
        "count": seen.others,
        "at_least": seen.at_least or None,
        "mib": None if seen.other_bytes is None else round(seen.other_bytes / MIB),
    }
    return {name: value for name, value in told_of.items() if value is not None}


def contention(state: Mapping[str, Any]) -> str | None:
    """The note on a card that somebody else uses, None where nobody is known to."""
    if not state.get("contended"):
        return None
    others = state["others"]
    count = others["count"]
    least = "at least " if others.get("at_least") else ""
    held = f", holding {others['mib']} MiB" if "mib" in others else ""
    processes = "1 other process uses" if count == 1 else f"{count} other processes use"
    return f"{least}{processes} this card{held}: its times and memory are not this benchmark's alone"
