"""Commits that plant a slowdown, a peak of twice the memory and a wrong result: each is found in its own series,
and nowhere else."""

from __future__ import annotations

import math
import statistics

import pytest

from .workbench import FAKE_CUDA, Workbench

ON_CPU = """
import time
import torch

MEBIBYTES = {mebibytes}
SECONDS = {seconds}
SHIFT = {shift}

def work(x):
    scratch = torch.empty(MEBIBYTES << 20, dtype=torch.uint8, device=x.device)
    scratch[:1] = 1
    time.sleep(SECONDS)
    return x * 2.0 + SHIFT
"""

ON_DEVICE = ON_CPU.replace("time.sleep(SECONDS)", "torch.cuda._sleep(int(SECONDS * 1e9))")

SUITE = """
import torch
import dcu_asv_ext as dcu
import tinyproj

def make(device):
    return torch.randn(1024, device=device)

@dcu.benchmark(setup=make, reference=lambda x: x * 2.0, rounds=2, repeat=7)
def step(x):
    return tinyproj.work(x)
"""

BASE = {"mebibytes": 32, "seconds": 0.006, "shift": 0.0}
PLANTED = {
    "base": BASE,
    "slow": {**BASE, "seconds": 0.009},
    "heavy": {**BASE, "mebibytes": 64},
    "wrong": {**BASE, "shift": 0.25},
    "again": {**BASE},
}


@pytest.fixture(scope="module", params=["cpu", "hip"])
def measured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    device = request.param
    bench = Workbench(
        tmp_path_factory.mktemp(device),
        SUITE,
        FAKE_CUDA if device == "hip" else "",
        dcu={"publish_simulated": True},
    )
    source = ON_DEVICE if device == "hip" else ON_CPU
    # A comment makes "again" another commit than "base" with the same program.
    commits = {
        name: bench.project(f"# {name}\n" + source.format(**values)) for name, values in PLANTED.items()
    }
    first = bench.git("rev-list", "--max-parents=0", "HEAD")
    assert first == commits["base"]
    # Exit code 2: asv says that a benchmark failed, which the wrong commit's times did.
    bench.asv("run", "ALL", code=2)
    return bench, commits, device


def ratio(measured, commit: str, metric: str) -> float:
    bench, commits, _ = measured
    return bench.series(commits[commit], f"step.{metric}") / bench.series(commits["base"], f"step.{metric}")


def time_metrics(device: str) -> list[str]:
    return ["latency", "device_time"] if device == "hip" else ["latency"]


def memory_metrics(device: str) -> list[str]:
    return ["peak_allocated", "peak_reserved"] if device == "hip" else ["peak_allocated"]


@pytest.mark.e2e
@pytest.mark.simulated
class TestPlanted:
    def test_the_slowdown_is_in_the_times_alone(self, measured) -> None:
        _, _, device = measured
        for metric in time_metrics(device):
            assert 1.3 < ratio(measured, "slow", metric) < 1.7, metric
        for metric in memory_metrics(device):
            assert ratio(measured, "slow", metric) == 1.0, metric

    def test_the_peak_is_in_the_memory_alone(self, measured) -> None:
        _, _, device = measured
        for metric in memory_metrics(device):
            assert 1.8 < ratio(measured, "heavy", metric) < 2.2, metric
        for metric in time_metrics(device):
            assert 0.8 < ratio(measured, "heavy", metric) < 1.25, metric

    def test_the_wrong_result_is_in_max_error_and_its_times_are_not_offered(self, measured) -> None:
        bench, commits, device = measured
        wrong = commits["wrong"]
        assert bench.series(wrong, "step.max_error") > 0.01
        for metric in [*time_metrics(device), "cold_start"]:
            assert bench.series(wrong, f"step.{metric}") is None, metric
        for metric in memory_metrics(device):
            assert ratio(measured, "wrong", metric) == 1.0, metric
        for record in bench.evidence(wrong):
            assert record["status"].startswith("wrong result")
            assert record["times"]["latency"], "raw times are kept all the same"

    def test_an_unchanged_program_moves_nowhere(self, measured) -> None:
        bench, commits, device = measured
        for metric in time_metrics(device):
            assert 0.8 < ratio(measured, "again", metric) < 1.25, metric
        for metric in memory_metrics(device):
            assert ratio(measured, "again", metric) == 1.0, metric
        for name in ("base", "slow", "heavy", "again"):
            assert bench.series(commits[name], "step.max_error") == 0.0

    def test_the_device_reads_what_was_programmed(self, measured) -> None:
        bench, commits, device = measured
        samples = [
            value for record in bench.evidence(commits["base"]) for value in record["times"]["latency"]
        ]
        assert min(samples) >= 0.006
        if device == "hip":
            events = [
                value
                for record in bench.evidence(commits["base"])
                for value in record["times"]["device_time"]
            ]
            assert min(events) >= 0.006
            assert statistics.median(events) < 0.0066
            facts = bench.evidence(commits["base"])[0]["device"]
            assert facts["simulated"] is True
            assert facts["kind"] in ("dcu", "hip")

    def test_what_the_cpu_cannot_measure_is_na_with_a_reason(self, measured) -> None:
        bench, commits, device = measured
        if device == "hip":
            assert not bench.evidence(commits["base"])[0].get("missing")
            return
        for metric in ("device_time", "peak_reserved"):
            assert math.isnan(bench.series(commits["base"], f"step.{metric}"))
            assert bench.evidence(commits["base"])[0]["missing"][metric]

    def test_one_process_a_round_answered_every_metric(self, measured) -> None:
        bench, commits, _ = measured
        for commit in commits.values():
            records = bench.evidence(commit)
            assert [record["round"] for record in records] == [1, 2]
            assert len({record["session"] for record in records}) == 1
            assert [record["order"] for record in records] == [1, 2]

    def test_asv_compares_and_publishes_them(self, measured) -> None:
        bench, commits, device = measured
        out = bench.asv("compare", commits["base"], commits["slow"])
        for metric in [*time_metrics(device), *memory_metrics(device), "max_error"]:
            assert f"suite.step.{metric}" in out
        bench.asv("publish")
        graphs = list((bench.suite / "html").rglob("suite.step.latency.json"))
        assert graphs, "the site has a graph of the latency"
