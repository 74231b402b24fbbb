"""An asynchronous device in virtual time: exact, deterministic, without threads, shaped like torch.cuda.

A "call" of a test is a function that calls `launch(ns)`. Times are whole nanoseconds of a virtual host clock,
which moves only when the host launches, waits or works; so what a timer has to read is known exactly.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .virtual_memory import Block, CachingAllocator


class DeviceFault(RuntimeError):
    """A kernel failed; raised by the synchronise that waits for it."""


class VirtualHost:
    """The host's clock, shared by the devices of one machine. now: nanoseconds."""

    def __init__(self) -> None:
        self.now = 0

    def perf_counter(self) -> float:
        return self.now / 1e9

    def perf_counter_ns(self) -> int:
        return self.now

    def work(self, ns: int) -> None:
        """The host computes something."""
        self.now += ns

    def wait_until(self, moment: int) -> None:
        self.now = max(self.now, moment)


@dataclass(frozen=True)
class Launch:
    """One piece of device work: when it ran, in nanoseconds, and on which stream."""

    name: str
    stream: VirtualStream
    start: int
    end: int


class VirtualStream:
    """Runs its work in order. ready_at: when everything that is queued so far will be done."""

    def __init__(self, device: VirtualDevice, number: int) -> None:
        self.device = device
        self.number = number
        self.ready_at = 0
        self.queued: deque[int] = deque()  # the ends of launches that may still be in the queue
        self.fault: tuple[int, str] | None = None

    def synchronize(self) -> None:
        self.device.host.wait_until(self.ready_at)
        self.device.raise_faults(self)

    def query(self) -> bool:
        return self.device.host.now >= self.ready_at

    def record_event(self, event: VirtualEvent | None = None) -> VirtualEvent:
        event = event or self.device.Event()
        event.record(self)
        return event

    def wait_event(self, event: VirtualEvent) -> None:
        self.ready_at = max(self.ready_at, event.reached_at or 0)

    def wait_stream(self, other: VirtualStream) -> None:
        self.wait_event(other.record_event())


class VirtualEvent:
    """reached_at: when its stream reaches it; None before the first record."""

    def __init__(self, device: VirtualDevice, enable_timing: bool) -> None:
        self.device = device
        self.enable_timing = enable_timing
        self.reached_at: int | None = None

    def record(self, stream: VirtualStream | None = None) -> None:
        stream = stream or self.device.current_stream()
        stream.ready_at = max(self.device.host.now, stream.ready_at)
        self.reached_at = stream.ready_at

    def query(self) -> bool:
        return self.reached_at is None or self.device.host.now >= self.reached_at

    def synchronize(self) -> None:
        self.device.host.wait_until(self.reached_at or 0)

    def elapsed_time(self, end: VirtualEvent) -> float:
        """Milliseconds. Raises RuntimeError where torch does."""
        if not (self.enable_timing and end.enable_timing):
            raise RuntimeError("both events must be created with enable_timing=True")
        if self.reached_at is None or end.reached_at is None:
            raise RuntimeError("both events must be recorded")
        if not (self.query() and end.query()):
            raise RuntimeError("device not ready: both events must be completed")
        return (end.reached_at - self.reached_at) / 1e6


class VirtualDevice:
    """One device.

    launch_ns: what a launch costs the host.
    queue_depth: launches that a stream holds; the host waits for room beyond that.
    jitter: relative standard deviation of kernel times, drawn from `seed`.
    total: memory in bytes.
    host: the clock; devices that share one are of one machine.
    """

    def __init__(
        self,
        launch_ns: int = 5_000,
        queue_depth: int = 1024,
        total: int = 64 << 30,
        jitter: float = 0.0,
        seed: int = 0,
        host: VirtualHost | None = None,
    ) -> None:
        self.launch_ns = launch_ns
        self.queue_depth = queue_depth
        self.memory = CachingAllocator(total)
        self.host = host or VirtualHost()
        self.log: list[Launch] = []
        self._jitter = jitter
        self._random = random.Random(seed)
        self._streams: list[VirtualStream] = []
        self._current = self._default = self.Stream()

    # Work

    def launch(self, ns: int, stream: VirtualStream | None = None, name: str = "kernel") -> None:
        """Queue a kernel of `ns` nanoseconds."""
        stream = stream or self._current
        self.host.work(self.launch_ns)
        queued = stream.queued
        while queued and queued[0] <= self.host.now:
            queued.popleft()
        if len(queued) >= self.queue_depth:
            self.host.wait_until(queued.popleft())
        start = max(self.host.now, stream.ready_at)
        if self._jitter:
            ns = max(0, round(ns * (1 + self._jitter * self._random.gauss(0, 1))))
        stream.ready_at = start + ns
        queued.append(stream.ready_at)
        self.log.append(Launch(name, stream, start, stream.ready_at))

    def memcpy(
        self, size: int, bytes_per_ns: int = 20, stream: VirtualStream | None = None, wait: bool = True
    ) -> None:
        """A copy between host and device; without `wait` it is one from pinned memory."""
        stream = stream or self._current
        self.launch(size // bytes_per_ns, stream, "memcpy")
        if wait:
            stream.synchronize()

    def fail(self, message: str, stream: VirtualStream | None = None) -> None:
        """Queue a kernel that fails. The first synchronise that reaches it raises DeviceFault, once."""
        stream = stream or self._current
        self.launch(0, stream, "bad kernel")
        stream.fault = stream.fault or (stream.ready_at, message)

    # Waiting, streams, events

    def synchronize(self) -> None:
        for stream in self._streams:
            self.host.wait_until(stream.ready_at)
        self.raise_faults(*self._streams)

    def raise_faults(self, *streams: VirtualStream) -> None:
        for stream in streams:
            if stream.fault and stream.fault[0] <= self.host.now:
                message, stream.fault = stream.fault[1], None
                raise DeviceFault(message)

    def Stream(self) -> VirtualStream:
        stream = VirtualStream(self, len(self._streams))
        self._streams.append(stream)
        return stream

    def Event(self, enable_timing: bool = False) -> VirtualEvent:
        return VirtualEvent(self, enable_timing)

    def current_stream(self) -> VirtualStream:
        return self._current

    def default_stream(self) -> VirtualStream:
        return self._default

    @contextmanager
    def stream(self, stream: VirtualStream) -> Iterator[VirtualStream]:
        before, self._current = self._current, stream
        try:
            yield stream
        finally:
            self._current = before

    # Memory

    def malloc(self, size: int) -> Block:
        """Memory of the current stream's pool. Raises OutOfMemory."""
        return self.memory.malloc(size, self._current.number)

    def free(self, block: Block) -> None:
        self.memory.free(block)
