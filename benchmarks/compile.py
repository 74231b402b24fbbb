"""`torch.compile`: from nothing, from a filled cache on disk, and the compiled code at work."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import dcu_asv_ext as dcu

from .elementwise import exact_gate, gate_bytes, gate_chain, make_gate


def require_compiler(device: torch.device) -> None:
    """Raises NotImplementedError (asv shows n/a) where torch's compiler has no back end."""
    if device.type != "cpu":
        if importlib.util.find_spec("triton") is None:
            raise NotImplementedError("torch.compile needs triton for this device, and it is not installed")
        return
    compiler = os.environ.get("CXX") or "g++"
    if not (shutil.which(compiler) or shutil.which("clang++")):
        raise NotImplementedError(
            f"torch.compile needs a C++ compiler on the CPU, and {compiler} is not here"
        )
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        raise NotImplementedError("torch.compile needs Python.h on the CPU, and it is not installed")


def make_compiled(device: torch.device, cpu: int = 1 << 21, accelerator: int = 1 << 27) -> tuple[Any, ...]:
    """The chain, not yet compiled: the first call does that."""
    require_compiler(device)
    return torch.compile(gate_chain, dynamic=False), *make_gate(device, cpu, accelerator)


def make_cached(device: torch.device, cpu: int = 1 << 14, accelerator: int = 1 << 14) -> tuple[Any, ...]:
    """Small arrays, and a cache on disk that holds the compiled chain."""
    require_compiler(device)
    made = make_gate(device, cpu, accelerator)
    torch.compile(gate_chain, dynamic=False)(*made)
    return made


def exact_compiled(compiled: Callable[..., Any], *arrays: torch.Tensor) -> torch.Tensor:
    return exact_gate(*arrays)


@dcu.benchmark(
    setup=make_compiled,
    cache="fresh",
    reference=exact_compiled,
    kind="micro",
    metrics=[..., "compile_time"],
    work={"bytes": gate_bytes},
    rounds=3,  # a compiler's minute is too dear for five
)
def compiled_chain(compiled: Callable[..., Any], *arrays: torch.Tensor) -> torch.Tensor:
    """The chain of `elementwise`, compiled: `compile_time` from nothing, `latency` of the code made."""
    return compiled(*arrays)


@dcu.benchmark(
    setup=make_cached, metrics=["latency", "max_error"], reference=exact_gate, kind="micro", rounds=3
)
def compile_from_cache(gate: torch.Tensor, value: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
    """Everything that compilation still does when the cache on disk has the code: tracing, keys, loading."""
    torch._dynamo.reset()
    return torch.compile(gate_chain, dynamic=False)(gate, value, residual)
