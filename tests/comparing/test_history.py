from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from dcu_asv_ext.comparing.history import Restart, changes_of, restarts, short, timelines, value_of
from dcu_asv_ext.comparing.model import FAILED, MISSING, SAMPLES, VALUE, Key, Round, Side

from .histories import commit, results, side, timeline

KEY = Key("gemm.matmul", "latency")
PLACES = {commit(place): place for place in range(10)}


def test_the_value_is_the_median_of_the_rounds_medians() -> None:
    """The pooled median of these samples is 2."""
    assert value_of(side([1.0, 2.0, 50.0], [2.0, 2.0, 2.0], [9.0, 9.0, 1.0])) == 2.0
    assert value_of(side([5.0], [1.0, 1.0, 1.0, 1.0, 1.0])) == 3.0


@pytest.mark.parametrize("source", [SAMPLES, VALUE])
def test_without_evidence_it_is_asvs_own(source: str) -> None:
    assert value_of(Side((Round((1.0,)),), source, value=7.0)) == 7.0


@pytest.mark.parametrize(
    "given",
    [
        Side(state=FAILED, reason="raised", value=1.0),
        Side(state=MISSING, reason="n/a", value=1.0),
        Side(value=None),
        Side(value=math.nan),
        Side(value=math.inf),
        Side((Round(()),), value=None),
    ],
)
def test_what_is_no_finite_number_is_a_gap(given: Side) -> None:
    assert value_of(given) is None


def test_a_series_follows_the_branch_not_the_order_given() -> None:
    sets = [results(place, {KEY: side([float(place)])}) for place in (5, 1, 3)]
    (line,) = timelines(sets, PLACES)
    assert line.places == (1, 3, 5) and line.values == (1.0, 3.0, 5.0)
    assert (line.machine, line.env, line.key) == ("m", "e", KEY)


def test_commits_that_are_not_on_the_branch_are_left_out() -> None:
    sets = [results(place, {KEY: side([1.0])}) for place in (1, 99)]
    (line,) = timelines(sets, PLACES)
    assert line.places == (1,)


def test_a_failure_is_a_gap_and_a_key_without_any_number_no_series() -> None:
    failed = Side(state=FAILED, reason="raised")
    sets = [results(place, {KEY: failed if place == 1 else side([1.0])}) for place in range(3)]
    (line,) = timelines(sets, PLACES)
    assert line.places == (0, 2)
    assert timelines([results(0, {KEY: failed})], PLACES) == []


def test_another_version_or_protocol_is_another_series() -> None:
    sides = [side([1.0]), side([1.0]), side([9.0], version="2"), side([8.0], version="2", protocol=2)]
    lines = timelines([results(place, {KEY: one}) for place, one in enumerate(sides)], PLACES)
    assert [(line.places, line.version, line.protocol) for line in lines] == [
        ((0, 1), "1", 1),
        ((2,), "2", 1),
        ((3,), "2", 2),
    ]
    assert restarts(lines) == [
        Restart("m", "e", 2, "version", ("gemm.matmul",)),
        Restart("m", "e", 3, "protocol", ("gemm.matmul",)),
    ]


def test_old_commits_measured_again_with_the_new_version_belong_to_it() -> None:
    sides = {0: side([9.0], version="2"), 1: side([1.0]), 2: side([1.0]), 3: side([9.0], version="2")}
    lines = timelines([results(place, {KEY: one}) for place, one in sides.items()], PLACES)
    assert sorted(line.places for line in lines) == [(0, 3), (1, 2)]


def test_lost_evidence_does_not_split_a_series() -> None:
    protocols = [None, 1, None, 2, None]
    sets = [results(place, {KEY: side([1.0], protocol=one)}) for place, one in enumerate(protocols)]
    assert [line.places for line in timelines(sets, PLACES)] == [(0, 1, 2), (3, 4)]
    lost = [results(place, {KEY: side([1.0], protocol=None)}) for place in range(2)]
    assert [line.places for line in timelines(lost, PLACES)] == [(0, 1)]


