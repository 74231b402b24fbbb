"""The virtual device with what tests of the passes ask of it: a log, hidden work, faults, an idle twin of the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from dcu_asv_ext.devices.base import EventTimer, MemoryPeaks, NotMeasured, Usage

from ..virtual_device import VirtualDevice, VirtualStream
from ..virtual_torch_device import VirtualEventTimer, VirtualTorchDevice

MS = 1_000_000
LAUNCH = 5_000
"""Host nanoseconds of a launch."""


class FakeDevice(VirtualTorchDevice):
    """home, side, hidden: streams; nobody can observe `hidden`, as one that an extension keeps to itself.

    asynchronous=False: every kernel is done when its launch returns, as on the CPU.
    sync_cost: host nanoseconds of a synchronise.
    log: "sync", "peak", "peak end" and whatever a test adds, in order.
    event_faults: number of a pair, over all that are read -> the value read in its place.
    """

    def __init__(self, asynchronous: bool = True, sync_cost: int = 0, missing: Any = None) -> None:
        super().__init__(VirtualDevice(launch_ns=LAUNCH), missing=missing)
        self.asynchronous = asynchronous
        self.sync_cost = sync_cost
        self.home = self.virtual.current_stream()
        self.side, self.hidden = self.virtual.Stream(), self.virtual.Stream()
        self.log: list[str] = []
        self.event_faults: dict[int, float] = {}
        self.pairs_read = 0
        self.timers: list[FakeTimer] = []
        self.sides_refused: str | None = None
        self.usage: Usage | None = None
        self.used_indices: set[int] = set()

    def kernel(self, nanoseconds: int, stream: VirtualStream | None = None) -> None:
        self.virtual.launch(nanoseconds, stream)
        if not self.asynchronous:
            self.virtual.synchronize()

    def host(self, nanoseconds: int) -> None:
        self.virtual.host.work(nanoseconds)

    def synchronize(self) -> None:
        self.log.append("sync")
        super().synchronize()
        self.host(self.sync_cost)

    def use(self, indices: Iterable[int]) -> None:
        self.used_indices |= set(indices)

    @contextmanager
    def observe(self) -> Iterator[Usage]:
        with super().observe() as self.usage:
            yield self.usage
        self.usage.streams = [one for one in self.usage.streams if one is not self.hidden]
        self.usage = None

    def event_timer(self, pairs: int, side_streams: Iterable[Any] = ()) -> EventTimer:
        self._refuse("device_time")
        sides = list(side_streams)
        if sides and self.sides_refused is not None:
            raise NotMeasured(self.sides_refused)
        timer = FakeTimer(self, pairs, sides)
        self.timers.append(timer)
        return timer

    def peak_memory(self, call: Callable[[], object]) -> MemoryPeaks:
        self.log.append("peak")
        peaks = super().peak_memory(call)
        self.log.append("peak end")
        return peaks


class FakeTimer(VirtualEventTimer):
    """size: the pairs it was made for; waits: how often the host waited for it."""

    def __init__(self, device: FakeDevice, pairs: int, sides: list[VirtualStream]) -> None:
        super().__init__(device.virtual, pairs, sides)
        self.owner, self.size, self.waits = device, pairs, 0

    def wait(self) -> None:
        self.waits += 1
        super().wait()

    def read(self) -> list[float]:
        seconds = super().read()
        first = self.owner.pairs_read
        self.owner.pairs_read += len(seconds)
        return [self.owner.event_faults.get(first + number, value) for number, value in enumerate(seconds)]
