"""Import this to have device "sim": torch.sim.* as torch.cuda.*, and torch.accelerator drives it.

    sys.path.insert(0, ".../tests/simulated_device"); import sim_backend

Builds the library on first use. `SIM_DEVICES` (1) and `SIM_MEM_MIB` (65536) describe the simulated machine.
"""

from __future__ import annotations

import atexit
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

import torch

DEVICE = "sim"


def _sibling(name: str) -> Any:
    """A module of this folder; by its path, because others may be called `build` too."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"_simulated_device_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


torch.ops.load_library(str(_sibling("build").build(DEVICE)))
atexit.register(torch.ops.simdev.shutdown)  # workers have to be joined before static objects go
_face = _sibling("torch_face")

api = types.ModuleType("torch.sim")
_face.dress(api, DEVICE)
api.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16, torch.float32]  # type: ignore[attr-defined]
torch.utils.rename_privateuse1_backend(DEVICE)
torch._register_device_module(DEVICE, api)
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
globals().update(_face.CONTROLS)
