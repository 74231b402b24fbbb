"""Stretches of time by kind, and how much of a window each kind took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Span:
    """Seconds of one clock."""

    kind: str
    begin: float
    end: float


def shares(spans: Iterable[Span], begin: float, end: float) -> dict[str, float]:
    """kind -> seconds of the window, each instant given to the innermost span that was open: the one that was opened
    last. So the shares of nested spans, and of several threads, add up to no more than the window.
    """
    inside = sorted(
        (Span(one.kind, max(one.begin, begin), min(one.end, end)) for one in spans),
        key=lambda one: (one.begin, -one.end),
    )
    inside = [one for one in inside if one.end > one.begin]
    edges = sorted({edge for one in inside for edge in (one.begin, one.end)})
    found: dict[str, float] = defaultdict(float)
    open_spans: list[Span] = []
    opened = 0
    for left, right in pairwise(edges):
        while opened < len(inside) and inside[opened].begin <= left:
            open_spans.append(inside[opened])
            opened += 1
        open_spans = [one for one in open_spans if one.end > left]
        if open_spans:
            found[open_spans[-1].kind] += right - left
    return dict(found)
