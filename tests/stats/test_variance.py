"""The variance between rounds: what a history, a suite and earlier sessions say of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from dcu_asv_ext.stats import compare_suite
from dcu_asv_ext.stats.decision import distance_of
from dcu_asv_ext.stats.variance import (
    FLOOR,
    Mixture,
    across_sessions,
    of_differences,
    of_today,
    population,
    posterior,
    session_variances,
    suite_prior,
    with_history,
)

from .simulated_rounds import Values, histories, pairs, rounds

#: The degrees of freedom that how alike runs are may have.
GRID = [1, 2, 4, 8, 16, 40, 240]


def inverse_chi_squares(
    seed: int, shape: tuple[int, ...], scale: float, prior_df: float, df: float
) -> Values:
    """Variances of runs, with `df` degrees of freedom each, whose true variances spread as `prior_df` says."""
    rng = np.random.default_rng(seed)
    true = scale * prior_df / rng.chisquare(prior_df, shape)
    return np.asarray(true * rng.chisquare(df, shape) / df)


def single(scale: float, df: float) -> Mixture:
    return Mixture(np.zeros((1, 1)), np.array([[scale]]), np.array([[df]]))


def test_without_anything_known() -> None:
    """The more the rounds tell themselves, the less does a figure from elsewhere."""
    found = population(np.array([0.0, 3e-4, 0.0]), np.array([0.0, 2.0, 8.0]))
    assert found.scale.ravel() == pytest.approx([0.005**2, 0.005**2 + 3e-4, 0.005**2])
    assert found.df.ravel() == pytest.approx([0.5, 0.5 / 3, 0.5 / 9])


# ---- after the comparison's own rounds


def test_the_posterior_is_the_weighted_mean() -> None:
    found = posterior(single(4.0, 3.0), np.array([1.0]), np.array([6.0]))
    assert found.scale == pytest.approx((3 * 4.0 + 6 * 1.0) / 9)
    assert found.df == pytest.approx(9)


def test_without_own_degrees_of_freedom_the_prior_stays() -> None:
    prior = Mixture(np.log([[0.2, 0.8]]), np.array([[1e-4, 4e-4]]), np.array([[3.0, 30.0]]))
    found = posterior(prior, np.zeros(1), np.zeros(1))
    assert found.weights == pytest.approx(prior.weights)
    assert found.scale == pytest.approx(prior.scale)
    assert found.df == pytest.approx(prior.df)


def test_components_are_weighted_by_the_density_of_the_variance() -> None:
    """The own variance follows scale * F(own df, prior df)."""
    logs, scale, df = np.log([0.5, 0.3, 0.2]), np.array([1e-4, 4e-4, 9e-4]), np.array([2.0, 8.0, 40.0])
    own, own_df = 7e-4, 4.0
    density = np.exp(logs) * stats.f.pdf(own / scale, own_df, df) / scale
    found = posterior(Mixture(logs[None], scale[None], df[None]), np.array([own]), np.array([own_df]))
    assert found.weights[0] == pytest.approx(density / density.sum())


def test_own_variance_of_zero_and_weights_that_underflow() -> None:
    prior = Mixture(
        np.array([[-1e5, 0.0, -2e5]]), np.array([[1e-30, 1e-6, 1.0]]), np.array([[1.0, 240.0, 3.0]])
    )
    found = posterior(prior, np.zeros(1), np.array([1000.0]))
    assert np.isfinite(found.logs).all() and (found.scale >= FLOOR).all()
    assert found.weights.sum() == pytest.approx(1.0)


# ---- a history


def profile(variances: Values, df: float, prior_df: float) -> tuple[float, float]:
    """Log likelihood of scale * F(df, prior_df), and the log scale, where it is largest; by brute force."""

    def loss(log_scale: float) -> float:
        return -float(np.sum(stats.f.logpdf(variances / math.exp(log_scale), df, prior_df) - log_scale))

    middle = float(np.log(variances).mean())
    found = optimize.minimize_scalar(loss, bounds=(middle - 6, middle + 6), method="bounded")
    return -float(found.fun), float(found.x)


def test_how_much_a_history_counts_is_its_likelihood() -> None:
    past = inverse_chi_squares(1, (12,), 1e-4, prior_df=5.0, df=4.0)
    expected = [profile(past, 4.0, prior_df) for prior_df in GRID]
    found = with_history(single(1e-4, 1e-12), past[None], np.full((1, 12), 4.0))
    likelihood = np.array([one[0] for one in expected])
    weights = np.exp(likelihood - likelihood.max())
    assert found.weights[0] == pytest.approx(weights / weights.sum(), rel=1e-3)
    assert np.log(found.scale[0]) == pytest.approx([one[1] for one in expected], abs=1e-3)
    # The scale itself is known with the history's 48 degrees of freedom only.
    assert found.df[0] == pytest.approx(1 / (1 / np.array(GRID) + 1 / 48))


@pytest.mark.parametrize(("prior_df", "low", "high"), [(2.0, 1.0, 4.0), (8.0, 4.0, 20.0), (1e6, 40.0, 240.0)])
def test_how_alike_runs_are_is_recovered(prior_df: float, low: float, high: float) -> None:
    past = inverse_chi_squares(2, (20, 200), 3e-4, prior_df, df=4.0)
    found = with_history(single(3e-4, 1.0), past, np.full(past.shape, 4.0))
    assert low < float(np.median(found.mean_df)) < high
    assert float(np.median(found.mean_scale)) == pytest.approx(3e-4, rel=0.1)


def test_the_base_speaks_less_the_longer_the_history() -> None:
    scales = []
    for runs in (1, 4, 16, 64):
        past = np.full((1, runs), 1e-4)
        scales.append(float(with_history(single(1e-2, 1.0), past, np.full((1, runs), 4.0)).mean_scale[0]))
    assert scales == sorted(scales, reverse=True)
    assert scales[0] > 3e-4 and scales[-1] == pytest.approx(1e-4, rel=0.05)


def test_absent_runs_do_not_count() -> None:
    past = inverse_chi_squares(3, (1, 6), 1e-4, 5.0, 4.0)
    padded = np.concatenate([past, [[1e9, 0.0]]], axis=1)
    df = np.full((1, 6), 4.0)
    one = with_history(single(1e-4, 1.0), past, df)
    other = with_history(single(1e-4, 1.0), padded, np.concatenate([df, [[0.0, 0.0]]], axis=1))
    for name in ("weights", "scale", "df"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9)


def test_one_run_without_spread_does_not_decide() -> None:
    """A coarse clock makes some runs agree to the last digit."""
    past = inverse_chi_squares(4, (1, 10), 1e-4, 50.0, 4.0)
    found = with_history(single(1e-4, 1.0), np.concatenate([past, [[0.0]]], axis=1), np.full((1, 11), 4.0))
    assert 2e-5 < float(found.mean_scale[0]) < 2e-4


# ---- a suite


def test_a_suite_tells_what_is_typical() -> None:
    variances = inverse_chi_squares(5, (400,), 2e-4, 6.0, 4.0)
    found = suite_prior(variances, np.full(400, 4.0), np.zeros(400), np.zeros(400), np.ones(400))
    assert found.scale.shape == (400, 1) and np.ptp(found.scale) == 0.0
    assert float(found.scale[0, 0]) == pytest.approx(2e-4, rel=0.15)
    assert 4 <= float(found.df[0, 0]) <= 12


def test_few_benchmarks_tell_nothing() -> None:
    df = np.full(9, 4.0)
    found = suite_prior(np.full(9, 1e-2), df, np.zeros(9), np.full(9, 0.1), np.full(9, 2.0))
    assert found.scale == pytest.approx(np.full((9, 1), 0.005**2))
    assert found.df.ravel() == pytest.approx(0.5 / (1 + df))


def test_single_rounds_are_told_by_how_far_the_suites_differences_lie_apart() -> None:
    """The suite's own shift and its few real changes are no noise."""
    differences = 0.2 + np.random.default_rng(6).normal(0.0, 0.03, 60)
    differences[:5] += 3.0
    found = suite_prior(np.zeros(60), np.zeros(60), np.zeros(60), differences, np.full(60, 2.0))
    assert np.sqrt(found.scale * 2.0).ravel() == pytest.approx(np.full(60, 0.03), rel=0.3)
    assert (found.df == 3.0).all()
    quiet = suite_prior(np.zeros(60), np.zeros(60), np.zeros(60), np.zeros(60), np.full(60, 2.0))
    assert quiet.scale == pytest.approx(np.full((60, 1), 0.005**2))


