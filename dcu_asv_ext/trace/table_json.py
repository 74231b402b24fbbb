"""The operator table and the kernels for machines: seconds and bytes under names that stay."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import asdict
from typing import Any

from .analysis import Analysis
from .kernels import KernelRow
from .operators import NO_OPERATOR, OperatorRow, memory_place
from .patterns import Pattern, patterns
from .questions import questions
from .table_rows import Selection, chosen_kernels, chosen_operators

_NS = 1e-9
OPERATOR_COLUMNS = (
    "name", "calls", "outermost_calls", "kernels",
    "self_device_seconds", "device_seconds", "device_seconds_per_call",
    "self_cpu_seconds", "cpu_seconds", "cpu_seconds_per_call",
    "runtime_seconds", "self_waits_seconds", "waits_seconds",
    "self_bytes", "net_bytes", "peak_bytes", "held_bytes",
    "shapes", "distinct_shapes", "types", "source", "sources", "patterns",
)  # fmt: skip
KERNEL_COLUMNS = (
    "name", "short_name", "shape", "count", "seconds", "seconds_per_call", "longest_seconds", "shortest_seconds",
    "operators", "lanes",
)  # fmt: skip


def table(
    analysis: Analysis,
    by_shape: bool = False,
    overhead: float | None = None,
    selection: Selection | None = None,
) -> dict[str, Any]:
    """`operators` and `kernels` (see `operator_rows`, `kernel_rows`; `left_out`: how many rows of each the selection
    leaves out), `by_shape`, `memory_of` ("device", "host", or "" where no memory was recorded), `overhead` (profiled
    time over time without the profiler, None where unknown), `missing` (columns that the trace cannot tell, None in
    every row, with the reason), and `questions`: what to ask before a kernel is written, for the operators worth one.
    """
    selection = selection or Selection()
    rows, more_operators = chosen_operators(analysis, selection, by_shape)
    kernels, more_kernels = chosen_kernels(analysis, selection)
    missing = untold(analysis)
    asked = questions(analysis)
    return {
        "by_shape": by_shape,
        "memory_of": memory_place(analysis),
        "overhead": overhead,
        "missing": missing,
        "operators": operator_rows(rows, missing, patterns(analysis, rows)),
        "kernels": kernel_rows(kernels, analysis),
        "left_out": {"operators": more_operators, "kernels": more_kernels},
        "questions": [
            {**asdict(one), "answers": [asdict(answer) for answer in one.answers]} for one in asked
        ],
    }


def untold(analysis: Analysis) -> dict[str, str]:
    """Columns that the trace cannot tell -> why."""
    trace = analysis.trace
    found: dict[str, str] = {}
    if not len(trace.device):
        for column in ("kernels", "self_device_seconds", "device_seconds", "device_seconds_per_call"):
            found[column] = "the trace has no rows of a device"
    if not len(trace.calls):
        for column in ("runtime_seconds", "self_waits_seconds", "waits_seconds"):
            found[column] = "the trace has no calls of the device's runtime"
    if not memory_place(analysis):
        for column in ("self_bytes", "net_bytes", "peak_bytes", "held_bytes"):
            found[column] = "the trace has no rows of the device's memory (profile_memory)"
    if not (trace.operators.shapes >= 0).any():
        for column in ("shapes", "distinct_shapes", "types"):
            found[column] = "shapes were not recorded (record_shapes)"
    return found


def operator_rows(
    rows: Sequence[OperatorRow],
    missing: Container[str] = (),
    meanings: Sequence[Sequence[Pattern]] | None = None,
) -> list[dict[str, Any]]:
    """A mapping per row, in their order; None for what a row does not have, and for every `missing` column."""
    found = []
    for row, meaning in zip(rows, meanings or [()] * len(rows), strict=True):
        told = {name: None if name in missing else value for name, value in _operator(row).items()}
        found.append({**told, "patterns": [asdict(one) for one in meaning]})
    return found


def _operator(row: OperatorRow) -> dict[str, Any]:
    called = row.name != NO_OPERATOR
    return {
        "name": row.name,
        "calls": row.calls if called else None,
        "outermost_calls": row.outermost if called else None,
        "kernels": row.kernels,
        "self_device_seconds": _seconds(row.self_device),
        "device_seconds": _seconds(row.device),
        "device_seconds_per_call": _seconds(row.device_per_call),
        "self_cpu_seconds": _seconds(row.self_cpu) if called else None,
        "cpu_seconds": _seconds(row.cpu) if called else None,
        "cpu_seconds_per_call": _seconds(row.cpu_per_call),
        "runtime_seconds": _seconds(row.runtime) if called else None,
        "self_waits_seconds": _seconds(row.self_waits),
        "waits_seconds": _seconds(row.waits),
        "self_bytes": row.self_bytes,
        "net_bytes": row.net_bytes,
        "peak_bytes": row.peak_bytes,
        "held_bytes": row.held_bytes,
        "shapes": list(row.shapes),
        "distinct_shapes": row.distinct_shapes,
        "types": list(row.types),
        "source": row.source,
        "sources": list(row.sources),
    }


def kernel_rows(rows: Sequence[KernelRow], analysis: Analysis) -> list[dict[str, Any]]:
    """A mapping per row, in their order."""
    lanes = analysis.trace.lanes
    return [
        {
            "name": row.name,
            "short_name": row.short,
            "shape": row.shape,
            "count": row.count,
            "seconds": _seconds(row.nanoseconds),
            "seconds_per_call": _seconds(row.nanoseconds / row.count),
            "longest_seconds": _seconds(row.longest),
            "shortest_seconds": _seconds(row.shortest),
            "operators": list(row.operators),
            "lanes": [lanes[lane].label for lane in row.lanes],
        }
        for row in rows
    ]


def _seconds(nanoseconds: float | None) -> float | None:
    """To the tenth of a nanosecond: what division adds beyond is nothing that was measured."""
    return None if nanoseconds is None else round(nanoseconds * _NS, 10)
