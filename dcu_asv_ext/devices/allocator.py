"""Peaks of torch's caching allocator over a stretch of work, from its own counters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .base import MemoryPeaks

#: Field of MemoryPeaks -> counter of `memory_stats`. Older versions of torch lack some of them.
_REQUESTED = "requested_bytes.all.peak"
_EVENTS = {"retries": "num_alloc_retries", "ooms": "num_ooms", "segments": "segment.all.allocated"}


def start_peaks(counters: Any, indices: Iterable[int], method: str) -> Callable[[], MemoryPeaks]:
    """Read the counters of `counters` (torch.cuda or torch.accelerator) and reset its peaks; the function that is
    returned reads them again. Each figure is the sum over the devices. Nothing is allocated and nothing waited for.
    """
    devices = tuple(indices)

    def total(read: Callable[[int], Any]) -> int:
        return sum(int(read(index)) for index in devices)

    peaks = MemoryPeaks(method=method)
    before = [_stats(counters, index) for index in devices]
    peaks.baseline_allocated = total(counters.memory_allocated)
    peaks.baseline_reserved = total(counters.memory_reserved)
    for index in devices:
        counters.reset_peak_memory_stats(index)

    def read() -> MemoryPeaks:
        peaks.peak_allocated = total(counters.max_memory_allocated)
        peaks.peak_reserved = total(counters.max_memory_reserved)
        peaks.after_allocated = total(counters.memory_allocated)
        peaks.after_reserved = total(counters.memory_reserved)
        after = [_stats(counters, index) for index in devices]
        _told(peaks, "requested_peak", _sum(after, _REQUESTED), _REQUESTED)
        for field, name in _EVENTS.items():
            first, last = _sum(before, name), _sum(after, name)
            _told(peaks, field, None if first is None or last is None else last - first, name)
        return peaks

    return read


def _told(peaks: MemoryPeaks, field: str, value: int | None, counter: str) -> None:
    setattr(peaks, field, value)
    if value is None:
        peaks.missing[field] = f"the allocator of this torch has no counter {counter}"


def _stats(counters: Any, index: int) -> Mapping[str, Any]:
    read = getattr(counters, "memory_stats", None)
    return {} if read is None else read(index)


def _sum(stats: Iterable[Mapping[str, Any]], name: str) -> int | None:
    values = [one.get(name) for one in stats]
    return None if any(value is None for value in values) else sum(int(value or 0) for value in values)
