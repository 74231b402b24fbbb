"""Two sides of one benchmark: verdict and interval agree, whatever the rounds look like."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from dcu_asv_ext.stats import Comparison, compare

from .simulated_rounds import histories, rounds

Side = list[list[float]]

#: What a comparison does not say in the samples' unit.
UNITLESS = ("ratio", "ci_low", "ci_high", "p_value", "spread")


def side(seed: int, count: int = 3, samples: int = 5, level: float = 1.0, between: float = 0.01) -> Side:
    made = rounds(np.random.default_rng(seed), 1, (count, samples), between=between)[0]
    return [[level * value for value in one] for one in made.tolist()]


def flat(*levels: float, samples: int = 3) -> Side:
    """Rounds whose samples are all equal."""
    return [[level] * samples for level in levels]


def variety() -> list[tuple[Side, Side, dict[str, Any]]]:
    """Comparisons of all outcomes: changes from none to 10 %, noise from 0.1 to 5 %, with and without a history."""
    found = []
    for seed in range(72):
        rng = np.random.default_rng(seed)
        between = float(10 ** rng.uniform(-3, -1.3))
        shape = (int(rng.integers(1, 7)), int(rng.integers(1, 7)))
        level = float(np.exp(rng.choice([-0.1, -0.03, 0.0, 0.0, 0.01, 0.03, 0.1])))
        options: dict[str, Any] = {"margin": float(rng.choice([0.0, 0.01, 0.03]))}
        if seed % 3 == 0:
            options["history"] = histories(rng, 1, 8, (3, 4), between=between)[0]
        if seed % 4 == 0:
            options["paired"] = True
        if seed % 5 == 0:
            options["direction"] = "higher"
        found.append(
            (side(seed + 1000, *shape, between=between), side(seed, *shape, level, between), options)
        )
    return found


VARIETY = variety()


def test_names_of_the_contract() -> None:
    parameters = inspect.signature(compare).parameters
    assert list(parameters)[:2] == ["before", "after"]
    defaults = {name: one.default for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY}
    assert defaults == {
        "history": None,
        "paired": False,
        "exact": False,
        "points": False,
        "margin": 0.01,
        "equivalence": 0.05,
        "direction": "lower",
    }
    names = {one.name for one in dataclasses.fields(Comparison)}
    assert {"ratio", "ci_low", "ci_high", "p_value", "verdict", "rounds_needed"} <= names


def test_a_change_is_called_exactly_where_the_interval_lies_beyond_the_margin() -> None:
    outcomes = set()
    for before, after, options in VARIETY:
        found, margin = compare(before, after, **options), 1.0 + options["margin"]
        higher_is_worse = options.get("direction", "lower") == "lower"
        if found.ci_low > margin:
            expected = "regression" if higher_is_worse else "improvement"
        elif found.ci_high < 1.0 / margin:
            expected = "improvement" if higher_is_worse else "regression"
        else:
            expected = ""
        assert found.verdict == expected or (not expected and found.verdict in ("no change", "inconclusive"))
        assert (found.p_value < 0.05) == bool(expected)
        assert found.ci_low < found.ratio < found.ci_high
        outcomes.add(found.verdict)
    assert outcomes == {"regression", "improvement", "no change", "inconclusive"}


def test_p_is_a_twentieth_where_the_interval_touches_the_margin() -> None:
    for before, after, options in VARIETY[::3]:
        found = compare(before, after, **{**options, "margin": 0.0})
        touched = max(found.ci_low, 1.0 / found.ci_high) - 1.0
        if 0.0 < touched < 0.05:
            assert compare(before, after, **{**options, "margin": touched}).p_value == pytest.approx(0.05)


def test_no_change_is_two_one_sided_tests() -> None:
    """Without a history the error is one Student's t, so that the 90 % interval follows from the 95 % one."""
    seen = set()
    for before, after, options in VARIETY:
        if "history" in options or "paired" in options:
            continue
        found = compare(before, after, **options)
        half = math.log(found.ci_high / found.ratio)
        inner = half * special.stdtrit(found.df, 0.95) / special.stdtrit(found.df, 0.975)
        within = abs(math.log(found.ratio)) + inner <= math.log(1.05)
        assert (found.verdict == "no change") == (within and found.p_value > 0.05)
        seen.add(within)
    assert seen == {True, False}


