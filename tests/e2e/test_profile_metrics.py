"""The metrics of a profile through real asv: in its result file, in the evidence, and the kept traces beside it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.evidence import traces
from dcu_asv_ext.trace import load

from .workbench import FAKE_CUDA, Workbench

pytestmark = [pytest.mark.e2e, pytest.mark.simulated]

SUITE = """
import torch
import dcu_asv_ext as dcu
import tinyproj

def inputs(device):
    return torch.ones(32, 32, device=device), torch.ones(32, 32)

@dcu.benchmark(setup=inputs, metrics=["latency", "profile"], rounds=2, repeat=2)
def step(x, host):
    return tinyproj.work(x, host)

@dcu.benchmark(setup=inputs, metrics=["latency", "kernel_count"], rounds=1, repeat=2)
def broken(x, host):
    if torch._C._autograd._profiler_enabled():
        raise ValueError("not under a profiler")
    return x + 1
"""
LEAN = "def work(x, host):\n    return (x @ x).relu()\n"
CHATTY = "def work(x, host):\n    return (x @ x + host.to(x.device)).relu().sum().item()\n"
#: Source; kernels, copies to the device, and waits of one call.
VERSIONS = {"lean": (LEAN, (2, 0, 0)), "chatty": (CHATTY, (4, 1, 2))}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    made = Workbench(tmp_path_factory.mktemp("profiles"), SUITE, FAKE_CUDA, dcu={"keep_traces": 1})
    for day, (source, _) in enumerate(VERSIONS.values(), 1):
        made.commit({"tinyproj.py": source})
        made.git("commit", "-q", "--amend", "--no-edit", f"--date=2026-01-0{day}T00:00:00+00:00")
    # The older one first: the traces of what was measured last stay in any case.
    hashes = made.root / "hashes"
    hashes.write_text("\n".join(made.git("rev-list", "--reverse", "HEAD").split()[-len(VERSIONS) :]) + "\n")
    made.asv("run", f"HASHFILE:{hashes}")
    return made


@pytest.fixture(scope="module")
def commits(bench: Workbench) -> dict[str, str]:
    found = bench.git("rev-list", "--reverse", "HEAD").split()
    return dict(zip(VERSIONS, found[-len(VERSIONS) :], strict=True))


def evidence(bench: Workbench, commit: str) -> Path:
    (path,) = bench.folder.glob(f"{commit[:8]}-*.evidence.jsonl")
    return path


def of(bench: Workbench, commit: str, name: str) -> list[dict[str, Any]]:
    return [one for one in bench.evidence(commit) if one["benchmark"] == f"suite.{name}"]


@pytest.mark.parametrize("name", VERSIONS)
def test_what_asv_stores_are_the_exact_counts_of_a_call(
    bench: Workbench, commits: dict[str, str], name: str
) -> None:
    kernels, copies, waits = VERSIONS[name][1]
    stored = {
        metric: bench.series(commits[name], f"step.{metric}")
        for metric in ("kernel_count", "copy_count_htod", "copy_bytes_htod", "sync_count", "copy_count_dtod")
    }
    assert stored == {
        "kernel_count": kernels,
        "copy_count_htod": copies,
        "copy_bytes_htod": copies * 32 * 32 * 4,
        "sync_count": waits,
        "copy_count_dtod": 0,
    }
    assert 0 <= bench.series(commits[name], "step.idle_share") < 1
    assert bench.series(commits[name], "step.profiled_device_time") > 0


def test_asv_knows_the_units(bench: Workbench) -> None:
    known = json.loads((bench.folder.parent / "benchmarks.json").read_text())
    units = {name: (known[f"suite.step.{name}"]["type"], known[f"suite.step.{name}"]["unit"]) for name in (
        "kernel_count", "copy_bytes_htod", "idle_share", "profiled_device_time")}  # fmt: skip
    assert units == {
        "kernel_count": ("track", "count"),
        "copy_bytes_htod": ("peakmemory", "bytes"),
        "idle_share": ("track", "share"),
        "profiled_device_time": ("time", "seconds"),
    }


def test_every_round_has_its_profile(bench: Workbench, commits: dict[str, str]) -> None:
    records = of(bench, commits["chatty"], "step")
    assert [one["round"] for one in records] == [1, 2]
    assert {one["profile"]["per_call"]["kernel_count"] for one in records} == {4}
    assert {one["status"] for one in records} == {"ok"}


def test_a_benchmark_that_raises_under_the_profiler_keeps_its_latency(
    bench: Workbench, commits: dict[str, str]
) -> None:
    commit = commits["chatty"]
    assert bench.series(commit, "broken.latency") > 0
    assert math.isnan(bench.series(commit, "broken.kernel_count"))
    (record,) = of(bench, commit, "broken")
    assert (
        record["status"] == "ok" and "ValueError: not under a profiler" in record["missing"]["kernel_count"]
    )


def test_the_newest_commit_s_trace_is_kept_and_tells_the_same(
    bench: Workbench, commits: dict[str, str]
) -> None:
    place = evidence(bench, commits["chatty"])
    assert [one.benchmark for one in traces.kept(place)] == ["suite.step"]
    trace = load(traces.trace_path(place, "suite.step", None))
    assert len(trace.device) == 5 * len(trace.steps) and trace.flavour == "hip" and not trace.faults
    older = evidence(bench, commits["lean"])
    assert traces.kept(older) == [] and of(bench, commits["lean"], "step")[-1]["profile"]["trace"]


def test_asv_s_own_commands_do_not_trip_over_the_traces(bench: Workbench, commits: dict[str, str]) -> None:
    bench.configure(plugins=[".dcu_asv_ext.asv_plugin"], dcu={"publish_simulated": True, "keep_traces": 1})
    bench.asv("show", commits["chatty"])
    bench.asv("publish")
    bench.asv("rm", "-y", f"commit_hash={commits['chatty']}", "benchmark=suite.step.*")
    assert not list(bench.folder.glob("*.traces"))
