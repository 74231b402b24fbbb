"""Each function against a count of every nanosecond."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dcu_asv_ext.trace import intervals
from dcu_asv_ext.trace.model import Ints

Pair = tuple[Ints, Ints]
END = 60


def some(chance: random.Random, count: int) -> Pair:
    start = np.array([chance.randrange(END) for _ in range(count)], np.int64)
    return start, start + np.array([chance.choice((0, 1, 2, 5, 20)) for _ in range(count)], np.int64)


def depth(pair: Pair) -> list[int]:
    found = [0] * (END + 30)
    for start, end in zip(*pair, strict=True):
        for one in range(start, end):
            found[one] += 1
    return found


def covered(pair: Pair) -> list[bool]:
    return [one > 0 for one in depth(pair)]


def disjoint(pair: Pair) -> bool:
    """Sorted, none empty, none touching the next."""
    return bool((pair[1] > pair[0]).all() and (pair[0][1:] > pair[1][:-1]).all())


@pytest.mark.parametrize("seed", range(60))
def test_against_every_nanosecond(seed: int) -> None:
    chance = random.Random(seed)
    one, other = some(chance, seed % 12), some(chance, seed % 7)
    first, second = intervals.union(*one), intervals.union(*other)
    assert disjoint(first) and covered(first) == covered(one)
    assert intervals.length(*first) == sum(covered(one))
    both = intervals.intersection(first, second)
    assert disjoint(both)
    assert covered(both) == [a and b for a, b in zip(covered(one), covered(other), strict=True)]
    for count in (1, 2, 3):
        found = intervals.at_least(*one, count)
        assert disjoint(found) and covered(found) == [level >= count for level in depth(one)]
    if len(first[0]):
        inside = covered(first)[int(first[0][0]) : int(first[1][-1])]
        assert intervals.length(*intervals.gaps(*first)) == inside.count(False)


def test_intervals_that_touch_are_one() -> None:
    start, end = intervals.union(np.array([5, 0, 20]), np.array([10, 5, 30]))
    assert (start.tolist(), end.tolist()) == ([0, 20], [10, 30])
    assert intervals.at_least(np.array([0, 5]), np.array([5, 10]), 2)[0].tolist() == []
    assert intervals.at_least(np.array([0, 0, 5, 5]), np.array([5, 5, 9, 9]), 2)[0].tolist() == [0]
