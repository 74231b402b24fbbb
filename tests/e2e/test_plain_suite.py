"""An existing plain asv suite on a device: one import makes its times honest, and changes nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.batches import BatchIndex, version_of
from dcu_asv_ext.devices import device_kind

from .watching import lines
from .workbench import FAKE_CUDA, Workbench, write

pytestmark = [pytest.mark.e2e, pytest.mark.simulated]

#: Functions and a class, as asv's own documentation has them. The kernel takes 5 ms.
PLAIN = """
import torch

quick = dict(number=1, repeat=3, rounds=1, warmup_time=0)

def launch():
    torch.cuda._sleep(int(5e6))

def start():
    torch.zeros(1, device="cuda")
    launch()
    torch.cuda.synchronize()

def time_kernel():
    launch()

class Kernels:
    params = [2]
    param_names = ["n"]

    def setup(self, n):
        start()

    def time_several(self, n):
        for _ in range(n):
            launch()

    def track_n(self, n):
        return n * 10

time_kernel.setup = start
for one in (time_kernel, Kernels.time_several):
    for name, value in quick.items():
        setattr(one, name, value)
"""
HONEST = "from dcu_asv_ext import synchronized_timer as timer\n"
OURS = """
import torch
import dcu_asv_ext as dcu

def make(device):
    return torch.ones(4, device=device)

@dcu.benchmark(setup=make, metrics=["latency", "device_time"], rounds=2, repeat=2)
def double(x):
    return x * 2
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    made = Workbench(tmp_path_factory.mktemp("plain"), OURS, FAKE_CUDA)
    write(made.suite, {"benchmarks/naive.py": PLAIN, "benchmarks/honest.py": HONEST + PLAIN})
    made.commit({"tinyproj.py": ""})
    made.asv("run")
    return made


@pytest.fixture
def stored(bench: Workbench) -> dict[str, Any]:
    (path,) = bench.folder.glob("*-*.json")
    data = json.loads(path.read_text())
    return {
        name: dict(zip(data["result_columns"], row, strict=False)) for name, row in data["results"].items()
    }


def values(stored: dict[str, Any], name: str) -> list[float]:
    return list(stored[name]["result"])


def test_a_kernel_of_5_ms_reads_5_ms(stored: dict[str, Any]) -> None:
    assert values(stored, "honest.time_kernel")[0] >= 0.005
    assert values(stored, "honest.Kernels.time_several")[0] >= 0.010


def test_without_the_import_only_the_launch_is_timed(stored: dict[str, Any]) -> None:
    """asv's own timer stops when the work is submitted: what the import is for."""
    assert values(stored, "naive.time_kernel")[0] < 0.001
    assert values(stored, "naive.Kernels.time_several")[0] < 0.001


def test_other_types_are_unchanged(stored: dict[str, Any]) -> None:
    assert values(stored, "honest.Kernels.track_n") == values(stored, "naive.Kernels.track_n") == [20]


def test_the_plain_suite_has_asvs_own_form_alone(bench: Workbench, stored: dict[str, Any]) -> None:
    assert {one["benchmark"] for one in lines(bench)} == {"suite.double"}
    assert "samples" not in stored["honest.time_kernel"]
    assert stored["suite.double.latency"]["samples"]


def test_batch_sizes_are_found_again_on_a_device(bench: Workbench) -> None:
    """Its kind shows only in the measuring process, and the second round has to find the first one's choice."""
    first, second = lines(bench)
    assert first["device"]["simulated"]
    told_before = device_kind("cuda")
    version = version_of(first["versions"])
    found = BatchIndex(bench.folder).get("suite.double", {}, told_before, version)
    assert found == first["batch"] and "latency" in found
    # On a busy machine a pass may have no figure in one of the rounds.
    assert {name: second["batch"].get(name, size) for name, size in found.items()} == found


def test_simulated_figures_are_published_only_when_told(bench: Workbench) -> None:
    out = " ".join(bench.asv("publish", code=1).split())
    assert "1 result files hold figures of a simulated device" in out
    assert '"dcu": {"publish_simulated": true}' in out
    assert not (bench.suite / "html" / "index.html").exists()
    bench.configure(plugins=[".dcu_asv_ext.asv_plugin"], dcu={"publish_simulated": True})
    bench.asv("publish")
    assert (bench.suite / "html" / "index.html").exists()
