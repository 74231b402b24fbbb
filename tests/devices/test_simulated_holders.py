"""Who is alive at the peak, and growth, on both forms of the simulated device, each in a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.simulated

SCRIPT = Path(__file__).with_name("simulated_holders.py")
CHECKS = re.findall(r"^def (check_\w+)", SCRIPT.read_text(), re.MULTILINE)


@cache
def results(form: str) -> dict[str, str | None]:
    environ = {name: value for name, value in os.environ.items() if name != "DCU_ASV_DEVICE"}
    environ["PYTHONPATH"] = os.pathsep.join([str(SCRIPT.parents[2]), environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(SCRIPT), form], env=environ, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, str | None] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize("form", ["sim", "cuda"])
@pytest.mark.parametrize("check", CHECKS)
def test_holders(form: str, check: str) -> None:
    told = results(form)
    assert check in told, f"the check did not run: {told}"
    assert told[check] is None, told[check]