# ---- today


PRIOR = Mixture(np.log([[0.25, 0.75]]), np.array([[1.0, 4.0]]), np.array([[3.0, 5.0]]))


def test_paired_differences_hold_two_rounds() -> None:
    found = of_differences(PRIOR)
    assert found.scale.tolist() == [[2.0, 8.0]]
    assert (found.logs is PRIOR.logs, found.df is PRIOR.df) == (True, True)


@pytest.mark.parametrize("paired", [False, True])
def test_today_may_be_noisier_than_the_history_and_pairs_quieter(paired: bool) -> None:
    found = of_today(PRIOR, np.ones(1), np.ones(1), paired)
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.scale.max() == pytest.approx(4.0 * 25)
    assert found.scale.min() == pytest.approx(0.03 if paired else 1.0)
    factors = found.scale.shape[1] // 2
    assert found.df.tolist() == [[3.0] * factors + [5.0] * factors]
    assert found.weights.reshape(2, -1).sum(axis=1) == pytest.approx([0.25, 0.75])
    # Before anything has told, most probably nothing has changed.
    unchanged = 0.99 * (0.8 if paired else 1.0)
    assert found.weights[0, [0, factors]] == pytest.approx(unchanged * np.array([0.25, 0.75]))


@pytest.mark.parametrize("change", [0.1, 1.0, 9.0])
def test_many_rounds_decide_how_noisy_today_is(change: float) -> None:
    own, df = np.array([2e-4 * change]), np.array([60.0])
    found = posterior(of_today(of_differences(single(1e-4, 240.0)), own, df, paired=True), own, df)
    assert float(found.mean_scale[0]) == pytest.approx(own[0], rel=0.1)