def test_equivalence_is_the_bound_of_no_change() -> None:
    before, after = flat(1.0, 1.01, 0.99), flat(1.01, 1.02, 1.0)
    assert compare(before, after, equivalence=0.05).verdict == "no change"
    narrow = compare(before, after, equivalence=0.02)
    assert (narrow.verdict, narrow.rounds_needed) > ("inconclusive", 0)


def test_the_interval_by_hand() -> None:
    before, after = flat(1.0, 1.02, 0.99, 1.01), flat(1.10, 1.11, 1.13, 1.12)
    found = compare(before, after)
    a, b = np.log([one[0] for one in before]), np.log([one[0] for one in after])
    own = (a.var(ddof=1) + b.var(ddof=1)) / 2
    # Half a percent is what is thought beforehand; its half degree of freedom counts less beside the rounds' own six.
    lent = 0.5 / 7
    spread = math.sqrt((lent * 0.005**2 + 6 * own) / (lent + 6))
    half = special.stdtrit(lent + 6, 0.975) * spread * math.sqrt(2 / 4)
    assert (found.df, found.prior_df, found.rounds) == (pytest.approx(lent + 6), pytest.approx(lent), (4, 4))
    assert found.spread == pytest.approx(spread)
    assert found.ratio == pytest.approx(math.exp(b.mean() - a.mean()))
    assert found.ci_low == pytest.approx(found.ratio * math.exp(-half))
    assert found.ci_high == pytest.approx(found.ratio * math.exp(half))
    p = 2 * special.stdtr(lent + 6, -(b.mean() - a.mean() - math.log(1.01)) / (spread * math.sqrt(2 / 4)))
    assert found.p_value == pytest.approx(p)


MIRRORED = {"regression": "improvement", "improvement": "regression"}


def test_swapping_the_sides_mirrors_everything() -> None:
    for before, after, options in VARIETY:
        one, other = compare(before, after, **options), compare(after, before, **options)
        assert other.verdict == MIRRORED.get(one.verdict, one.verdict)
        assert other.ratio == pytest.approx(1.0 / one.ratio, rel=1e-12)
        assert other.ci_low == pytest.approx(1.0 / one.ci_high, rel=1e-6)
        assert other.p_value == pytest.approx(one.p_value, rel=1e-6)
        assert other.rounds_needed == one.rounds_needed


@pytest.mark.parametrize("factor", [1e3, 1e-9, 1e12])
def test_the_unit_does_not_matter(factor: float) -> None:
    for before, after, options in VARIETY[::4]:
        scaled = [[[factor * value for value in one] for one in what] for what in (before, after)]
        given, now = dict(options), compare(before, after, **options)
        if "history" in given:
            given["history"] = factor * given["history"]
        then = compare(scaled[0], scaled[1], **given)
        assert (then.verdict, then.rounds_needed) == (now.verdict, now.rounds_needed)
        for name in UNITLESS:
            assert getattr(then, name) == pytest.approx(getattr(now, name), rel=1e-6), name
        assert then.before == pytest.approx(factor * now.before)


def test_direction_turns_the_words_alone() -> None:
    for before, after, options in VARIETY[::3]:
        lower = compare(before, after, **{**options, "direction": "lower"})
        higher = compare(before, after, **{**options, "direction": "higher"})
        assert higher.verdict == MIRRORED.get(lower.verdict, lower.verdict)
        assert dataclasses.replace(higher, verdict="", reason="") == dataclasses.replace(
            lower, verdict="", reason=""
        )


# ---- pairing


def test_pairing_takes_shared_drift_out() -> None:
    drift = [1.0, 1.1, 0.9, 1.05, 0.97]
    before = [[value * step for value in one] for one, step in zip(side(1, 5), drift, strict=True)]
    after = [[value * step for value in one] for one, step in zip(side(2, 5, level=1.1), drift, strict=True)]
    together, apart = compare(before, after, paired=True), compare(before, after)
    assert (together.verdict, apart.verdict) == ("regression", "inconclusive")
    assert together.paired and not apart.paired
    assert together.ratio == pytest.approx(apart.ratio)
    assert together.ci_high / together.ci_low < 1.1 < apart.ci_high / apart.ci_low


def test_many_paired_rounds_are_the_t_test_of_their_differences() -> None:
    """What is thought beforehand has no weight left beside 400 rounds."""
    before, after = side(3, 400), side(4, 400, level=1.02)
    steps = np.log(np.median(after, axis=1)) - np.log(np.median(before, axis=1))
    half = special.stdtrit(399, 0.975) * steps.std(ddof=1) / math.sqrt(400)
    found = compare(before, after, paired=True)
    assert found.ratio == pytest.approx(math.exp(steps.mean()))
    assert math.log(found.ci_high / found.ratio) == pytest.approx(half, rel=0.01)


