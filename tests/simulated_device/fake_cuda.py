"""Import this before torch: device "cuda", as a HIP build shows it, on a build of torch that has none.

    sys.path.insert(0, ".../tests/simulated_device"); import fake_cuda

Builds the library on first use. `SIM_DEVICES` (1) and `SIM_MEM_MIB` (65536) describe the simulated machine.
torch.version.hip ends in "-sim" and the product's name starts with "Simulated", so that nobody takes its
figures for a card's.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

DEVICE = "cuda"

if "torch" in sys.modules:
    raise ImportError(
        "import fake_cuda before torch: torch decides once, when it is loaded, what its CUDA is"
    )


def _sibling(name: str) -> Any:
    """A module of this folder; by its path, because others may be called `build` too."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"_simulated_device_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _load_before_torch() -> str:
    """The hooks object is made at its first use, during `import torch`: the library has to be there by then."""
    build = _sibling("build")
    library = str(build.build(DEVICE))
    folder = build.torch_folder() / "lib"
    for openmp in folder.glob("libgomp*"):
        ctypes.CDLL(str(openmp), ctypes.RTLD_GLOBAL)
    ctypes.CDLL(str(folder / "libtorch_cpu.so"))
    ctypes.CDLL(library)
    return library


os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
_library = _load_before_torch()

import torch  # noqa: E402

if torch.version.cuda or torch.version.hip:
    raise ImportError(
        f"fake_cuda needs a CPU build of torch, and this one ({torch.__version__}) has a device"
    )
torch.ops.load_library(_library)
atexit.register(torch.ops.simdev.shutdown)  # workers have to be joined before static objects go
_face = _sibling("torch_face")

api = torch.cuda
_face.dress(api, DEVICE)
globals().update(_face.CONTROLS)


def _patch() -> None:
    cuda: Any = torch.cuda
    cuda._is_compiled = lambda: True
    cuda._sleep = lambda cycles: torch.ops.simdev.sleep(int(cycles))  # at 1 GHz
    cuda.get_arch_list = list
    cuda.is_bf16_supported = lambda *args, **kwargs: True
    cuda.is_current_stream_capturing = lambda: False
    for name in vars(cuda.memory):
        if hasattr(cuda, name) and name in cuda.memory.__all__:
            setattr(cuda.memory, name, getattr(cuda, name))
    # torch._dynamo imports it as soon as CUDA counts as compiled in.
    torch._C._cuda_getCurrentRawStream = lambda device=0: 0  # type: ignore[attr-defined]
    torch.version.hip = "6.3.0-sim"  # torch.version.cuda stays None, as on HIP builds
    activities = {torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA}
    for module in (torch.autograd.profiler, torch.profiler.profiler):
        module._supported_activities = lambda: set(activities)
    torch.profiler.supported_activities = lambda: set(activities)


_patch()
