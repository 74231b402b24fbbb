"""Loads the form of the device that SIM_FORM names, for the checks in contract_*.py; also their pytest plugin.

test_device_contract.py runs them in a process of its own for each form, with SIM_DEVICES=2.
The truth is the programmed cost: asserts are one-sided, or on medians.
"""

from __future__ import annotations

import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
form: Any = importlib.import_module({"sim": "sim_backend", "cuda": "fake_cuda"}[os.environ["SIM_FORM"]])
import torch  # noqa: E402  (one form has to come before it)

api, DEVICE = form.api, form.DEVICE
MS = 1_000_000
MIB = 1 << 20
KERNEL = 4  # ms, of every aten::mm here
RATES = ("copy:htod_ns_per_kb", "copy:dtoh_ns_per_kb", "copy:dtod_ns_per_kb")


@pytest.fixture(autouse=True)
def known_costs() -> Iterator[None]:
    torch.set_num_threads(1)
    api.set_device(0)
    # The first call of an op pays for its shapes, in Python.
    multiply()
    wait_for_all()
    form.set_cost("aten::mm", KERNEL * MS)
    yield
    for name in ("aten::mm", "aten::add", "*", *RATES):
        form.set_cost(name, -1)
    form.set_compute(True)
    form.set_capacity(64 << 30)
    wait_for_all()


def wait_for_all() -> None:
    for index in range(api.device_count()):
        api.synchronize(index)


def multiply(device: str = DEVICE) -> torch.Tensor:
    ones = torch.ones(8, 8, device=device)
    return ones @ ones


def milliseconds(work: Callable[[], object], wait: Callable[[], object] = lambda: None) -> float:
    wait_for_all()
    start = time.perf_counter()
    work()
    wait()
    return (time.perf_counter() - start) * 1e3


def median(work: Callable[[], object], wait: Callable[[], object] = lambda: None, of: int = 5) -> float:
    return statistics.median(milliseconds(work, wait) for _ in range(of))


def on_side_stream(calls: int) -> Callable[[], None]:
    stream = api.Stream()

    def work() -> None:
        with api.stream(stream):
            for _ in range(calls):
                multiply()

    return work


def reject(message: str) -> Any:
    return pytest.raises(RuntimeError, match=message)
