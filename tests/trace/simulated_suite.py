"""Run in a process of its own: `simulated_suite.py FORM`, FORM "cuda"; `TRACES` names a folder.

Profiles this repository's own benchmarks on the simulated HIP device, with the shapes that they have on the CPU and
kernels of half a millisecond, so that the host is ahead as it is with the large shapes of an accelerator. Prints
{benchmark: trace file}.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

FORM = sys.argv[1]
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "simulated_device")]
simulated = importlib.import_module({"sim": "sim_backend", "cuda": "fake_cuda"}[FORM])

import torch  # noqa: E402  the "cuda" form has to come before it
from simulated_profile import record  # noqa: E402

from dcu_asv_ext.decorator import spec_of  # noqa: E402
from dcu_asv_ext.devices import Device, select  # noqa: E402
from dcu_asv_ext.measure.arguments import make_arguments  # noqa: E402
from dcu_asv_ext.measure.spec import Spec  # noqa: E402

MODULES = (
    "attention",
    "convnet",
    "convolution",
    "copies",
    "elementwise",
    "gemm",
    "indexing",
    "normalisation",
    "optimiser",
    "overlap",
    "spectral",
    "training",
    "transformer",
    "weather_attention",
)
#: ns of a kernel, and of a kilobyte that is copied between host and device.
COST, COPY_COST = 500_000, 500
#: Sizes that are no arguments of setup.
CONSTANTS = {"COUNT": 1 << 20, "SIDE": 512}
STEPS = 3


def with_small_shapes(module: Any) -> None:
    """The shapes of the accelerator become those of the CPU."""
    for function in vars(module).values():
        named = list(inspect.signature(function).parameters) if inspect.isfunction(function) else []
        if named[-2:] == ["cpu", "accelerator"] and function.__defaults__:
            *rest, cpu, _ = function.__defaults__
            function.__defaults__ = (*rest, cpu, cpu)
    for constant, value in CONSTANTS.items():
        if hasattr(module, constant):
            setattr(module, constant, value)


def profiled(device: Device, spec: Spec, params: dict[str, Any], path: Path) -> None:
    """Raises NotImplementedError where the benchmark is not for this machine."""
    simulated.set_compute(True)
    simulated.set_cost("*", 0)
    arguments = make_arguments(spec, params, device.torch_device)[0]
    device.synchronize()
    simulated.set_compute(False)

    def call(function: Callable[..., Any]) -> Callable[[], Any]:
        return lambda: arguments.call(function)

    call(spec.function)()
    simulated.set_cost("*", COST)
    for rate in ("copy:htod_ns_per_kb", "copy:dtoh_ns_per_kb"):
        simulated.set_cost(rate, COPY_COST)
    reset = None if spec.reset is None else call(spec.reset)
    record(FORM, call(spec.function), path, STEPS, reset)


def main() -> None:
    torch.set_num_threads(1)
    device, folder = select(), Path(os.environ["TRACES"])
    written = {}
    for name in os.environ.get("ONLY", "").split() or MODULES:
        module = importlib.import_module(f"benchmarks.{name}")
        with_small_shapes(module)
        for spec in [spec_of(one) for one in vars(module).values()]:
            if spec is None or not spec.family.endswith(tuple(dir(module))):
                continue
            for number, params in enumerate(spec.combinations()):
                path = folder / f"{spec.family}-{number}.json.gz"
                with suppress(NotImplementedError):
                    profiled(device, spec, params, path)
                    written[path.name.removesuffix(".json.gz")] = str(path)
    print(json.dumps(written))


if __name__ == "__main__":
    main()
