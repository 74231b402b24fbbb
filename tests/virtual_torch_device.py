"""The package's device interface on virtual devices, so that passes can be tested exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dcu_asv_ext.devices.base import Device, EventTimer, MemoryPeaks, NotMeasured, Usage
from dcu_asv_ext.devices.cards.source import Reading, Source

from .virtual_device import DeviceFault, VirtualDevice, VirtualStream
from .virtual_memory import OutOfMemory

_MEMORY_FIELDS = {
    "peak_allocated": ("baseline_allocated", "peak_allocated", "after_allocated", "requested_peak"),
    "peak_reserved": ("baseline_reserved", "peak_reserved", "after_reserved", "segments"),
}


class VirtualEventTimer(EventTimer):
    """Pairs on the device's current stream; side streams are forked and joined around each."""

    def __init__(self, device: VirtualDevice, pairs: int, side_streams: Iterable[VirtualStream]) -> None:
        if pairs < 1:
            raise ValueError(f"an event timer needs at least one pair, not {pairs}")
        self._device = device
        self._sides = list(side_streams)
        self._pairs = [
            (device.Event(enable_timing=True), device.Event(enable_timing=True)) for _ in range(pairs)
        ]
        self._used = 0

    def start(self) -> None:
        if self._used >= len(self._pairs):
            raise RuntimeError(f"event timer: start() while all {self._used} pairs are used")
        begin = self._pairs[self._used][0]
        begin.record()
        for side in self._sides:
            side.wait_event(begin)

    def stop(self) -> None:
        for side in self._sides:
            self._device.current_stream().wait_stream(side)
        self._pairs[self._used][1].record()
        self._used += 1

    def wait(self) -> None:
        if self._used:
            self._pairs[self._used - 1][1].synchronize()

    def read(self) -> list[float]:
        return [begin.elapsed_time(end) / 1e3 for begin, end in self._pairs[: self._used]]


class VirtualCard:
    """The card of a virtual device as only this process can look at it. looks: how often it was."""

    name = "mem_get_info"
    interval = 0.01
    arguments: tuple[str, ...] = ()

    def __init__(self, device: VirtualTorchDevice) -> None:
        self._device, self.looks = device, 0

    def read(self) -> Reading:
        self.looks += 1
        used, total = self._device.card_memory()
        return Reading(used_bytes=used, total_bytes=total)


class VirtualTorchDevice(Device):
    """Several virtual devices of one host, of which the first is the selected one.

    outside: bytes in use on the card that no allocator holds, as a library's workspace or another process's memory.
    missing: metric ("device_time", "peak_allocated", "peak_reserved", "peak_card") -> the reason why this
        device does not measure it.
    """

    kind = "virtual"
    name = "virtual:0"
    simulated = True

    def __init__(self, *devices: VirtualDevice, missing: Mapping[str, str] | None = None) -> None:
        self.devices: Sequence[VirtualDevice] = devices or (VirtualDevice(),)
        self.virtual = self.devices[0]
        if any(device.host is not self.virtual.host for device in self.devices):
            raise ValueError("the devices must share one host")
        self.missing = dict(missing or {})
        self.used = {0}
        self.outside = 0
        self.card = VirtualCard(self)
        self.clock = self.virtual.host.perf_counter

    @property
    def torch_device(self) -> Any:
        """Where a benchmark's tensors live: the CPU, since this device holds none."""
        import torch

        return torch.device("cpu")

    @property
    def indices(self) -> tuple[int, ...]:
        return tuple(sorted(self.used))

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.name,
            "simulated": True,
            "product": "virtual device",
            "total_memory": self.virtual.memory.total,
        }

    def synchronize(self) -> None:
        for index in sorted(self.used):
            self.devices[index].synchronize()

    def use(self, indices: Iterable[int]) -> None:
        wanted = set(indices)
        for index in wanted:
            if not 0 <= index < len(self.devices):
                raise ValueError(f"virtual:{index} cannot be synchronised: {len(self.devices)} are visible")
        self.used |= wanted

    @contextmanager
    def observe(self) -> Iterator[Usage]:
        """Filled when the call is over, from what was launched meanwhile."""
        usage = Usage()
        home = self.virtual.current_stream()
        before = [len(device.log) for device in self.devices]
        yield usage
        for index, (device, start) in enumerate(zip(self.devices, before, strict=True)):
            for launch in device.log[start:]:
                if index:
                    usage.devices.add(index)
                if launch.stream is not home and launch.stream not in usage.streams:
                    usage.streams.append(launch.stream)

    def event_timer(self, pairs: int, side_streams: Iterable[Any] = ()) -> EventTimer:
        self._refuse("device_time")
        return VirtualEventTimer(self.virtual, pairs, side_streams)

    def peak_memory(self, call: Callable[[], object]) -> MemoryPeaks:
        self.synchronize()
        read = self.start_peaks()
        call()
        self.synchronize()
        return read()

    def start_peaks(self) -> Callable[[], MemoryPeaks]:
        memory = self.virtual.memory
        peaks = MemoryPeaks(method="virtual allocator")
        peaks.baseline_allocated, peaks.baseline_reserved = memory.allocated, memory.reserved
        retries, ooms, grown = memory.retries, memory.ooms, memory.grown
        memory.reset_peaks()

        def read() -> MemoryPeaks:
            peaks.peak_allocated, peaks.peak_reserved = memory.peak_allocated, memory.peak_reserved
            peaks.after_allocated, peaks.after_reserved = memory.allocated, memory.reserved
            peaks.requested_peak = memory.peak_requested
            peaks.retries, peaks.ooms = memory.retries - retries, memory.ooms - ooms
            peaks.segments = memory.grown - grown
            for metric, fields in _MEMORY_FIELDS.items():
                if metric in self.missing:
                    for name in fields:
                        setattr(peaks, name, None)
                        peaks.missing[name] = self.missing[metric]
            return peaks

        return read

    def card_memory(self) -> tuple[int, int]:
        self._refuse("peak_card")
        return self.virtual.memory.reserved + self.outside, self.virtual.memory.total

    def card_source(self) -> Source:
        self._refuse("peak_card")
        return self.card

    def error_kind(self, error: BaseException) -> str | None:
        if isinstance(error, OutOfMemory):
            return "out of memory"
        return "device error" if isinstance(error, DeviceFault) else None

    def memory_summary(self) -> str:
        memory = self.virtual.memory
        return f"{memory.allocated} bytes allocated, {memory.reserved} reserved of {memory.total}"

    def metric_support(self) -> dict[str, str | None]:
        metrics = ("device_time", "peak_allocated", "peak_reserved", "peak_card")
        return {metric: self.missing.get(metric) for metric in metrics}

    def _refuse(self, metric: str) -> None:
        if metric in self.missing:
            raise NotMeasured(self.missing[metric])
