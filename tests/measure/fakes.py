"""A device on virtual time: integer nanoseconds, instant and exact, nothing of torch in it but a `torch.device`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from dcu_asv_ext.devices.base import Device, EventTimer, MemoryPeaks, NotMeasured, Usage

MS = 1_000_000
LAUNCH = 5_000
"""Host nanoseconds of a launch."""


class FakeStream:
    def __init__(self) -> None:
        self.ready_at = 0


class FakeDevice(Device):
    """One queue of work per stream; the host waits only where it is told to.

    log: "sync", "wait", "peak" and whatever the test's calls add, in order.
    event_faults: pair number (over all timers) -> value that `read` returns in its place.
    """

    kind = "fake"
    name = "fake:0"

    def __init__(self, asynchronous: bool = True, sync_cost: int = 0) -> None:
        self.asynchronous = asynchronous
        self.now = 0
        self.sync_cost = sync_cost
        self.home = FakeStream()
        self.side = FakeStream()
        self.hidden = FakeStream()
        self.current = self.home
        self.syncs = 0
        self.log: list[str] = []
        self.allocated = self.reserved = self.peak = 0
        self.event_faults: dict[int, float] = {}
        self.pairs_read = 0
        self.timers: list[FakeTimer] = []
        self.events_missing: str | None = None
        self.sides_refused: str | None = None
        self.used: Usage | None = None
        self.used_indices: set[int] = set()
        self.seeds: list[int] = []

    # What the code under test does.

    def kernel(self, nanoseconds: int, stream: FakeStream | None = None) -> None:
        """Submit device work; a synchronous device does it at once. `hidden` is a stream nobody can observe."""
        chosen = stream or self.current
        self.now += LAUNCH
        chosen.ready_at = max(self.now, chosen.ready_at) + nanoseconds
        if not self.asynchronous:
            self.now = chosen.ready_at
        if self.used is not None and chosen is self.side and chosen not in self.used.streams:
            self.used.streams.append(chosen)

    def host(self, nanoseconds: int) -> None:
        self.now += nanoseconds

    def allocate(self, count: int) -> None:
        self.allocated += count
        self.reserved = max(self.reserved, self.allocated)
        self.peak = max(self.peak, self.allocated)

    def free(self, count: int) -> None:
        self.allocated -= count

    # The interface.

    def clock(self) -> float:  # type: ignore[override]
        return self.now / 1e9

    @property
    def torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "simulated": True}

    def streams(self) -> list[FakeStream]:
        return [self.home, self.side, self.hidden]

    def synchronize(self) -> None:
        self.syncs += 1
        self.log.append("sync")
        self.now = max(self.now, *(one.ready_at for one in self.streams())) + self.sync_cost

    def use(self, indices: Iterable[int]) -> None:
        self.used_indices |= set(indices)

    def observe(self) -> AbstractContextManager[Usage]:
        @contextmanager
        def watch() -> Iterator[Usage]:
            self.used = Usage()
            try:
                yield self.used
            finally:
                self.used = None

        return watch()

    def event_timer(self, pairs: int, side_streams: Iterable[Any] = ()) -> EventTimer:
        if self.events_missing is not None:
            raise NotMeasured(self.events_missing)
        sides = list(side_streams)
        if sides and self.sides_refused is not None:
            raise NotMeasured(self.sides_refused)
        timer = FakeTimer(self, pairs, sides)
        self.timers.append(timer)
        return timer

    def peak_memory(self, call: Callable[[], object]) -> MemoryPeaks:
        self.synchronize()
        self.log.append("peak")
        before, reserved = self.allocated, self.reserved
        self.peak = self.allocated
        call()
        self.synchronize()
        self.log.append("peak end")
        return MemoryPeaks(before, self.peak, self.allocated, reserved, self.reserved, "fake counters")

    def card_memory(self) -> tuple[int, int]:
        raise NotMeasured("a fake card has no memory of its own")

    def error_kind(self, error: BaseException) -> str | None:
        return "out of memory" if isinstance(error, MemoryError) else None

    def memory_summary(self) -> str:
        return f"{self.allocated} bytes allocated"

    def seed(self, value: int) -> None:
        self.seeds.append(value)

    def metric_support(self) -> dict[str, str | None]:
        return {
            "device_time": self.events_missing,
            "peak_allocated": None,
            "peak_reserved": None,
            "peak_card": "a fake card has no memory of its own",
        }


class FakeTimer(EventTimer):
    """Event pairs on the device's current stream. `recorded_on` is where events go (None: the current one)."""

    def __init__(self, device: FakeDevice, pairs: int, sides: list[FakeStream]) -> None:
        self.device, self.size, self.sides = device, pairs, sides
        self.pairs: list[list[int]] = []
        self.waits = 0

    def stream(self) -> FakeStream:
        return self.device.current

    def _record(self) -> int:
        stream = self.stream()
        stream.ready_at = max(self.device.now, stream.ready_at)
        return stream.ready_at

    def start(self) -> None:
        if len(self.pairs) >= self.size:
            raise RuntimeError("all pairs are used")
        begin = self._record()
        self.pairs.append([begin])
        for side in self.sides:
            side.ready_at = max(side.ready_at, begin)

    def stop(self) -> None:
        stream = self.stream()
        for side in self.sides:
            stream.ready_at = max(stream.ready_at, side.ready_at)
        self.pairs[-1].append(self._record())

    def wait(self) -> None:
        self.waits += 1
        self.device.log.append("wait")
        self.device.now = max(self.device.now, self.pairs[-1][1])

    def read(self) -> list[float]:
        found = []
        for begin, end in self.pairs:
            if end > self.device.now:
                raise RuntimeError("device not ready")
            found.append(self.device.event_faults.get(self.device.pairs_read, (end - begin) / 1e9))
            self.device.pairs_read += 1
        return found
