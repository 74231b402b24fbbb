"""HIP (DCU, ROCm) and CUDA devices through torch.cuda, from torch 2.1."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import facts
from .base import NotMeasured
from .cards.finding import search_arguments
from .cards.source import Source
from .cards.sysfs import SysfsCard
from .dcu import DCU_MODULES, is_dcu, parse_torch_version
from .events import first_line
from .history import history_holders
from .holders import Holders
from .torch_device import TorchDevice, counters_of

_UNCACHED = ("PYTORCH_NO_CUDA_MEMORY_CACHING", "PYTORCH_NO_HIP_MEMORY_CACHING")


class TorchCuda(TorchDevice):
    """One device of torch.cuda. kind: "dcu", "hip" or "cuda"."""

    def __init__(self, torch: Any, index: int = 0, root: Path = Path("/")) -> None:
        self._root = root
        super().__init__(torch, "cuda", index)
        torch.cuda.set_device(index)
        self._properties = _properties(torch, index)
        self.architecture: str | None = getattr(self._properties, "gcnArchName", None)
        self.address = pci_address(self._properties)
        self.kind = self._find_kind()
        self.simulated = self._is_simulated()

    def _find_kind(self) -> str:
        if not getattr(self.torch.version, "hip", None):
            return "cuda"
        version = str(self.torch.__version__)
        return "dcu" if is_dcu(version, self.architecture, self.address, self._root) else "hip"

    def _is_simulated(self) -> bool:
        hip = str(getattr(self.torch.version, "hip", None) or "")
        return hip.endswith("-sim") or str(getattr(self._properties, "name", "")).startswith("Simulated")

    def _synchronize_one(self) -> Callable[[int], Any]:
        return self.torch.cuda.synchronize  # type: ignore[no-any-return]

    def _current_stream(self, index: int) -> Any:
        return self.torch.cuda.current_stream(index)

    def _make_event(self, index: int, timing: bool) -> Any:
        # torch.cuda.Event belongs to the device of the stream that it is first recorded on.
        return self.torch.cuda.Event(enable_timing=timing)

    def _device_count(self) -> int:
        return int(self.torch.cuda.device_count())

    def _counters(self) -> Any:
        for name in _UNCACHED:
            if os.environ.get(name, "0") not in ("", "0"):
                raise NotMeasured(f"{name} is set, and torch's allocator counts nothing then")
        return counters_of(self.torch.cuda, self.index, self.name)

    def alive_at_peak(self, call: Callable[[], object]) -> Holders:
        """From the allocator's history; from the results of operators where this torch keeps none."""
        try:
            return history_holders(call, self.torch, self.index, self.synchronize)
        except NotMeasured as without:
            try:
                found = super().alive_at_peak(call)
            except NotMeasured as missing:
                raise NotMeasured(f"{without.reason}; and {missing.reason}") from missing
            found.method += f" ({without.reason})"
            return found

    def card_memory(self) -> tuple[int, int]:
        if self.address is not None:
            from_driver = facts.card_memory_from_sysfs(self.address, self._root)
            if from_driver is not None:
                return from_driver
        return super().card_memory()

    def card_source(self) -> Source:
        if self.address is not None and not self.simulated:
            with suppress(NotMeasured):
                card = SysfsCard(self.address, self._root)
                if card.read().used_bytes is not None:
                    return card
        return super().card_source()

    def card_arguments(self) -> tuple[str, ...]:
        # A simulated device's address is made up: what it names on this machine is another card.
        if self.simulated:
            raise NotMeasured("a simulated device has no card")
        if self.address is None:
            raise NotMeasured(f"this torch does not tell the PCI address of {self.name}")
        return search_arguments(self.kind, self.address, self._root)

    def _free_and_total(self) -> tuple[int, int]:
        try:
            free, total = self.torch.cuda.mem_get_info(self.index)
        except Exception as error:
            raise NotMeasured(f"{self.name} does not tell its memory ({first_line(error)})") from error
        return int(free), int(total)

    def memory_summary(self) -> str:
        try:
            return str(self.torch.cuda.memory_summary(self.index, abbreviated=True))
        except Exception:
            # Asked for while an out-of-memory error is being written down: that record must not be lost.
            return ""

    def seed(self, value: int) -> None:
        self.torch.cuda.manual_seed_all(value)

    def describe(self) -> dict[str, Any]:
        properties = self._properties
        version = self.torch.version
        told = {
            "kind": self.kind,
            "name": self.name,
            "index": self.index,
            "simulated": self.simulated,
            "product": getattr(properties, "name", None),
            "architecture": self.architecture or _compute_capability(properties),
            "total_memory": getattr(properties, "total_memory", None),
            "multiprocessors": getattr(properties, "multi_processor_count", None),
            "warp_size": getattr(properties, "warp_size", None),
            "pci_bus_id": self.address,
            "visible_addresses": self._visible_addresses(),
            **self._card_facts(),
            "devices_in_use": list(self._indices),
            "driver": self._driver(),
            "runtime": getattr(version, "hip", None) or getattr(version, "cuda", None),
            **torch_facts(self.torch),
            "toolkits": facts.toolkit_versions(self._root) or None,
            "visible": facts.visible_devices() or None,
        }
        return {name: value for name, value in told.items() if value is not None}

    def _visible_addresses(self) -> list[str | None] | None:
        """The PCI address of each visible device, by its logical index; None where torch tells none of them."""
        found = [pci_address(_properties(self.torch, index)) for index in range(self._device_count())]
        return found if any(found) else None

    def _card_facts(self) -> dict[str, Any]:
        # A simulated device's address is made up, and may be that of something else on this bus.
        if self.address is None or self.simulated:
            return {}
        return facts.card_facts(self.address, self._root)

    def _driver(self) -> str | None:
        if self.simulated:
            return None
        modules = {"dcu": DCU_MODULES, "hip": ("amdgpu",), "cuda": ("nvidia",)}[self.kind]
        loaded = facts.driver_versions(self._root)
        found = [f"{name} {loaded[name]}".strip() for name in modules if name in loaded]
        return found[0] if found else None


def torch_facts(torch: Any) -> dict[str, Any]:
    """torch's version, commit and DTK release; None for what it does not tell."""
    version = str(getattr(torch, "__version__", ""))
    return {
        "torch": version or None,
        "torch_git": getattr(getattr(torch, "version", None), "git_version", None),
        "dtk": parse_torch_version(version).dtk,
    }


def pci_address(properties: Any) -> str | None:
    """ "0000:09:00.0" from torch's device properties, None before torch tells it."""
    parts = [getattr(properties, name, None) for name in ("pci_domain_id", "pci_bus_id", "pci_device_id")]
    domain, bus, device = (part if isinstance(part, int) else None for part in parts)
    if domain is None or bus is None or device is None:
        return None
    return f"{domain:04x}:{bus:02x}:{device:02x}.0"


def _properties(torch: Any, index: int) -> Any:
    try:
        return torch.cuda.get_device_properties(index)
    except Exception:
        # Some driver and torch pairs cannot tell them and still compute; every use treats them as absent.
        return None


def _compute_capability(properties: Any) -> str | None:
    major, minor = getattr(properties, "major", None), getattr(properties, "minor", None)
    return None if major is None or minor is None else f"sm_{major}{minor}"
