"""What a design can find, against simulated t tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from dcu_asv_ext.stats.power import power, rounds_for, smallest_change

CHANGES = [0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.3, 10.0]
DESIGNS = [
    (2, 0.0, False),
    (3, 0.0, True),
    (5, 0.0, False),
    (5, 6.0, True),
    (10, 20.0, False),
    (2, 40.0, False),
]


def simulated(change: float, spread: float, rounds: int, lent: float, paired: bool) -> float:
    """Share of 20 000 comparisons whose interval lies above the margin of 1 %, with an estimated spread."""
    rng = np.random.default_rng(4)
    df = lent + (rounds - 1 if paired else 2 * (rounds - 1))
    error = math.sqrt((1 if paired else 2) / rounds)
    difference = math.log1p(change) + spread * error * rng.normal(size=20_000)
    found = spread * np.sqrt(rng.chisquare(df, 20_000) / df)
    half = special.stdtrit(df, 0.975) * found * error
    return float(np.mean(difference - half > math.log1p(0.01)))


@pytest.mark.parametrize(("rounds", "lent", "paired"), DESIGNS)
def test_power_is_the_share_that_is_found(rounds: int, lent: float, paired: bool) -> None:
    for change in (0.01, 0.02, 0.04, 0.08):
        expected = simulated(change, 0.015, rounds, lent, paired)
        assert power(change, 0.015, rounds, lent=lent, paired=paired) == pytest.approx(expected, abs=0.015)


def test_at_the_margin_one_in_forty_is_called() -> None:
    for margin in (0.0, 0.01, 0.1):
        assert power(margin, 0.02, 5, margin=margin) == pytest.approx(0.025)
    assert power(0.0, 0.02, 5) < 0.025


@pytest.mark.parametrize(("rounds", "lent", "paired"), DESIGNS)
def test_more_is_found_of_larger_changes_with_less_noise_and_more_rounds(
    rounds: int, lent: float, paired: bool
) -> None:
    found = [power(change, 0.02, rounds, lent=lent, paired=paired) for change in CHANGES]
    assert found == sorted(found) and found[-1] > 0.999
    found = [
        power(0.05, spread, rounds, lent=lent, paired=paired) for spread in (1.0, 0.1, 0.02, 0.005, 1e-9)
    ]
    assert found == sorted(found) and found[-1] == 1.0
    found = [power(0.03, 0.02, more, lent=lent, paired=paired) for more in range(rounds, 60, 3)]
    assert found == sorted(found) and found[0] < found[-1]


@pytest.mark.parametrize(("rounds", "lent", "paired"), DESIGNS)
def test_the_smallest_change_is_found_four_times_in_five(rounds: int, lent: float, paired: bool) -> None:
    change = smallest_change(0.01, rounds, lent=lent, paired=paired)
    assert power(change, 0.01, rounds, lent=lent, paired=paired) == pytest.approx(0.8, abs=1e-6)
    surer = smallest_change(0.01, rounds, lent=lent, paired=paired, assurance=0.95)
    assert surer > change
    assert power(surer, 0.01, rounds, lent=lent, paired=paired) == pytest.approx(0.95, abs=1e-6)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("lent", [0.0, 3.0])
def test_rounds_and_smallest_change_are_inverse(lent: float, paired: bool) -> None:
    previous = math.inf
    for rounds in (2, 3, 5, 8, 13, 50, 200):
        change = smallest_change(0.02, rounds, lent=lent, paired=paired)
        assert change < previous
        assert rounds_for(change * 1.0001, 0.02, lent=lent, paired=paired) == rounds
        assert rounds_for(change * 0.9999, 0.02, lent=lent, paired=paired) == rounds + 1
        previous = change


def test_pairing_needs_fewer_rounds() -> None:
    alone, together = rounds_for(0.03, 0.02), rounds_for(0.03, 0.02, paired=True)
    assert alone is not None and together is not None and together < alone


def test_no_number_of_rounds_finds_a_change_within_the_margin() -> None:
    assert rounds_for(0.01, 0.02) is None
    assert rounds_for(0.005, 0.02) is None
    assert rounds_for(0.011, 0.05) is None
    assert rounds_for(0.011, 0.05, margin=0.0) is not None


def test_rounds_without_noise() -> None:
    assert (power(0.02, 0.0, 3), power(0.01, 0.0, 3), power(0.0, 0.0, 3)) == (1.0, 0.0, 0.0)
    assert smallest_change(0.0, 3) == pytest.approx(0.01)
    assert rounds_for(0.05, 0.0) == 2


def test_a_history_makes_one_round_enough_to_speak() -> None:
    assert smallest_change(0.005, 1, lent=30.0) < 0.05
    assert rounds_for(0.05, 0.005, lent=30.0) == 1


def test_designs_that_have_no_degree_of_freedom() -> None:
    for rounds in (1, 0, -3):
        with pytest.raises(
            ValueError, match=f"^{rounds} rounds a side leave nothing to judge the spread by$"
        ):
            power(0.05, 0.01, rounds)
        with pytest.raises(ValueError, match="leave nothing"):
            smallest_change(0.01, rounds)
    with pytest.raises(ValueError, match="leave nothing"):
        power(0.05, 0.01, 0, lent=10.0)


@pytest.mark.parametrize("spread", [-0.01, math.nan, math.inf])
def test_spreads_that_are_none(spread: float) -> None:
    for asked in (
        lambda: power(0.05, spread, 3),
        lambda: smallest_change(spread, 3),
        lambda: rounds_for(0.05, spread),
    ):
        with pytest.raises(ValueError, match=f"spread must be a number of at least 0, not {spread}"):
            asked()


@pytest.mark.parametrize("assurance", [0.0, 1.0, 2.0, -0.5, math.nan])
def test_assurances_that_are_none(assurance: float) -> None:
    with pytest.raises(ValueError, match="assurance must lie between 0 and 1"):
        smallest_change(0.01, 3, assurance=assurance)
    with pytest.raises(ValueError, match="assurance must lie between 0 and 1"):
        rounds_for(0.05, 0.01, assurance=assurance)
