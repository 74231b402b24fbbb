"""Steady state: noise is not cut, warm-up is, and what never settles says so."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.stats.levels import Array
from dcu_asv_ext.stats.steady import (
    NEVER,
    SLOWDOWN,
    STEADY,
    UNKNOWN,
    WARM_UP,
    Segment,
    steady_samples,
    steady_state,
)

MS = 1e-3


def times(logs: Array) -> list[float]:
    return (MS * np.exp(logs)).tolist()


def normal(rng: np.random.Generator, n: int, sd: float = 0.02) -> Array:
    return rng.normal(0.0, sd, n)


def autocorrelated(rng: np.random.Generator, n: int, rho: float, sd: float = 0.03) -> Array:
    values = np.empty(n)
    last = rng.normal(0.0, sd)
    for i in range(n):
        last = rho * last + rng.normal(0.0, sd * math.sqrt(1 - rho**2))
        values[i] = last
    return values


def with_pauses(rng: np.random.Generator, n: int) -> Array:
    return normal(rng, n) + np.where(rng.random(n) < 0.05, rng.exponential(0.3, n), 0.0)


def one_in_eight(rng: np.random.Generator, n: int) -> Array:
    return normal(rng, n) + 0.3 * ((np.arange(n) + rng.integers(8)) % 8 == 0)


def two_levels(rng: np.random.Generator, n: int) -> Array:
    return normal(rng, n, 0.01) + 0.2 * (rng.random(n) < 0.4)


def coarse_clock(rng: np.random.Generator, n: int) -> Array:
    return np.log(1.0 + (rng.random(n) < 0.3))


@pytest.mark.parametrize(
    ("noise", "most_unsteady"),
    [
        (normal, 1),
        (lambda rng, n: normal(rng, n, 0.2), 1),
        (lambda rng, n: autocorrelated(rng, n, 0.3), 4),
        (lambda rng, n: autocorrelated(rng, n, 0.6), 9),
        (with_pauses, 6),
        (one_in_eight, 0),
        (two_levels, 2),
        (coarse_clock, 2),
    ],
)
def test_steady_noise_is_not_cut(
    noise: Callable[[np.random.Generator, int], Array], most_unsteady: int
) -> None:
    rng = np.random.default_rng(11)
    kinds = [steady_state(times(noise(rng, 50))).kind for _ in range(300)]
    assert 300 - kinds.count(STEADY) <= most_unsteady


def test_a_plain_alternation_is_steady() -> None:
    state = steady_state([1.0, 1.5] * 20)
    assert (state.start, state.kind, state.cut) == (0, STEADY, 0)


@pytest.mark.parametrize("count", [5, 8, 20, 1000])
def test_equal_times_are_steady(count: int) -> None:
    state = steady_state([0.002] * count)
    assert (state.start, state.kind, state.cut, state.level) == (0, STEADY, 0, pytest.approx(0.002))
    assert state.segments == (Segment(0, count, pytest.approx(0.002)),)
    assert state.reason == f"all {count} samples hold 2 ms"


@pytest.mark.parametrize("slow", [1, 2, 3, 7])
@pytest.mark.parametrize("factor", [1.3, 2.0, 100.0])
def test_slow_first_calls_are_cut_exactly(slow: int, factor: float) -> None:
    rng = np.random.default_rng(3)
    logs = normal(rng, 40, 0.01)
    logs[:slow] += math.log(factor)
    state = steady_state(times(logs))
    assert (state.start, state.kind, state.cut) == (slow, WARM_UP, slow)
    assert state.level == pytest.approx(MS, rel=0.01)


def test_a_slow_first_call_of_five_is_cut() -> None:
    state = steady_state([0.02, 0.00201, 0.002, 0.00199, 0.002])
    assert (state.start, state.kind) == (1, WARM_UP)
    assert state.reason == "2 ms from sample 2 of 5 on, -90.0% against the 20 ms of sample 1"


def test_a_decay_is_cut_about_where_it_meets_the_noise() -> None:
    rng = np.random.default_rng(5)
    logs = 1.0 * np.exp(-np.arange(100) / 6)
    met = int(np.argmax(logs < 0.02))
    starts = [steady_state(times(logs + normal(rng, 100))).start for _ in range(100)]
    assert sum(start is not None and abs(start - met) <= 10 for start in starts) >= 95


def test_a_clock_that_ramps_up_is_cut() -> None:
    rng = np.random.default_rng(6)
    logs = 0.3 * np.clip(1 - np.arange(100) / 30, 0, None)
    states = [steady_state(times(logs + normal(rng, 100))) for _ in range(100)]
    assert sum(state.kind == WARM_UP for state in states) >= 97
    assert all(abs(state.start - 28) <= 8 for state in states if state.start)


def test_a_clock_that_throttles_is_a_slowdown() -> None:
    rng = np.random.default_rng(7)
    logs = normal(rng, 60) + np.where(np.arange(60) < 20, 0.0, 0.15)
    state = steady_state(times(logs))
    assert (state.start, state.kind, state.cut) == (20, SLOWDOWN, 20)
    assert state.level == pytest.approx(MS * math.exp(0.15), rel=0.02)
    assert [(s.start, s.stop) for s in state.segments] == [(0, 20), (20, 60)]
    assert state.reason == "1.16 ms from sample 21 of 60 on, +16.9% against the 993 us of samples 1 to 20"


def test_a_pause_at_the_end_does_not_make_a_slowdown() -> None:
    logs = normal(np.random.default_rng(18), 180, 0.03)
    logs[:12] += 1.0
    logs[165:] += 1.5
    state = steady_state(times(logs))
    assert (state.start, state.kind) == (12, WARM_UP)
    assert state.reason.endswith("samples 1 to 12, but for 15 samples at another level for a short while")


def test_one_fast_first_call_is_noise() -> None:
    state = steady_state([0.5, *[1.0] * 30])
    assert (state.start, state.kind) == (0, STEADY)


def test_faster_than_the_first_calls_but_slower_than_once_is_a_slowdown() -> None:
    logs = np.repeat([0.8, 0.0, 0.2], [10, 10, 40]) + normal(np.random.default_rng(8), 60, 0.005)
    state = steady_state(times(logs))
    assert (state.start, state.kind) == (20, SLOWDOWN)
    assert len(state.segments) == 3


@pytest.mark.parametrize("size", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("sd", [0.002, 0.01])
def test_a_drift_is_never_steady(size: float, sign: int, sd: float) -> None:
    logs = sign * size * np.arange(50) / 50 + normal(np.random.default_rng(9), 50, sd)
    state = steady_state(times(logs))
    assert (state.start, state.kind, state.level, state.cut) == (None, NEVER, None, 0)


def test_a_drift_says_its_size() -> None:
    state = steady_state([1.0 + 0.1 * i / 29 for i in range(30)])
    assert (
        state.reason
        == "the sequence drifts: its last third is at 1.08 s, +6.8% against the 1.02 s of its first"
    )


def test_a_late_jump_is_never_steady_unless_the_share_allows_it() -> None:
    logs = normal(np.random.default_rng(10), 100) + np.where(np.arange(100) < 70, 0.0, 0.2)
    state = steady_state(times(logs))
    assert (state.start, state.kind) == (None, NEVER)
    assert state.reason == (
        "the last level, 1.22 ms, holds only 30 of the 100 samples, less than the 50% that a steady state needs"
    )
    assert steady_state(times(logs), share=0.3).start == 70


@pytest.mark.parametrize(("start", "stop"), [(70, 78), (92, 100)])
def test_a_short_interruption_is_not_a_new_level(start: int, stop: int) -> None:
    logs = normal(np.random.default_rng(12), 100, 0.01)
    logs[start:stop] += 0.5
    state = steady_state(times(logs))
    assert (state.start, state.kind) == (0, STEADY)
    assert state.level == pytest.approx(MS, rel=0.01)
    assert state.reason == "all 100 samples hold 1 ms, but for 8 samples at another level for a short while"
    assert (start, stop) in [(s.start, s.stop) for s in state.segments]


def test_a_level_that_comes_and_goes_for_a_third_is_never_steady() -> None:
    logs = np.repeat([0.0, 0.2, 0.0], 20) + normal(np.random.default_rng(17), 60, 0.01)
    state = steady_state(times(logs))
    assert state.kind == NEVER
    assert [(s.start, s.stop) for s in state.segments] == [(0, 20), (20, 40), (40, 60)]


def test_a_change_within_the_tolerance_is_none() -> None:
    logs = normal(np.random.default_rng(13), 200, 0.002) + np.where(np.arange(200) < 60, 0.015, 0.0)
    assert steady_state(times(logs)).kind == STEADY
    assert steady_state(times(logs), tolerance=0.005).start == 60


def test_only_timed_samples_count_for_the_share() -> None:
    warm = times(normal(np.random.default_rng(14), 34, 0.01))
    timed = times(0.5 + normal(np.random.default_rng(15), 8, 0.01))
    assert steady_state(warm + timed).kind == NEVER
    state = steady_state(warm + timed, warm_up=34)
    assert (state.start, state.kind) == (34, SLOWDOWN)
    kept, _ = steady_samples(warm + timed, warm_up=34)
    assert kept == pytest.approx(timed)


def test_few_timed_samples_after_a_long_warm_up_are_no_pause() -> None:
    logs = normal(np.random.default_rng(19), 210, 0.01)
    logs[200:] += 0.3
    assert steady_state(times(logs)).kind == STEADY
    state = steady_state(times(logs), warm_up=200)
    assert (state.start, state.kind) == (200, SLOWDOWN)


def test_steady_samples_never_returns_warm_up_calls() -> None:
    kept, state = steady_samples([0.002] * 30, warm_up=20)
    assert state.start == 0
    assert len(kept) == 10


def test_steady_samples_cuts_nothing_where_there_is_no_steady_state() -> None:
    drifting = [1.0 + 0.01 * i for i in range(40)]
    kept, state = steady_samples(drifting)
    assert state.kind == NEVER
    assert kept == pytest.approx(drifting)


def test_entries_without_a_time_are_left_out_and_places_stay() -> None:
    values = [None, 0.03, 0.03, math.nan, 0.03, *[0.002] * 10, math.inf, 0.0, *[0.002] * 10]
    kept, state = steady_samples(values)
    assert (state.start, state.kind, state.cut) == (5, WARM_UP, 3)
    assert state.reason.endswith("(4 of 27 entries without a time left out)")
    assert kept == pytest.approx([0.002] * 20)


@pytest.mark.parametrize(
    ("values", "level", "reason"),
    [
        ([0.1], 0.1, "1 measured time is too few to tell (5 are needed)"),
        ([0.1, 5.0, 0.2, 0.1], 0.15, "4 measured times are too few to tell (5 are needed)"),
        (
            [None, math.nan],
            None,
            "no measured times are too few to tell (5 are needed) (2 of 2 entries without a time left out)",
        ),
    ],
)
def test_too_few_times_cannot_tell_and_cut_nothing(
    values: list[float | None], level: float | None, reason: str
) -> None:
    kept, state = steady_samples(values)
    assert (state.start, state.kind, state.cut, state.segments) == (0, UNKNOWN, 0, ())
    assert state.level == (None if level is None else pytest.approx(level))
    assert state.reason == reason
    assert len(kept) == sum(value is not None and math.isfinite(value) for value in values)


def test_the_unit_does_not_matter() -> None:
    logs = normal(np.random.default_rng(16), 50) + np.where(np.arange(50) < 9, 0.4, 0.0)
    starts = {steady_state((scale * np.exp(logs)).tolist()).start for scale in (1e-9, 1e-3, 1e3)}
    assert starts == {9}


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, "at least one time"),
        ([[1.0, 2.0]], {}, "plain sequence"),
        (["fast", 1.0], {}, "times must be numbers of seconds"),
        ([1.0, -2.0, 1.0], {}, r"time 2 of 3 is negative \(-2 s\)"),
        ([1.0] * 9, {"tolerance": 0.0}, "tolerance must lie between 0 and 1"),
        ([1.0] * 9, {"significance": 1.0}, "significance must lie between 0 and 1"),
        ([1.0] * 9, {"share": -0.5}, "share must lie between 0 and 1"),
        ([1.0] * 9, {"warm_up": 10}, "between 0 and the 9 entries"),
    ],
)
def test_bad_input_is_one_sentence(values: list[Any], options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        steady_state(values, **options)  # type: ignore[arg-type]