def test_order_of_rounds_matters_where_they_are_paired_only() -> None:
    before, after = side(1, 5), side(2, 5, level=1.02)
    assert compare(before, after[::-1]).p_value == pytest.approx(compare(before, after).p_value)
    assert compare(before, after[::-1], paired=True).ci_high != pytest.approx(
        compare(before, after, paired=True).ci_high, rel=1e-4
    )


# ---- few rounds, equal samples, exact figures


def test_one_round_a_side_is_judged_cautiously() -> None:
    assert compare([[1.0] * 6], [[1.05] * 6]).verdict == "inconclusive"
    six = [1.0, 1.01, 1.02, 1.0, 0.99, 1.0]
    slower = compare([six], [[100 * value for value in six]])
    assert (slower.verdict, slower.rounds) == ("regression", (1, 1))
    assert slower.ratio == pytest.approx(100.0)


def test_one_sample_a_round() -> None:
    assert compare([[1.0]], [[1.0]]).ratio == 1.0
    assert compare([[1.0], [1.001]], [[2.0], [2.001]]).verdict == "regression"


def test_rounds_and_samples_of_unequal_number() -> None:
    found = compare(side(1, 2, 3), [*side(2, 4, 7, level=1.2), [1.2]])
    assert (found.verdict, found.rounds) == ("regression", (2, 5))
    assert found.df == pytest.approx(5 + 0.5 / 6)


def test_equal_rounds() -> None:
    same = compare(flat(*[2.0] * 5), flat(*[2.0] * 5))
    assert (same.verdict, same.ratio, same.rounds_needed) == ("no change", 1.0, 0)
    assert same.ci_low < 1.0 < same.ci_high
    assert compare(flat(*[2.0] * 5), flat(*[2.04] * 5)).verdict == "regression"
    assert compare(flat(*[2.0] * 5), flat(*[1.96] * 5)).verdict == "improvement"


@pytest.mark.parametrize(
    ("before", "after", "direction", "verdict", "ratio"),
    [
        ([[5, 5]], [[5]], "lower", "no change", 1.0),
        ([[10**9]], [[10**9 + 1]], "lower", "regression", 1.0 + 1e-9),
        ([[5], [5]], [[4]], "lower", "improvement", 0.8),
        ([[5]], [[4]], "higher", "regression", 0.8),
        ([[0]], [[5]], "lower", "regression", math.inf),
        ([[0]], [[0, 0]], "lower", "no change", 1.0),
        ([[5]], [[0]], "lower", "improvement", 0.0),
    ],
)
def test_exact_figures(before: Side, after: Side, direction: str, verdict: str, ratio: float) -> None:
    found = compare(before, after, exact=True, direction=direction)
    assert (found.verdict, found.rounds_needed) == (verdict, 0)
    assert (found.ratio, found.ci_low, found.ci_high) == pytest.approx((ratio, ratio, ratio), abs=0.0)
    assert found.p_value == (1.0 if verdict == "no change" else 0.0)


def test_declared_exact_but_varying_is_compared_as_noisy() -> None:
    before, after = [[100, 100], [100, 101]], [[101, 100], [100, 100]]
    found = compare(before, after, exact=True)
    assert found == compare(before, after)
    assert found.verdict == "no change"


# ---- what may be given


@pytest.mark.parametrize(
    "made",
    [
        np.asarray,
        lambda given: [np.asarray(one) for one in given],
        lambda given: tuple(tuple(one) for one in given),
        lambda given: (list(one) for one in given),
        lambda given: [np.asarray(one, dtype=object) for one in given],
    ],
    ids=["array", "list of arrays", "tuples", "generator", "objects"],
)
def test_any_container_will_do(made: Callable[[Side], Any]) -> None:
    before, after, past = side(1), side(2, level=1.1), [side(k) for k in range(3, 9)]
    found = compare(made(before), made(after), history=[made(run) for run in past])
    assert found == compare(before, after, history=past)
    assert compare(before, after, history=tuple(past)) == compare(before, after, history=iter(past)) == found  # type: ignore[arg-type]


