from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from dcu_asv_ext.stats.point_interval import half_width

Noise = Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.float64]]

NOISES: dict[str, Noise] = {
    "normal": lambda random, shape: random.normal(size=shape),
    "student's t, 3": lambda random, shape: random.standard_t(3, size=shape),
    "laplace": lambda random, shape: random.laplace(size=shape),
}


def h_of(rounds: NDArray[np.float64], points: bool = False) -> float:
    """rounds: (points, rounds)."""
    found = half_width(rounds.ravel(), np.full(len(rounds), rounds.shape[1]), points=points)
    assert found is not None
    return found


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("rounds", [2, 3, 5, 10])
@pytest.mark.parametrize("points", [2, 20])
def test_it_covers_the_level(noise: str, rounds: int, points: int) -> None:
    """A history on which the level moves all the time; the intervals of all its points are counted."""
    random = np.random.default_rng([rounds, points, len(noise)])
    histories = 3000 // points
    inside = 0
    for _ in range(histories):
        level = random.uniform(-1, 1, (points, 1))
        logs = level + 0.02 * NOISES[noise](random, (points, rounds))
        h = h_of(np.exp(logs))
        inside += int((np.abs(np.median(logs, axis=1) - level[:, 0]) <= h / math.sqrt(rounds)).sum())
    assert 0.93 <= inside / (histories * points) <= 0.995


def test_it_is_not_much_wider_than_the_noise_is() -> None:
    """1.96 standard errors of a median of five."""
    random = np.random.default_rng(1)
    h = h_of(np.exp(0.01 * random.normal(size=(500, 5))))
    assert h == pytest.approx(1.96 * 1.1976 * 0.01, rel=0.05)


def test_points_of_different_numbers_of_rounds_speak_together() -> None:
    random = np.random.default_rng(2)
    counts = random.integers(1, 8, 400)
    h = half_width(np.exp(0.01 * random.normal(size=counts.sum())), counts)
    assert h == pytest.approx(1.96 * 1.2137 * 0.01, rel=0.08)


@pytest.mark.parametrize(("points", "rounds", "most"), [(5, 2, 1.3), (30, 2, 1.05), (30, 5, 1.05)])
def test_a_busy_day_does_not_widen_the_others(points: int, rounds: int, most: float) -> None:
    random = np.random.default_rng(3)
    logs = 0.01 * random.normal(size=(points, rounds))
    quiet = h_of(np.exp(logs))
    logs[2] = np.arange(rounds)
    assert h_of(np.exp(logs)) < most * quiet


def test_a_lucky_commit_does_not_narrow_the_others() -> None:
    random = np.random.default_rng(4)
    logs = 0.01 * random.normal(size=(10, 3))
    others = h_of(np.exp(np.delete(logs, 5, axis=0)))
    logs[5] = logs[5, 0]
    assert h_of(np.exp(logs)) > 0.9 * others


def test_two_rounds_alone_say_little() -> None:
    """Student's t of one degree of freedom."""
    assert h_of(np.exp([[0.0, 0.02]])) == pytest.approx(12.706 * 0.02 / math.sqrt(2), rel=0.02)


def test_of_shares_it_is_in_points() -> None:
    random = np.random.default_rng(5)
    shares = 0.2 + 0.01 * random.normal(size=(200, 3))
    shares[0, 0] = -0.001
    assert h_of(shares, points=True) == pytest.approx(1.96 * 1.16 * 0.01, rel=0.1)


@pytest.mark.parametrize(
    ("levels", "counts"),
    [
        ([1.0, 2.0, 3.0], [1, 1, 1]),  # single rounds
        ([5.0, 5.0, 6.0, 6.0], [2, 2]),  # exact values
        ([0.0, 1.0, 2.0, 3.0], [2, 2]),  # no logarithm
        ([-1.0, 1.0, 2.0, 3.0], [2, 2]),
    ],
)
def test_where_nothing_tells_a_spread_there_is_none(levels: list[float], counts: list[int]) -> None:
    assert half_width(np.array(levels), np.array(counts)) is None


def test_one_that_varied_among_many_that_never_do_tells_nothing_of_them() -> None:
    rounds = np.full((200, 3), 8.0)
    rounds[7, 1] = 9.0
    assert half_width(rounds.ravel(), np.full(200, 3)) is None


def test_a_clock_that_mostly_shows_the_same_still_tells() -> None:
    """Three of five points show no difference between their rounds."""
    random = np.random.default_rng(6)
    rounds = 100 + (random.random((200, 2)) < 0.25)
    h = h_of(rounds.astype(np.float64))
    assert 0.005 < h < 0.03
