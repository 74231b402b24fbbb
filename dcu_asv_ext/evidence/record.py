"""The record of one measurement: one (function, parameters, round) measured by one fresh process."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from typing import Any

from ..metrics import PROTOCOL

OK = "ok"
SKIPPED = "skipped"
WRONG = "wrong result"

#: Columns of `sampled` that have a value for each of its `times`.
SAMPLED = ("core_clock_mhz", "power_w", "temperature_c")

#: Decimals kept of a second: a tenth of a nanosecond, below every clock's resolution.
_DECIMALS = 10


@dataclass
class Measurement:
    """What one process measured, raw.

    benchmark: `<module>.<function>`; params: name -> asv's own string; param_index: asv's combination index.
    status: "ok", or a reason ("skipped: ...", "wrong result: ...", "out of memory: ...", "failed: ...").
    parts: part of the cold start -> seconds. cold: how each was told, its share of the first call (`in_first_call`),
    why others are missing, and which on-disk caches were written to.
    times: pass -> seconds per call, in acquisition order (None where an event time was not finite).
    batch: pass -> calls per sample.
    missing: metric -> why it has no number.
    dirty: `commit` is a snapshot of a working tree, made on top of commit `head`.
    host: what the machine is (stable). state: what it and the card were like before and after (volatile).
    sampled: card readings during the passes. spans: pass -> [begin, end], seconds since the measurement began.
    project: what the commit's own installed project is (`package_size`, bytes).
    profile: of `steps` calls under torch's profiler, which no sample is taken from: `seconds` of each on the host,
    `overhead` (how many times as long as a sample of the latency), `trace` (the kept file's name or null), figures of
    one call (`per_call`) and tables of all of them; see trace/digest.py. Why there is none: `missing`.
    """

    benchmark: str
    params: dict[str, str]
    param_index: int | None = None
    variant: str | None = None
    round: int = 1
    session: str | None = None
    order: int | None = None
    commit: str | None = None
    dirty: bool = False
    head: str | None = None
    env: str | None = None
    machine: str | None = None
    started_at: str | None = None
    protocol: int = PROTOCOL
    status: str = OK
    kind: str = "workload"
    metrics: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    boundary: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    times: dict[str, list[float | None]] = field(default_factory=dict)
    batch: dict[str, int] = field(default_factory=dict)
    warm_up: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    correctness: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    work: dict[str, float] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)
    cold: dict[str, Any] = field(default_factory=dict)
    device: dict[str, Any] = field(default_factory=dict)
    host: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    sampled: dict[str, Any] = field(default_factory=dict)
    spans: dict[str, list[float]] = field(default_factory=dict)
    project: dict[str, Any] = field(default_factory=dict)
    profile: dict[str, Any] = field(default_factory=dict)
    software: dict[str, Any] = field(default_factory=dict)
    switches: dict[str, Any] = field(default_factory=dict)
    input: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able mapping; empty optional parts are left out, the fields others rely on never are."""
        out: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name in _OPTIONAL and not value:
                continue
            out[one.name] = _seconds(value) if one.name in ("times", "parts") else finite(value)
        return out

    def to_line(self) -> str:
        """One JSON line, with its newline."""
        return json.dumps(self.to_dict(), separators=(",", ":"), allow_nan=False) + "\n"


_OPTIONAL = frozenset(
    {"work", "parts", "cold", "warm_up", "error", "missing", "dirty", "head"}
    | {"host", "state", "sampled", "spans", "project", "profile"}
)

#: What every evidence line has; a line without one of them is not evidence.
REQUIRED = tuple(one.name for one in fields(Measurement) if one.name not in _OPTIONAL)


def _seconds(value: Any) -> Any:
    """To six digits, a millionth: far below what two calls differ by, and what asv is given too."""
    if isinstance(value, dict):
        return {name: _seconds(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_seconds(one) for one in value]
    return float(f"{value:.6g}") if value is not None and math.isfinite(value) else None


def finite(value: Any) -> Any:
    """The value with floats rounded to storage precision and non-finite ones as None (strict JSON).

    Scalars of numpy and torch become numbers; what JSON does not have becomes text.
    """
    if isinstance(value, float):
        return _short(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return finite(value.item())
    return str(value)


def _short(value: float) -> float:
    # Small relative quantities (errors) keep their significant digits; seconds lose only noise.
    return round(value, _DECIMALS) if abs(value) >= 1e-6 else float(f"{value:.6g}")
