"""What is alive at the peak of one call, from the history that torch's allocator for HIP and CUDA keeps."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from .base import NotMeasured
from .dispatch import compiles
from .events import first_line
from .holders import NO_LINE, Block, Change, Holders, hold
from .live import largest_alive
from .operators import Operator, Operators
from .places import Places

#: Entries that the history may hold, each some hundred bytes. A call that makes more has lost its first ones.
MAX_ENTRIES = 200_000
#: What the allocator rounds a request to (c10/cuda/CUDACachingAllocator.h, kMinBlockSize).
GRAIN = 512
_METHOD = "the history of torch's allocator"


def history_holders(
    call: Callable[[], object], torch: Any, index: int, synchronize: Callable[[], object]
) -> Holders:
    """Runs `call` once. Works with compiled code too; operators are named where nothing is compiled.

    Raises NotMeasured: before the call where this torch has no history or somebody else records one, after it where
    the history is not as known.
    """
    synchronize()
    earlier = largest_alive(torch, "cuda")
    with _recording(torch, index):
        before = _snapshot(torch)
        names = _Names(torch, index)
        torch.cuda.reset_peak_memory_stats(index)
        baseline = int(torch.cuda.memory_allocated(index))
        with names.watching():
            call()
        synchronize()
        peak = int(torch.cuda.max_memory_allocated(index))
        entries = entries_of(_snapshot(torch), index)
    if len(entries) >= MAX_ENTRIES:
        raise NotMeasured(
            f"one call allocates and frees more than {MAX_ENTRIES} times, and the history is full"
        )
    own = entries[len(entries_of(before, index)) :]
    changes = read_history(own, block_sizes(before), Places(torch), names.operator)
    return hold(changes, baseline, _METHOD, peak=peak, earlier=earlier)


@contextmanager
def _recording(torch: Any, index: int) -> Iterator[None]:
    """The history is on inside, and off afterwards. One that was on before is left alone: NotMeasured."""
    if _recorded_already(torch, index):
        raise NotMeasured("the history of torch's allocator is already being recorded, and would be lost")
    try:
        # context: Python lines of allocations only. The names and meanings are those of torch since 2.1.
        torch.cuda.memory._record_memory_history(
            enabled="all", context="alloc", stacks="python", max_entries=MAX_ENTRIES
        )
    except Exception as error:
        # A private function: what it does in versions to come cannot be known.
        raise NotMeasured(f"torch's allocator keeps no history here ({first_line(error)})") from error
    try:
        if not _probed(torch, index):
            raise NotMeasured("the history of torch's allocator stays empty whatever is allocated")
        yield
    finally:
        torch.cuda.memory._record_memory_history(enabled=None)


def _recorded_already(torch: Any, index: int) -> bool:
    enabled = getattr(torch._C, "_cuda_isHistoryEnabled", None)
    try:
        return bool(enabled()) if enabled is not None else _probed(torch, index)
    except (AttributeError, RuntimeError) as error:
        raise NotMeasured(f"torch's allocator keeps no history here ({first_line(error)})") from error


def _probed(torch: Any, index: int) -> bool:
    """Whether an allocation made now is recorded."""
    before = len(entries_of(_snapshot(torch), index))
    torch.empty(1, dtype=torch.uint8, device=f"cuda:{index}")
    return len(entries_of(_snapshot(torch), index)) > before


def _snapshot(torch: Any) -> Any:
    return torch.cuda.memory._snapshot()


class _Names:
    """Operators by the allocations that the allocator counted around them; none where code is compiled."""

    def __init__(self, torch: Any, index: int) -> None:
        self._torch = torch
        self._index = index
        self._spans: list[tuple[int, int]] = []
        self._operators = Operators(torch, "cuda", around=self._around)
        self._first = self._count()

    def watching(self) -> AbstractContextManager[Any]:
        return nullcontext() if compiles() else self._operators.watching()

    def operator(self, number: int) -> Operator | None:
        """The one that made the call's allocation `number`, from 0."""
        place = bisect_right(self._spans, (number + self._first, sys.maxsize)) - 1
        if place >= 0 and number + self._first < self._spans[place][1]:
            return self._operators.seen[place]
        return None

    @contextmanager
    def _around(self, number: int) -> Iterator[None]:
        begin = self._count()
        try:
            yield
        finally:
            self._spans.append((begin, self._count()))

    def _count(self) -> int:
        """Allocations since the process began."""
        return int(
            self._torch.cuda.memory_stats_as_nested_dict(self._index)["allocation"]["all"]["allocated"]
        )


def entries_of(snapshot: Any, index: int) -> list[Mapping[str, Any]]:
    """What the allocator of one device did, in order. Raises NotMeasured where the snapshot is of another form."""
    traces = snapshot.get("device_traces") if isinstance(snapshot, Mapping) else None
    if not isinstance(traces, list):
        raise NotMeasured("the history of this torch's allocator has an unknown form")
    return list(traces[index]) if index < len(traces) else []


def block_sizes(snapshot: Mapping[str, Any]) -> dict[int, int]:
    """address -> bytes of the blocks in use."""
    found = {}
    for segment in snapshot.get("segments", ()):
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] != "inactive":
                found[block.get("address", address)] = block["size"]
            address += block["size"]
    return found


def read_history(
    entries: Iterable[Mapping[str, Any]],
    older: Mapping[int, int],
    places: Places,
    operator: Callable[[int], Operator | None],
) -> list[Change]:
    """Changes of the allocated bytes: from "alloc" to "free_requested", which is when torch counts it as free.

    older: bytes of blocks from before. operator: of the n-th allocation.
    """
    alive: dict[int, Block] = {}
    changes = []
    number = 0
    for entry in entries:
        if entry["action"] == "alloc":
            block = _block(entry, places, operator(number))
            number += 1
            alive[entry["addr"]] = block
            changes.append(Change(block.bytes, block))
        elif entry["action"] == "free_requested":
            ended = alive.pop(entry["addr"], None)
            size = older.get(entry["addr"], _rounded(entry["size"])) if ended is None else ended.bytes
            changes.append(Change(-size, ended))
    return changes


def _block(entry: Mapping[str, Any], places: Places, operator: Operator | None) -> Block:
    frames = entry.get("frames") or []
    size, where = _rounded(entry["size"]), places.of(frames)
    if operator is None:
        return Block(size, where, places.function_of(frames))
    # A backward pass runs on a thread of its own, without a Python line.
    block = operator.block(size, entry["addr"])
    return block if where == NO_LINE else replace(block, where=where)


def _rounded(requested: int) -> int:
    return max(GRAIN, -(-requested // GRAIN) * GRAIN)