def test_whole_numbers_and_single_precision() -> None:
    whole = [[100, 101, 102], [99, 100, 101]]
    assert compare(whole, whole) == compare(np.array(whole, float), np.array(whole, float))
    before, after = side(1), side(2, level=1.1)
    single = compare(np.float32(before), np.float32(after))
    assert single.ratio == pytest.approx(compare(before, after).ratio, rel=1e-6)
    assert type(single.ratio) is float and type(single.rounds_needed) is int


def test_nothing_given_is_changed() -> None:
    before, after, past = np.array(side(1)), np.array(side(2)), np.array([side(3), side(4)])
    copies = before.copy(), after.copy(), past.copy()
    compare(before, after, history=past)
    for was, now in zip(copies, (before, after, past), strict=True):
        np.testing.assert_array_equal(was, now)


GOOD = [[1.0, 1.1], [1.0, 1.2]]


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ([], "there are no rounds"),
        ([[1.0], []], "round 2 has no samples"),
        ([[1.0, math.nan]], "round 1 holds a sample that is not a number"),
        ([[1.0], [math.inf]], "round 2 holds an infinite sample"),
        ([[1.0, -1e-9]], "round 1 holds a negative sample"),
        ([[1.0, None]], "round 1 holds a sample that is not a number"),
        ([["a", "b"]], "round 1 is no sequence of numbers"),
        ([[1.0], ["1", "2"]], "round 2 is no sequence of numbers"),
        ([1.0, 2.0], "rounds must be sequences of samples, one sequence a round"),
        ([[[1.0]]], "rounds must be sequences of samples, one sequence a round"),
        ([[1.0, [2.0]]], "round 1 is no sequence of numbers"),
        ([[1j]], "round 1 is no sequence of numbers"),
        ([[10**400]], "round 1 is no sequence of numbers"),
        ([{1.0: 2.0}], "rounds must be sequences of samples, one sequence a round"),
        ([b"12"], "round 1 is no sequence of numbers"),
        ("abc", "round 1 is no sequence of numbers"),
        ([None], "rounds must be sequences of samples, one sequence a round"),
        (None, "rounds must be sequences of samples, one sequence a round"),
        (3.0, "rounds must be sequences of samples, one sequence a round"),
    ],
)
def test_bad_rounds(bad: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^before: {sentence}$"):
        compare(bad, GOOD)
    with pytest.raises(ValueError, match=f"^after: {sentence}$"):
        compare(GOOD, bad)
    with pytest.raises(ValueError, match=f"^after: {sentence}$"):
        compare(GOOD, bad, exact=True)


def test_paired_rounds_of_unequal_number() -> None:
    with pytest.raises(ValueError, match="as many on both sides, not 2 and 3"):
        compare(GOOD, [*GOOD, [1.0]], paired=True)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"margin": -0.01}, "margin must be a fraction of at least 0, not -0.01"),
        ({"margin": math.nan}, "margin must be"),
        ({"margin": math.inf}, "margin must be"),
        ({"margin": None}, "margin must be"),
        ({"margin": "a"}, "margin must be"),
        ({"equivalence": 0.0}, "equivalence must be a fraction above 0, not 0.0"),
        ({"equivalence": math.nan}, "equivalence must be"),
        ({"equivalence": None}, "equivalence must be"),
        ({"equivalence": 0.005}, r"equivalence \(0.005\) must not be smaller than margin \(0.01\)"),
        ({"direction": "up"}, 'direction must be "lower" or "higher", not \'up\''),
        ({"direction": None}, "direction must be"),
    ],
)
def test_bad_settings(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        compare(GOOD, GOOD, **settings)


# ---- extremes


@pytest.mark.parametrize("ratio", [1e-9, 1e9, 1e-300, 1e300])
def test_extreme_ratios(ratio: float) -> None:
    for count in (1, 3):
        found = compare(side(1, count), side(2, count, level=ratio))
        assert found.verdict == ("regression" if ratio > 1 else "improvement")
        assert 0.0 < found.ci_low < found.ratio < found.ci_high < math.inf
        assert found.ratio == pytest.approx(ratio, rel=0.1)


def test_many_rounds_and_many_samples() -> None:
    found = compare(side(1, 1000), side(2, 1000, level=1.03))
    assert (found.verdict, found.rounds) == ("regression", (1000, 1000))
    large = rounds(np.random.default_rng(1), 1, (2, 100_000))[0]
    assert compare(large, 1.001 * large).verdict == "no change"
