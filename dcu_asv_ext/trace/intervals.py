"""Arithmetic of half-open intervals of whole nanoseconds, as arrays of starts and ends."""

from __future__ import annotations

import numpy as np

from .model import Ints


def union(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Starts and ends of the disjoint intervals that cover the same; empty ones are dropped."""
    some = end > start
    start, end = start[some], end[some]
    if not len(start):
        return start, end
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    first = np.concatenate(([True], start[1:] > end[:-1]))
    last = np.concatenate((first[1:], [True]))
    return start[first], end[last]


def length(start: Ints, end: Ints) -> int:
    """Of disjoint intervals."""
    return int((end - start).sum())


def intersection(a: tuple[Ints, Ints], b: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Of two sets of disjoint, sorted intervals."""
    starts, ends = [], []
    # For each interval of a, those of b that reach into it.
    low = np.searchsorted(b[1], a[0], side="right")
    high = np.searchsorted(b[0], a[1], side="left")
    count = np.maximum(high - low, 0)
    if not count.sum():
        return a[0][:0], a[1][:0]
    of_a = np.repeat(np.arange(len(a[0])), count)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    of_b = low[of_a] + within
    starts, ends = np.maximum(a[0][of_a], b[0][of_b]), np.minimum(a[1][of_a], b[1][of_b])
    some = ends > starts
    return starts[some], ends[some]


def gaps(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Between disjoint, sorted intervals."""
    return end[:-1], start[1:]


def at_least(start: Ints, end: Ints, count: int) -> tuple[Ints, Ints]:
    """Where at least `count` of the intervals overlap; disjoint and sorted."""
    times, at = np.unique(np.concatenate((start, end)), return_inverse=True)
    begun = np.bincount(at[: len(start)], minlength=len(times))
    ended = np.bincount(at[len(start) :], minlength=len(times))
    deep = np.cumsum(begun - ended) >= count
    before = np.concatenate(([False], deep[:-1]))
    return times[deep & ~before], times[~deep & before]
