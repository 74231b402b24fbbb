"""Evidence of memory with exact figures, for the tests of what is shown of it."""

from __future__ import annotations

from typing import Any

from dcu_asv_ext.comparing.memory_model import MemoryOf, memory_of
from tests.comparing.measured import record

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
LINE = "attention.py:12 in scores"

#: A call that adds 64 MiB to 128, under an allocator that the first call made reserve 512.
STEADY: dict[str, Any] = {
    "requested_peak": 191 * MIB,
    "baseline_allocated": 128 * MIB,
    "peak_allocated": 192 * MIB,
    "after_allocated": 128 * MIB,
    "baseline_reserved": 512 * MIB,
    "peak_reserved": 512 * MIB,
    "after_reserved": 512 * MIB,
    "retries": 0,
    "ooms": 0,
    "method": "counters of torch's allocator, cuda:0",
}
FIRST: dict[str, Any] = {
    "requested_peak": 447 * MIB,
    "baseline_allocated": 128 * MIB,
    "peak_allocated": 448 * MIB,
    "after_allocated": 128 * MIB,
    "baseline_reserved": 130 * MIB,
    "peak_reserved": 512 * MIB,
    "after_reserved": 512 * MIB,
    "retries": 0,
    "ooms": 0,
    "rss_before": 560 * MIB,
    "rss_peak": 900 * MIB,
    "rss_after": 880 * MIB,
    "card": {"before": 700 * MIB, "after": 1382 * MIB, "source": "sysfs"},
}
CARD: dict[str, Any] = {
    "before": 1382 * MIB,
    "peak": 1382 * MIB,
    "after": 1382 * MIB,
    "total": 64 * GIB,
    "source": "sysfs",
    "interval": 0.01,
    "readings": 37,
    "method": "a thread looks at it",
    "others": {"count": 0},
    "contended": False,
}
ALIVE: dict[str, Any] = {
    "bytes": 192 * MIB,
    "before_call": 128 * MIB,
    "method": "history",
    "holders": [
        {"bytes": 48 * MIB, "count": 1, "where": LINE, "what": "aten::mm float32[4096, 3072]"},
        {
            "bytes": 15 * MIB,
            "count": 15,
            "where": "attention.py:20 in parts",
            "what": "aten::add float32[512, 512]",
        },
    ],
    "rest": MIB,
}


def leak(slope: float, **changes: Any) -> dict[str, Any]:
    return {
        "calls": 1000,
        "points": 1000,
        "slope": slope,
        "ci_low": 0.98 * slope,
        "ci_high": 1.02 * slope,
        "p_value": 1e-9,
        "peak_slope": slope,
        "reserved_slope": 2.0 * slope,
        "leak": True,
        "grew": [{"bytes": slope, "count": 1, "where": LINE, "what": "aten::empty uint8[1024]"}],
        "method": "slopes",
        **changes,
    }


def quiet(reserved: float) -> dict[str, Any]:
    """Growth of what is reserved alone."""
    return leak(0.0, leak=False, grew=[], reserved_slope=reserved)


def told(number: int = 1, memory: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A record. memory: None: everything of the figures above."""
    everything = STEADY | {
        "first": FIRST,
        "card": CARD,
        "peak_card": CARD["peak"],
        "outside_allocator": 870 * MIB,
    }
    return record(number, memory=everything if memory is None else memory, **changes)


def one(memory: dict[str, Any] | None = None, **changes: Any) -> MemoryOf:
    (found,) = memory_of([told(1, memory, **changes)])
    return found
