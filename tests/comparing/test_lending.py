"""Which earlier results lend their noise to a comparison."""

from __future__ import annotations

from typing import Any

from dcu_asv_ext.comparing.identity import of_facts
from dcu_asv_ext.comparing.lending import earlier, lent
from dcu_asv_ext.comparing.model import Key, ResultSet, Side
from tests.comparing.measured import LATENCY, side

OTHER = Key("gemm.other", "latency")


def result(commit: str, sides: dict[Key, Side], **more: Any) -> ResultSet:
    return ResultSet("host", commit * 40, "env", sides=sides, **more)


def levels(runs: list[Any] | None) -> list[float]:
    """The middle of each run's first round."""
    return [] if runs is None else [run[0][1] for run in runs]


def test_the_newest_runs_come_last_and_no_more_than_asked_for() -> None:
    past = [result(chr(97 + number), {LATENCY: side(float(number + 1))}) for number in range(5)]
    (found,) = lent(past, [(LATENCY, side(9.0))], 3)
    assert levels(found) == [3.0, 4.0, 5.0]


def test_each_key_has_its_own_also_where_results_have_different_keys() -> None:
    past = [
        result("a", {LATENCY: side(1.0), OTHER: side(10.0)}),
        result("b", {OTHER: side(20.0), LATENCY: side(2.0)}),
        result("c", {OTHER: side(30.0)}),
        result("d", {LATENCY: side(4.0), OTHER: side(40.0)}),
    ]
    wanted = [(OTHER, side(1.0)), (LATENCY, side(1.0)), (Key("new", "latency"), side(1.0))]
    found = lent(past, wanted, 50)
    assert [levels(one) for one in found] == [[10.0, 20.0, 30.0, 40.0], [1.0, 2.0, 4.0], []]
    assert found[2] is None


def test_what_is_another_series_lends_nothing() -> None:
    driver, other = (of_facts({"device.driver": name}) for name in ("one", "two"))
    before = side(1.0, version="v1", protocol=2, identity=driver)
    same = {"version": "v1", "protocol": 2, "identity": driver}
    past = [
        result("a", {LATENCY: side(1.0, **{**same, "version": "v0"})}),
        result("b", {LATENCY: side(2.0, **{**same, "protocol": 1})}),
        result("c", {LATENCY: side(3.0, **{**same, "identity": other})}),
        result("d", {LATENCY: side(4.0, **{**same, "state": "failed"})}),
        result("e", {LATENCY: side(5.0, **{**same, "conflict": "asv's file says otherwise"})}),
        result("f", {LATENCY: Side((), **same)}),
        result("g", {LATENCY: side(7.0, **same)}),
        result("h", {LATENCY: side(8.0, **{**same, "identity": None})}),
    ]
    (found,) = lent(past, [(LATENCY, before)], 50)
    assert levels(found) == [7.0, 8.0]


def test_a_result_lends_the_same_run_again_and_again() -> None:
    """So that what was made of it is kept."""
    past = [result("a", {LATENCY: side(1.0, 2.0)})]
    first, again = (lent(past, [(LATENCY, side(1.0))], 50)[0] for _ in range(2))
    assert first is not None
    assert again is not None
    assert first[0] is again[0]


def test_history_ends_before_the_commit_and_holds_neither_side() -> None:
    past = [result(letter, {}) for letter in "abcd"]
    assert [one.commit[0] for one in earlier(past, past[2], past[1])] == ["a"]
    assert [one.commit[0] for one in earlier(past, past[0], past[1])] == []


def test_history_of_a_commit_elsewhere_goes_by_its_date() -> None:
    past = [result(letter, {}, date=date) for date, letter in enumerate("abcd", 1)]
    aside = result("x", {}, date=3)
    assert [one.commit[0] for one in earlier(past, aside, past[0])] == ["b"]
    assert len(earlier(past, result("x", {}), result("y", {}))) == 4


def test_no_history_is_that_of_another_place_or_a_dirty_tree() -> None:
    here = result("a", {})
    past = [
        ResultSet("other", "a" * 40, "env"),
        ResultSet("host", "a" * 40, "other"),
        result("b", {}, dirty=True),
        here,
    ]
    assert earlier(past, result("c", {}), result("d", {})) == [here]
