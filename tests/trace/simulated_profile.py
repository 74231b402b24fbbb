"""What the scripts on a simulated device share: profiled steps, as the profile pass makes them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # or it announces itself

import torch  # the device comes before it: import this after the device
from torch.autograd.profiler import record_function
from torch.profiler import ProfilerActivity, profile

ACTIVITY = {"sim": ProfilerActivity.PrivateUse1, "cuda": ProfilerActivity.CUDA}
Call = Callable[[], Any]


def record(form: str, call: Call, path: Path, steps: int, reset: Call | None = None) -> None:
    """The Chrome trace of `steps` calls, each in a span that also holds the wait for its end; with stacks."""
    _steps(call, reset, 1)
    _profiled(form, call, reset, 1)  # the first time a profiler starts costs a second
    _profiled(form, call, reset, steps).export_chrome_trace(str(path))


def _profiled(form: str, call: Call, reset: Call | None, steps: int) -> Any:
    activities = [ProfilerActivity.CPU, ACTIVITY[form]]
    with profile(activities=activities, record_shapes=True, profile_memory=True, with_stack=True) as recorded:
        _steps(call, reset, steps)
    return recorded


def _steps(call: Call, reset: Call | None, count: int) -> None:
    for number in range(count):
        if reset is not None:
            reset()
        torch.accelerator.synchronize()
        with record_function(f"ProfilerStep#{number}"):
            call()
            with record_function("dcu_asv_ext.wait"):
                torch.accelerator.synchronize()
