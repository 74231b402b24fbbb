from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence

import numpy as np
import pytest

from dcu_asv_ext.comparing import selfcheck_text
from dcu_asv_ext.comparing.model import FAILED, Key, ResultSet, Round, Series, Side
from dcu_asv_ext.comparing.selfcheck import SelfCheck, rate_interval, selfcheck, splits


def side(levels: Sequence[float]) -> Side:
    return Side(
        rounds=tuple(Round((level,) * 3, number, "s") for number, level in enumerate(levels, 1)),
        value=float(np.median(levels)),
    )


def noisy(spread: float, rounds: int, seed: int) -> Side:
    return side(list(0.01 * np.exp(np.random.default_rng(seed).normal(0, spread, rounds))))


def of(sides: dict[str, Side], metric: str = "latency", exact: bool = False) -> ResultSet:
    keys = {Key(name, metric): one for name, one in sides.items()}
    series = {key: Series(f"{key.benchmark}.{metric}", (), "seconds", exact=exact) for key in keys}
    return ResultSet("box", "a" * 40, "env", sides=keys, series=series)


def suite(benchmarks: int, spread: float, rounds: int = 6) -> ResultSet:
    return of({f"b{n}": noisy(spread, rounds, n) for n in range(benchmarks)})


class TestSplits:
    @pytest.mark.parametrize(("rounds", "number"), [(4, 3), (5, 10), (6, 10), (7, 35), (8, 35)])
    def test_each_way_to_halve_the_rounds_is_there_once(self, rounds: int, number: int) -> None:
        orders, possible = splits(rounds, 100, 0)
        assert len(orders) == possible == number
        halves = {
            frozenset((frozenset(order[: rounds // 2]), frozenset(order[rounds // 2 :]))) for order in orders
        }
        assert len(halves) == number
        assert all(sorted(order) == list(range(rounds)) for order in orders)

    def test_of_very_many_so_many_are_drawn(self) -> None:
        orders, possible = splits(20, 50, 3)
        assert len(set(orders)) == 50 and possible == math.comb(19, 9)
        assert splits(20, 50, 3)[0] == orders != splits(20, 50, 4)[0]

    def test_one_side_has_the_smaller_half(self) -> None:
        assert {len(order) for order in splits(5, 100, 0)[0]} == {5}


def test_quiet_rounds_raise_no_alarm() -> None:
    found = selfcheck([suite(20, 0.002)])
    (rate,) = found.rates
    assert (found.splits, found.possible, rate.benchmarks) == (10, 10, 20)
    assert rate.alarms == rate.low == 0.0 and found.alarms == 0.0 and found.refused == 0.0
    # No alarm among 20 benchmarks does not prove that there is none among a thousand.
    assert rate.high == pytest.approx(1 - 0.025 ** (1 / 20), rel=1e-6)
    assert rate.no_change + rate.inconclusive == pytest.approx(1.0)


def test_rounds_of_two_levels_are_a_false_alarm() -> None:
    """Three rounds at one level and three at another: one of the ten splits tells them apart."""
    two = {"jumps": side([0.01, 0.01001, 0.00999, 0.02, 0.02002, 0.01998])}
    found = selfcheck([of({**two, **{f"b{n}": noisy(0.002, 6, n) for n in range(9)}})])
    alarms = {one.key.benchmark: one.alarms for one in found.detections if one.alarms}
    assert set(alarms) == {"jumps"} and 0 < alarms["jumps"] <= 0.2
    assert found.rates[0].alarms == pytest.approx(alarms["jumps"] / 10)
    assert found.worst(1)[0].key.benchmark == "jumps"


def test_more_noise_hides_larger_changes() -> None:
    found = selfcheck([of({"calm": noisy(0.002, 6, 1), "wild": noisy(0.05, 6, 2)})])
    smallest = {one.key.benchmark: one.smallest for one in found.detections}
    assert smallest["calm"] is not None and smallest["wild"] is not None
    assert 0.01 < smallest["calm"] < 0.05 < smallest["wild"]
    assert [one.key.benchmark for one in found.worst()] == ["wild", "calm"]


def test_the_spread_is_that_of_all_rounds() -> None:
    levels = noisy(0.03, 8, 5)
    found = selfcheck([of({"b": levels})], most=10_000)
    logs = [math.log(one.samples[0]) for one in levels.rounds]
    # Moderated by what is known of benchmarks, so not the same; but of that size.
    assert found.detections[0].spread == pytest.approx(float(np.std(logs, ddof=1)), rel=0.35)


def test_metrics_that_never_vary_detect_anything() -> None:
    found = selfcheck([of({"b": side([4096.0] * 4)}, "kernel_count", exact=True)])
    (one,) = found.detections
    assert one.smallest == 0.0 and not one.varies and found.worst() == []
    assert found.rates[0].no_change == 1.0


def test_series_with_few_rounds_are_left_out() -> None:
    sides = {"three": noisy(0.002, 3, 0), "four": noisy(0.002, 4, 1), "lost": Side(state=FAILED)}
    found = selfcheck([of(sides)])
    assert [one.key.benchmark for one in found.detections] == ["four"]
    assert (found.splits, found.too_few) == (3, 1)
    none = selfcheck([of({"three": noisy(0.002, 3, 0)})])
    assert none.rates == [] and none.too_few == 1 and none.splits == 0


def test_series_of_several_lengths_are_each_halved() -> None:
    found = selfcheck([of({"four": noisy(0.002, 4, 0), "seven": noisy(0.002, 7, 1)})])
    assert {one.key.benchmark: one.rounds for one in found.detections} == {"four": 4, "seven": 7}
    assert found.possible == 35


def test_what_is_told_does_not_change_what_is_decided() -> None:
    whole = selfcheck([suite(6, 0.02)])
    part = selfcheck([suite(6, 0.02)], match=lambda key: key.benchmark == "b3")
    assert part.detections == [one for one in whole.detections if one.key.benchmark == "b3"]


def test_environments_stay_apart() -> None:
    one, other = suite(2, 0.002), suite(2, 0.02)
    other.env = "other"
    found = selfcheck([one, other])
    assert [(d.env, d.key.benchmark) for d in found.detections] == [
        *itertools.product(["env", "other"], ["b0", "b1"])
    ]
    assert found.detections[0].spread < found.detections[2].spread


def test_the_interval_of_a_rate() -> None:
    assert rate_interval(0.0, 100) == pytest.approx((0.0, 0.0362), abs=1e-4)
    assert rate_interval(0.05, 100) == pytest.approx((0.01643, 0.11284), abs=1e-4)
    assert rate_interval(1.0, 3)[1] == 1.0


@pytest.fixture(scope="module")
def found() -> SelfCheck:
    sides = {"calm": noisy(0.002, 5, 1), "wild": noisy(0.05, 5, 2), "few": noisy(0.1, 3, 3)}
    return selfcheck([of(sides)])


class TestText:
    def test_rates_and_the_least_sensitive(self, found: SelfCheck) -> None:
        text = selfcheck_text.render(found, 100)
        lines = text.splitlines()
        assert lines[0] == "self-check of aaaaaaaa, box, env"
        assert "5 rounds of each benchmark, split in halves in 10 ways" in text
        assert any(line.startswith("latency  ") and " 2 " in line for line in lines)
        worst = [line for line in lines if "rounds that differ by" in line]
        assert [line.split()[0] for line in worst] == ["wild", "calm"]
        assert "1 series left out: fewer than 4 rounds." in text
        assert max(map(len, lines)) <= 100

    def test_json_is_strict(self, found: SelfCheck) -> None:
        told = json.loads(json.dumps(selfcheck_text.as_object(found, 0), allow_nan=False))
        assert told["metrics"][0]["metric"] == "latency" and told["splits"] == 10
        assert [one["benchmark"] for one in told["benchmarks"]] == ["calm", "wild"]
        assert told["commit"]["commit"] == "a" * 40 and told["too_few_rounds"] == 1

    def test_too_few_rounds_are_said(self) -> None:
        text = selfcheck_text.render(selfcheck([of({"few": noisy(0.1, 3, 3)})]), 100)
        assert "no benchmark has the 4 rounds that it takes" in text
