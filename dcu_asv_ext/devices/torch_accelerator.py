"""Any other device of torch.accelerator (torch >= 2.6; its memory counters from 2.9)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import facts
from .base import NotMeasured
from .events import first_line
from .torch_cuda import torch_facts
from .torch_device import TorchDevice, counters_of


class TorchAccelerator(TorchDevice):
    """One device of torch.accelerator. kind: torch's own word for it ("xpu", "sim")."""

    def __init__(self, torch: Any, device_type: str, index: int = 0, root: Path = Path("/")) -> None:
        self._root = root
        super().__init__(torch, device_type, index)
        self._module: Any = getattr(torch, device_type, None)
        torch.accelerator.set_device_index(index)
        self._properties = self._find_properties()
        self.kind = device_type
        self.simulated = device_type == "sim" or str(self._product()).startswith("Simulated")

    def _find_properties(self) -> Any:
        try:
            return self._module.get_device_properties(self.index)
        except Exception:
            # Few backends have it; every use treats it as absent.
            return None

    def _product(self) -> str | None:
        return getattr(self._properties, "name", None)

    def _synchronize_one(self) -> Callable[[int], Any]:
        return self.torch.accelerator.synchronize  # type: ignore[no-any-return]

    def _current_stream(self, index: int) -> Any:
        return self.torch.accelerator.current_stream(index)

    def _make_event(self, index: int, timing: bool) -> Any:
        return self.torch.Event(f"{self.device_type}:{index}", enable_timing=timing)

    def _device_count(self) -> int:
        return int(self.torch.accelerator.device_count())

    def _counters(self) -> Any:
        # torch.accelerator has them from 2.9; some backends had their own before.
        reasons = []
        for module in (self.torch.accelerator, self._module):
            try:
                return counters_of(module, self.index, self.name)
            except NotMeasured as missing:
                reasons.append(missing.reason)
        raise NotMeasured(reasons[0])

    def _free_and_total(self) -> tuple[int, int]:
        accelerator, own = self.torch.accelerator, self._module
        read = getattr(accelerator, "get_memory_info", None) or getattr(own, "mem_get_info", None)
        if read is None:
            raise NotMeasured(f"this torch does not tell the memory of {self.name}")
        try:
            free, total = read(self.index)
        except Exception as error:
            raise NotMeasured(f"{self.name} does not tell its memory ({first_line(error)})") from error
        return int(free), int(total)

    def memory_summary(self) -> str:
        try:
            stats = self.torch.accelerator.memory_stats(self.index)
        except Exception:
            # Asked for while an out-of-memory error is being written down: that record must not be lost.
            return ""
        return "\n".join(f"{name}: {value}" for name, value in stats.items() if ".all." in name)

    def seed(self, value: int) -> None:
        seed_all = getattr(self._module, "manual_seed_all", None)
        if seed_all is not None:
            seed_all(value)

    def describe(self) -> dict[str, Any]:
        told = {
            "kind": self.kind,
            "name": self.name,
            "index": self.index,
            "simulated": self.simulated,
            "product": self._product(),
            "total_memory": getattr(self._properties, "total_memory", None),
            "driver": getattr(self._properties, "driver_version", None),
            "devices_in_use": list(self._indices),
            "runtime": getattr(self.torch.version, self.device_type, None),
            **torch_facts(self.torch),
            "visible": facts.visible_devices() or None,
        }
        return {name: value for name, value in told.items() if value is not None}
