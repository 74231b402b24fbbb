"""Which measurements of a commit are held against those of another."""

from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.comparing.deciding import report
from dcu_asv_ext.comparing.model import Key, ResultSet, Row
from dcu_asv_ext.comparing.profile_changes import compare_profiles
from dcu_asv_ext.comparing.profile_reading import as_record, compared_profiles, profiled_records
from dcu_asv_ext.comparing.profile_tables import REST
from dcu_asv_ext.trace import digest_tables

from .measured import FAMILY, LATENCY, PARAMS, read, recorded
from .profiles import GEMM, RELU, STEPS, Kernel, measured, profile, thrice

PLACE = FAMILY, PARAMS
NEW: Kernel = ("new", "4x1", 4, 0.95e-3)


def side(records: list[dict[str, Any]], commit: str = "a", **more: Any) -> ResultSet:
    found = read(records, **more)
    found.commit = commit * 40
    return found


def test_both_sides_of_a_benchmark() -> None:
    found = compared_profiles([side(thrice(profile()))], [side(thrice(profile((GEMM, RELU, NEW))), "b")])
    (change,) = found.changes
    assert (change.benchmark, tuple(change.params.values())) == PLACE
    assert [row.name for row in change.kernels] == ["new"]
    assert not found.left_out


def test_what_has_none_is_left_out_with_the_reason() -> None:
    before = side([*thrice(profile()), *thrice(profile(), benchmark="gemm.old")])
    after = side([*measured([None] * 3), *thrice(profile(), benchmark="gemm.new")], "b")
    found = compared_profiles([before], [after])
    assert not found.changes
    assert found.left_out == {
        "gemm.matmul(256, 'float32')": "there is no profile on the side after the change",
        "gemm.old(256, 'float32')": "it was measured before the change alone",
        "gemm.new(256, 'float32')": "it was measured after the change alone",
    }


def test_only_what_is_asked_for() -> None:
    records = [*thrice(profile()), *thrice(profile(), benchmark="gemm.other")]
    found = compared_profiles(
        [side(records)], [side(records, "b")], lambda key: key.benchmark == "gemm.other"
    )
    assert [one.benchmark for one in found.changes] == ["gemm.other"] and not found.left_out


def test_of_several_sessions_the_one_that_asv_has() -> None:
    old = thrice(profile(), 4e-3)
    stray = thrice(profile((GEMM,)), 9e-3, session="quick")
    entry = recorded([x for one in old for x in one["times"]["latency"]])
    found = read([*old, *stray], {LATENCY: entry})
    assert {one["session"] for one in profiled_records(found, PLACE)} == {"s1"}


def test_a_session_without_profiles_gives_way_to_one_that_has_them() -> None:
    found = side([*thrice(profile()), *measured([None] * 3, session="later")])
    assert {one["session"] for one in profiled_records(found, PLACE)} == {"s1"}


def test_a_trace_file_has_no_latency() -> None:
    sides = [profile(), profile((GEMM, RELU, NEW))]
    for one in sides:
        del one["steps"]
    found = compare_profiles(*([as_record(one, STEPS)] for one in sides))
    assert found.before.latency is None and found.verdict == ""
    assert found.explanation is not None and found.explanation.of == "the profiled call"


def test_the_rest_of_a_table_has_the_digests_name() -> None:
    assert REST == digest_tables.REST


class TestExplainedRow:
    """A row of a comparison with its reason, from the profiles of both sides."""

    def row(self, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Row:
        rows = report([side(before)], [side(after, "b")]).rows
        return next(row for row in rows if row.key == Key(*LATENCY_OF))

    def test_a_regression(self) -> None:
        row = self.row(thrice(profile()), thrice(profile((GEMM, RELU, NEW)), 5.0e-3))
        assert row.verdict == "regression"
        assert row.explanation == (
            "of +1.00 ms a call: +0.95 ms new kernel new, called 4 times; +0.05 ms unexplained"
        )

    def test_an_improvement(self) -> None:
        row = self.row(thrice(profile((GEMM, RELU, NEW)), 5.0e-3), thrice(profile()))
        assert row.verdict == "improvement"
        assert row.explanation.startswith("of -1.00 ms a call: -0.95 ms kernel new is gone")

    @pytest.mark.parametrize(
        ("before", "after", "latency"),
        [
            (profile(), profile((GEMM, RELU, NEW)), 4.0e-3),
            (profile(), profile(), 5.0e-3),
            (profile(faults=["it is cut"]), profile((GEMM, RELU, NEW)), 5.0e-3),
            (None, profile((GEMM, RELU, NEW)), 5.0e-3),
            (profile(), None, 5.0e-3),
        ],
    )
    def test_what_is_not_sure_has_none(self, before: Any, after: Any, latency: float) -> None:
        assert self.row(measured([before] * 3), measured([after] * 3, latency)).explanation == ""

    def test_profiles_of_another_change_explain_nothing(self) -> None:
        """A later session was profiled, and its latency moved by another amount."""
        after = measured([None] * 3, 6.0e-3)
        other = thrice(profile((GEMM, RELU, NEW)), 5.0e-3, session="later")
        entry = recorded([x for one in after for x in one["times"]["latency"]])
        found = report([side(thrice(profile()))], [read([*after, *other], {LATENCY: entry})])
        row = next(row for row in found.rows if row.key.metric == "latency")
        assert (row.verdict, row.explanation) == ("regression", "")


def test_profiles_of_another_change_are_not_the_reason_on_the_page_either() -> None:
    after = measured([None] * 3, 6.0e-3)
    other = thrice(profile((GEMM, RELU, NEW)), 5.0e-3, session="later")
    sets = (
        [side(thrice(profile()))],
        [read([*after, *other], {LATENCY: recorded([x for one in after for x in one["times"]["latency"]])})],
    )
    (change,) = compared_profiles(*sets, rows=report(*sets).rows).changes
    assert change.explanation is None and change.verdict == "regression"
    assert change.why_not == (
        "the latency of the measurements that were profiled changed by +1.00 ms, that of those compared by +2.00 ms"
    )


def test_of_several_environments_one_that_both_sides_have() -> None:
    def named(found: ResultSet, env: str) -> ResultSet:
        found.env = env
        return found

    before = [named(side(thrice(profile())), "old"), named(side(thrice(profile())), "both")]
    after = [named(side(thrice(profile((GEMM, RELU, NEW)), 5e-3), "b"), "both"), named(side([], "b"), "old")]
    rows = report(before, after).rows
    (change,) = compared_profiles(before, after, rows=rows).changes
    (row,) = (row for row in rows if row.key.metric == "latency" and row.env == "both")
    assert row.comparison is not None and change.before.latency is not None
    assert (change.verdict, change.before.latency.value) == (row.verdict, row.comparison.before)


LATENCY_OF = FAMILY, "latency", PARAMS
