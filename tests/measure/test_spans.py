"""Whose time it was: exact on whole numbers."""

from __future__ import annotations

import random

import pytest

from dcu_asv_ext.measure.spans import Span, shares


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], {}),
        ([("a", 2, 5)], {"a": 3}),
        ([("a", 2, 5), ("a", 6, 8)], {"a": 5}),
        # The inner one's time is its own, whether it lies inside, at the beginning or at the end.
        ([("a", 1, 9), ("b", 3, 5)], {"a": 6, "b": 2}),
        ([("b", 1, 3), ("a", 1, 9)], {"a": 6, "b": 2}),
        ([("a", 1, 9), ("b", 7, 9)], {"a": 6, "b": 2}),
        ([("a", 1, 9), ("b", 2, 8), ("c", 3, 4), ("b", 5, 6)], {"a": 2, "b": 5, "c": 1}),
        # Of two threads the later one; nothing is counted twice.
        ([("a", 1, 5), ("b", 3, 8)], {"a": 2, "b": 5}),
        # Only what lies in the window from 0 to 10.
        ([("a", -5, 2), ("b", 9, 99), ("c", 20, 30), ("c", 4, 4)], {"a": 2, "b": 1}),
    ],
)
def test_each_instant_is_the_innermost_s(spans: list[tuple[str, int, int]], expected: dict[str, int]) -> None:
    assert shares([Span(*one) for one in spans], 0, 10) == expected
    assert shares([Span(*one) for one in reversed(spans)], 0, 10) == expected


def test_shares_add_up_to_the_time_that_anything_was_open() -> None:
    chance = random.Random(7)
    for _ in range(200):
        spans = []
        for _ in range(chance.randrange(1, 12)):
            begin = chance.randrange(100)
            spans.append(Span(chance.choice("abc"), begin, begin + chance.randrange(1, 30)))
        instants = {second for one in spans for second in range(int(one.begin), int(one.end)) if second < 90}
        assert sum(shares(spans, 0, 90).values()) == len(instants)
