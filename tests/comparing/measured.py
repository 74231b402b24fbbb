"""Evidence records and result sets with exact figures, for the tests of what is made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dcu_asv_ext.comparing.model import Key, ResultSet, Round, Series, Side
from dcu_asv_ext.comparing.reading import Entries, Recorded, read_results
from tests.evidence.records import measurement

FAMILY = "gemm.matmul"
PARAMS = ("256", "'float32'")
LATENCY = Key(FAMILY, "latency", PARAMS)
VERSION = "v1"


def record(number: int = 1, latency: Sequence[float | None] = (1.0, 2.0), **changes: Any) -> dict[str, Any]:
    """One round of session "s1"; its process started `number` minutes after ten."""
    metrics = ["latency", "device_time", "cold_start", "peak_allocated", "max_error"]
    made: dict[str, Any] = {
        "round": number,
        "session": "s1",
        "order": number,
        "commit": "a" * 40,
        "env": "env",
        "machine": "host",
        "started_at": f"2026-01-01T10:{number:02d}:00.000+00:00",
        "metrics": metrics,
        "versions": dict.fromkeys(metrics, VERSION),
        "times": {"cold": [0.5], "warm_up": [], "latency": list(latency), "device_time": [1e-3]},
        "batch": {},
        "device": {
            "kind": "dcu",
            "product": "K100_AI",
            "driver": "hycu 6.3.8",
            "runtime": "6.3.1",
            "index": 0,
        },
        "software": {
            "packages": {"python": "3.10.12", "torch": "2.4.1"},
            "environment": {},
            "load_1min": 0.5,
        },
        "switches": {"threads": 8, "quick": False, "cache": {"mode": "session", "was_empty": True}},
    }
    return measurement(**{**made, **changes}).to_dict()


def failed(number: int, status: str = "out of memory: 3 GiB", **changes: Any) -> dict[str, Any]:
    return record(number, times={}, status=status, **changes)


def recorded(
    samples: Sequence[float] = (), value: float | None = None, version: str | None = VERSION
) -> Recorded:
    """asv's entry: its value is the median of the samples."""
    if samples:
        ordered, half = sorted(samples), len(samples) // 2
        value = ordered[half] if len(samples) % 2 else (ordered[half - 1] + ordered[half]) / 2
    return Recorded(value, tuple(samples), version)


def read(
    records: Sequence[dict[str, Any]], entries: Mapping[Key, Recorded] | None = None, **more: Any
) -> ResultSet:
    return read_results("host", "a" * 40, "env", entries=Entries(entries), records=records, **more)


def latency_side(records: Sequence[dict[str, Any]], entry: Recorded | None = None, **more: Any) -> Side:
    return read(records, None if entry is None else {LATENCY: entry}, **more).sides[LATENCY]


def rounds(*levels: float, session: str = "s1", hour: int = 10, every: int = 2) -> tuple[Round, ...]:
    """A round of three samples around each level, measured `every` minutes apart."""
    return tuple(
        Round(
            (level * 0.999, level, level * 1.001),
            number,
            session,
            f"2026-01-01T{hour:02d}:{number * every:02d}:00.000+00:00" if session else "",
        )
        for number, level in enumerate(levels, 1)
    )


def side(*levels: float, **more: Any) -> Side:
    """A good side with one round a level."""
    given = {name: more.pop(name) for name in ("session", "hour", "every") if name in more}
    return Side(rounds(*levels, **given), value=levels[len(levels) // 2] if levels else None, **more)


def results(sides: Mapping[str, Side], commit: str = "a", env: str = "env", **more: Any) -> ResultSet:
    """sides: function -> its latency. commit: one letter, repeated."""
    keys = {name: Key(name, "latency") for name in sides}
    return ResultSet(
        "host",
        commit * 40,
        env,
        sides={key: sides[name] for name, key in keys.items()},
        series={key: Series(f"{name}.latency", unit="seconds") for name, key in keys.items()},
        label=commit,
        **more,
    )


NAN = math.nan
