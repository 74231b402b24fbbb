"""Kept profiles with exact figures, as a measurement's record has them. All figures are given of one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .measured import record

STEPS = 10
#: name, shape, launches, seconds of all of them
Kernel = tuple[str, str, float, float]
GEMM: Kernel = ("gemm", "64x1", 2, 3e-3)
RELU: Kernel = ("relu", "32x1", 1, 1e-4)


def profile(
    kernels: Sequence[Kernel] = (GEMM, RELU),
    *,
    operators: Sequence[tuple[str, float, float]] = (("aten::mm", 2, 1e-4),),
    copies: Sequence[tuple[str, float, int | None, float, str]] = (),
    syncs: Sequence[tuple[str, str, float, float, str]] = (),
    gaps: Sequence[tuple[str, float, float, str]] = (),
    idle: float | None = 1e-3,
    other: float = 0.0,
    steps: int = STEPS,
    overhead: float | None = 1.3,
    device: bool = True,
    **more: Any,
) -> dict[str, Any]:
    """operators: name, calls, host seconds. other: busy seconds that no row tells."""
    busy = sum(one[3] for one in kernels) + sum(one[3] for one in copies) + other
    per_call: dict[str, float] = {}
    if device:
        per_call = {"kernel_count": sum(one[2] for one in kernels), "profiled_device_time": busy}
        if idle is not None:
            per_call["idle_share"] = idle / (busy + idle)
    return {
        "steps": steps,
        "seconds": [5e-3] * steps,
        "overhead": overhead,
        "per_call": per_call,
        "kernels": [[name, shape, count * steps, seconds * steps] for name, shape, count, seconds in kernels],
        "operators": [
            [name, calls * steps, 0.0, 0.0, seconds * steps, seconds * steps, 0]
            for name, calls, seconds in operators
        ],
        "copies": [
            [way, count * steps, None if size is None else size * steps, seconds * steps, source]
            for way, count, size, seconds, source in copies
        ],
        "syncs": [
            [kind, name, count * steps, seconds * steps, source]
            for kind, name, count, seconds, source in syncs
        ],
        "gaps": [[cause, count * steps, seconds * steps, source] for cause, count, seconds, source in gaps],
        "missing": {},
        "faults": [],
        **more,
    }


def measured(
    profiles: Sequence[dict[str, Any] | None], latency: float | None = 4e-3, **more: Any
) -> list[dict[str, Any]]:
    """A measurement for each profile, round by round; their latencies lie a thousandth apart."""
    found = []
    for number, one in enumerate(profiles, 1):
        samples = [] if latency is None else [latency * (1 + 1e-3 * (number - 2))] * 5
        made = record(number, samples, **more)
        found.append(made if one is None else {**made, "profile": one})
    return found


def thrice(one: dict[str, Any], latency: float | None = 4e-3, **more: Any) -> list[dict[str, Any]]:
    return measured([one] * 3, latency, **more)
