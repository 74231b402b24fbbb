"""One function's memory, for the terminal: the figures side by side, what they come to, and what would lower them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from . import figures
from .memory_advice import advice, outside_by_first_call
from .memory_groups import Holder
from .memory_model import (
    ALIVE,
    ALLOCATED,
    CARD,
    EVENTS,
    GROWTH,
    LEVELS,
    OUTSIDE,
    PROCESS,
    REQUESTED,
    RESERVED,
    Call,
    Figure,
    MemoryOf,
)
from .table import GAP, Style

#: Lines of holders, and of what grew, unless everything is asked for.
_HOLDERS, _GREW = 8, 3
_PARTS = ("before", "peak", "after")
_LABELS = {PROCESS: "process (RSS)"}
_LEFT = {RESERVED: "reserved", PROCESS: "in the process", CARD: "on the whole card"}
#: A first call's peak that lies above a steady one's by this share of it is worth a sentence.
_HIGHER = 0.10
#: A smaller share of a peak rounds to 0 %.
_SEEN = 0.005
_RED = "31"


def details(one: MemoryOf, head: str, shared: Mapping[str, str], style: Style) -> Iterator[str]:
    """head: what stands behind the name. shared: what is not measured, for reasons that are told elsewhere."""
    yield f"{name_of(one)}{head}"
    if one.status != "ok":
        yield from style.wrapped(figures.printable(one.status), GAP)
    yield from _levels(one, style)
    for sentence in (*_differing(one), *_sums(one), *_card(one)):
        yield from style.wrapped(sentence, GAP)
    yield from _alive(one, style)
    yield from _growth(one, style)
    own = {name: reason for name, reason in reasons(one).items() if shared.get(name) != reason}
    yield from told_missing(own, style, f"{GAP}not measured: ")
    for place, each in enumerate(advice(one), 1):
        yield from style.wrapped(figures.printable(f"{each.kind}: {each.text}"), f"{GAP}{place}. ")


def name_of(one: MemoryOf) -> str:
    """`gemm.matmul(n=256)`, and which variant it is where it has one."""
    params = ", ".join(f"{name}={value}" if name else value for name, value in one.params.items())
    variant = f" [{one.variant}]" if one.variant else ""
    return figures.printable(f"{one.benchmark}({params}){variant}" if params else f"{one.benchmark}{variant}")


def _levels(one: MemoryOf, style: Style) -> Iterator[str]:
    """Steady and first call side by side, or below each other in a narrow terminal; none that has no figure."""
    calls = ((one.steady, "a steady call"), (one.first, "the first call"))
    told = [(call, head) for call, head in calls if call.levels]
    lines = list(_beside(told))
    if max(map(len, lines), default=0) <= style.width or len(told) < 2:
        yield from lines
    else:
        for each in told:
            yield from _beside([each])


def _beside(told: Sequence[tuple[Call, str]]) -> Iterator[str]:
    names = [name for name in LEVELS if any(name in call.levels for call, _ in told)]
    if not names:
        return
    label = max(len(_LABELS.get(name, name)) for name in names)
    rows = [
        [[size(getattr(call.level(name), part)) or figures.NOTHING for part in _PARTS] for call, _ in told]
        for name in names
    ]
    width = max(len(cell) for groups in [[[*_PARTS]], *rows] for cells in groups for cell in cells)
    between = GAP * 2
    start = GAP + " " * label
    heads = (head.center(3 * width + 2 * len(GAP)) for _, head in told)
    yield (start + "".join(between + head for head in heads)).rstrip()
    yield start + (between + _aligned(_PARTS, width)) * len(told)
    for name, groups in zip(names, rows, strict=True):
        shown = "".join(between + _aligned(cells, width) for cells in groups)
        yield f"{GAP}{_LABELS.get(name, name):<{label}}{shown}"


def _aligned(cells: Sequence[str], width: int) -> str:
    return GAP.join(cell.rjust(width) for cell in cells)


def _differing(one: MemoryOf) -> Iterator[str]:
    """Where the rounds do not agree; those of a whole process never do."""
    told = [
        f"{head}{name} {part} {_range(figure)}"
        for call, head in ((one.steady, ""), (one.first, "the first call's "))
        for name, level in call.levels.items()
        if name != PROCESS
        for part in _PARTS
        if (figure := getattr(level, part)) is not None and figure.differs
    ]
    if told:
        yield f"the rounds differ, and their medians are shown: {'; '.join(told)}"


def _sums(one: MemoryOf) -> Iterator[str]:
    """What the differences between the figures are called."""
    steady = one.steady
    level = steady.level(ALLOCATED)
    if level.added is not None and level.kept is not None:
        kept = "keeps nothing" if level.kept == 0 else f"leaves {signed(level.kept)}"
        yield f"a steady call adds {_bytes(level.added)} at its peak and {kept}"
    parts = (
        (steady.beyond(ALLOCATED, REQUESTED), "rounding"),
        (steady.beyond(RESERVED, ALLOCATED), "cache and fragmentation"),
        (None if one.outside is None else one.outside.value, OUTSIDE),
    )
    beyond = [f"{_bytes(value)} {what}" for value, what in parts if value is not None]
    if beyond:
        yield f"beyond the tensors, at the peak: {', '.join(beyond)}"
    yield from _first(one)
    for call, told in ((one.first, "the first call"), (steady, "a steady call")):
        events = ((call.retries, "retry", "retries"), (call.ooms, "failure", "failures"))
        seen = [figures.count(int(each.high), *words) for each, *words in events if each and each.high]
        if seen:
            yield f"in {told} allocations did not fit: {', '.join(seen)}"


def _first(one: MemoryOf) -> Iterator[str]:
    first, steady = one.first.level(ALLOCATED).peak, one.steady.level(ALLOCATED).peak
    if first is not None and steady is not None and first.value - steady.value >= _HIGHER * first.value:
        yield f"the first call's peak is {_bytes(first.value - steady.value)} above a steady one's"
    kept = {what: one.first.level(name).kept for name, what in _LEFT.items()}
    left = [f"{signed(value)} {what}" for what, value in kept.items() if value]
    if left:
        outside = outside_by_first_call(one)
        more = f" ({_bytes(outside)} outside the allocator)" if outside is not None and outside > 0 else ""
        yield f"the first call leaves {', '.join(left)}{more}"


def _card(one: MemoryOf) -> Iterator[str]:
    card = one.card
    if card is None:
        return
    told = [f"whole card: read by {card.source}"]
    if card.interval is not None and card.readings:
        apart = f", {1e3 * card.interval:g} ms apart" if card.readings > 1 else ""
        told.append(f"{figures.count(card.readings, 'reading')} during the call{apart}")
    if card.total is not None:
        told.append(f"{_bytes(card.total)} in all")
    if card.own is not None:
        told.append(f"{_bytes(card.own)} this process's own")
    if card.others is not None:
        held = f" with {_bytes(card.others_bytes)}" if card.others and card.others_bytes is not None else ""
        number = figures.count(card.others, "other process", "other processes")
        told.append(f"{number}{held}" if card.others else "nobody else on it")
    yield ", ".join(told)
    short = one.steady.beyond(RESERVED, CARD)
    if short is not None and short > 0:
        yield "its peak was too short to be seen there: the allocator alone had reserved more"
    if card.contended:
        yield "contended: somebody else was using the card, and its figures are theirs too"


def _alive(one: MemoryOf, style: Style) -> Iterator[str]:
    alive = one.alive
    if alive is None:
        return
    yield f"{GAP}alive at the peak of {_bytes(alive.bytes)}"
    least = 0.0 if style.everything else _SEEN * alive.bytes
    listed = [(each.bytes, f"{each.count}x", _place(each)) for each in alive.holders if each.bytes >= least]
    if not style.everything:
        listed = listed[:_HOLDERS]
    rest = alive.rest + sum(each.bytes for each in alive.holders[len(listed) :])
    kept = "what setup and earlier calls keep" if one.leaks else "what setup keeps"
    earlier = (alive.before_call, "", f"from before the call (inputs, weights, {kept})")
    listed += [each for each in (earlier, (rest, "", "everything else")) if each[0] and each[0] >= least]
    sizes = [_bytes(value) for value, _, _ in listed]
    width, counts = max(map(len, sizes), default=0), max((len(one) for _, one, _ in listed), default=0)
    for text, (value, count, where) in zip(sizes, listed, strict=True):
        share = f"{100 * value / alive.bytes:3.0f} %"
        yield f"{GAP * 2}{text:>{width}}  {share}  {count:>{counts}}  {where}".rstrip()


def _growth(one: MemoryOf, style: Style) -> Iterator[str]:
    growth = one.growth
    if growth is None:
        return
    over = f" over {figures.count(growth.calls, 'call')}" if growth.calls else ""
    if growth.leak:
        sure = ""
        if growth.low is not None and growth.high is not None:
            sure = f" ({_bytes(growth.low)} to {_bytes(growth.high)})"
        yield f"{GAP}{_painted('LEAK', style)}: every call keeps {_bytes(growth.slope)}{sure}{over}"
        for each in growth.grew if style.everything else growth.grew[:_GREW]:
            yield f"{GAP * 2}grew: {_bytes(each.bytes)} a call  {_place(each)}".rstrip()
    else:
        yield f"{GAP}no leak{over}"
    reserved = growth.reserved_slope
    if reserved is not None and reserved > max(growth.slope, 0.0):
        text = f"what is reserved grew by {_bytes(reserved)} a call: the allocator's cache, given out again later"
        yield from style.wrapped(text, GAP)


def _place(one: Holder) -> str:
    return figures.printable(f"{one.where}  {one.what}".strip())


# ---- what is not measured


def reasons(one: MemoryOf) -> dict[str, str]:
    """Why there is no figure, of what has none at all."""
    steady = {name: reason for name, reason in one.steady.missing.items() if not _is_told(one, name)}
    first = {
        f"the first call's {name}": reason
        for name, reason in one.first.missing.items()
        if name in LEVELS and not one.first.level(name).told and name not in steady
    }
    return {**steady, **first}


def _is_told(one: MemoryOf, name: str) -> bool:
    if name in LEVELS:
        return one.steady.level(name).peak is not None
    others = {
        OUTSIDE: one.outside,
        ALIVE: one.alive,
        GROWTH: one.growth,
        EVENTS: one.steady.retries,
    }
    return others[name] is not None


def told_missing(missing: Mapping[str, str], style: Style, head: str) -> Iterator[str]:
    """A sentence for each reason, with everything that it stands for."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in missing.items():
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        yield from style.wrapped(figures.printable(f"{', '.join(names)}: {reason}"), head)


# ---- figures


def size(one: Figure | None) -> str:
    """ "" for no figure."""
    return "" if one is None else _bytes(one.value)


def signed(value: float | None) -> str:
    if value is None:
        return ""
    return "0" if value == 0 else f"{'+' if value > 0 else '-'}{_bytes(abs(value))}"


def _range(one: Figure) -> str:
    low, high = figures.pair(one.low, one.high, "bytes")
    return f"{low} to {high}"


def _bytes(value: float) -> str:
    return f"-{_bytes(-value)}" if value < 0 else figures.quantity(value, "bytes")


def _painted(text: str, style: Style) -> str:
    return f"\x1b[{_RED}m{text}\x1b[0m" if style.colour else text
