"""What would lower a peak, as far as the numbers say so: the cheapest question first, the allocator's cache last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import figures
from .memory_model import ALLOCATED, CARD, RESERVED, MemoryOf

MIB = 1 << 20
#: Below this nothing is worth a sentence, whatever its share.
_LEAST = MIB
#: A part of the peak counts from this share on.
_SHARE = 0.25
#: Holders named in a sentence: the largest, each at least this share of the peak.
_NAMED, _NAMED_SHARE = 3, 0.10
#: So many blocks of one size and line are a loop's.
_MANY = 4
#: Context and code alone take a few hundred MiB on any card; what a library adds counts from here.
_WORKSPACE = 32 * MIB
_CACHE = 32 * MIB

ALIVE = "alive at the peak"
LIFETIMES = "shorten lifetimes"
BUFFERS = "reuse fixed buffers"
WORKSPACES = "workspaces"
CACHE = "allocator's cache"
EMPTY_CACHE = "empty_cache"
RETRIES = "retries"

#: What each kind comes to; told once, however many functions have it.
HOW = {
    ALIVE: "the largest decide; make them smaller, narrower, later, or not at all",
    LIFETIMES: "del, in-place or fused operations, chunks, checkpointing; only what is alive together adds up",
    BUFFERS: "write into a buffer that is made once (out=...), or be done with each block before the next is made",
    WORKSPACES: "memory of libraries, code modules and communication; their own settings bound it, torch's do not",
    CACHE: "cache and fragmentation, no leak, and later calls get it again; the last thing to change "
    "(expandable_segments, max_split_size_mb, fewer different sizes)",
    EMPTY_CACHE: "lowers no peak of tensors, and every call pays for growing the cache again; if anywhere, outside "
    "the function",
    RETRIES: "the card is nearly full; each time the whole cache is given back, and the device waited for",
}


@dataclass(frozen=True)
class Advice:
    """kind: one of `HOW`. bytes: what it is about, None where it is not memory."""

    kind: str
    text: str
    bytes: float | None = None


def advice(one: MemoryOf) -> list[Advice]:
    """In the order in which to try them; empty where no number calls for any."""
    return [*_alive(one), *_lifetimes(one), *_buffers(one), *_workspaces(one), *_cache(one), *_allocator(one)]


def _alive(one: MemoryOf) -> Iterator[Advice]:
    alive = one.alive
    if alive is None or alive.bytes < _LEAST:
        return
    peak, before = alive.bytes, alive.before_call
    if peak - before < _NAMED_SHARE * peak:
        held = "inputs, weights, setup" + (", and what earlier calls kept" if one.leaks else "")
        text = f"{_share(before, peak)} of it is there before the call ({held})"
        yield Advice(ALIVE, text, before)
        return
    named = [each for each in alive.holders if each.bytes >= _NAMED_SHARE * peak][:_NAMED]
    if named:
        told = "; ".join(f"{each.where} ({_bytes(each.bytes)})" for each in named)
        yield Advice(ALIVE, f"begin with {told}", sum(each.bytes for each in named))


def _lifetimes(one: MemoryOf) -> Iterator[Advice]:
    level = one.steady.level(ALLOCATED)
    gone, added, peak = level.temporary, level.added, level.peak
    if gone is None or added is None or peak is None:
        return
    # What was alive before and is freed by the call is no temporary of it.
    gone = min(gone, added)
    if gone >= max(_LEAST, _SHARE * peak.value):
        yield Advice(
            LIFETIMES,
            f"{_bytes(gone)} of the peak ({_share(gone, peak.value)}) is gone when the call ends",
            gone,
        )


def _buffers(one: MemoryOf) -> Iterator[Advice]:
    if one.alive is None:
        return
    least = max(_LEAST, _NAMED_SHARE * one.alive.bytes)
    for each in one.alive.holders:
        if each.count >= _MANY and each.bytes >= least:
            size = _bytes(each.bytes / each.count)
            text = f"{each.count} blocks of {size} of {each.where} are alive at once"
            yield Advice(BUFFERS, text, each.bytes)


def _workspaces(one: MemoryOf) -> Iterator[Advice]:
    if one.card is not None and one.card.contended:
        return  # the card's figures are the others' too
    first = outside_by_first_call(one)
    if first is not None and first >= _WORKSPACE:
        text = f"the first call puts {_bytes(first)} on the card outside the allocator, and it stays there"
        yield Advice(WORKSPACES, text, first)
    card, reserved = one.steady.level(CARD).added, one.steady.level(RESERVED).added
    if card is not None and reserved is not None and card - reserved >= _WORKSPACE:
        text = f"a steady call takes {_bytes(card - reserved)} on the card outside the allocator, every time"
        yield Advice(WORKSPACES, text, card - reserved)


def outside_by_first_call(one: MemoryOf) -> float | None:
    """Bytes that the first call left on the card and not in the allocator; None where one of both is not told."""
    card, reserved = one.first.level(CARD).kept, one.first.level(RESERVED).kept
    return None if card is None or reserved is None else card - reserved


def _cache(one: MemoryOf) -> Iterator[Advice]:
    cached, reserved = one.steady.beyond(RESERVED, ALLOCATED), one.steady.level(RESERVED).peak
    if cached is None or reserved is None or cached < max(_CACHE, _SHARE * reserved.value):
        return
    text = f"{_bytes(cached)} ({_share(cached, reserved.value)}) of what is reserved lies beyond the tensors' peak"
    first, steady = one.first.level(ALLOCATED).peak, one.steady.level(ALLOCATED).peak
    if first is not None and steady is not None and first.value - steady.value >= _SHARE * cached:
        text += f"; the first call made it grow, with a peak of {_bytes(first.value)}"
    yield Advice(CACHE, text, cached)


def _allocator(one: MemoryOf) -> Iterator[Advice]:
    if one.emptied is not None:
        calls = figures.count(one.emptied.calls, "call")
        cost = figures.quantity(one.emptied.seconds, "seconds")
        yield Advice(EMPTY_CACHE, f"{calls} inside the function cost {cost} of every call")
    for call, told in ((one.first, "the first call"), (one.steady, "a steady call")):
        if call.retries is not None and call.retries.high:
            yield Advice(RETRIES, f"{figures.count(int(call.retries.high), 'time')} in {told}")


def _bytes(value: float) -> str:
    return figures.quantity(value, "bytes")


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %"