def test_unit_and_direction_are_those_of_the_newest_commit() -> None:
    sets = [results(place, {KEY: side([1.0])}) for place in range(2)]
    sets[1].series[KEY] = dataclasses.replace(sets[1].series[KEY], unit="bytes", better="higher")
    (line,) = timelines(sets, PLACES)
    assert (line.series.unit, line.series.better) == ("bytes", "higher")


def test_benchmarks_that_change_together_are_one_restart() -> None:
    keys = [Key("b.two", "latency"), Key("a.one", "latency"), Key("a.one", "peak_allocated")]
    sets = [
        results(place, {key: side([1.0], version=version) for key in keys})
        for place, version in enumerate(["1", "1", "2"])
    ]
    assert restarts(timelines(sets, PLACES)) == [Restart("m", "e", 2, "version", ("a.one", "b.two"))]


def test_one_commit_of_another_version_is_no_restart() -> None:
    sides = {place: side([1.0], version="2" if place == 3 else "1") for place in range(6)}
    lines = timelines([results(place, {KEY: one}) for place, one in sides.items()], PLACES)
    assert sorted(line.places for line in lines) == [(0, 1, 2, 4, 5), (3,)]
    assert restarts(lines) == []


def _noisy(step: float, before: int, after: int, noise: float = 0.005) -> list[float]:
    levels = np.concatenate([np.ones(before), np.full(after, step)])
    return list(levels * np.exp(np.random.default_rng(1).normal(0, noise, before + after)))


@pytest.mark.parametrize(
    ("better", "step", "kind"),
    [
        ("lower", 1.2, "regression"),
        ("lower", 0.8, "improvement"),
        ("higher", 1.2, "improvement"),
        ("higher", 0.8, "regression"),
    ],
)
def test_a_change_has_the_direction_of_its_metric(better: str, step: float, kind: str) -> None:
    (one,) = changes_of(timeline(_noisy(step, 20, 20), better=better))
    assert (one.kind, one.place, one.pending) == (kind, 20, False)
    assert one.point.ci_low < step < one.point.ci_high


def test_commits_that_were_not_measured_are_in_the_range() -> None:
    """Two of three commits have no result; the change lies in the three before the first new value."""
    line = timeline(_noisy(1.2, 20, 20))
    sparse = dataclasses.replace(line, places=tuple(3 * place for place in line.places))
    (one,) = changes_of(sparse)
    assert (one.after, one.place, one.upto) == (57, 60, 60)


def test_commits_that_noise_cannot_tell_apart_are_in_the_range() -> None:
    (one,) = changes_of(timeline(_noisy(1.04, 60, 60, noise=0.02)))
    assert one.upto - one.after > 1 and one.after < 60 <= one.upto
    assert (one.after, one.upto) == (one.point.first - 1, one.point.last)


def test_too_few_values_after_it_make_a_change_pending() -> None:
    (one,) = changes_of(timeline(_noisy(1.3, 20, 2)))
    assert one.pending and one.place == 20


def test_any_difference_of_an_exact_metric_is_a_change() -> None:
    (one,) = changes_of(timeline([4096.0, 4097.0], unit="bytes", exact=True))
    assert (one.kind, one.after, one.place, one.upto, one.pending) == ("regression", 0, 1, 1, False)
    assert not timeline([1.0, 2.0], exact=True).few


@pytest.mark.parametrize("values", [[1.0], [1.0, 9.0, 9.0, 9.0, 9.0], [-1.0] * 10 + [-2.0] * 10])
def test_of_short_and_of_negative_series_nothing_is_said(values: list[float]) -> None:
    assert changes_of(timeline(values)) == []


def test_a_series_is_short_when_each_of_its_versions_is() -> None:
    long, fragment = timeline([1.0] * 9), timeline([1.0])
    other = timeline([1.0], "other")
    assert short([long, fragment, other]) == 1
