"""Growth of a level over calls: exact where there is no noise, calibrated on seeded series where there is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from dcu_asv_ext.stats.growth import growth, increments, mean_above_zero, theil_sen

Array = npt.NDArray[np.float64]
Series = Callable[[np.random.Generator, int], Array]

LEAK = 1024.0
GRAIN = 512.0


def autocorrelated(rng: np.random.Generator, size: int, memory: float, spread: float) -> Array:
    """AR(1) from its stationary state, with standard deviation `spread`."""
    shocks = rng.normal(0, spread * np.sqrt(1 - memory**2), size)
    level, levels = rng.normal(0, spread), []
    for shock in shocks:
        level = memory * level + shock
        levels.append(level)
    return np.array(levels)


def saturating(rng: np.random.Generator, size: int) -> Array:
    noise = rng.normal(0, rng.choice([0.0, 1e3, 1e5]), size)
    return 2.0**20 * (1 - np.exp(-np.arange(size) / (size * rng.uniform(0.02, 0.4)))) + noise


def full_after_a_while(rng: np.random.Generator, size: int) -> Array:
    noise = rng.normal(0, rng.choice([0.0, 1e3]), size)
    return np.minimum(np.arange(size), size * rng.uniform(0.05, 0.6)) * LEAK + noise


def sawtooth(rng: np.random.Generator, size: int) -> Array:
    """A cache that is emptied whenever it is full; up to two teeth and a bit, or hundreds, from anywhere in one."""
    period = max(2, int(size * rng.uniform(0.01, 0.8)))
    noise = rng.normal(0, rng.choice([0.0, 1e3]), size)
    return (np.arange(size) + rng.integers(size)) % period * LEAK + noise


def steps(rng: np.random.Generator, size: int) -> Array:
    """A pool that grows a few times, at any moment, by anything from 512 B to 2 MiB."""
    calls = np.arange(size)
    total = np.zeros(size)
    for _ in range(rng.integers(1, 5)):
        total += (calls >= rng.integers(size)) * 2.0 ** rng.integers(9, 22)
    return total


STEADY: dict[str, Series] = {
    "white noise": lambda rng, size: rng.normal(0, 1e5, size),
    "autocorrelated, 0.5": lambda rng, size: autocorrelated(rng, size, 0.5, 1e5),
    "autocorrelated, 0.9": lambda rng, size: autocorrelated(rng, size, 0.9, 1e5),
    "autocorrelated, 0.98": lambda rng, size: autocorrelated(rng, size, 0.98, 1e5),
    "random walk": lambda rng, size: np.cumsum(rng.normal(0, 1e4, size)),
    "held for a while": lambda rng, size: 512.0 * rng.integers(0, 2000, size) * (rng.random(size) < 0.3),
    "saturating": saturating,
    "full after a while": full_after_a_while,
    "sawtooth": sawtooth,
    "steps": steps,
    "largest so far": lambda rng, size: np.maximum.accumulate(rng.exponential(1e6, size)),
    "doubling": lambda rng, size: 512 * 2.0 ** np.floor(np.log2(np.arange(size) + rng.integers(1, 50))),
}

LEAKING: dict[str, Series] = {
    "quiet": lambda rng, size: np.zeros(size),
    "white noise": lambda rng, size: rng.normal(0, 1e5, size),
    "autocorrelated, 0.9": lambda rng, size: autocorrelated(rng, size, 0.9, 3e4),
    "held for a while": lambda rng, size: 512.0 * rng.integers(0, 1000, size) * (rng.random(size) < 0.3),
    "a cache that filled at the start": lambda rng, size: np.minimum(np.arange(size) * 1e6, size * 1e5),
    "a small sawtooth": lambda rng, size: (np.arange(size) + rng.integers(size)) % 37 * 4096.0,
}


def in_blocks(series: Array) -> Array:
    """As an allocator counts: whole blocks, above some level."""
    return 512 * np.round(series / 512) + 2.0**24


@pytest.mark.parametrize("name", STEADY)
@pytest.mark.parametrize("size", [50, 200])
def test_false_alarms_are_at_most_one_in_a_hundred(name: str, size: int) -> None:
    rng = np.random.default_rng(11)
    named = sum(growth(in_blocks(STEADY[name](rng, size)), GRAIN).shown for _ in range(400))
    assert named <= 4


@pytest.mark.parametrize("name", LEAKING)
def test_a_leak_over_a_thousand_calls_is_found_with_its_slope(name: str) -> None:
    rng = np.random.default_rng(12)
    for _ in range(10):
        found = growth(in_blocks(np.arange(1000) * LEAK + LEAKING[name](rng, 1000)), GRAIN)
        assert found.shown, found
        assert found.slope == pytest.approx(LEAK, rel=0.1)
        assert found.p_value <= 0.001 and found.ci_low <= found.slope <= found.ci_high


def test_the_interval_covers_the_slope_as_often_as_it_says() -> None:
    rng = np.random.default_rng(13)
    inside = 0
    for _ in range(300):
        _, low, high = theil_sen(np.arange(100) * 3.0 + rng.normal(0, 20, 100))
        inside += low <= 3.0 <= high
    assert 0.92 <= inside / 300 <= 0.98


def test_autocorrelation_widens_the_interval() -> None:
    rng = np.random.default_rng(14)
    correlated = autocorrelated(rng, 200, 0.9, 1.0)
    shuffled = rng.permutation(correlated)
    _, low, high = theil_sen(correlated)
    _, narrow_low, narrow_high = theil_sen(shuffled)
    assert high - low > 1.5 * (narrow_high - narrow_low)


def test_exact_figures_of_a_line_and_of_a_constant() -> None:
    line = growth(7.0 + 3.0 * np.arange(40))
    assert (line.slope, line.ci_low, line.ci_high, line.p_value, line.shown) == (3.0, 3.0, 3.0, 0.0, True)
    flat = growth(np.full(40, 7.0))
    assert (flat.slope, flat.p_value, flat.shown, flat.reason) == (0.0, 1.0, False, "no growth")
    falling = growth(100.0 - np.arange(40))
    assert (falling.slope, falling.shown, falling.reason) == (-1.0, False, "no growth")


def test_a_third_of_the_points_may_be_spoilt() -> None:
    series = np.arange(100.0)
    series[::4] += 1e9
    assert theil_sen(series)[0] == pytest.approx(1.0)


def test_increments_are_per_call_also_where_blocks_are_of_unequal_length() -> None:
    assert increments(5.0 * np.arange(47)) == pytest.approx(np.full(9, 5.0))


def test_one_step_among_many_increments_is_no_drift() -> None:
    # t of a single one among zeros is exactly 1, whatever its size.
    assert mean_above_zero(np.array([0.0] * 8 + [1e9])) == pytest.approx(0.1733, abs=1e-4)
    assert mean_above_zero(np.ones(9)) == 0.0 and mean_above_zero(-np.ones(9)) == 1.0


def test_growth_within_the_granularity_is_none() -> None:
    series = np.arange(100) * 5.0
    assert growth(series, granularity=400.0).shown
    found = growth(series, granularity=500.0)
    assert not found.shown and "granularity" in found.reason


def test_growth_that_ended_is_none_and_the_reason_says_so() -> None:
    found = growth(np.minimum(np.arange(100), 60) * LEAK, GRAIN)
    assert not found.shown and found.slope > 0
    assert "later half" in found.reason or "wanders" in found.reason
    slowing = growth(1e6 * (1 - np.exp(-np.arange(200) / 80)), GRAIN)
    assert not slowing.shown and "later half" in slowing.reason


@pytest.mark.parametrize("bad", [[1.0] * 19, [], [[1.0] * 30], [1.0] * 30 + [float("nan")]])
def test_bad_input(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="level"):
        growth(bad)
