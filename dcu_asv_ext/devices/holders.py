"""Which allocations of a call are alive at its peak, and which outlive it. Pure: from a list of changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

#: Largest holders that are listed, and the least share of what the call holds that one needs; the others are summed.
LISTED = 20
_LEAST_SHARE = 0.001
NO_LINE = "(no Python line)"


@dataclass(frozen=True, eq=False)
class Block:
    """One allocation that the call made. Two of them are never equal.

    where: the Python line. operator: what ran there. result: dtype and shape of the tensor in it.
    """

    bytes: int
    where: str = NO_LINE
    operator: str = ""
    result: str = ""


@dataclass(frozen=True)
class Change:
    """One step of the allocated bytes. block: what came (bytes > 0) or went (bytes < 0); None for memory that is
    older than the call.
    """

    bytes: int
    block: Block | None = None


@dataclass(frozen=True)
class Holder:
    """Allocations of one operator, made at one Python line.

    where: "file.py:12 in function", innermost line outside torch. what: operator and result.
    """

    bytes: int
    count: int
    where: str
    what: str


@dataclass
class Holders:
    """What is alive at the peak of one call, in bytes.

    bytes: the peak, absolute; before_call: of it, what was alive before the call; holders: what the call made,
    largest first; rest: what neither explains, smaller holders that are not listed and `unexplained`: memory that
    was counted but not seen being allocated. earlier: the largest of what was alive before the call.
    kept: of the first half of what the call made, what it did not free. Where the call does the same many times over,
    memory that each time replaces is not in it, and memory that each time keeps is.
    """

    bytes: int
    before_call: int
    holders: list[Holder]
    rest: int
    unexplained: int
    method: str
    earlier: list[Holder] = field(default_factory=list)
    kept: list[Holder] = field(default_factory=list)


def hold(
    changes: Sequence[Change],
    baseline: int,
    method: str,
    *,
    peak: int | None = None,
    peak_at: int | None = None,
    earlier: Iterable[Holder] = (),
) -> Holders:
    """Holders of one call from its changes in order.

    baseline: bytes alive before the first change. peak: the peak as the allocator counted it, where it did.
    peak_at: how many changes lie before the peak, where that is known; else the highest level tells.
    """
    levels = list(accumulate((change.bytes for change in changes), initial=baseline))
    if peak_at is None:
        peak_at = max(range(len(levels)), key=levels.__getitem__)
    alive = grouped(_alive(changes[:peak_at]))
    older = baseline + sum(change.bytes for change in changes[:peak_at] if change.block is None)
    top = levels[peak_at] if peak is None else peak
    made = sum(holder.bytes for holder in alive)
    listed = [holder for holder in alive[:LISTED] if holder.bytes >= _LEAST_SHARE * made]
    return Holders(
        bytes=top,
        before_call=older,
        holders=listed,
        rest=top - older - sum(holder.bytes for holder in listed),
        unexplained=top - older - made,
        method=method,
        earlier=list(earlier),
        kept=_kept(changes),
    )


def _alive(changes: Iterable[Change]) -> list[Block]:
    alive: dict[Block, None] = {}
    for change in changes:
        if change.block is None:
            continue
        if change.bytes > 0:
            alive[change.block] = None
        else:
            alive.pop(change.block, None)
    return list(alive)


def _kept(changes: Sequence[Change]) -> list[Holder]:
    made = [change.block for change in changes if change.block is not None and change.bytes > 0]
    early = set(made[: (len(made) + 1) // 2])
    return grouped((block for block in _alive(changes) if block in early), by_result=False)


def grouped(blocks: Iterable[Block], by_result: bool = True) -> list[Holder]:
    """Blocks of the same line and operator, and with the same result, as one; largest first. A result that is not
    the same for all of one is left out.
    """
    found: dict[tuple[str, ...], list[Block]] = defaultdict(list)
    for block in blocks:
        found[(block.where, block.operator, block.result if by_result else "")].append(block)
    holders = []
    for (where, operator, _), same in found.items():
        results = {block.result for block in same}
        what = f"{operator} {results.pop() if len(results) == 1 else ''}".strip()
        holders.append(Holder(sum(block.bytes for block in same), len(same), where, what))
    return sorted(holders, key=lambda holder: (-holder.bytes, holder.where, holder.what))
