"""Steps are found, and what is not a step is not."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from dcu_asv_ext.stats.changes import ChangePoint, History, change_points

from .histories import noisy, stepped


def indices(found: list[ChangePoint]) -> list[int]:
    return [point.index for point in found]


def test_a_step_without_noise() -> None:
    (point,) = change_points([1.0] * 10 + [1.1] * 10)
    assert (point.index, point.first, point.last, point.pending) == (10, 10, 10, False)
    assert (point.before, point.after) == (pytest.approx(1.0), pytest.approx(1.1))
    assert point.ci_low <= 1.1 <= point.ci_high
    assert point.ratio == point.after / point.before == pytest.approx(1.1)
    assert point.verdict == "regression"
    assert point.p_value < 1e-6


def test_direction() -> None:
    up, down = [1.0] * 10 + [1.1] * 10, [1.1] * 10 + [1.0] * 10
    assert [change_points(v)[0].verdict for v in (up, down)] == ["regression", "improvement"]
    assert [change_points(v, direction="higher")[0].verdict for v in (up, down)] == [
        "improvement",
        "regression",
    ]


@pytest.mark.parametrize("kind", ["normal", "spikes", "correlated .3"])
def test_steps_of_four_sigma_are_found(kind: str) -> None:
    truth = [60, 140, 230]
    extra = 0
    for seed in range(10):
        found = change_points(stepped(noisy(kind, 300, seed), truth, [0.08, -0.08, 0.08]))
        assert all(any(abs(index - at) <= 3 for index in indices(found)) for at in truth), seed
        extra += len(found) - len(truth)
    assert extra <= 2


@pytest.mark.parametrize("kind", ["normal", "spikes", "correlated .3", "correlated .6", "bimodal", "drift"])
def test_no_step_no_change_point(kind: str) -> None:
    false = sum(len(change_points(noisy(kind, 300, seed))) for seed in range(20))
    assert false <= 3, f"{false} in 6000 values"


def test_a_machine_that_goes_to_and_fro_between_two_states() -> None:
    fro = stepped(noisy("normal", 200, 2, noise=0.01), range(20, 200, 20), [0.08, -0.08] * 4 + [0.08])
    assert change_points(fro) == []
    once = stepped(noisy("normal", 200, 2, noise=0.01), [60, 120], [0.08, -0.08])
    assert indices(change_points(once)) == [60, 120]


def test_steps_on_the_way_up_are_no_drift() -> None:
    truth = [40, 80, 120, 160]
    found = indices(change_points(stepped(noisy("normal", 200, 6, noise=0.01), truth, [0.05] * 4)))
    assert len(found) == 4
    assert all(abs(index - at) <= 1 for index, at in zip(found, truth, strict=True))


def test_a_step_in_a_machine_of_many_outliers() -> None:
    rng = np.random.default_rng(8)
    values = stepped(noisy("normal", 60, 8, noise=0.005), [30], [0.1])
    values[rng.random(60) < 0.25] *= 1.6
    (point,) = change_points(values)
    assert abs(point.index - 30) <= 1
    assert point.ci_low <= math.exp(0.1) <= point.ci_high
    assert point.ratio == pytest.approx(math.exp(0.1), rel=0.02)


def test_a_step_beside_a_spike() -> None:
    values = stepped(noisy("normal", 60, 4, noise=0.005), [30], [0.1])
    values[31:33] *= 2.0
    assert indices(change_points(values)) == [30]
    values = stepped(noisy("normal", 45, 4, noise=0.005), [40], [0.1])
    values[40] *= 2.0
    assert indices(change_points(values)) == [40]


def test_a_step_is_placed_where_it_is_though_the_machine_shifted_before() -> None:
    values = stepped(noisy("normal", 34, 7, noise=0.0002), [19, 26], [0.003, 0.1])
    assert indices(change_points(values)) == [26]


def test_the_interval_covers_the_ratio() -> None:
    covered = 0
    for seed in range(200):
        (point,) = change_points(stepped(noisy("normal", 100, seed), [50], [0.1]))
        covered += point.ci_low <= math.exp(0.1) <= point.ci_high
    assert 180 <= covered <= 199


def test_the_range_of_commits_covers_the_change() -> None:
    covered = []
    for seed in range(200):
        for point in change_points(stepped(noisy("normal", 100, seed), [50], [0.04])):
            assert point.first <= point.index <= point.last
            covered.append(point.first <= 50 <= point.last)
    assert len(covered) >= 195
    assert np.mean(covered) >= 0.92


def test_unmeasured_commits_widen_the_range() -> None:
    values: list[float | None] = [1.0] * 10 + [None, math.nan, None] + [1.5] * 10
    (point,) = change_points(values)
    assert (point.index, point.first, point.last) == (13, 10, 13)
    everywhere = [None if index % 2 else value for index, value in enumerate([1.0] * 20 + [1.5] * 20)]
    (point,) = change_points(everywhere)
    assert (point.index, point.first, point.last) == (20, 19, 20)


def test_changes_smaller_than_the_margin_are_not_reported() -> None:
    values = stepped(noisy("normal", 200, 1, noise=0.001), [100], [0.008])
    assert change_points(values) == []
    assert indices(change_points(values, margin=0.002)) == [100]


def test_spikes_are_no_change() -> None:
    values = noisy("normal", 100, 3, noise=0.01)
    values[50] *= 3.0
    values[70:73] *= 2.0
    values[-1] *= 5.0
    assert change_points(values) == []


@pytest.mark.parametrize(("before", "after"), [(5, 5), (5, 7), (7, 5), (5, 3), (20, 2)])
def test_a_step_among_too_few_values_is_pending_where_it_is(before: int, after: int) -> None:
    """Not where the last values begin that are fewer than a segment."""
    for seed in range(5):
        values = noisy("normal", before + after, seed, noise=0.002)
        values[before:] *= 1.25
        (point,) = change_points(values, include_pending=True)
        assert (point.index, point.first, point.last, point.pending) == (before, before, before, True)
        assert f"{after} " in point.reason and "to believe it" in point.reason


def test_a_step_that_the_tests_refused_is_not_pending_later_on() -> None:
    """A slow drift is no step, and its last values are none either."""
    drift = noisy("normal", 60, 1, noise=0.002) * (1.0 + 0.004 * np.maximum(np.arange(60) - 20, 0))
    for end in range(40, 60):
        assert all(
            not one.pending or end - one.index < 5 for one in change_points(drift[:end], include_pending=True)
        )


def test_few_values_after_a_step_are_pending() -> None:
    steady = list(noisy("normal", 40, 5, noise=0.01))
    for follow in range(1, 5):
        values = steady + [1.2] * follow
        assert change_points(values) == []
        (point,) = change_points(values, include_pending=True)
        assert (point.index, point.pending, point.verdict) == (40, True, "regression")
        assert point.ci_low < 1.2 < point.ci_high
        assert f"{follow} of 5" in point.reason
    (point,) = change_points(steady + [1.2] * 5, include_pending=True)
    assert (point.index, point.pending) == (40, False)
    assert change_points(steady + [1.2, 1.0], include_pending=True) == []


def test_exact_metrics_change_at_every_difference() -> None:
    values = [4096, 4096, None, 4100, 4096, 4096, 0, 0, 512]
    found = change_points(values, exact=True)
    assert [(point.index, point.first, point.last) for point in found] == [
        (3, 2, 3),
        (4, 4, 4),
        (6, 6, 6),
        (8, 8, 8),
    ]
    assert [point.ratio for point in found] == [4100 / 4096, 4096 / 4100, 0.0, math.inf]
    assert all(point.ci_low == point.ci_high == point.ratio and not point.pending for point in found)
    assert [point.verdict for point in found] == ["regression", "improvement", "improvement", "regression"]
    assert change_points([8] * 100, exact=True) == []


def test_zeros() -> None:
    assert change_points([0.0] * 100) == []
    (point,) = change_points([0.0] * 10 + [2.0] * 10)
    assert (point.index, point.before, point.after, point.ratio) == (10, 0.0, pytest.approx(2.0), math.inf)
    (point,) = change_points([2.0] * 10 + [0.0] * 10)
    assert (point.index, point.after, point.ratio, point.verdict) == (10, 0.0, 0.0, "improvement")
    values = noisy("normal", 60, 2)
    values[30] = 0.0
    assert change_points(values) == []


@pytest.mark.parametrize(
    "values", [[], [1.0], [1.0, 2.0], [None], [None] * 50, [math.nan, 3.0], [5.0] * 1000]
)
def test_too_short_or_constant(values: list[float | None]) -> None:
    assert change_points(values, include_pending=len(values) != 2) == []


@pytest.mark.parametrize("bad", [-1.0, math.inf, -math.inf])
def test_values_that_no_measurement_has(bad: float) -> None:
    with pytest.raises(ValueError, match="value 2 of the history"):
        change_points([1.0, 1.0, bad])


@pytest.mark.parametrize(
    ("option", "value"),
    [("direction", "up"), ("margin", -0.1), ("margin", math.nan), ("alpha", 0.0), ("min_segment", 2)],
)
def test_options_that_mean_nothing(option: str, value: object) -> None:
    with pytest.raises(ValueError, match=option):
        change_points([1.0], **{option: value})


def test_a_long_history() -> None:
    truth = list(range(200, 10_000, 200))
    sizes = [0.08 if index % 3 else -0.12 for index in range(len(truth))]
    found = indices(change_points(stepped(noisy("normal", 10_000, 11), truth, sizes)))
    hit = sum(any(abs(at - index) <= 3 for index in found) for at in truth)
    assert hit >= 48
    assert len(found) - hit <= 2


@pytest.mark.parametrize("kind", ["normal", "spikes", "correlated .6", "bimodal", "sticky"])
def test_appending_equals_starting_again(kind: str) -> None:
    rng = np.random.default_rng(5)
    values = stepped(noisy(kind, 260, 9), [50, 90, 97, 160, 163, 220], rng.normal(0.0, 0.15, 6))
    values[rng.random(len(values)) < 0.1] = np.nan
    history = History(include_pending=True)
    assert history.points == []
    for index, value in enumerate(values):
        history.append(value)
        if index % 7 == 0 or index > 240:
            assert history.points == change_points(values[: index + 1], include_pending=True)
    assert len(history) == 260
    assert len(history.points) >= 3


def test_appending_many_at_once_equals_starting_again() -> None:
    values = stepped(noisy("normal", 1200, 4), [300, 700, 1100], [0.1, -0.05, 0.1])
    history = History(values[:500])
    assert len(history.points) == 1
    for value in values[500:]:
        history.append(value)
    assert history.points == change_points(values)
    assert len(history.points) == 3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["normal", "bimodal", "drift"])
@pytest.mark.parametrize("points", [False, True])
def test_going_on_from_what_was_kept_equals_starting_again(kind: str, points: bool) -> None:
    values: list[float | None] = list(stepped(noisy(kind, 400, 5), [90, 300], [0.1, -0.15]))
    values[40] = values[360] = None
    kept, known = None, 0
    for count in (8, 9, 30, 200, 305, 330, 399, 400):
        history = History(values[:known], points=points, include_pending=True)
        if kept is not None:
            history.resume(json.loads(kept))
        for value in values[known:count]:
            history.append(value)
        again = History(values[:count], points=points, include_pending=True)
        assert repr(history.points) == repr(again.points)
        kept, known = json.dumps(history.kept()), count
    assert len(history.points) > 0
    assert len(kept) < 1.5 * len(json.dumps(again.kept()))


@pytest.mark.parametrize("seed", range(12))
def test_any_values_give_well_formed_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 1e-300, 1e-9, 1.0, 1e300], 80, p=rng.dirichlet(np.full(5, 0.3)))
    values[40:] = rng.choice([0.0, 1.0, 1e300])
    for margin, exact in ((0.01, False), (0.0, False), (0.01, True)):
        for point in change_points(values, margin=margin, exact=exact, alpha=0.01, include_pending=True):
            assert point.first <= point.index <= point.last
            assert point.ci_low <= point.ratio <= point.ci_high
            assert 0.0 <= point.p_value <= 1.0
