"""A history of which the machine, or its set-up, changed on the way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcu_asv_ext.comparing import history_json, history_text
from dcu_asv_ext.comparing.history import HistoryReport, Restart, restarts, timelines
from dcu_asv_ext.comparing.history_report import history_report
from dcu_asv_ext.comparing.history_text import DATE, Style
from dcu_asv_ext.comparing.identity import Identity, of_facts
from dcu_asv_ext.comparing.model import Key, ResultSet, Side
from dcu_asv_ext.comparing.set_ups import set_up_changes

from .histories import branch, commit, results, side

OLD, NEW = of_facts({"device.driver": "hycu 6.3.8"}), of_facts({"device.driver": "hycu 6.3.30"})
EIGHT, FOUR = of_facts({"switches.threads": "8"}), of_facts({"switches.threads": "4"})
MATMUL, CONV = Key("gemm.matmul", "latency"), Key("conv.conv2d", "latency")


def noisy(level: float, seed: int) -> Side:
    return side([float(level * np.exp(np.random.default_rng(seed).normal(0, 0.002)))])


def of(identity: Identity | None, level: float, seed: int, **more: str) -> Side:
    return replace(noisy(level, seed), identity=identity, **more)


def measured(*commits: dict[Key, Side]) -> HistoryReport:
    sets = [results(place, sides) for place, sides in enumerate(commits)]
    return report_of(sets, len(commits))


def report_of(sets: list[ResultSet], number: int, **more: str) -> HistoryReport:
    return history_report(
        "main", branch(number), timelines(sets, {commit(i): i for i in range(number)}), **more
    )


def updated(levels: tuple[float, float] = (1.0, 1.3), **more: str) -> HistoryReport:
    """The driver's update after ten of twenty commits; matmul takes it hard, conv does not mind."""
    sets = [
        results(
            place,
            {
                MATMUL: of(NEW if place >= 10 else OLD, levels[place >= 10], place),
                CONV: of(NEW if place >= 10 else OLD, 2.0, 100 + place),
            },
        )
        for place in range(20)
    ]
    return report_of(sets, 20, **more)


def test_a_driver_s_update_is_told_and_no_regression() -> None:
    found = updated()
    assert found.changes == [] and found.events == [] and found.restarts == []
    (one,) = found.set_ups
    assert one.sentence == "the machine changed here: device.driver was hycu 6.3.8, is hycu 6.3.30"
    assert (one.place, len(one.lines), one.beside) == (10, 2, False)
    assert [member.timeline.key for member in one.members] == [MATMUL]
    assert one.ratio == pytest.approx(1.3, rel=0.01)


def test_without_the_update_the_same_figures_are_a_regression() -> None:
    found = measured(*({MATMUL: of(OLD, 1.3 if place >= 10 else 1.0, place)} for place in range(20)))
    assert [one.kind for one in found.changes] == ["regression"] and found.set_ups == []


def test_an_update_that_nothing_minds_is_told_too() -> None:
    (one,) = updated((1.0, 1.0)).set_ups
    assert one.members == () and one.ratio is None and one.size == 0.0


def test_a_regression_of_the_code_after_the_update_is_one() -> None:
    def level(place: int) -> float:
        return 1.0 if place < 10 else 1.3 if place < 20 else 1.6

    found = measured(*({MATMUL: of(NEW if i >= 10 else OLD, level(i), i)} for i in range(30)))
    (one,) = found.changes
    assert (one.place, one.kind) == (20, "regression")
    assert [change.place for change in found.set_ups] == [10]


def test_a_regression_of_the_code_before_the_update_is_not_the_update_s() -> None:
    found = measured(*({MATMUL: of(NEW if i >= 20 else OLD, 1.3 if i >= 10 else 1.0, i)} for i in range(30)))
    assert [(one.place, one.kind) for one in found.changes] == [(10, "regression")]
    assert [(one.place, one.members) for one in found.set_ups] == [(20, ())]


