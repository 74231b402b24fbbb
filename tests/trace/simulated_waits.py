"""Run in a process of its own: `simulated_waits.py FORM`, FORM "sim" or "cuda".

Profiles `step` on the simulated device, with stacks, and prints what the trace says about its waits: as torch
writes it, and with the calling lines added. The costs of kernels are programmed.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

FORM = sys.argv[1]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "simulated_device"))
simulated = importlib.import_module({"sim": "sim_backend", "cuda": "fake_cuda"}[FORM])

import numpy as np  # noqa: E402
import torch  # noqa: E402  the "cuda" form has to come before it
from torch.autograd.profiler import record_function  # noqa: E402
from torch.profiler import ProfilerActivity, profile  # noqa: E402

from dcu_asv_ext.measure.frame_lines import CallingLines  # noqa: E402
from dcu_asv_ext.trace.analysis import Analysis  # noqa: E402
from dcu_asv_ext.trace.loading import load  # noqa: E402

ACTIVITY = {"sim": ProfilerActivity.PrivateUse1, "cuda": ProfilerActivity.CUDA}[FORM]
STEPS = 3
torch.set_num_threads(1)
simulated.set_compute(False)
simulated.set_cost("*", 2_000_000)
device = torch.device(FORM)
rows = torch.ones(64, 64, device=device)
host = torch.ones(64, 64)
weight = torch.ones(64, 64, device=device, requires_grad=True)
side = torch.Stream(device=device)


def reads_a_value() -> float:
    return (rows @ rows).sum().item()


def sends_a_batch() -> torch.Tensor:
    return host.to(device)


def submits_ahead() -> None:
    for _ in range(6):
        rows.mul(2)


def submits_late() -> None:
    """The device needs 2 ms for each."""
    for _ in range(7):
        time.sleep(0.006)
        rows.mul(2)


def forward_pass() -> torch.Tensor:
    return torch.mm(rows, weight).sum()


def takes_turns() -> None:
    """Two streams that wait for each other."""
    main = torch.accelerator.current_stream()
    for _ in range(3):
        rows.mul(2)
        side.wait_stream(main)
        with side:
            rows.mul(2)
        main.wait_stream(side)


def step() -> None:
    forward_pass().backward()
    takes_turns()
    reads_a_value()
    sends_a_batch()
    submits_late()
    submits_ahead()


def profiled() -> tuple[Analysis, Analysis]:
    """As torch writes it, and with lines."""
    for _ in range(2):
        step()
    torch.accelerator.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ACTIVITY], with_stack=True) as profiler:
        for number in range(STEPS):
            with record_function(f"ProfilerStep#{number}"):
                step()
                with record_function("dcu_asv_ext.wait"):
                    torch.accelerator.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        plain = load(path)
        assert profiler.profiler is not None
        lines = CallingLines(profiler.profiler.kineto_results)
        written = json.loads(path.read_text())
        for event in written["traceEvents"]:
            lines.tell(event, written)
        path.write_text(json.dumps(written))
        return Analysis(plain), Analysis(load(path))


def facts(analysis: Analysis) -> dict[str, Any]:
    names = np.array(analysis.trace.names)[analysis.trace.operators.name]
    return {
        "idle": sum(one.idle_time for one in analysis.activities),
        "gaps": [asdict(one) for one in analysis.gaps],
        "launches": asdict(analysis.launches),
        "copies": [asdict(one) for one in analysis.copies],
        "syncs": [asdict(one) for one in analysis.syncs],
        "backward": analysis.sources.of_operators(np.flatnonzero(names == "MmBackward0")),
    }


if __name__ == "__main__":
    plain, with_lines = profiled()
    functions = (reads_a_value, sends_a_batch, submits_ahead, submits_late, forward_pass)
    begins = {one.__name__: one.__code__.co_firstlineno for one in functions}
    told = {"steps": STEPS, "begins": begins, **facts(plain), "with_lines": facts(with_lines)}
    print(json.dumps(told))
