"""Traces of real devices, where they lie beside the repository, against a direct count."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.trace import load, summarize

from .real import TRACES as REAL_FOLDER

TRACES = sorted(REAL_FOLDER.glob("*.json.gz"))

pytestmark = pytest.mark.skipif(not TRACES, reason="no traces of real devices are here")
NS = 1e-9


def rows_of(path: Path) -> list[dict[str, Any]]:
    """With exact times."""
    with gzip.open(path, "rt") as file:
        document = json.load(file, parse_float=Decimal)
    return [row for row in document["traceEvents"] if row.get("ph") == "X"]


def nanoseconds(time: Decimal | int) -> int:
    exact = Decimal(time) * 1000
    assert exact == int(exact)
    return int(exact)


def busy(rows: list[dict[str, Any]]) -> tuple[int, int]:
    """Union and span, in ns."""
    spans = sorted((nanoseconds(row["ts"]), nanoseconds(row["ts"]) + nanoseconds(row["dur"])) for row in rows)
    total, reached = 0, spans[0][0]
    for begin, end in spans:
        if end > reached:
            total += end - max(begin, reached)
            reached = end
    return total, reached - spans[0][0]


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
def test_as_counted_directly(path: Path) -> None:
    rows, totals = rows_of(path), summarize(path)
    kernels = [row for row in rows if row.get("cat") == "kernel"]
    copies = [row for row in rows if row.get("cat") == "gpu_memcpy"]
    fills = [row for row in rows if row.get("cat") == "gpu_memset"]
    assert totals["kernel_count"] == len(kernels)
    assert totals["kernel_time"] == sum(nanoseconds(row["dur"]) for row in kernels) * NS
    by_device: dict[int, list[dict[str, Any]]] = {}
    for row in [*kernels, *copies, *fills]:
        by_device.setdefault(row["args"]["device"], []).append(row)
    each = [busy(mine) for mine in by_device.values()]
    assert totals["busy_time"] == sum(one for one, _ in each) * NS
    assert totals["span"] == sum(one for _, one in each) * NS
    assert totals["idle_share"] == 1 - sum(one for one, _ in each) / sum(one for _, one in each)
    directions = Counter(row["name"].split()[1] for row in copies)
    assert {name: one["count"] for name, one in totals["copies"].items()} == directions
    calls = {row["args"]["correlation"]: row for row in rows if row.get("cat") == "cuda_runtime"}
    for name in directions:
        mine = [row for row in copies if row["name"].split()[1] == name]
        told = [
            row["args"].get("bytes") or int(calls[row["args"]["correlation"]]["args"]["size"]) for row in mine
        ]
        assert totals["copies"][name]["bytes"] == sum(told)
        assert totals["copies"][name]["seconds"] == sum(nanoseconds(row["dur"]) for row in mine) * NS
    waiting = [
        row
        for row in rows
        if row.get("cat") in ("cuda_runtime", "cuda_driver")
        and (
            row["name"].endswith("Synchronize")
            or row["name"] in ("hipMemcpyWithStream", "hipMemcpy", "cudaMemcpy")
        )
    ]
    assert totals["sync_count"] == len(waiting)
    assert (totals["missing"], totals["faults"]) == ({}, [])
    assert totals["flavour"] == path.name.split("_")[0]


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
def test_links_are_those_of_the_file(path: Path) -> None:
    rows, trace = rows_of(path), load(path)
    calls = {
        row["args"]["correlation"]: row
        for row in rows
        if row.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in row["args"]
    }
    operators = {row["args"]["External id"]: row for row in rows if row.get("cat") == "cpu_op"}
    device = {
        (nanoseconds(row["ts"]), row["args"]["correlation"]): row
        for row in rows
        if row.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")
    }
    assert len(device) == len(trace.device)
    for number in range(len(trace.device)):
        row = device[trace.begin + int(trace.device.start[number]), int(trace.device.correlation[number])]
        call = int(trace.device.call[number])
        assert trace.name(int(trace.calls.name[call])) == calls[row["args"]["correlation"]]["name"]
        assert trace.begin + int(trace.calls.start[call]) == nanoseconds(
            calls[row["args"]["correlation"]]["ts"]
        )
        operator = int(trace.device.operator[number])
        if row["args"].get("External id") in operators:
            assert (
                trace.name(int(trace.operators.name[operator]))
                == operators[row["args"]["External id"]]["name"]
            )
        else:
            assert operator == -1
