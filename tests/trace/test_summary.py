"""The totals of every flavour, with every fault, against what really happened in the simulated run."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.trace import summarize

from .building import Building
from .synthetic import FLAVOURS, QUIRKS, Run
from .writing import write

NS = 1e-9
#: Faults that take something away; with the others everything is still in the file.
LOSING = ("drop_runtime", "nameless")
PAIRS = [*itertools.combinations(QUIRKS, 2)]


def told(run: Run, folder: Path) -> dict[str, Any]:
    return summarize(write(folder / "trace.json", json.dumps(run.document())))


def check(run: Run, totals: dict[str, Any]) -> None:
    """Each figure is exact, or `missing` says that it is not known."""
    truth, missing = run.truth, totals["missing"]
    assert totals["kernel_count"] == truth.kernels
    assert totals["kernel_time"] == truth.kernel_time * NS
    assert (totals["busy_time"], totals["span"]) == (truth.busy * NS, truth.span * NS)
    assert totals["idle_share"] == 1 - truth.busy / truth.span
    if "sync_count" not in missing:
        assert totals["sync_count"] == truth.syncs == sum(totals["syncs"].values())
    copies = totals["copies"]
    if "copies.unknown" not in missing:
        assert "unknown" not in copies
        assert {name: one["count"] for name, one in copies.items()} == {
            name: count for name, (count, _, _) in truth.copies.items()
        }
    for name, one in copies.items():
        if name != "unknown" and "copies.unknown" not in missing:
            assert one["seconds"] == truth.copies[name][2] * NS
            if one["bytes"] is None:
                assert f"copies.{name}.bytes" in missing
            else:
                assert one["bytes"] == truth.copies[name][1]
    if all(one["bytes"] is not None for one in copies.values()):
        assert sum(one["bytes"] for one in copies.values()) == sum(
            size for _, size, _ in truth.copies.values()
        )


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("quirks", [(), *((one,) for one in QUIRKS), *PAIRS, QUIRKS], ids="+".join)
def test_exact_or_told_as_not_known(flavour: str, quirks: tuple[str, ...], tmp_path: Path) -> None:
    for seed in range(3):
        run = Run(flavour, quirks, seed=seed)
        totals = told(run, tmp_path)
        check(run, totals)
        if not set(quirks) & set(LOSING):
            assert totals["missing"] == {}
            assert totals["faults"] == []


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_lost_calls_are_told(flavour: str, tmp_path: Path) -> None:
    run = Run(flavour, ("drop_runtime",), seed=1)
    lost = sum(one.lost for one in run.work)
    totals = told(run, tmp_path)
    assert lost and totals["unlaunched"] == lost
    assert totals["faults"] == [
        f"{lost} of {len(run.work)} device rows were launched by calls that are not in the trace: events were"
        " lost, or were before it"
    ]
    assert totals["missing"]["sync_count"] == f"at least so many: {lost} or more calls were lost"


def test_bytes_that_only_the_lost_call_told(tmp_path: Path) -> None:
    run = Run("roctracer", ("drop_runtime",), steps=8, seed=3)
    lost = [one for one in run.work if one.lost and one.what == "HtoD"]
    assert 0 < len(lost) < 8
    totals = told(run, tmp_path)
    assert totals["copies"]["HtoD"]["bytes"] is None
    reason = f"the trace does not tell the bytes of {len(lost)} of 8 copies"
    assert totals["missing"]["copies.HtoD.bytes"] == reason


@pytest.mark.parametrize("flavour", ["rocprofiler", "roctracer"])
def test_copies_that_are_written_as_kernels(flavour: str, tmp_path: Path) -> None:
    run = Run(flavour, ("kernel_copies",))
    totals = told(run, tmp_path)
    took = sum(one.end - one.begin for one in run.work if one.what == "DtoD")
    assert "DtoD" not in totals["copies"]
    assert totals["copies_as_kernels"] == {"DtoD": {"count": 3, "bytes": 3 * 4096, "seconds": took * NS}}
    assert totals["kernel_count"] == 3 * (run.kernels + 1 + 1)


def test_a_direction_that_nothing_tells(tmp_path: Path) -> None:
    totals = told(Run("cuda", ("nameless",)), tmp_path)
    assert totals["copies"]["unknown"]["count"] == 9
    assert totals["missing"] == {"copies.unknown": "the trace does not tell the direction of 9 copies"}


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("hipDeviceSynchronize", "device"),
        ("cuCtxSynchronize", "device"),
        ("hipStreamSynchronize_spt", "stream"),
        ("cudaEventSynchronize", "event"),
        ("hipMemcpyWithStream", "copy"),
        ("cudaMemcpy", "copy"),
        ("hipMemcpyAsync", None),
        ("hipStreamWaitEvent", None),
        ("hipEventQuery", None),
        ("hipMalloc", None),
    ],
)
def test_what_waits_for_the_device(call: str, kind: str | None, tmp_path: Path) -> None:
    trace = Building()
    trace.call(call, 10, 20)
    totals = trace.analysis(tmp_path).totals
    assert totals["syncs"] == ({} if kind is None else {kind: 1})
    assert totals["sync_count"] == (kind is not None)


def test_rows_that_are_there_twice(tmp_path: Path) -> None:
    trace = Building()
    trace.launch(10, 20, 30)
    trace.launch(12, 20, 30, stream=1)  # at the same time on another stream: no double
    assert trace.analysis(tmp_path).totals["faults"] == []
    trace.events.append(trace.events[-1])
    totals = trace.analysis(tmp_path).totals
    assert totals["kernel_count"] == 3
    assert "device rows are in the trace more than once, 1 too many: each is counted" in totals["faults"]


def test_rows_that_only_seem_to_be_there_twice(tmp_path: Path) -> None:
    trace = Building()
    trace.launch(10, 20, 30)
    trace.launch(12, 20, 30)  # of another launch
    trace.launch(14, 20, 31)
    assert trace.analysis(tmp_path).totals["faults"] == []


def test_lost_calls_are_not_those_that_nobody_can_tell_apart(tmp_path: Path) -> None:
    trace = Building()
    for number in range(2):
        trace.call("hipLaunchKernel", 10 + number, 10.5 + number, thread=number, correlation=5)
        trace.kernel(20 + number, 20.5 + number, correlation=5)
    assert trace.analysis(tmp_path).totals["missing"] == {}
    trace.kernel(30, 40, correlation=5)
    missing = trace.analysis(tmp_path).totals["missing"]
    assert missing == {"sync_count": "at least so many: 1 or more calls were lost"}


def test_launches_whose_rows_were_lost(tmp_path: Path) -> None:
    trace = Building()
    trace.launch(10, 20, 30)
    trace.call("hipLaunchKernel", 40, 45, correlation=77)
    (fault,) = trace.analysis(tmp_path).totals["faults"]
    assert fault.startswith("1 of 2 launches have no device row")


def test_overlap_is_that_of_streams(tmp_path: Path) -> None:
    trace = Building()
    trace.kernel(10, 30, stream=1)
    trace.kernel(20, 40, stream=1)  # rows of one stream that overlap: no overlap of streams
    assert trace.analysis(tmp_path).totals["overlap_share"] == 0
    trace.kernel(25, 35, stream=2)
    totals = trace.analysis(tmp_path).totals
    assert totals["overlap_share"] == 10 / 30
    assert (totals["busy_time"], totals["kernel_time"]) == (30e3 * NS, 50e3 * NS)


def test_devices_are_summed(tmp_path: Path) -> None:
    trace = Building()
    trace.kernel(10, 20, device=0)
    trace.kernel(30, 40, device=0)
    trace.kernel(15, 25, device=1)
    totals = trace.analysis(tmp_path).totals
    assert (totals["devices"], totals["streams"]) == ([0, 1], 2)
    assert (totals["busy_time"], totals["span"]) == (30e3 * NS, 40e3 * NS)
    assert totals["idle_share"] == 0.25


def test_the_rank_of_a_distributed_run(tmp_path: Path) -> None:
    trace = Building(distributedInfo={"backend": "nccl", "rank": 3, "world_size": 8})
    analysis = trace.analysis(tmp_path)
    assert (analysis.totals["rank"], analysis.trace.rank, analysis.trace.world_size) == (3, 3, 8)
    for odd in (None, [], {"rank": "x"}):
        assert Building(distributedInfo=odd).analysis(tmp_path).trace.rank is None
