"""What the first call of a process costs in memory, told without touching what it costs in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..devices.base import MEMORY_FIGURES, Device, MemoryPeaks, NotMeasured
from ..devices.cards.source import Source
from ..devices.resident import ResidentPeak

#: Name in the evidence -> the figures that it stands for.
_GROUPS = {
    "allocator": MEMORY_FIGURES,
    **{
        kind: tuple(f"{part}_{kind}" for part in ("baseline", "peak", "after"))
        for kind in ("allocated", "reserved")
    },
}


class FirstCall:
    """Made before the first call's clock starts, read after it stopped.

    The counters are torch's own where the device keeps some; the resident set is the whole process's, host memory
    of every kind in it. The card is looked at before and after. Afterwards the call's result is still alive.
    """

    def __init__(self, device: Device, root: Path = Path("/")) -> None:
        self._missing: dict[str, str] = {}
        self._card: Source | None = None
        self._card_before: int | None = None
        try:
            self._card = device.card_source()
            self._card_before = self._card.read().used_bytes
        except NotMeasured as missing:
            self._missing["card"] = missing.reason
        self._resident = ResidentPeak(root)
        self._peaks: Callable[[], MemoryPeaks] | None = None
        try:
            self._peaks = device.start_peaks()
        except NotMeasured as missing:
            self._missing["allocator"] = missing.reason

    def read(self) -> dict[str, Any]:
        """The figures by name, and under "missing" the reasons for those that have none."""
        found: dict[str, Any] = {}
        if self._peaks is not None:
            peaks = self._peaks()
            found |= figures(peaks)
            self._missing |= peaks.missing
        resident, untold = self._resident.read()
        found |= resident
        self._missing |= untold
        if self._card is not None:
            after = self._card.read().used_bytes
            if self._card_before is None or after is None:
                self._missing["card"] = f"{self._card.name} did not tell the card's memory in use"
            else:
                found["card"] = {"before": self._card_before, "after": after, "source": self._card.name}
        return found | ({"missing": reasons(self._missing)} if self._missing else {})


def figures(peaks: MemoryPeaks) -> dict[str, int]:
    """Those that were measured, by name."""
    told = {name: getattr(peaks, name) for name in MEMORY_FIGURES}
    return {name: value for name, value in told.items() if value is not None}


def reasons(missing: Mapping[str, str]) -> dict[str, str]:
    """The same, with one name for all figures of the allocator ("allocator"), or for those of one kind ("reserved"),
    where they have the same reason."""
    found = dict(missing)
    for group, names in _GROUPS.items():
        told = {found.get(name) for name in names}
        reason = next(iter(told))
        if len(told) == 1 and reason is not None:
            found = {name: each for name, each in found.items() if name not in names} | {group: reason}
    return found
