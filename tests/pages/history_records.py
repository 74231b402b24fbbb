"""Evidence records with something in every part that the pages show, made without measuring."""

from __future__ import annotations

import datetime
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcu_asv_ext.evidence.record import Measurement

MIB = 1 << 20
START = datetime.datetime(2026, 1, 5, 9, tzinfo=datetime.timezone.utc)

#: All four clocks, three kinds of memory, growth and correctness.
ALL = (
    *("latency", "device_time", "host_time", "process_wall", "cold_start", "compile_time"),
    *("peak_allocated", "peak_reserved", "peak_card", "memory_growth", "max_error"),
)
PLAIN = ("latency", "device_time", "cold_start", "peak_allocated", "peak_reserved")

K100 = {
    "kind": "hip", "name": "cuda:0", "index": 0, "simulated": False, "product": "K100", "architecture": "gfx928",
    "driver": "6.3.8", "total_memory": 65520 * MIB, "compute_units": 120, "torch": "2.7.1+das.opt1.dtk2504",
    "dtk": "25.04", "runtime": "6.3.25055", "visible": {"HIP_VISIBLE_DEVICES": "0"},
}  # fmt: skip
SOFTWARE = {
    "packages": {"python": "3.11.9", "torch": "2.7.1", "numpy": "1.26.4", "dcu-asv-ext": "0.1.0", "asv": "0.6.6"},
    "environment": {"OMP_NUM_THREADS": "8", "PYTORCH_TUNABLEOP_ENABLED": "0"},
    "load_1min": 0.42,
}  # fmt: skip
SWITCHES = {
    "grad": False, "deterministic": False, "threads": 8, "tf32_matmul": False, "quick": False,
    "cache": {"mode": "session", "was_empty": True, "wrote": ["triton"]},
}  # fmt: skip


@dataclass(frozen=True)
class Level:
    """What one function shows at one commit. latency: seconds; peak: bytes allocated; spread: from round to round."""

    latency: float
    peak: int = 64 * MIB
    spread: float = 0.004
    samples: int = 12
    error: float = 2.5e-4
    metrics: Sequence[str] = PLAIN


@dataclass(frozen=True)
class Told:
    """Whose measurements these are. more: fields of `Measurement` that are not the usual ones."""

    benchmark: str
    commit: str
    env: str
    machine: str
    day: int = 0
    params: Mapping[str, str] = field(default_factory=dict)
    index: int | None = None
    session: str = ""
    version: str = "1"
    more: Mapping[str, Any] = field(default_factory=dict)


def rounds(told: Told, level: Level, count: int = 5, seed: int = 0) -> list[Measurement]:
    """The measurements of one session."""
    draw = random.Random(f"{told.benchmark} {told.params} {told.commit} {told.session} {seed}")
    return [_round(told, level, number, draw) for number in range(1, count + 1)]


def _round(told: Told, level: Level, number: int, draw: random.Random) -> Measurement:
    base = level.latency * draw.lognormvariate(0, level.spread)

    def times(scale: float, count: int) -> list[float | None]:
        return [base * scale * draw.lognormvariate(0, level.spread / 2) for _ in range(count)]

    passes = {
        "cold": times(400, 1),
        "warm_up": [base * (1 + 2 * 0.4**call) for call in range(8)],
        "latency": times(1, level.samples),
        "device_time": times(0.82, level.samples),
        "host_time": times(0.21, 6),
        "process_wall": [3.1 + base * 420],
        "compile": [0.0],
    }
    of_metric = {"cold_start": "cold", "compile_time": "compile"}
    kept = {"warm_up", *(of_metric.get(name, name) for name in level.metrics)}
    whole = "peak_card" in level.metrics
    fields: dict[str, Any] = {
        "round": number, "session": told.session or f"s{told.day}", "order": number,
        "commit": told.commit, "env": told.env, "machine": told.machine,
        "started_at": (START + datetime.timedelta(days=told.day, minutes=number)).isoformat(),
        "metrics": [*level.metrics], "versions": dict.fromkeys(level.metrics, told.version),
        "boundary": {
            "outside": ["setup"], "inputs_on": [str(K100["name"])], "outputs_on": [str(K100["name"])],
            "inside": "everything the function does, transfers and synchronisations included",
        },
        "seed": (1 << 63) + 11 * number,  # more than a double holds
        "times": {name: values for name, values in passes.items() if name in kept},
        "batch": {"latency": 1, "device_time": 4, "host_time": 1},
        "warm_up": {"count": 8, "stable": True, "batch": 1, "batched_from": None, "rule": "medians of windows"},
        "memory": _memory(level, number, whole),
        "correctness": _correctness(level) if "max_error" in level.metrics else {},
        "work": {"flop": 2.0 * 1024**3},
        "parts": {"imports": 2.1, "setup": 0.04, "first_use_rest": 300 * base},
        "cold": {"in_first_call": {"first_use_rest": 0.93}, "wrote": ["triton"], "missing": {}},
        "device": dict(K100), "software": SOFTWARE, "switches": SWITCHES,
        "host": {"cpu": "Hygon C86 7375", "governor": "performance", "smt": True},
        "state": _state(number),
        "sampled": _sampled(number) if whole else {},
        "spans": {"cold": [0.0, 0.5], "warm_up": [0.5, 0.9], "latency": [0.9, 1.6], "device_time": [1.6, 2.2]},
        "input": {"tensors": ["float16[1024, 1024]", "float16[1024, 1024]"], "bytes": 4 * MIB, "sets": 1},
    }  # fmt: skip
    fields.update(told.more)
    return Measurement(told.benchmark, dict(told.params), told.index, **fields)


