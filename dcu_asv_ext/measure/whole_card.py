"""The whole card around one call, and what this process holds there beside torch's allocator."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..devices.base import Device, NotMeasured
from ..devices.cards.processes import MIB, Company, look_around
from ..devices.cards.sampler import ThreadSampler
from ..devices.cards.samples import Samples
from ..devices.cards.source import Reading, Source
from .passes import Run

#: Seconds between two looks; the source's own minimum where that is longer.
INTERVAL = 0.01
METHOD = (
    "a thread looks at it; a peak shorter than the interval is seen only as far as the allocator keeps it"
)


class CardLook:
    """Looks at a card before, during and after one call. Nothing may be timed meanwhile."""

    def __init__(self, source: Source, device: Device) -> None:
        self.source, self._device = source, device
        self._before, self._after = Reading(), Reading()
        self._samples = Samples()
        self._company = Company()

    def around(self, call: Callable[[], object]) -> Callable[[], None]:
        """The call, synchronised before the last look."""

        def watched() -> None:
            self._before = self.source.read()
            sampler = ThreadSampler(self.source, max(INTERVAL, self.source.interval))
            try:
                call()
                self._device.synchronize()
            finally:
                self._samples = sampler.stop()
                self._after = self.source.read()
            self._company = _company(self.source)

        return watched

    def record(self) -> dict[str, Any]:
        """Bytes before, at the peak and after, and how they were seen. Raises NotMeasured."""
        before, after = self._before.used_bytes, self._after.used_bytes
        if before is None or after is None:
            raise NotMeasured(f"{self.source.name} did not tell what is in use on the card")
        sampled = self._samples.peak_bytes
        found = {
            "before": before,
            "peak": max(before, after, before if sampled is None else sampled),
            "after": after,
            "total": self._after.total_bytes,
            "source": self.source.name,
            "interval": self._samples.interval,
            "readings": self._samples.taken,
            "method": METHOD,
            "own": self._company.own_bytes,
        }
        return {name: value for name, value in found.items() if value is not None}


def _company(source: Source) -> Company:
    """Who is on the card now, where plain files of the driver tell; nobody known where they do not."""
    if len(source.arguments) != 3:
        return Company()
    _, address, root = source.arguments
    return look_around(address, os.getpid(), Path(root))


def settle(run: Run) -> None:
    """Joins what is known of the others on the card once all looks at it are in the record's `state`, and tells what
    is this process's but not the allocator's."""
    memory, state = run.record.memory, run.record.state
    if "method" not in memory:
        return  # the measurement ended before its memory pass
    card = memory.get("card")
    if card is None:
        _missing(memory, memory["missing"]["card"])
        return
    if "others" in state:
        card["others"] = dict(state["others"])
    if run.device.simulated:
        card["others"] = {"count": 0}
    card["contended"] = bool(state.get("contended", False))
    try:
        memory["outside_allocator"] = _outside(run, card)
    except NotMeasured as missing:
        _missing(memory, missing.reason)


def _outside(run: Run, card: dict[str, Any]) -> int:
    """Bytes. Raises NotMeasured."""
    memory, state = run.record.memory, run.record.state
    if len(run.device.indices) > 1:
        raise NotMeasured("several devices are in use, and the card is one of them")
    reserved = memory.get("after_reserved")
    if reserved is None:
        raise NotMeasured("what the allocator reserves is not known")
    if "own" in card:
        return _beyond(card["own"], reserved, "this process's share of the card")
    if "own_bytes" in state:
        # Told at the end of the measurement, when more may be reserved than in the memory pass.
        with suppress(NotMeasured):
            reserved = run.device.start_peaks()().after_reserved or reserved
        card["own"] = state["own_bytes"]
        return _beyond(card["own"], reserved, "this process's share of the card")
    others = card.get("others")
    if others is None:
        reasons = state.get("missing", {})
        why = reasons.get("others") or "nothing tells who else is on the card"
        raise NotMeasured(f"{why}, nor what of it is this process's")
    if others["count"]:
        raise NotMeasured("others are on the card, and nothing tells what of it is this process's")
    return _beyond(card["after"], reserved, "what is in use on the card")


def _beyond(whole: int, reserved: int, what: str) -> int:
    if whole < reserved:
        raise NotMeasured(
            f"{what} ({whole / MIB:.1f} MiB) is less than the allocator reserves ({reserved / MIB:.1f} MiB)"
        )
    return whole - reserved


def _missing(memory: dict[str, Any], reason: str) -> None:
    memory.setdefault("missing", {})["outside_allocator"] = reason
