"""Waits in traces of real cards, where such traces lie beside the repository: against the rows of the file itself."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.trace.analysis import Analysis
from dcu_asv_ext.trace.loading import load
from dcu_asv_ext.trace.waits import COPY, HOST_LATE, SCHEDULING

from .real import TRACES

pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason="no traces of real cards here")
BERT = ["hip_mi300_bert_small", "cuda_h100_bert_small"]


def path_of(name: str) -> Path:
    path = TRACES / f"{name}.json.gz"
    if not path.is_file():
        pytest.skip(f"no {path.name} here")
    return path


@cache
def analysis_of(name: str) -> Analysis:
    return Analysis(load(path_of(name)))


def rows_of(name: str, *categories: str) -> list[dict[str, Any]]:
    with gzip.open(path_of(name), "rt", errors="replace") as file:
        events = json.load(file, strict=False)["traceEvents"]
    return [one for one in events if one.get("ph") == "X" and one.get("cat") in categories]


def idle_of(rows: list[dict[str, Any]]) -> float:
    """Microseconds between the first and the last of the rows in which none ran."""
    idle, reach = 0.0, None
    for row in sorted(rows, key=lambda one: float(one["ts"])):
        begin, end = float(row["ts"]), float(row["ts"]) + float(row["dur"])
        idle += 0 if reach is None else max(0.0, begin - reach)
        reach = end if reach is None else max(reach, end)
    return idle


@pytest.mark.parametrize(
    "name", [*BERT, "hip_mi210_gpu_only", "hip_mi250_minitoy_train", "cuda_event_sync_multi_stream"]
)
def test_gaps_and_launches(name: str) -> None:
    analysis = analysis_of(name)
    rows = rows_of(name, "kernel", "gpu_memcpy", "gpu_memset")
    times = analysis.gaps.time_by_cause()
    assert sum(times.values()) == pytest.approx(1000 * idle_of(rows), abs=2 * len(rows))
    launches = analysis.launches
    assert (launches.count, launches.skewed, launches.missing) == (len(rows), False, "")
    assert launches.delay_median is not None and 1_000 < launches.delay_median < 1_000_000


@pytest.mark.parametrize("name", BERT)
def test_a_small_model_is_bound_by_its_launches(name: str) -> None:
    """Batch 1, 56 kernels of some microseconds, and one read of a mask in the middle."""
    analysis = analysis_of(name)
    share = analysis.launches.launch_bound_share
    assert share is not None and share > 0.9
    times = analysis.gaps.time_by_cause()
    assert {cause for cause, time in times.items() if time} == {HOST_LATE, COPY}
    (read,) = [one for one in analysis.syncs if one.operator]
    assert (read.operator, read.count, read.own, read.idle) == ("aten::is_nonzero", 1, False, times[COPY])
    assert read.source == "transformers/modeling_attn_mask_utils.py:429 _prepare_4d_attention_mask_for_sdpa"


@pytest.mark.parametrize(
    ("name", "direction", "asked", "pageable"),
    [(BERT[0], "DtoD", "DtoH", 0), (BERT[1], "DtoH", "", 0), ("hip_mi250_minitoy_train", "HtoD", "", None)],
)
def test_copies(name: str, direction: str, asked: str, pageable: int | None) -> None:
    (copy,) = analysis_of(name).copies
    rows = rows_of(name, "gpu_memcpy")
    assert (copy.direction, copy.api_direction, copy.pageable) == (direction, asked, pageable)
    assert copy.count == copy.blocking == copy.small == len(rows)
    assert copy.nanoseconds == pytest.approx(1000 * sum(float(one["dur"]) for one in rows), abs=len(rows))


def test_a_queue_that_the_host_fills(name: str = "hip_mi210_gpu_only") -> None:
    analysis = analysis_of(name)
    assert analysis.launches.depth_max is not None and analysis.launches.depth_max > 50
    assert analysis.gaps.time_by_cause()[SCHEDULING] > 0
    (wait,) = analysis.syncs
    assert (wait.kind, wait.count, wait.operator) == ("device", 1, "")