def _memory(level: Level, number: int, whole: bool) -> dict[str, Any]:
    peak, before = level.peak, level.peak // 4
    found: dict[str, Any] = {
        "baseline_allocated": before, "peak_allocated": peak, "after_allocated": before,
        "baseline_reserved": peak, "peak_reserved": 2 * peak, "after_reserved": 2 * peak,
        "requested_peak": peak - 4096, "retries": 0, "ooms": 0,
        "first": {"baseline_allocated": before, "peak_allocated": peak + 8 * MIB, "after_allocated": 2 * before},
        "method": "torch's allocator, peaks reset before the call",
    }  # fmt: skip
    if not whole:
        return found
    used = 3 * peak + 900 * MIB
    holders = [
        {"bytes": peak // 2, "count": 1, "where": "model.py:41 in forward", "what": "aten::mm"},
        {"bytes": peak // 8, "count": 12, "where": "model.py:57 in forward", "what": "aten::relu"},
    ]
    grew = [{"bytes": 4096, "count": 1, "where": "model.py:60 in remember", "what": "aten::clone"}]
    return found | {
        "peak_card": used, "memory_growth": 4096.0, "outside_allocator": 410 * MIB,
        "card": {
            "before": used - peak, "peak": used, "after": used - peak // 2, "total": 65520 * MIB,
            "source": "sysfs", "interval": 0.01, "readings": 70, "own": used - 100 * MIB,
            "others": {"count": 0}, "contended": False,
        },
        "alive": {
            "bytes": peak, "before_call": before, "rest": peak - before - peak // 2 - peak // 8,
            "holders": holders, "unexplained": 0, "method": "the allocator's own record of the call",
        },
        "growth": {
            "calls": 200, "points": 200, "series": "allocated", "slope": 4096.0, "ci_low": 4000.0, "ci_high": 4190.0,
            "p_value": 1e-9, "peak_slope": 4096.0, "leak": True, "reason": "each call keeps 4.0 KiB",
            "reserved_slope": 0.0, "method": "pairwise slopes", "grew": grew,
        },
        "empty_cache": {"calls": 1, "seconds": 0.0012 + 1e-5 * number},
    }  # fmt: skip


def _correctness(level: Level) -> dict[str, Any]:
    return {
        "correct": True, "max_error": level.error, "mean_error": level.error / 10, "max_absolute": 0.01,
        "outside": 0, "elements": 1 << 20, "non_finite": 0, "rtol": 1e-3, "atol": 1e-5,
        "timed_outputs": [0, 7, 11], "subset": False,
    }  # fmt: skip


def _state(number: int) -> dict[str, Any]:
    at = {"core_clock_mhz": 1500, "temperature_c": 50 + number, "power_w": 210, "used_bytes": 900 * MIB}
    return {
        "before": at,
        "after": {**at, "temperature_c": 58},
        "others": {"count": 0},
        "contended": False,
        "load_1min": 0.4,
    }


def _sampled(number: int) -> dict[str, Any]:
    times = [round(0.2 * place, 2) for place in range(12)]
    inside = {"core_clock_mhz": 1500, "power_w": 250, "temperature_c": 60, "readings": 12}
    return {
        "source": "sysfs", "interval": 0.05, "count": 24, "times": times,
        "core_clock_mhz": [1500 if place > 1 else 900 for place in range(12)],
        "power_w": [120 + min(place, 6) * 22 for place in range(12)],
        "temperature_c": [48 + number + place for place in range(12)],
        "peak_used_bytes": 1100 * MIB,
        "passes": {name: {**inside, "used_bytes": 1100 * MIB} for name in ("cold", "latency", "device_time")},
    }  # fmt: skip
