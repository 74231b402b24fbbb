"""The memory of a commit's functions, for the terminal: a table of all of them, then one by one what calls for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from . import figures
from .memory_advice import EMPTY_CACHE, HOW, advice
from .memory_details import details, name_of, reasons, signed, size, told_missing
from .memory_model import ALLOCATED, CARD, RESERVED, MemoryOf
from .table import GAP, Style

#: So many functions are shown one by one, unless all are asked for.
DETAILED = 5
_HEADINGS = (
    ("peak", "allocated"),
    ("added by", "a call"),
    ("kept by", "a call"),
    ("peak", "reserved"),
    ("peak", "whole card"),
    ("outside", "allocator"),
    ("growth", "per call"),
)


@dataclass(frozen=True)
class Page:
    """The results of one (commit, machine, environment). notes: sentences on what was left out."""

    title: str
    found: Sequence[MemoryOf]
    notes: Sequence[str] = ()


def render(page: Page, style: Style) -> str:
    """The whole page, without a newline at its end."""
    measured = [one for one in page.found if one.measured]
    shown = _shown(measured, style)
    shared = _shared(shown)
    about = _about(page.found)
    blocks = [
        [_title(page, about), *(line for note in page.notes for line in style.wrapped(note, "note: "))],
        list(_table(measured, style)) if len(measured) > 1 else [],
        *(list(details(one, _head(one, about), shared, style)) for one in shown),
        list(_how(shown, style)),
        list(_footnotes(page.found, measured, shown, shared, style)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _shown(measured: Sequence[MemoryOf], style: Style) -> Sequence[MemoryOf]:
    """Which are shown one by one: of many those whose numbers call for it, leaks first."""
    if style.everything or len(measured) <= DETAILED:
        return measured
    calling = [one for one in measured if one.leaks or one.status != "ok" or advice(one)]
    return sorted(calling, key=lambda one: not one.leaks)[:DETAILED]


def _about(found: Sequence[MemoryOf]) -> str:
    """Device and rounds, where they are the same for all."""
    told = {_measured_on(one) for one in found if one.measured}
    return told.pop() if len(told) == 1 else ""


def _measured_on(one: MemoryOf) -> str:
    quick = ", --quick (not warmed up)" if one.quick else ""
    return f"{one.device}, {figures.count(one.rounds, 'round')}{quick}"


def _title(page: Page, about: str) -> str:
    return f"{page.title}: {about}" if about else page.title


def _head(one: MemoryOf, about: str) -> str:
    return "" if _measured_on(one) == about else f"  ({_measured_on(one)})"


def _table(found: Sequence[MemoryOf], style: Style) -> Iterator[str]:
    """A line for each, or two in a narrow terminal; columns that nobody fills are left out."""
    cells = [_row(one) for one in found]
    kept = [place for place in range(len(_HEADINGS)) if any(row[place] for row in cells)]
    rows = [
        *([heading[line] for heading in _HEADINGS] for line in (0, 1)),
        *([cell or figures.NOTHING for cell in row] for row in cells),
    ]
    widths = {place: max(len(row[place]) for row in rows) for place in kept}
    names = ["", "", *map(name_of, found)]
    marks = ["", "", *(", ".join(_marks(one)) for one in found)]
    longest = max(map(figures.columns, names))
    used = sum(widths.values()) + len(GAP) * (len(kept) + 1) + max(map(len, marks))
    for name, row, mark in zip(names, rows, marks, strict=True):
        text = GAP.join(row[place].rjust(widths[place]) for place in kept)
        if longest + used <= style.width:
            yield f"{figures.left(name, longest)}{GAP}{text}{GAP}{mark}".rstrip()
            continue
        if name:
            yield name
        yield f"{GAP}{text}{GAP}{mark}".rstrip()


def _row(one: MemoryOf) -> tuple[str, ...]:
    """Empty where a figure is not told."""
    allocated, growth = one.steady.level(ALLOCATED), one.growth
    return (
        size(allocated.peak),
        signed(allocated.added),
        signed(allocated.kept),
        size(one.steady.level(RESERVED).peak),
        size(one.steady.level(CARD).peak),
        size(one.outside),
        "" if growth is None else signed(growth.slope) if growth.leak else "0",
    )


def _marks(one: MemoryOf) -> Iterator[str]:
    if one.status != "ok":
        yield figures.printable(one.status.partition(":")[0])
    if one.leaks:
        yield "LEAK"
    if one.card is not None and one.card.contended:
        yield "contended"
    if one.emptied is not None:
        yield EMPTY_CACHE


# ---- what holds for several


def _shared(shown: Sequence[MemoryOf]) -> dict[str, str]:
    """What more than one of them has not, for the same reason."""
    counted = Counter(item for one in shown for item in reasons(one).items())
    return {name: reason for (name, reason), number in counted.items() if number > 1}


def _how(shown: Sequence[MemoryOf], style: Style) -> Iterator[str]:
    kinds = {each.kind for one in shown for each in advice(one)}
    for kind, text in HOW.items():
        if kind in kinds:
            yield from style.wrapped(text, f"{kind}: ")


def _footnotes(
    found: Sequence[MemoryOf],
    measured: Sequence[MemoryOf],
    shown: Sequence[MemoryOf],
    shared: Mapping[str, str],
    style: Style,
) -> Iterator[str]:
    yield from told_missing(shared, style, "not measured: ")
    for one in found:
        if not one.measured:
            reason = one.status if one.status != "ok" else "; ".join(dict.fromkeys(reasons(one).values()))
            text = figures.printable(f"{name_of(one)}: {reason or 'the evidence has no figures'}")
            yield from style.wrapped(text, "no figures: ")
    left = len(measured) - len(shown)
    if left:
        yield from style.wrapped(
            f"Not shown one by one: {figures.count(left, 'function')} (--all shows all, --bench REGEX chooses)."
        )
