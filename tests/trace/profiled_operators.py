"""Run in a process of its own: `profiled_operators.py FORM`, FORM "cpu", "sim" or "cuda".

Profiles a few steps and prints torch's own table and ours as JSON, times in us:
{"by name": {"torch": {key: figures}, "ours": {key: figures}}, "by shape": the same by name and input shapes}.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

FORM = sys.argv[1]
if FORM != "cpu":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "simulated_device"))
    importlib.import_module({"sim": "sim_backend", "cuda": "fake_cuda"}[FORM])

import torch  # noqa: E402  the "cuda" form has to come before it
from torch.profiler import ProfilerActivity, profile, record_function  # noqa: E402

from dcu_asv_ext.trace.analysis import Analysis  # noqa: E402
from dcu_asv_ext.trace.loading import load  # noqa: E402
from dcu_asv_ext.trace.operators import NO_OPERATOR, operators  # noqa: E402

torch.set_num_threads(1)
ACTIVITIES = {"sim": "PrivateUse1", "cuda": "CUDA"}
#: Calls of the runtime are rows of torch's table too.
RUNTIME = ("hip", "cuda", "cu", "sim")


def step(weights: list[Any], x: Any) -> float:
    y = x
    with record_function("forward"):
        for weight in weights:
            y = torch.relu(y @ weight) * 2 + 1
            y = y.to(torch.float64).to(torch.float32)
    loss = (y[: len(y) // 2].sum() + y.mean()).reshape(1, 1).sum()
    loss.backward()
    return float(loss.item()) + float(y.detach().cpu().sum())


def profiled() -> Any:
    weights = [torch.ones(16, 16, device=FORM, requires_grad=True) for _ in range(3)]
    inputs = [torch.ones(rows, 16, device=FORM) for rows in (4, 8, 8, 32)]
    step(weights, inputs[0])
    activities = [ProfilerActivity.CPU]
    if FORM != "cpu":
        activities.append(getattr(ProfilerActivity, ACTIVITIES[FORM]))
    with profile(activities=activities, record_shapes=True, profile_memory=True) as found:
        for x in inputs:
            step(weights, x)
    return found


def is_operator(event: Any) -> bool:
    is_host = event.device_type == torch.autograd.DeviceType.CPU
    return is_host and not event.is_user_annotation and not event.key.startswith((*RUNTIME, "["))


def torchs(found: Any, by_shape: bool) -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    for row in found.events().key_averages(group_by_input_shapes=by_shape):
        if is_operator(row):
            new = hasattr(row, "device_time_total")  # torch before 2.4 has other names
            rows[key_of(row, by_shape)] = {
                "calls": row.count,
                "self_cpu": row.self_cpu_time_total,
                "cpu": row.cpu_time_total,
                "self_device": row.self_device_time_total if new else row.self_cuda_time_total,
                "device": row.device_time_total if new else row.cuda_time_total,
            }
    for key, row in rows.items():
        row |= once(found, key, by_shape)
    return rows


def key_of(event: Any, by_shape: bool) -> str:
    return f"{event.key} {event.input_shapes}" if by_shape else str(event.key)


def once(found: Any, key: str, by_shape: bool) -> dict[str, float]:
    """Totals from torch's own tree, counted once: without those inside another of the key, and without the kernels
    that torch also gives to a call of the runtime that has no operator but the number of one."""
    cpu = device = nested = 0.0
    for event in found.events():
        if is_operator(event) and key_of(event, by_shape) == key:
            around = event.cpu_parent
            while around is not None and key_of(around, by_shape) != key:
                around = around.cpu_parent
            if around is not None:
                nested += 1
                continue
            cpu += event.time_range.elapsed_us()
            device += kernels(event)
    return {"cpu_once": cpu, "device_once": device, "nested": nested}


def kernels(event: Any) -> float:
    own = sum(kernel.duration for kernel in event.kernels) if is_operator(event) else 0.0
    return own + sum(kernels(child) for child in event.cpu_children)


def ours(analysis: Analysis, by_shape: bool) -> dict[str, dict[str, float]]:
    return {
        row.name + (f" {row.shapes[0] if row.shapes else '[]'}" if by_shape else ""): {
            "calls": row.calls,
            "nested": row.calls - row.outermost,
            "self_cpu": row.self_cpu / 1000,
            "cpu": row.cpu / 1000,
            "self_device": row.self_device / 1000,
            "device": row.device / 1000,
        }
        for row in operators(analysis, by_shape)
        if row.name != NO_OPERATOR
    }


def main() -> None:
    found = profiled()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        found.export_chrome_trace(str(path))
        analysis = Analysis(load(path))
    told = {
        name: {"torch": torchs(found, by_shape), "ours": ours(analysis, by_shape)}
        for name, by_shape in (("by name", False), ("by shape", True))
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
