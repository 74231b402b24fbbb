"""`dcu-asv gate --rerun` on a real small repository: what one round each leaves open, interleaved rounds settle."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .workbench import Workbench

PROJECT = """
import time

def work(x):
    time.sleep({seconds})
    return x * 2.0
"""

SUITE = """
import torch
import dcu_asv_ext as dcu
import tinyproj

OPTIONS = {"setup": lambda device, n: torch.ones(n, device=device), "params": {"n": [8]}, "repeat": 5}

@dcu.benchmark(**OPTIONS, rounds=1, reference=lambda x: x * 2.0, metrics=["latency", "max_error"])
def step(x):
    return tinyproj.work(x)
"""


@pytest.mark.e2e
def test_a_slower_candidate_is_stopped_after_a_rerun(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, SUITE)
    base = bench.project(PROJECT.format(seconds=0.004))
    candidate = bench.project(PROJECT.format(seconds=0.0055))
    bench.asv("run", f"{base}^!")
    bench.asv("run", f"{candidate}^!")
    kept = {path.name: path.read_bytes() for path in bench.folder.iterdir()}

    def gate(*arguments: str) -> tuple[int, str, str]:
        command = [sys.executable, "-m", "dcu_asv_ext.cli", "gate", base, candidate, *arguments]
        done = subprocess.run(
            command, cwd=bench.suite, env=bench.environ, capture_output=True, text=True, timeout=400
        )
        return done.returncode, done.stdout, done.stderr

    code, out, err = gate("--json")
    assert code == 5, out + err
    assert json.loads(out)["gates"]["correctness"]["outcome"] == "passed"
    code, out, err = gate("--json", "--rerun", "--budget", "60s")
    assert code == 1, out + err
    found = json.loads(out)["gates"]["performance"]["findings"]
    assert {(one["finding"], tuple(one["params"])) for one in found} == {("regression", ("8",))}
    for one in found:
        assert one["rounds"][0] == one["rounds"][1] >= 3
        assert 1.1 < one["ratio"] < 1.6
    assert "round 1 of at most" in err and "raw data:" in err
    assert {path.name: path.read_bytes() for path in bench.folder.iterdir()} == kept, "results/ is left alone"