@pytest.mark.parametrize("change", [0.1, 0.4, 0.7, 1.0, 2.0, 6.0, 25.0])
def test_a_suite_tells_how_noisy_today_is(change: float) -> None:
    """One of two hundred benchmarks of three rounds tells little of it, all of them together do."""
    own = inverse_chi_squares(6, (200,), 1e-4 * change, 1e6, df=2.0)
    prior = Mixture(np.zeros((200, 1)), np.full((200, 1), 1e-4), np.full((200, 1), 200.0))
    many = of_today(prior, own, np.full(200, 2.0), paired=True)
    few = of_today(prior.take(np.arange(9)), own[:9], np.full(9, 2.0), paired=True)
    assert float(many.mean_scale[0]) == pytest.approx(1e-4 * change, rel=0.2)
    assert few.weights[0, 0] == pytest.approx(0.99 * 0.8)
    # No change is ever ruled out.
    assert (many.weights > 1e-6).all()


def test_a_part_of_a_suite_may_have_changed() -> None:
    """Of the quiet benchmarks and the noisy ones, each is told by its own rounds."""
    noisy = np.arange(200) % 4 == 0
    own = inverse_chi_squares(7, (200,), 1e-4, 1e6, df=8.0) * np.where(noisy, 25.0, 1.0)
    prior = Mixture(np.zeros((200, 1)), np.full((200, 1), 1e-4), np.full((200, 1), 200.0))
    found = posterior(of_today(prior, own, np.full(200, 8.0), paired=False), own, np.full(200, 8.0))
    assert np.median(found.mean_scale[noisy]) == pytest.approx(25e-4, rel=0.2)
    assert np.median(found.mean_scale[~noisy]) == pytest.approx(1e-4, rel=0.2)


# ---- sessions


def wandering(seed: int, count: int, runs: int, between: float) -> list[Values]:
    return list(np.random.default_rng(seed).normal(0.0, between, (count, runs)))


def test_the_variance_between_sessions_is_recovered() -> None:
    found, df = session_variances(wandering(1, 40, 25, 0.02), [np.zeros(25)] * 40)
    assert np.sqrt(np.median(found)) == pytest.approx(0.02, rel=0.15)
    assert (df > 5).all()


