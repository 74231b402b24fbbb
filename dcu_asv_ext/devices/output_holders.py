"""What is alive at the peak of one call, from the results of its operators: for devices without a history."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from .base import NotMeasured
from .dispatch import COMPILED, compiles
from .holders import Block, Change, Holders, hold
from .live import largest_alive, live_storages
from .operators import Operator, Operators

_METHOD = (
    "results of every operator, from weak references, checked against the allocator's counters; "
    "memory that an operator uses inside is in the rest"
)


def output_holders(
    call: Callable[[], object], torch: Any, device: Any, counters: Any, synchronize: Callable[[], object]
) -> Holders:
    """Runs `call` once. counters: the module whose memory functions count `device`. Raises NotMeasured."""
    if compiles():
        raise NotMeasured(COMPILED)
    synchronize()
    tracker = _Tracker(torch, device, counters)
    earlier = largest_alive(torch, device.type)
    operators = Operators(torch, device.type, around=tracker.before, after=tracker.after)
    baseline = tracker.start()
    try:
        with operators.watching():
            call()
        synchronize()
        tracker.look()
    finally:
        # A reference that outlived this call would note deaths of a later one.
        tracker.watched.clear()
    operators.check()
    return hold(
        tracker.changes,
        baseline,
        _METHOD,
        peak=tracker.peak,
        peak_at=tracker.peak_at,
        earlier=earlier,
    )


class _Tracker:
    """Changes in order: a result's memory comes when its operator has run, and goes with its storage.

    peak_at: how many changes lie before the moment at which the counter of the peak was last seen to rise.
    """

    def __init__(self, torch: Any, device: Any, counters: Any) -> None:
        self.changes: list[Change] = []
        self.watched: dict[int, weakref.ref[Any]] = {}
        self.peak = self.peak_at = 0
        self._torch = torch
        self._device = device
        self._counters = counters
        self._grain = self._granularity()

    def _granularity(self) -> int:
        """Bytes that a tensor of one byte takes: what the allocator rounds to."""
        before = int(self._counters.memory_allocated(self._device.index))
        held = self._torch.empty(1, dtype=self._torch.uint8, device=self._device)
        grain = int(self._counters.memory_allocated(self._device.index)) - before
        if grain <= 0:
            raise NotMeasured(f"torch's counters for {self._device} stay at 0 whatever is allocated")
        if weakref.ref(held.untyped_storage())() is None:
            raise NotMeasured("this torch does not tell when a tensor's memory is freed")
        return grain

    def start(self) -> int:
        """Bytes allocated now."""
        for storage, _ in live_storages(self._torch, self._device.type):
            self._watch(storage, None)
        self._counters.reset_peak_memory_stats(self._device.index)
        self.peak = self._counted()
        return int(self._counters.memory_allocated(self._device.index))

    def look(self) -> None:
        peak = self._counted()
        if peak > self.peak:
            self.peak, self.peak_at = peak, len(self.changes)

    def before(self, number: int) -> AbstractContextManager[Any]:
        self.look()
        return nullcontext()

    def after(self, operator: Operator, storages: list[Any]) -> None:
        for storage in storages:
            address = storage.data_ptr()
            if address not in self.watched and storage.device == self._device:
                block = operator.block(self._rounded(storage), address)
                self._watch(storage, block)
                self.changes.append(Change(block.bytes, block))
        self.look()

    def _counted(self) -> int:
        return int(self._counters.max_memory_allocated(self._device.index))

    def _rounded(self, storage: Any) -> int:
        return -(-int(storage.nbytes()) // self._grain) * self._grain

    def _watch(self, storage: Any, block: Block | None) -> None:
        address, size = storage.data_ptr(), self._rounded(storage)
        self.watched[address] = weakref.ref(storage, partial(self._gone, address, size, block))

    def _gone(self, address: int, size: int, block: Block | None, _: object) -> None:
        self.watched.pop(address, None)
        self.changes.append(Change(-size, block))
