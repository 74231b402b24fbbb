"""`dcu-asv profile BENCH` and `asv profile` by real asv, on the CPU and on the simulated HIP device."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.exit_codes import BENCHMARK_FAILED, FINE, WRONG_USE
from tests.asv_plugin.overlay_project import PACKAGE_PARENT

from .workbench import FAKE_CUDA, Workbench

SUITE = """
import torch
import dcu_asv_ext as dcu
import tinyproj

def make(device, n):
    return torch.randn(n, device=device)

@dcu.benchmark(setup=make, params={"n": [8, 16]}, rounds=1, repeat=3)
def step(x):
    return tinyproj.work(x)

@dcu.benchmark(setup=lambda device: torch.randn(8, device=device), rounds=1, repeat=3)
def waits(x):
    for _ in range(3):
        tinyproj.read(x)

@dcu.benchmark(rounds=1, repeat=3)
def breaks():
    raise RuntimeError("no such thing")

def time_plain():
    pass
"""

SOURCE = """
def work(x):
    for _ in range({count}):
        x = x * 2.0
    return x

def read(x):
    y = x * 2.0 + 1.0
    found = y.sum().item()
    return found + sum(range(20000))
"""

#: Every kernel takes a millisecond, and computes nothing.
HIP = FAKE_CUDA + "fake_cuda.set_cost('*', 1_000_000)\nfake_cuda.set_compute(False)\n"


class Profiled:
    """bench, with commits "few" and "many" of which the second multiplies more often."""

    def __init__(self, root: Path, device: str) -> None:
        self.device = device
        self.bench = Workbench(root, SUITE, HIP if device == "hip" else "", dcu={"publish_simulated": True})
        self.few, self.many = (self.bench.project(SOURCE.format(count=count)) for count in (2, 5))

    def dcu(self, *arguments: str, code: int = FINE) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.bench.python, "-m", "dcu_asv_ext.cli", "profile", *arguments],
            cwd=self.bench.suite,
            env=self.bench.environ,
            capture_output=True,
            text=True,
            timeout=400,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def json(self, *arguments: str) -> list[dict[str, Any]]:
        return list(json.loads(self.dcu(*arguments, "--json").stdout)["profiles"])


@pytest.fixture(scope="module", params=["cpu", "hip"])
def profiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    return Profiled(tmp_path_factory.mktemp(request.param), request.param)


def only(device: str, profiled: Profiled) -> None:
    """What does not depend on the device is tried on one of them."""
    if profiled.device != device:
        pytest.skip(f"tried on {device}")


def multiplications(found: dict[str, Any]) -> float:
    """Of a step. On the simulated device an operator calls itself once more."""
    rows = {one["name"]: one["outermost_calls"] for one in found["tables"]["operators"]}
    return rows["aten::mul"] / found["steps"]


@pytest.mark.e2e
@pytest.mark.simulated
class TestBenchmark:
    def test_the_working_tree_and_a_commit(self, profiled: Profiled) -> None:
        (tree,) = profiled.json("step(8)")
        assert multiplications(tree) == 5 and "working tree" in tree["code"]
        (old,) = profiled.json("step", "--params", "n=8", "--commit", profiled.few)
        assert multiplications(old) == 2 and old["code"] == profiled.few[:8]
        for found in (tree, old):
            assert found["steps"] >= 3 and found["overhead"] > 0 and found["latency_seconds"] > 0
            assert found["params"] == {"n": "8"}
            assert Path(found["trace"]).is_file()
        if profiled.device == "hip":
            assert (tree["per_call"]["kernel_count"], old["per_call"]["kernel_count"]) == (5, 2)
            assert "simulated" in tree["device"]
        else:
            assert tree["totals"]["kernel_count"] is None
        assert not list((profiled.bench.suite / "results").rglob("*.evidence.jsonl*"))

    def test_changes_that_are_not_committed(self, profiled: Profiled) -> None:
        only("cpu", profiled)
        place = profiled.bench.repo / "tinyproj" / "__init__.py"
        before = place.read_text()
        try:
            place.write_text(SOURCE.format(count=7))
            (found,) = profiled.json("step(8)")
        finally:
            place.write_text(before)
        assert multiplications(found) == 7 and "changed since" in found["code"]

    def test_the_line_that_waits_is_named(self, profiled: Profiled) -> None:
        only("hip", profiled)
        (found,) = profiled.json("waits", "--stacks")
        assert found["per_call"]["sync_count"] == 3
        named = {one["kind"]: one["source"] or "" for one in found["findings"]}
        assert "tinyproj/__init__.py" in named["unexpected synchronisation"]

    def test_the_first_call_and_the_files(self, profiled: Profiled, tmp_path: Path) -> None:
        (tmp_path / "pages").mkdir()
        trace, table = tmp_path / "x.trace.json.gz", tmp_path / "x.csv"
        places = ("--trace", str(trace), "--csv", str(table), "--html", str(tmp_path / "pages"))
        done = profiled.dcu("step(8)", "--first", *places)
        told = " ".join(done.stdout.split())
        assert -1 < told.find("the first call of a process") < told.find("profiled calls")
        assert sorted(one.name for one in tmp_path.iterdir()) == [
            "pages",
            "x.csv",
            "x.first.trace.json.gz",
            "x.trace.json.gz",
        ]
        assert sorted(one.name for one in (tmp_path / "pages").iterdir()) == [
            "x.first.trace.html",
            "x.trace.html",
        ]
        (again,) = profiled.json(str(trace))
        assert multiplications(again) == 5
        assert again["latency_seconds"] > 0, "a kept trace tells what the profiler cost"

    def test_both_sides_of_a_comparison(self, profiled: Profiled) -> None:
        only("hip", profiled)
        done = profiled.dcu("step(8)", "--compare", profiled.few, profiled.many, "--json")
        (change,) = json.loads(done.stdout)["changes"]
        (row,) = [one for one in change["operators"] if one["name"] == "aten::mul"]
        assert row["after"]["count"]["value"] == 2.5 * row["before"]["count"]["value"]

    def test_one_that_raises(self, profiled: Profiled) -> None:
        done = profiled.dcu("breaks", code=BENCHMARK_FAILED)
        assert not done.stdout
        assert done.stderr.splitlines()[-1] == (
            "dcu-asv profile: suite.breaks: failed in the first call: RuntimeError: no such thing"
        )
        assert done.stderr.count("Traceback") == 1

    def test_wrong_use(self, profiled: Profiled) -> None:
        only("cpu", profiled)
        done = profiled.dcu("step", code=WRONG_USE)
        assert "step means several: name one of suite.step(8), suite.step(16)" in done.stderr
        assert "Traceback" not in done.stderr and not done.stdout


@pytest.mark.e2e
@pytest.mark.simulated
class TestOfAsv:
    def test_the_device_comes_after_asvs_own(self, profiled: Profiled) -> None:
        out = profiled.bench.asv("profile", r"suite.step.latency\(8\)", profiled.few)
        assert -1 < out.find("function calls in") < out.find("suite.step(n=8): ")
        assert "x the latency without the profiler" in " ".join(out.split()) and "\naten::mul" in out
        assert ("\nkernel " in out) is (profiled.device == "hip")

    def test_what_is_asvs_own_is_left_alone(self, profiled: Profiled) -> None:
        only("cpu", profiled)
        out = profiled.bench.asv("profile", "suite.time_plain", profiled.few)
        assert "function calls in" in out and "dcu-asv" not in out and "aten::" not in out

    def test_guis_are_asvs(self, profiled: Profiled) -> None:
        only("cpu", profiled)
        assert "Available profiler GUIs" in profiled.bench.asv("profile", "--gui", "list", "suite.step")

    def test_one_that_fails_is_one_sentence(self, profiled: Profiled) -> None:
        only("cpu", profiled)
        out = profiled.bench.asv("profile", "suite.breaks.latency", profiled.few, code=1)
        assert "suite.breaks.latency: failed in the first call: RuntimeError: no such thing" in out
        assert "KeyError" not in out

    def test_one_that_is_not_there(self, profiled: Profiled) -> None:
        only("cpu", profiled)
        out = profiled.bench.asv("profile", "suite.nosuch", profiled.few, code=1)
        assert "benchmark not found" in out and "--force" not in out


@pytest.mark.e2e
def test_an_existing_environment(tmp_path: Path) -> None:
    made = Profiled(tmp_path, "cpu")
    made.bench.configure(plugins=[".dcu_asv_ext.asv_plugin"], environment_type="existing")
    made.bench.environ["ASV_PYTHONPATH"] = os.pathsep.join([PACKAGE_PARENT, str(made.bench.repo)])
    (found,) = made.json("step(8)")
    assert multiplications(found) == 5 and found["code"] == "what is installed beside asv"
    done = made.dcu("step(8)", "--commit", made.few, code=WRONG_USE)
    assert "existing environment holds one install" in done.stderr
    assert "\naten::mul" in made.bench.asv("profile", r"suite.step.latency\(8\)")
