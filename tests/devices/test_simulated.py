"""The contract of a device, on both forms of the simulated one. Each form runs in a process of its own."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.simulated_device.scripts import last_line

pytest.importorskip("torch")
pytestmark = pytest.mark.simulated

SCRIPT = Path(__file__).with_name("simulated_contract.py")
CHECKS = re.findall(r"^def (check_\w+)", SCRIPT.read_text(), re.MULTILINE)


@cache
def results(form: str) -> dict[str, str | None]:
    told: dict[str, str | None] = last_line(SCRIPT, form, SIM_DEVICES="2")
    return told


@pytest.mark.parametrize("form", ["sim", "cuda"])
@pytest.mark.parametrize("check", CHECKS)
def test_contract(form: str, check: str) -> None:
    told = results(form)
    assert check in told, f"the check did not run: {told}"
    assert told[check] is None, told[check]
