"""What is allocated after each of many calls of the same function."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .base import MemoryPeaks, NotMeasured


@dataclass
class MemoryLevels:
    """Bytes, an entry a call, in order.

    allocated: after the call, once garbage is collected; peak: during it; reserved: after it (empty where the device
    reserves nothing). collected: what was freed by collecting garbage, over all calls.
    full: fewer calls than asked for, because they kept too much.
    """

    allocated: list[int] = field(default_factory=list)
    peak: list[int] = field(default_factory=list)
    reserved: list[int] = field(default_factory=list)
    collected: int = 0
    full: bool = False
    method: str = ""


@contextmanager
def cheap_collection() -> Iterator[None]:
    """Objects from before are not searched by gc.collect() inside, so that it can be called often."""
    gc.collect()
    frozen = gc.get_freeze_count() == 0
    if frozen:
        gc.freeze()
    try:
        yield
    finally:
        if frozen:
            gc.unfreeze()


def counted_levels(
    call: Callable[[], object],
    calls: int,
    most: int,
    start_peaks: Callable[[], Callable[[], MemoryPeaks]],
    synchronize: Callable[[], object],
) -> MemoryLevels:
    """From the allocator's counters. most: bytes that may be kept before the calls end early. Raises NotMeasured."""
    seen: list[MemoryPeaks] = []
    full = False
    with cheap_collection():
        synchronize()
        read = start_peaks()
        while len(seen) < calls and not full:
            call()
            synchronize()
            seen.append(read())
            gc.collect()
            # What the next call begins with is what this one leaves behind.
            read = start_peaks()
            full = _told(seen[-1].after_allocated) - _told(seen[0].baseline_allocated) > most
        left = [_told(one.baseline_allocated) for one in (*seen[1:], read())]
    uncollected = [_told(one.after_allocated) for one in seen]
    return MemoryLevels(
        allocated=left,
        peak=[_told(one.peak_allocated) for one in seen],
        reserved=[_told(one.after_reserved) for one in seen],
        collected=sum(uncollected) - sum(left),
        full=full and len(seen) < calls,
        method=f"{seen[0].method}, after each call",
    )


def _told(figure: int | None) -> int:
    if figure is None:
        raise NotMeasured("the allocator's counters do not tell what is allocated")
    return figure