def test_a_few_steps_in_a_history_are_not_noise() -> None:
    quiet = wandering(2, 1, 30, 0.002)[0]
    quiet[10:] += 0.3
    quiet[20:] -= 0.1
    found, _ = session_variances([quiet], [np.zeros(30)])
    assert math.sqrt(found[0]) < 0.005


def test_what_the_rounds_explain_is_no_session() -> None:
    levels = wandering(3, 1, 200, 0.02)
    alone, _ = session_variances(levels, [np.zeros(200)])
    less, _ = session_variances(levels, [np.full(200, 0.5 * alone[0])])
    nothing, _ = session_variances(levels, [np.full(200, 2 * alone[0])])
    assert less[0] == pytest.approx(0.5 * alone[0])
    assert 0.0 < nothing[0] < 1e-3 * alone[0]


def test_short_histories_get_a_stated_value() -> None:
    found, df = session_variances(
        [np.zeros(0), np.zeros(1), np.zeros(5)], [np.zeros(0), np.zeros(1), np.zeros(5)]
    )
    assert len(set(found)) == len(set(df)) == 1
    assert 0.001 < math.sqrt(found[0]) < 0.02


def test_sessions_never_narrow_an_interval() -> None:
    rng = np.random.default_rng(4)
    known = Mixture(
        np.zeros((300, 1)), 10 ** rng.uniform(-8, -2, (300, 1)), 10 ** rng.uniform(0, 2, (300, 1))
    )
    factor, between, df = np.full(300, 0.4), 10 ** rng.uniform(-8, -2, 300), 10 ** rng.uniform(0, 2, 300)
    wider = distance_of(across_sessions(known, factor, between, df), factor, 0.025)
    assert (wider >= distance_of(known, factor, 0.025) * (1 - 1e-9)).all()
    same = across_sessions(known, factor, np.zeros(300), np.ones(300))
    np.testing.assert_allclose(distance_of(same, factor, 0.025), distance_of(known, factor, 0.025))


def test_degrees_of_freedom_are_weighted_by_the_parts_of_the_variance() -> None:
    """Of 20 and 4, where sessions make three quarters of it: 1 / (1/4 / 20 + 3/4 / 4)."""
    rounds_alone, factor = single(1e-4, 20.0), np.array([0.4])
    found = across_sessions(rounds_alone, factor, np.array([3 * 0.4e-4]), np.array([4.0]))
    assert found.scale.ravel() == pytest.approx([4e-4])
    assert found.df.ravel() == pytest.approx([5.0])
    # A little noise that is better known than that of the rounds: their degrees of freedom, and none of the noise.
    kept = across_sessions(single(1e-4, 1.0), factor, np.array([0.1 * 0.4e-4]), np.array([100.0]))
    assert (kept.scale.tolist(), kept.df.tolist()) == ([[1e-4]], [[1.0]])


@pytest.mark.parametrize("between_sessions", [0.005, 0.02])
def test_intervals_across_sessions_cover(between_sessions: float) -> None:
    """Every run, and both sides, were measured at another time."""
    rng = np.random.default_rng(5)
    past = histories(rng, 300, 20, (5, 3), between=0.004)
    past = past * np.exp(rng.normal(0.0, between_sessions, (300, 20, 1, 1)))
    sides = [rounds(rng, 300, (5, 3), between=0.004) for _ in range(2)]
    before, after = (side * np.exp(rng.normal(0.0, between_sessions, (300, 1, 1))) for side in sides)
    options: dict[str, Any] = {"history": list(past), "use_guard": False}
    apart = compare_suite(pairs(before, after), across_sessions=True, **options)
    together = compare_suite(pairs(before, after), **options)

    def share(found: Any) -> float:
        return float(np.mean([one.ci_low <= 1.0 <= one.ci_high for one in found]))

    assert 0.92 <= share(apart) <= 0.995
    assert share(together) < 0.9
    assert sum(one.decided and one.verdict != "no change" for one in apart) <= 6
    # The spread that is told is that of the rounds, whatever sessions add.
    spreads = [float(np.median([one.spread for one in found])) for found in (apart, together)]
    assert spreads[0] == pytest.approx(spreads[1], rel=0.1)
    paired = [
        compare_suite(pairs(before, after), paired=True, across_sessions=a, **options) for a in (False, True)
    ]
    assert paired[0].rows == paired[1].rows, "pairs share their session"
