"""One small interface over HIP/CUDA devices, other accelerators and the CPU.

`select()` gives the device to measure on. `torch_build()` and `device_kind()` tell what it will be without
importing torch. Names are imported when first used; importing this package does not import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

_WHERE = {
    "Device": "base",
    "DeviceUnavailable": "base",
    "EventTimer": "base",
    "MemoryPeaks": "base",
    "NotMeasured": "base",
    "Usage": "base",
    "TorchBuild": "facts",
    "device_kind": "facts",
    "torch_build": "facts",
    "parse_smi": "cards.smi",
    "select": "selection",
}

__all__ = [
    "Device",
    "DeviceUnavailable",
    "EventTimer",
    "MemoryPeaks",
    "NotMeasured",
    "TorchBuild",
    "Usage",
    "device_kind",
    "parse_smi",
    "select",
    "torch_build",
]

if TYPE_CHECKING:
    from .base import Device, DeviceUnavailable, EventTimer, MemoryPeaks, NotMeasured, Usage
    from .cards.smi import parse_smi
    from .facts import TorchBuild, device_kind, torch_build
    from .selection import select

__getattr__ = lazily(__name__, _WHERE)
