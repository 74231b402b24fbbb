"""Rounds of many shapes become log medians, together where they are alike, whatever lies between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.stats import Comparison, reducing
from dcu_asv_ext.stats.reducing import Options, Sides, reduce
from dcu_asv_ext.stats.rounds import levels, read_rounds

from .simulated_rounds import rounds

GOOD = [[1.0, 1.1, 1.2], [1.05, 1.0, 0.9]]


def options(count: int, *, exact: bool = False, points: bool = False, paired: bool = False) -> Options:
    each = [0.01] * count, [0.05] * count, ["lower"] * count
    return Options(*each, [paired] * count, [exact] * count, [points] * count, [False] * count, [()] * count)


def reduced(given: list[Any], **settings: bool) -> tuple[dict[int, Sides], list[Comparison | None]]:
    rows: list[Comparison | None] = [None] * len(given)
    return reduce(given, options(len(given), **settings), rows), rows


def shapes(seed: int, count: int) -> list[tuple[Any, Any]]:
    """Pairs of many shapes; every fifth has rounds of unequal length."""
    rng = np.random.default_rng(seed)
    found: list[tuple[Any, Any]] = []
    for k in range(count):
        before, after = (
            rounds(rng, 1, (int(rng.integers(1, 4)), int(rng.integers(1, 5))))[0].tolist() for _ in range(2)
        )
        found.append(([*before, [1.0] * 7] if k % 5 == 0 else before, after))
    return found


def test_every_pair_has_its_own_figures() -> None:
    given = shapes(1, 120)
    found, rows = reduced(given)
    assert list(found) == list(range(120)) and rows == [None] * 120
    for side, (before, after) in zip(found.values(), given, strict=True):
        a, b = (levels(read_rounds(one, "")) for one in (before, after))
        np.testing.assert_allclose(side.before, np.log(a.medians), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(side.after, np.log(b.medians), rtol=1e-12, atol=1e-15)
        assert side.samples == min(a.samples, b.samples)
        assert side.sampling == pytest.approx((a.sampling + b.sampling) / 2, abs=1e-15)


def test_pairs_of_one_shape_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred alike, beside one with a hole and one of unequal rounds, these two alone are read one by one."""
    alone: list[Any] = []
    kept = reducing.read_rounds
    monkeypatch.setattr(reducing, "read_rounds", lambda given, what: alone.append(given) or kept(given, what))
    made = rounds(np.random.default_rng(2), 200, (2, 3)).tolist()
    given = [
        *zip(made[::2], made[1::2], strict=True),
        (GOOD, [[1.0, np.nan, 1.0]] * 2),
        (GOOD, [[1.0], [1.0, 2.0]]),
    ]
    found, rows = reduced(given)
    assert list(found) == [*range(100), 101]
    assert len(alone) == 4
    assert rows[100] is not None and rows[100].reason == "after: round 1 holds a sample that is not a number"


@pytest.mark.parametrize("beside", [[], [(GOOD, GOOD)], [(GOOD, [[1.0], [1.0, 2.0]])]])
def test_exact_figures_are_answered_at_once(beside: list[Any]) -> None:
    five, six, varying = [[5] * 3] * 2, [[6] * 3] * 2, [[5, 5, 5], [5, 6, 5]]
    given = [(five, six), (five, five), (five, varying), (varying, five), *beside]
    found, rows = reduced(given, exact=True)
    assert [row.verdict for row in rows[:2] if row] == ["regression", "no change"]
    # What varies is noisy, whatever it was declared.
    assert list(found) == list(range(2, len(given)))


def test_exact_figures_that_are_zero_are_exact() -> None:
    _, rows = reduced([([[0, 0]], [[0, 0]]), ([[0, 0]], [[1, 1]])], exact=True)
    assert [(row.verdict, row.spread) for row in rows if row] == [("no change", 0.0), ("regression", 0.0)]


def test_zeros_and_bad_pairs_leave_the_others_alone() -> None:
    zero, bad = ([[0.0] * 3] * 2, GOOD), (GOOD, [[-1.0] * 3] * 2)
    found, rows = reduced([(GOOD, GOOD), zero, (GOOD, GOOD), bad, None, (GOOD, GOOD)])
    assert list(found) == [0, 2, 5]
    assert [None if row is None else row.verdict for row in rows] == [
        None, "regression", None, "not comparable", "not comparable", None,
    ]  # fmt: skip


def test_paired_pairs_of_unequal_rounds() -> None:
    found, rows = reduced([(GOOD, GOOD[:1]), (GOOD, GOOD)], paired=True)
    assert (
        list(found) == [1] and rows[0] is not None and "as many on both sides, not 2 and 1" in rows[0].reason
    )
    assert list(reduced([(GOOD, GOOD[:1]), (GOOD, GOOD)])[0]) == [0, 1]


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.uint8])
def test_arrays_of_other_numbers(kind: Any) -> None:
    found, _ = reduced([(np.array([[1, 2, 3]], dtype=kind), np.array([[2, 2, 2]], dtype=kind))] * 2)
    assert found[1].before == pytest.approx([np.log(2)]) and found[1].before.dtype == np.float64


def test_text_among_numbers_of_one_shape() -> None:
    """numpy would read all of them as text."""
    found, rows = reduced([(GOOD, GOOD), ([["1", "2", "3"]] * 2, GOOD)])
    assert list(found) == [0]
    assert rows[1] is not None and rows[1].reason == "before: round 1 is no sequence of numbers"
