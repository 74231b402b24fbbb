"""What torch.cuda offers, over torch.accelerator: the Python face that both forms of the device share.

Imported after the library is loaded; knows nothing of where it is put.
"""

from __future__ import annotations

import types
from contextlib import nullcontext
from typing import Any

import torch

ops = torch.ops.simdev
accelerator = torch.accelerator
PRODUCT = "Simulated DCU"
ARCHITECTURE = "gfx936:sramecc+:xnack-"

#: What a test turns and reads; see src/controls.h.
CONTROLS = {
    "set_cost": ops.set_cost,
    "set_compute": ops.set_compute,
    "set_capacity": ops.set_capacity,
    "sleep_ns": ops.sleep,
    "fail": ops.fail,
    "pending": ops.pending,
    "launches": ops.launches,
    "sync_fallbacks": ops.sync_fallbacks,
}


class _Like(type):
    """torch insists on its own exact Stream and Event classes, so these names only make and recognise them."""

    base: type

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.base)


class _StreamContext:
    """Sets a stream and its device current, and puts back those that were."""

    def __init__(self, face: Any, stream: Any) -> None:
        self.face, self.stream = face, stream

    def __enter__(self) -> Any:
        self.device = self.face.current_device()
        self.previous = self.face.current_stream(self.stream.device)
        self.face.set_stream(self.stream)
        return self.stream

    def __exit__(self, *error: object) -> None:
        self.face.set_stream(self.previous)
        self.face.set_device(self.device)


def index_of(device: Any) -> int:
    """The index of a device given as torch.cuda takes it: None, a number, a string or a torch.device."""
    if isinstance(device, int):
        return device
    index = None if device is None else torch.device(device).index
    return current_device() if index is None else index


def device_count() -> int:
    # torch.accelerator.device_count() would ask the backend's own module, which is this one.
    return torch._C._accelerator_hooks_device_count()


def current_device() -> int:
    return torch._C._accelerator_hooks_get_current_device()


def set_device(device: Any) -> None:
    torch._C._accelerator_hooks_set_current_device(index_of(device))


def synchronize(device: Any = None) -> None:
    accelerator.synchronize(index_of(device))


def current_stream(device: Any = None) -> torch.Stream:
    return accelerator.current_stream(index_of(device))


class Device(accelerator.device_index):
    """`with torch.cuda.device(1):`"""

    def __init__(self, device: Any) -> None:
        super().__init__(None if device is None else index_of(device))


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """A short one: the counters by name."""
    stats = accelerator.memory_stats(index_of(device))
    wanted = ("allocated_bytes.all", "reserved_bytes.all", "num_ooms", "num_alloc_retries")
    lines = [f"{name}: {value}" for name, value in stats.items() if name.startswith(wanted)]
    return "\n".join([f"simulated device {index_of(device)}", *lines])


def get_device_properties(device: Any = None) -> types.SimpleNamespace:
    index = index_of(device)
    return types.SimpleNamespace(
        name=PRODUCT,
        gcnArchName=ARCHITECTURE,
        major=9,
        minor=3,
        total_memory=accelerator.get_memory_info(index)[1],
        multi_processor_count=120,
        warp_size=64,
        is_integrated=False,
        uuid=f"sim-{index}",
        L2_cache_size=8 << 20,
    )


def default_generators() -> tuple[torch.Generator, ...]:
    return tuple(ops.default_generator(index) for index in range(device_count()))


def manual_seed(seed: int) -> None:
    ops.default_generator(current_device()).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    for generator in default_generators():
        generator.manual_seed(seed)


def _on_device(function: Any) -> Any:
    """torch.accelerator's function, taking a device in every spelling."""
    return lambda device=None: function(index_of(device))


def dress(module: types.ModuleType, device_type: str) -> None:
    """Gives a module (torch.cuda, or a new torch.sim) the functions of torch.cuda."""

    class Stream(metaclass=_Like):
        base = torch.Stream

        def __new__(cls, device: Any = None, priority: int = 0, **_: Any) -> Any:
            return torch.Stream(device=torch.device(device_type, index_of(device)), priority=priority)

    class Event(metaclass=_Like):
        base = torch.Event

        def __new__(cls, enable_timing: bool = False, **_: Any) -> Any:
            return torch.Event(device_type, enable_timing=enable_timing)

    def default_stream(device: Any = None) -> torch.Stream:
        kind = int(torch.device(device_type).type == "cuda" and torch._C._autograd.DeviceType.CUDA)
        return torch.Stream(0, index_of(device), kind or int(torch._C._autograd.DeviceType.PrivateUse1))

    functions = {
        **CONTROLS,
        "init": lambda: None,
        "_lazy_init": lambda: None,
        "_is_in_bad_fork": ops.forked,
        "is_initialized": lambda: True,
        "is_available": lambda: device_count() > 0,
        "device_count": device_count,
        "current_device": current_device,
        "set_device": set_device,
        "synchronize": synchronize,
        "current_stream": current_stream,
        "default_stream": default_stream,
        "set_stream": accelerator.set_stream,
        "stream": lambda stream: nullcontext() if stream is None else _StreamContext(module, stream),
        "Stream": Stream,
        "Event": Event,
        "device": Device,
        "get_device_properties": get_device_properties,
        "get_device_name": lambda device=None: get_device_properties(device).name,
        "get_device_capability": lambda device=None: (9, 3),
        "manual_seed": manual_seed,
        "manual_seed_all": manual_seed_all,
        "get_rng_state": lambda device=None: ops.default_generator(index_of(device)).get_state(),
        "set_rng_state": lambda state, device=None: ops.default_generator(index_of(device)).set_state(state),
        "default_generators": default_generators(),
        "empty_cache": accelerator.empty_cache,
        "mem_get_info": _on_device(accelerator.get_memory_info),
        "memory_summary": memory_summary,
        "OutOfMemoryError": torch.OutOfMemoryError,
    }
    for name in (
        "memory_allocated",
        "max_memory_allocated",
        "memory_reserved",
        "max_memory_reserved",
        "memory_stats",
        "reset_peak_memory_stats",
        "reset_accumulated_memory_stats",
    ):
        functions[name] = _on_device(getattr(accelerator, name))
    for name, function in functions.items():
        setattr(module, name, function)
