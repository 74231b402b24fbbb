"""What a result hangs on besides the code: inputs, the boundary of the measurement, and torch's switches."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from ..devices.base import Device
from .arguments import CallArguments
from .checksum import tensors


def describe_inputs(sets: Sequence[CallArguments]) -> dict[str, Any]:
    """Shapes, dtypes and bytes of the first argument set's tensors, and how many sets there are."""
    found = list(tensors([sets[0].args, dict(sets[0].kwargs)]))
    shown = [f"{str(one.dtype).removeprefix('torch.')}{list(one.shape)}" for one in found[:16]]
    if len(found) > len(shown):
        shown.append(f"and {len(found) - len(shown)} more")
    return {
        "tensors": shown,
        "bytes": sum(one.numel() * one.element_size() for one in found),
        "sets": len(sets),
    }


def devices_of(value: Any) -> list[str]:
    return sorted({str(one.device) for one in tensors(value)})


def boundary(sets: Sequence[CallArguments], output: Any, reset: bool) -> dict[str, Any]:
    """What lies outside a sample, and where inputs and outputs live."""
    outside = ["setup", "reset"] if reset else ["setup"]
    return {
        "outside": outside,
        "inside": "everything the function does, transfers and synchronisations included",
        "inputs_on": devices_of([sets[0].args, dict(sets[0].kwargs)]),
        "outputs_on": devices_of(output),
    }


def switches() -> dict[str, Any]:
    """Settings of torch that change speed or results, as they are now."""
    found: dict[str, Any] = {
        "grad": torch.is_grad_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "threads": torch.get_num_threads(),
        "interop_threads": torch.get_num_interop_threads(),
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "gc_in_samples": False,
        "gc_enabled": gc.isenabled(),
    }
    backends = torch.backends
    if hasattr(backends, "cuda") and hasattr(backends.cuda, "matmul"):
        found["tf32_matmul"] = bool(backends.cuda.matmul.allow_tf32)
    if hasattr(backends, "cudnn"):
        found["tf32_cudnn"] = bool(backends.cudnn.allow_tf32)
        found["cudnn_benchmark"] = bool(backends.cudnn.benchmark)
        found["cudnn_deterministic"] = bool(backends.cudnn.deterministic)
    return found


@dataclass
class Emptied:
    """Calls of `empty_cache`, and the seconds that they took, synchronised before and after each."""

    calls: int = 0
    seconds: float = 0.0


@contextmanager
def watch_empty_cache(device: Device) -> Iterator[Emptied]:
    """Count and time calls of `empty_cache` by watched code. For calls that are not timed: the clock waits."""
    found = Emptied()
    modules: tuple[Any, ...] = (torch.cuda, getattr(torch, "accelerator", None))
    places = [one for one in modules if hasattr(one, "empty_cache")]
    originals = [(place, place.empty_cache) for place in places]

    def counted(original: Any) -> Any:
        def empty_cache() -> None:
            device.synchronize()
            begin = device.clock()
            original()
            device.synchronize()
            found.calls += 1
            found.seconds += device.clock() - begin

        return empty_cache

    for place, original in originals:
        place.empty_cache = counted(original)
    try:
        yield found
    finally:
        for place, original in originals:
            place.empty_cache = original


def work_of(given: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, float]:
    """flop and bytes of one call; functions are given the parameters (and the device) that they name."""
    from .arguments import by_name

    return {
        key: float(value(**by_name(value, params)) if callable(value) else value)
        for key, value in given.items()
    }
