"""Which sessions of the evidence are asv's current result."""

from __future__ import annotations

from dcu_asv_ext.comparing.sessions import by_samples, by_value, kept_rounds, sessions_of
from tests.comparing.measured import failed, record


def _kept(*sessions):
    return [kept_rounds(session, "latency") for session in sessions]


def _numbers(used):
    return [(one["session"], one["round"]) for one, _ in used]


OLD = [record(1, (1.0, 2.0)), record(2, (3.0, 4.0))]
NEW = [record(1, (5.0, 6.0), session="s2"), record(2, (7.0, 8.0), session="s2")]


def test_sessions_are_ordered_by_their_last_measurement_and_rounds_by_number():
    mixed = [NEW[1], OLD[0], NEW[0], OLD[1]]
    assert sessions_of(mixed) == [NEW, OLD]


def test_the_last_record_of_a_round_counts():
    again = record(1, (9.0,))
    assert sessions_of([OLD[0], OLD[1], again]) == [[again, OLD[1]]]


def test_a_run_that_replaced_the_samples_leaves_the_newest_session():
    used = by_samples(_kept(OLD, NEW), (5.0, 6.0, 7.0, 8.0))
    assert _numbers(used) == [("s2", 1), ("s2", 2)]


def test_a_run_that_appended_samples_leaves_both_oldest_first():
    used = by_samples(_kept(OLD, NEW), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0))
    assert _numbers(used) == [("s1", 1), ("s1", 2), ("s2", 1), ("s2", 2)]


def test_a_session_that_asv_did_not_keep_is_passed_over():
    quick = [record(1, (9.0,), session="s3")]
    assert _numbers(by_samples(_kept(OLD, NEW, quick), (5.0, 6.0, 7.0, 8.0))) == [("s2", 1), ("s2", 2)]


def test_a_session_that_asv_saved_half_way_counts_so_far():
    assert _numbers(by_samples(_kept(OLD, NEW), (5.0, 6.0))) == [("s2", 1)]


def test_order_inside_a_session_does_not_matter_and_rounding_neither():
    assert by_samples(_kept(OLD), (4.0, 3.0 * (1 + 1e-9), 2.0, 1.0))


def test_samples_that_no_sessions_have_find_none():
    assert by_samples(_kept(OLD, NEW), (1.0, 2.0, 3.0, 4.1)) == []
    assert by_samples(_kept(OLD, NEW), (1.0, 2.0, 3.0, 4.0, 9.0)) == []


def test_samples_of_an_old_session_are_found_behind_a_newer_one():
    assert _numbers(by_samples(_kept(OLD, NEW), (1.0, 2.0, 3.0, 4.0))) == [("s1", 1), ("s1", 2)]


def test_a_round_without_a_number_makes_asv_forget_those_before():
    session = [record(1, (1.0,)), failed(2), record(3, (3.0,))]
    assert _numbers(kept_rounds(session, "latency")) == [("s1", 3)]
    assert kept_rounds([record(1, (1.0,)), failed(2)], "latency") == []


def test_without_samples_the_newest_sessions_with_asv_s_median_count():
    assert _numbers(by_value(_kept(OLD, NEW), 6.5)) == [("s2", 1), ("s2", 2)]
    assert len(by_value(_kept(OLD, NEW), 4.5)) == 4
    assert by_value(_kept(OLD, NEW), 5.5) == []
