"""The device check passes on a sound device, fails on broken timing, and refuses to run without a device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("device_check.py")


def run(*arguments: str, code: str | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    start = ["-c", code] if code is not None else [str(SCRIPT)]
    return subprocess.run(
        [sys.executable, *start, *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


BROKEN = f"""
import sys
sys.path.insert(0, {str(SCRIPT.parent)!r})
import device_check
device_check.use_simulated_device()
device_check.CHECKS = (device_check.check_known_kernel, device_check.check_side_stream)
import torch
from dcu_asv_ext.devices import select
bench = device_check.Bench(select(), torch)
bench.device.use = lambda indices: None
{{break_it}}
failed = [one.name for one in device_check.run_checks(bench) if not one.ok]
print("FAILED:", failed)
"""


ONE_STREAM = "bench.device.synchronize = lambda: torch.cuda.current_stream().synchronize()"
EVENTS_ELSEWHERE = """
other, made = torch.cuda.Stream(), bench.device.event_timer
def elsewhere(pairs, side_streams=()):
    timer = made(pairs, ())
    start, stop = timer.start, timer.stop
    def on_other(record):
        with torch.cuda.stream(other):
            record()
    timer.start, timer.stop = lambda: on_other(start), lambda: on_other(stop)
    return timer
bench.device.event_timer = elsewhere
"""


@pytest.mark.simulated
class TestDeviceCheck:
    def test_passes_on_the_simulated_device_and_keeps_its_figures(self, tmp_path: Path) -> None:
        report = tmp_path / "figures.json"
        done = run("--simulated", "--rounds", "2", "--json", str(report), DCU_ASV_DEVICE="cuda")
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads(report.read_text())
        assert len(found["results"]) >= 12
        assert all(one["ok"] for one in found["results"])
        assert found["device"]["simulated"] is True
        assert len(found["unchanged"]["raw"]) == 2

    @pytest.mark.parametrize(
        ("break_it", "caught"),
        [
            (ONE_STREAM, "5 kernels of 4 ms on a side stream by latency"),
            (EVENTS_ELSEWHERE, "5 ms kernel by device_time"),
        ],
    )
    def test_fails_on_broken_timing(self, break_it: str, caught: str) -> None:
        done = run(code=BROKEN.format(break_it=break_it), DCU_ASV_DEVICE="cuda")
        assert "FAILED:" in done.stdout, done.stderr
        assert caught in done.stdout


def test_needs_a_device() -> None:
    done = run(DCU_ASV_DEVICE="cpu")
    assert done.returncode == 3
    assert "needs a HIP or CUDA device" in done.stderr
