"""Hand-made faces of torch: as much of torch 2.1 with a HIP or CUDA device as the devices package touches."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any


class FakeDevice:
    def __init__(self, kind: str, index: int | None = None) -> None:
        self.type, self.index = kind, index


class FakeStream:
    def __init__(self, log: list[Any], stream_id: int, device_index: int = 0) -> None:
        self.log, self.stream_id, self.device_index = log, stream_id, device_index

    def wait_event(self, event: FakeEvent) -> None:
        self.log.append(("wait", self.stream_id, event.number))


class FakeEvent:
    numbers = itertools.count()

    def __init__(self, log: list[Any], clock: list[float], enable_timing: bool = False) -> None:
        self.log, self.clock, self.timing = log, clock, enable_timing
        self.number = next(self.numbers)
        self.time: float | None = None

    def record(self, stream: FakeStream) -> None:
        self.time = self.clock[0]
        self.log.append(("record", stream.stream_id, self.number))

    def synchronize(self) -> None:
        self.log.append(("synchronize", self.number))

    def elapsed_time(self, other: FakeEvent) -> float:
        assert self.timing and other.timing and self.time is not None and other.time is not None
        return other.time - self.time


class FakeCuda:
    """Two devices. `log` has every call that reached the device; `clock` is the device's, in ms."""

    class OutOfMemoryError(RuntimeError):
        pass

    def __init__(
        self, count: int = 2, available: bool = True, product: str = "BW1000", **properties: Any
    ) -> None:
        self.log: list[Any] = []
        self.clock = [0.0]
        self.count, self.available = count, available
        self.properties = SimpleNamespace(name=product, total_memory=64 << 30, **properties)
        self.allocated, self.peak, self.reserved, self.peak_of_reserved = 0, 0, 0, 0
        self.retries = self.ooms = self.segments = 0
        self.counting = True
        self.seeds: list[int] = []
        self.streams = [FakeStream(self.log, 0, index) for index in range(count)]

    def is_available(self) -> bool:
        return self.available

    def init(self) -> None:
        raise RuntimeError("Found no driver on your system.\nsecond line")

    def device_count(self) -> int:
        return self.count

    def set_device(self, index: int) -> None:
        self.log.append(("set_device", index))

    def get_device_properties(self, index: int) -> Any:
        return self.properties

    def synchronize(self, index: int) -> None:
        self.log.append(("synchronize", index))

    def current_stream(self, index: int) -> FakeStream:
        return self.streams[index]

    def set_stream(self, stream: FakeStream) -> None:
        self.streams[stream.device_index] = stream

    def Event(self, enable_timing: bool = False) -> FakeEvent:
        return FakeEvent(self.log, self.clock, enable_timing)

    def allocate(self, size: int) -> None:
        if self.counting:
            self.allocated += size
            self.reserved = max(self.reserved, self.allocated)
            self.peak = max(self.peak, self.allocated)
            self.peak_of_reserved = max(self.peak_of_reserved, self.reserved)

    def memory_allocated(self, index: int) -> int:
        return self.allocated

    def max_memory_allocated(self, index: int) -> int:
        return self.peak

    def memory_reserved(self, index: int) -> int:
        return self.reserved

    def max_memory_reserved(self, index: int) -> int:
        return self.peak_of_reserved

    def reset_peak_memory_stats(self, index: int) -> None:
        self.log.append(("reset", index))
        self.peak, self.peak_of_reserved = self.allocated, self.reserved

    def memory_stats(self, index: int) -> dict[str, int]:
        return {
            "requested_bytes.all.peak": self.peak - self.peak // 8,
            "num_alloc_retries": self.retries,
            "num_ooms": self.ooms,
            "segment.all.allocated": self.segments,
        }

    def mem_get_info(self, index: int) -> tuple[int, int]:
        return 10, 64

    def memory_summary(self, index: int, abbreviated: bool = False) -> str:
        return f"summary of {index}"

    def manual_seed_all(self, value: int) -> None:
        self.seeds.append(value)


def torch_21(
    cuda: FakeCuda | None = None, version: str = "2.1.0", hip: str | None = None, nvidia: str | None = None
) -> Any:
    """torch 2.1: no torch.accelerator, torch.OutOfMemoryError, torch.AcceleratorError or version.rocm."""
    torch = SimpleNamespace(
        __version__=version,
        version=SimpleNamespace(hip=hip, cuda=nvidia, git_version="abc"),
        device=FakeDevice,
        uint8="uint8",
        cuda=FakeCuda() if cuda is None else cuda,
    )

    def empty(size: int, dtype: Any = None, device: Any = None) -> object:
        torch.cuda.allocate(size)
        return object()

    torch.empty = empty
    return torch
