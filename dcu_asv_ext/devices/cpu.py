"""The CPU as a device: synchronous, without events, with tensor memory counted."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from . import errors, facts
from .base import Device, EventTimer, MemoryPeaks, NotMeasured, Usage
from .cards.source import Source
from .cards.sysfs import CpuClock
from .cpu_holders import cpu_holders
from .cpu_levels import cpu_levels
from .cpu_memory import NO_COUNTERS_REASON, RESERVED_REASON, cpu_peak_memory
from .cpu_trace import unsupported_reason
from .holders import Holders
from .host import usable_cores
from .levels import MemoryLevels
from .torch_cuda import torch_facts

_NO_EVENTS = "the CPU has no device events"
_NO_ROWS = "the CPU has no device rows"
_NO_CARD = "the CPU is no card with memory of its own"


@contextmanager
def _nothing_observed() -> Iterator[Usage]:
    yield Usage()


class Cpu(Device):
    """The host processor. Every call returns with its work done, so `synchronize` does nothing."""

    kind = "cpu"
    name = "cpu"
    asynchronous = False

    def __init__(self, torch: Any, root: Path = Path("/")) -> None:
        self.torch = torch
        self._root = root
        self._device = torch.device("cpu")

    @property
    def torch_device(self) -> Any:
        return self._device

    def synchronize(self) -> None:
        return

    def use(self, indices: Iterable[int]) -> None:
        wrong = sorted(set(indices) - {0})
        if wrong:
            raise ValueError(f"the CPU is one device: index {wrong[0]} cannot be used")

    def observe(self) -> AbstractContextManager[Usage]:
        return _nothing_observed()

    def event_timer(self, pairs: int, side_streams: Iterable[Any] = ()) -> EventTimer:
        raise NotMeasured(_NO_EVENTS)

    def peak_memory(self, call: Callable[[], object]) -> MemoryPeaks:
        return cpu_peak_memory(call, self.torch)

    def alive_at_peak(self, call: Callable[[], object]) -> Holders:
        return cpu_holders(call, self.torch)

    def memory_levels(self, call: Callable[[], object], calls: int) -> MemoryLevels:
        return cpu_levels(call, self.torch, calls)

    def start_peaks(self) -> Callable[[], MemoryPeaks]:
        raise NotMeasured(NO_COUNTERS_REASON)

    def card_memory(self) -> tuple[int, int]:
        raise NotMeasured(_NO_CARD)

    def card_source(self) -> Source:
        raise NotMeasured(_NO_CARD)

    def card_arguments(self) -> tuple[str, ...]:
        return CpuClock(self._root).arguments

    def profiled_as(self) -> str:
        raise NotMeasured(_NO_ROWS)

    def error_kind(self, error: BaseException) -> str | None:
        kind = errors.error_kind(error, self.torch)
        return kind if kind == errors.OUT_OF_MEMORY else None

    def metric_support(self) -> dict[str, str | None]:
        return {
            "device_time": _NO_EVENTS,
            "peak_allocated": unsupported_reason(self.torch),
            "peak_reserved": RESERVED_REASON,
            "peak_card": _NO_CARD,
            "profile": _NO_ROWS,
        }

    def describe(self) -> dict[str, Any]:
        told = {
            "kind": self.kind,
            "name": self.name,
            "index": self.index,
            "simulated": self.simulated,
            "product": facts.cpu_model(self._root) or platform.processor() or None,
            "architecture": platform.machine() or None,
            "total_memory": _physical_memory(),
            "cores": usable_cores(),
            "threads": _ask(self.torch, "get_num_threads"),
            "interop_threads": _ask(self.torch, "get_num_interop_threads"),
            **torch_facts(self.torch),
        }
        return {name: value for name, value in told.items() if value is not None}


def _physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def _ask(torch: Any, name: str) -> Any:
    function = getattr(torch, name, None)
    return None if function is None else function()