def test_two_thread_counts_are_two_series() -> None:
    """They take turns, and a regression of the one with eight threads is seen all the same."""

    def one(place: int) -> Side:
        few = place % 2 == 1
        return of(FOUR if few else EIGHT, (1.9 if few else 1.0) * (1.1 if place >= 20 else 1.0), place)

    found = measured(*({MATMUL: one(place)} for place in range(40)))
    assert [line.places[:3] for line in found.timelines] == [(0, 2, 4), (1, 3, 5)]
    assert [change.place for change in found.changes] == [20, 21]
    (change,) = found.set_ups
    assert change.sentence == "the set-up changed here: switches.threads was 8, is 4"
    assert change.beside and change.members == ()


def test_commits_whose_evidence_is_lost_stay_with_the_one_before() -> None:
    identities = [OLD] * 5 + [None] + [NEW] * 5 + [None]
    found = measured(*({MATMUL: of(one, 1.0, place)} for place, one in enumerate(identities)))
    assert [line.places for line in found.timelines] == [tuple(range(6)), tuple(range(6, 12))]


def test_a_new_version_of_the_benchmark_is_told_as_that() -> None:
    sides = [of(OLD, 1.0, 0), of(NEW, 1.0, 1, version="2"), of(OLD, 1.0, 2, version="2")]
    lines = timelines(
        [results(i, {MATMUL: one}) for i, one in enumerate(sides)], {commit(i): i for i in range(3)}
    )
    assert restarts(lines) == [Restart("m", "e", 1, "version", ("gemm.matmul",))]
    assert [(one.place, one.differences[0].before) for one in set_up_changes(lines)] == [(2, "hycu 6.3.30")]


@pytest.mark.parametrize(("kind", "number"), [("regression", 1), ("improvement", 0)])
def test_chosen_by_what_moved_with_it(kind: str, number: int) -> None:
    assert len(updated(kind=kind).set_ups) == number


def test_what_lies_before_since_is_left_out() -> None:
    assert len(updated(since=9).set_ups) == 1  # type: ignore[arg-type]
    assert updated(since=10).set_ups == []  # type: ignore[arg-type]


def test_text() -> None:
    text = history_text.render(updated(), Style(width=200))
    assert text.startswith("main: 0 regressions, 0 improvements, 0 machine events, 1 change of the set-up.")
    lines = text.splitlines()
    (at,) = (place for place, line in enumerate(lines) if "the machine changed here" in line)
    assert commit(10)[:8] in lines[at - 1]
    assert "driver was hycu 6.3.8, is hycu 6.3.30; 2 series begin anew; 1 moved with it, by 1.3" in lines[at]
    assert lines[at + 1].strip().startswith("with it") and "gemm.matmul latency" in lines[at + 1]
    assert "regression   1" not in text


def test_text_of_two_side_by_side() -> None:
    found = measured(*({MATMUL: of((EIGHT, FOUR)[place % 2], 1.0, place)} for place in range(14)))
    assert "is 4; 1 series of it, beside those of the set-up before" in history_text.render(
        found, Style(width=200)
    )


def test_json() -> None:
    found = history_json.to_json(updated(), DATE, series=True)
    (one,) = found["set_ups"]
    assert one["commit"] == commit(10) and one["differences"] == [
        {"name": "device.driver", "before": "hycu 6.3.8", "after": "hycu 6.3.30"}
    ]
    assert one["text"].startswith("the machine changed here") and one["side_by_side"] is False
    assert [member["benchmark"] for member in one["members"]] == ["gemm.matmul"]
    assert found["changes"] == [] and len({line["set_up"] for line in found["timelines"]}) == 2


def test_short_series_of_another_set_up_are_told() -> None:
    commits = [{MATMUL: of(NEW if place >= 18 else OLD, 1.0, place)} for place in range(20)]
    assert measured(*commits).notes == [
        "Not looked at: 2 values of another version, protocol or set-up than most of their series have (1 series)."
    ]
