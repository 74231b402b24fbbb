"""What a source of card readings is: one look at a card, and where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Reading:
    """One look at a card. None: the source does not tell, which is never the same as 0.

    throttle: the driver's reasons for a lowered clock now, in its own words; () where it gives none.
    """

    used_bytes: int | None = None
    total_bytes: int | None = None
    core_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    utilization: float | None = None
    performance_level: str | None = None
    throttle: tuple[str, ...] | None = None


class Source(Protocol):
    """A way to look at one card.

    name: "sysfs", "NVML", "ROCm SMI library", "hy-smi", "mem_get_info", ...
    interval: the shortest sensible number of seconds between two looks.
    arguments: how a process of its own opens the same source (`finding.open_source(*arguments)`); empty where only
    this process can look (torch's own `mem_get_info`).
    """

    name: str
    interval: float
    arguments: tuple[str, ...]

    def read(self) -> Reading:
        """Never raises for a value that cannot be read: it is None."""
