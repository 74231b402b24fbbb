"""What a measuring pass may ask of a device, whatever kind of device it is."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cards.source import Source
    from .holders import Holders
    from .levels import MemoryLevels


class DeviceUnavailable(RuntimeError):
    """The device that was asked for cannot be used; the text says why and what to do."""


class NotMeasured(Exception):
    """A quantity that this device cannot measure. `reason` completes "not measured, because ..."."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass
class MemoryPeaks:
    """Bytes around one call. Peaks are absolute, as `torch.cuda.max_memory_*`; None goes with a reason.

    requested_peak: what tensors asked for, before the allocator rounded it. retries: how often the allocator had to
    give its cache back to get memory; ooms: how often it got none; segments: how often its pool grew by one.
    `missing` maps a field's name to the reason why it is None.
    `method` says how the numbers were obtained.
    """

    baseline_allocated: int | None = None
    peak_allocated: int | None = None
    after_allocated: int | None = None
    baseline_reserved: int | None = None
    peak_reserved: int | None = None
    after_reserved: int | None = None
    requested_peak: int | None = None
    retries: int | None = None
    ooms: int | None = None
    segments: int | None = None
    method: str = ""
    missing: dict[str, str] = field(default_factory=dict)


#: The fields of MemoryPeaks that are figures.
MEMORY_FIGURES = tuple(one.name for one in fields(MemoryPeaks) if one.name not in ("method", "missing"))


@dataclass
class Usage:
    """What one observed call used: indices of devices beyond the selected one, and side streams."""

    devices: set[int] = field(default_factory=set)
    streams: list[Any] = field(default_factory=list)


class EventTimer(ABC):
    """A fixed number of event pairs, recorded one after another, read with one wait at the end.

    Side streams are forked from the start event and joined before the stop event, so that their work
    lies inside the pair.
    """

    @abstractmethod
    def start(self) -> None:
        """Record the next pair's start event, and let every side stream wait for it."""

    @abstractmethod
    def stop(self) -> None:
        """Let the current stream wait for every side stream, and record the pair's stop event."""

    @abstractmethod
    def wait(self) -> None:
        """Wait until the last stop event is complete (and no longer: not a device synchronise)."""

    @abstractmethod
    def read(self) -> list[float]:
        """Seconds of each recorded pair, in order, unclamped (may be negative or not finite)."""


class Device(ABC):
    """One device that a benchmark runs on.

    kind: "dcu", "hip", "cuda", "cpu", or the accelerator's own type ("xpu", "sim").
    name: what torch calls it ("cuda:0", "cpu").
    index: the ordinal among visible devices (0 on the CPU).
    asynchronous: calls return before the work is done.
    simulated: a test instrument; its figures must never be published as real.
    clock: the host clock, in seconds.
    """

    kind: str
    name: str
    index: int = 0
    asynchronous: bool = True
    simulated: bool = False
    clock: Callable[[], float] = staticmethod(time.perf_counter)

    @property
    @abstractmethod
    def torch_device(self) -> Any:
        """The `torch.device` handed to setup functions."""

    @property
    def indices(self) -> tuple[int, ...]:
        """The devices of `use`, the selected one first."""
        return (self.index,)

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """JSON-able facts: kind, name, simulated, product, architecture, total_memory, driver, runtime, ...

        A fact that cannot be told is absent. Never raises for a missing tool or attribute.
        """

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for all work on every device of `use`. Asynchronous errors surface here."""

    @abstractmethod
    def use(self, indices: Iterable[int]) -> None:
        """Also synchronise these devices from now on (never touches a device not named)."""

    @abstractmethod
    def observe(self) -> AbstractContextManager[Usage]:
        """Watch one (untimed) call for the streams and the devices that it uses."""

    @abstractmethod
    def event_timer(self, pairs: int, side_streams: Iterable[Any] = ()) -> EventTimer:
        """Raises NotMeasured where the device has no timing events."""

    @abstractmethod
    def peak_memory(self, call: Callable[[], object]) -> MemoryPeaks:
        """Baseline, reset of the peaks, `call()`, synchronise, read. The cache is not emptied."""

    @abstractmethod
    def start_peaks(self) -> Callable[[], MemoryPeaks]:
        """Read the counters and reset the peaks; the returned function reads again. For work that is being timed:
        nothing is collected, allocated or waited for in either. Raises NotMeasured."""

    def alive_at_peak(self, call: Callable[[], object]) -> Holders:
        """What is alive at the peak of one call (made once or twice), and which lines made it. Raises NotMeasured."""
        raise NotMeasured(f"nothing tells which allocations are alive on {self.name}")

    def memory_levels(self, call: Callable[[], object], calls: int) -> MemoryLevels:
        """What is allocated after each of `calls` calls, or of fewer where they keep too much. Raises NotMeasured."""
        raise NotMeasured(f"nothing tells what is allocated on {self.name} after each call")

    @abstractmethod
    def card_memory(self) -> tuple[int, int]:
        """(used, total) bytes of the whole card. Raises NotMeasured."""

    @abstractmethod
    def error_kind(self, error: BaseException) -> str | None:
        """ "out of memory", "device error", or None where the error is not the device's."""

    def card_source(self) -> Source:
        """How this process itself looks at the card's memory, cheaply and without risk. Raises NotMeasured."""
        raise NotMeasured(f"{self.name} tells nothing of its card")

    def card_arguments(self) -> tuple[str, ...]:
        """How a process of its own opens the best source of readings (`cards.finding.open_source`). It may load
        libraries and run tools there. Raises NotMeasured.
        """
        raise NotMeasured(f"no source of card readings is known for {self.kind} devices")

    def memory_summary(self) -> str:
        """The allocator's own account of itself, for an out-of-memory record ("" where it has none)."""
        return ""

    def profiled_as(self) -> str:
        """What torch's profiler calls this kind of device. Raises NotMeasured where it has no rows of one."""
        raise NotMeasured(f"torch's profiler knows no device of the kind {self.kind}")

    def seed(self, value: int) -> None:
        """Seed this device's random generators. The CPU's are seeded by the caller."""
        return

    @abstractmethod
    def metric_support(self) -> dict[str, str | None]:
        """Metric name -> None where this device measures it, else the reason why not.

        Covers device_time, peak_allocated, peak_reserved, peak_card; "profile" stands for all that a profile tells.
        """
