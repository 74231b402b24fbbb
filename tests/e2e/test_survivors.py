"""Nothing outlives a killed asv: not what a benchmark started, not a whole-process measurement, not a fork server."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.asv_plugin.overlay_project import PACKAGE_PARENT

from .watching import survivors, wait_for
from .workbench import Workbench

STARTS_ANOTHER = """
import subprocess, sys, time
from pathlib import Path
import dcu_asv_ext as dcu

MARK = Path({mark!r})

@dcu.benchmark(rounds=1, repeat=1, metrics=["latency"])
def starter():
    subprocess.Popen(["sleep", "71.25"])
    MARK.write_text("started")
    time.sleep(60)
"""

WHOLE_PROCESS = """
import os, sys, time
from pathlib import Path
import dcu_asv_ext as dcu

MARK = Path({mark!r})

@dcu.benchmark(rounds=1, repeat=1, metrics=["process_wall"])
def whole():
    MARK.write_text("started")
    time.sleep(60)
"""


def sleepers() -> list[str]:
    return [line for line in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
            .stdout.splitlines() if line == "sleep 71.25"]  # fmt: skip


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("suite", "arguments"),
    [
        (STARTS_ANOTHER, ["run", "main^!"]),
        (WHOLE_PROCESS, ["run", "main^!"]),
        (
            STARTS_ANOTHER,
            ["run", "-E", "existing", "--set-commit-hash", "main", "--launch-method", "forkserver"],
        ),
    ],
    ids=["started by the benchmark", "process_wall", "fork server of an existing environment"],
)
def test_nothing_survives_a_kill(tmp_path: Path, suite: str, arguments: list[str]) -> None:
    mark = tmp_path / "mark"
    bench = Workbench(tmp_path / "bench", suite.format(mark=str(mark)))
    bench.project("x = 1\n")
    # asv takes PYTHONPATH away from an existing environment's processes, and gives them this.
    environ = {"ASV_PYTHONPATH": PACKAGE_PARENT} if "existing" in arguments else {}
    run = bench.start(*arguments, **environ)
    try:
        wait_for(mark.exists, run, 120)
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    assert survivors(bench) == []
    end = time.monotonic() + 10
    while sleepers() and time.monotonic() < end:
        time.sleep(0.1)
    assert sleepers() == []
