"""A caching allocator as torch's: 512-byte rounding, segments that stay reserved, split and merge, peaks."""

from __future__ import annotations

from dataclasses import dataclass, field

MIB = 1 << 20
SMALL = MIB  # the largest size that comes from a small segment


class OutOfMemory(RuntimeError):
    """No segment fits, even after the cache was emptied."""


@dataclass(eq=False)
class Segment:
    """Memory taken from the device: blocks in address order that cover it without a gap."""

    size: int
    stream: int
    small: bool
    blocks: list[Block] = field(default_factory=list)


@dataclass(eq=False)
class Block:
    """A piece of a segment. A live one is what `malloc` returns, and `free` takes."""

    segment: Segment
    offset: int
    size: int
    live: bool = False
    requested: int = 0


class CachingAllocator:
    """The counters are bytes, as torch's: requested is what was asked for, allocated that in rounded sizes, reserved
    whole segments.

    total: the capacity in bytes; `malloc` raises OutOfMemory beyond it.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.segments: list[Segment] = []
        self.requested = self.allocated = self.reserved = 0
        self.peak_requested = self.peak_allocated = self.peak_reserved = 0
        self.retries = self.ooms = self.grown = 0

    def malloc(self, size: int, stream: int = 0) -> Block:
        rounded = max(512, -(-size // 512) * 512)
        block = self._cached(rounded, stream) or self._new_segment(size, rounded, stream)
        self._split(block, rounded)
        block.live, block.requested = True, size
        self.requested += size
        self.peak_requested = max(self.peak_requested, self.requested)
        self.allocated += block.size
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        return block

    def free(self, block: Block) -> None:
        if not block.live:
            raise ValueError("freed twice")
        block.live = False
        self.allocated -= block.size
        self.requested -= block.requested
        self._merge(block.segment)

    def empty_cache(self) -> None:
        """Give segments without a live block back to the device."""
        for segment in list(self.segments):
            if not any(block.live for block in segment.blocks):
                self.segments.remove(segment)
                self.reserved -= segment.size

    def reset_peaks(self) -> None:
        self.peak_requested = self.requested
        self.peak_allocated, self.peak_reserved = self.allocated, self.reserved

    def _cached(self, rounded: int, stream: int) -> Block | None:
        """The smallest free block of the pool that is large enough."""
        fitting = [
            block
            for segment in self.segments
            if segment.stream == stream and segment.small == (rounded <= SMALL)
            for block in segment.blocks
            if not block.live and block.size >= rounded
        ]
        return min(fitting, key=lambda block: block.size, default=None)

    def _new_segment(self, size: int, rounded: int, stream: int) -> Block:
        if rounded <= SMALL:
            needed = 2 * MIB
        elif rounded < 10 * MIB:
            needed = 20 * MIB
        else:
            needed = -(-rounded // (2 * MIB)) * 2 * MIB
        if self.reserved + needed > self.total:
            self.retries += 1
            self.empty_cache()
        if self.reserved + needed > self.total:
            self.ooms += 1
            free = self.total - self.reserved
            raise OutOfMemory(f"out of memory: tried to allocate {size} bytes, {free} are free")
        segment = Segment(needed, stream, small=rounded <= SMALL)
        block = Block(segment, 0, needed)
        segment.blocks.append(block)
        self.segments.append(segment)
        self.grown += 1
        self.reserved += needed
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        return block

    @staticmethod
    def _split(block: Block, rounded: int) -> None:
        rest = block.size - rounded
        if rest >= 512 if block.segment.small else rest > MIB:
            block.size = rounded
            blocks = block.segment.blocks
            blocks.insert(blocks.index(block) + 1, Block(block.segment, block.offset + rounded, rest))

    @staticmethod
    def _merge(segment: Segment) -> None:
        merged: list[Block] = []
        for block in segment.blocks:
            if merged and not merged[-1].live and not block.live:
                merged[-1].size += block.size
            else:
                merged.append(block)
        segment.blocks = merged
