"""What HIP/CUDA devices and other accelerators have in common: streams, events and allocator counters of torch."""

from __future__ import annotations

import gc
from abc import abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from . import errors
from .allocator import start_peaks
from .base import MEMORY_FIGURES, Device, EventTimer, MemoryPeaks, NotMeasured, Usage
from .cards.in_process import MemGetInfo
from .cards.source import Source
from .events import StreamEvents, check_events, first_line
from .holders import Holders
from .levels import MemoryLevels, counted_levels
from .output_holders import output_holders
from .streams import observe_streams

_COUNTERS = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")


class TorchDevice(Device):
    """An asynchronous device of torch. Subclasses say which functions of torch speak to it.

    torch: the torch module (a parameter, so that other versions' faces can be tested).
    device_type: torch's name for it ("cuda", "xpu").
    """

    device_type: str

    def __init__(self, torch: Any, device_type: str, index: int) -> None:
        self.torch = torch
        self.device_type = device_type
        self.index = index
        self.name = f"{device_type}:{index}"
        self._device = torch.device(device_type, index)
        self._indices: tuple[int, ...] = (index,)
        self._events_checked: str | None = None
        self._resolve_synchronize()

    # What a subclass fills in.

    @abstractmethod
    def _synchronize_one(self) -> Callable[[int], Any]:
        """The function that waits for everything on one device."""

    @abstractmethod
    def _current_stream(self, index: int) -> Any: ...

    @abstractmethod
    def _make_event(self, index: int, timing: bool) -> Any: ...

    @abstractmethod
    def _counters(self) -> Any:
        """The module whose `memory_allocated(index)` and so on count. Raises NotMeasured."""

    @abstractmethod
    def _device_count(self) -> int: ...

    # The interface.

    @property
    def torch_device(self) -> Any:
        return self._device

    @property
    def indices(self) -> tuple[int, ...]:
        return self._indices

    def _resolve_synchronize(self) -> None:
        # An instance attribute shadows the method: the pass that times a call pays for torch's function alone.
        wait = self._synchronize_one()
        if len(self._indices) == 1:
            self.__dict__["synchronize"] = partial(wait, self.index)
            return
        waits = tuple(partial(wait, index) for index in self._indices)

        def synchronize() -> None:
            for wait_for_one in waits:
                wait_for_one()

        self.__dict__["synchronize"] = synchronize

    def synchronize(self) -> None:
        for index in self._indices:
            self._synchronize_one()(index)

    def use(self, indices: Iterable[int]) -> None:
        wanted = sorted({*self._indices, *indices})
        count = self._device_count()
        for index in wanted:
            if not 0 <= index < count:
                raise ValueError(f"{self.device_type}:{index} cannot be synchronised: {count} are visible")
        self._indices = (self.index, *(index for index in wanted if index != self.index))
        self._resolve_synchronize()

    def observe(self) -> AbstractContextManager[Usage]:
        return observe_streams(self.torch, self.device_type, self.index, self._current_stream)

    def event_timer(self, pairs: int, side_streams: Iterable[Any] = ()) -> EventTimer:
        current = partial(self._current_stream, self.index)
        self._check_events()
        return StreamEvents(pairs, side_streams, current, self._make_event, self.index)

    def _check_events(self) -> None:
        if self._events_checked is None:
            try:
                check_events(
                    partial(self._current_stream, self.index), self._make_event, self.index, self.name
                )
                self._events_checked = ""
            except NotMeasured as missing:
                self._events_checked = missing.reason
        if self._events_checked:
            raise NotMeasured(self._events_checked)

    def peak_memory(self, call: Callable[[], object]) -> MemoryPeaks:
        """See Device. With several devices in use, each number is the sum over them."""
        try:
            counters = self._counters()
        except NotMeasured as missing:
            call()
            self.synchronize()
            return _all_missing(missing.reason)
        gc.collect()
        self.synchronize()
        read = start_peaks(counters, self._indices, self._method())
        call()
        self.synchronize()
        peaks = read()
        if not peaks.peak_allocated and not self._counters_move(counters):
            return _all_missing(f"torch's counters for {self.name} stay at 0 whatever is allocated")
        return peaks

    def start_peaks(self) -> Callable[[], MemoryPeaks]:
        return start_peaks(self._counters(), self._indices, self._method())

    def alive_at_peak(self, call: Callable[[], object]) -> Holders:
        """See Device. Of the selected device alone."""
        return output_holders(call, self.torch, self._device, self._counters(), self.synchronize)

    def memory_levels(self, call: Callable[[], object], calls: int) -> MemoryLevels:
        used, total = self.card_memory()
        most = (total - used) // 4
        return counted_levels(call, calls, most, self.start_peaks, self.synchronize)

    def _method(self) -> str:
        devices = ", ".join(f"{self.device_type}:{index}" for index in self._indices)
        return f"counters of torch's allocator, {devices}" + (" (summed)" if len(self._indices) > 1 else "")

    def _counters_move(self, counters: Any) -> bool:
        before = int(counters.memory_allocated(self.index))
        held = self.torch.empty(4096, dtype=self.torch.uint8, device=self._device)
        moved = int(counters.memory_allocated(self.index)) > before
        del held
        return moved

    def card_memory(self) -> tuple[int, int]:
        free, total = self._free_and_total()
        if total <= 0:
            raise NotMeasured(f"{self.name} reports a total memory of {total} bytes")
        return total - free, total

    def card_source(self) -> Source:
        return MemGetInfo(self._free_and_total)

    @abstractmethod
    def _free_and_total(self) -> tuple[int, int]:
        """Bytes, by torch. Raises NotMeasured."""

    def profiled_as(self) -> str:
        return self.device_type

    def error_kind(self, error: BaseException) -> str | None:
        return errors.error_kind(error, self.torch)

    def metric_support(self) -> dict[str, str | None]:
        memory = _reason(self._counters)
        return {
            "device_time": _reason(self._check_events),
            "peak_allocated": memory,
            "peak_reserved": memory,
            "peak_card": _reason(self.card_memory),
        }


def _all_missing(reason: str) -> MemoryPeaks:
    return MemoryPeaks(missing=dict.fromkeys(MEMORY_FIGURES, reason))


def _reason(measure: Callable[[], object]) -> str | None:
    try:
        measure()
    except NotMeasured as missing:
        return missing.reason
    return None


def counters_of(module: Any, index: int, device: str) -> Any:
    """`module`, once it has shown that its memory functions answer. Raises NotMeasured."""
    missing = [name for name in (*_COUNTERS, "reset_peak_memory_stats") if not hasattr(module, name)]
    if missing:
        raise NotMeasured(f"this torch has no {missing[0]} for {device}")
    try:
        for name in _COUNTERS:
            getattr(module, name)(index)
    except Exception as error:
        raise NotMeasured(f"the allocator of {device} keeps no counters ({first_line(error)})") from error
    return module
