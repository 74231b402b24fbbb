"""The report of two sides."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dcu_asv_ext.comparing.deciding import HISTORY, interleaved, report
from dcu_asv_ext.comparing.identity import of_facts
from dcu_asv_ext.comparing.model import FAILED, MISSING, ComparisonError, Key, Series, Side
from dcu_asv_ext.stats.verdicts import IMPROVEMENT, INCONCLUSIVE, NO_CHANGE, NOT_COMPARABLE, REGRESSION
from tests.comparing.measured import results, side

BASE = side(1.0, 1.001, 0.999, 1.0005, 0.9995)
SLOWER = side(1.2, 1.201, 1.199, 1.2005, 1.1995, hour=12)
FASTER = side(0.8, 0.801, 0.799, 0.8005, 0.7995, hour=12)
SAME = side(1.0005, 0.9995, 1.0, 0.999, 1.001, hour=12)
NOISY = side(1.0, 1.3, 0.8, hour=12)


def _one(before, after, **options):
    """The only row of a comparison of one benchmark."""
    (row,) = report([results({"f": before})], [results({"f": after}, "b")], **options).rows
    return row


def _verdicts(made):
    return {row.key.benchmark: row.verdict for row in made.rows}


class TestVerdicts:
    def test_regression_improvement_and_no_change(self):
        before = results(dict.fromkeys(("slow", "fast", "same"), BASE))
        after = results({"slow": SLOWER, "fast": FASTER, "same": SAME}, "b")
        made = report([before], [after])
        assert _verdicts(made) == {"slow": REGRESSION, "fast": IMPROVEMENT, "same": NO_CHANGE}
        assert [row.key.benchmark for row in made.rows] == ["slow", "fast", "same"]
        assert made.rows[0].comparison.ratio == pytest.approx(1.2, rel=1e-3)
        assert made.rows[0].comparison.rounds == (5, 5)
        assert made.compared

    def test_the_direction_of_the_metric_counts(self):
        before, after = results({"f": BASE}), results({"f": SLOWER}, "b")
        for one in (before, after):
            one.series = {key: Series(key.benchmark, better="higher") for key in one.sides}
        assert report([before], [after]).rows[0].verdict == IMPROVEMENT

    def test_an_exact_metric_is_compared_exactly(self):
        before, after = results({"f": side(1000.0, 1000.0)}), results({"f": side(1001.0, 1001.0)}, "b")
        for one in (before, after):
            sides = {
                key: replace(s, rounds=tuple(replace(r, samples=(s.value,)) for r in s.rounds))
                for key, s in one.sides.items()
            }
            one.sides, one.series = sides, {key: Series(key.benchmark, exact=True) for key in sides}
        assert report([before], [after]).rows[0].verdict == REGRESSION

    def test_margin_and_equivalence_are_handed_on_and_kept(self):
        made = report([results({"f": BASE})], [results({"f": SLOWER}, "b")], margin=0.5, equivalence=0.6)
        assert made.rows[0].verdict == NO_CHANGE
        assert made.settings["margin"] == 0.5

    def test_a_benchmark_that_does_not_match_is_not_there(self):
        sets = [results({"f": BASE, "g": BASE})], [results({"f": SAME, "g": SAME}, "b")]
        made = report(*sets, match=lambda key: key.benchmark == "g")
        assert list(_verdicts(made)) == ["g"]

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0])
    def test_values_that_are_no_times_are_not_compared_and_not_raised(self, bad):
        row = _one(BASE, side(1.0, bad, 1.0))
        assert row.verdict == NOT_COMPARABLE and row.reason

    def test_zeros_and_rounds_of_unequal_length_are_compared(self):
        assert _one(side(0.0, 0.0, 0.0), side(0.0, 0.0, 0.0)).verdict == NO_CHANGE
        assert _one(side(1.0, 1.001), SLOWER).comparison.rounds == (2, 5)

    def test_one_round_a_side_is_inconclusive(self):
        assert _one(side(1.0), side(1.1)).verdict == INCONCLUSIVE


class TestWithoutStatistics:
    FAILED = Side(state=FAILED, reason="out of memory")
    MISSING = Side(state=MISSING, reason="the CPU has no device events")

    @pytest.mark.parametrize(
        ("before", "after", "verdict", "reason"),
        [
            (BASE, FAILED, "failed", "out of memory"),
            (FAILED, BASE, "fixed", "before: out of memory"),
            (FAILED, FAILED, "failed before and after", "out of memory"),
            (BASE, MISSING, "missing", "the CPU has no device events"),
            (MISSING, BASE, "missing", "the CPU has no device events"),
            (FAILED, MISSING, "missing", "the CPU has no device events"),
        ],
    )
    def test_states(self, before, after, verdict, reason):
        row = _one(before, after)
        assert (row.verdict, row.reason, row.comparison) == (verdict, reason, None)

    def test_measured_on_one_side_only(self):
        made = report([results({"old": BASE})], [results({"new": BASE}, "b")])
        assert _verdicts(made) == {"old": "only before", "new": "only after"}
        assert "no benchmark was measured on both sides" in made.notes
        assert not made.compared

    def test_a_benchmark_that_changed_is_not_compared(self):
        row = _one(replace(BASE, version="1" * 64), replace(SLOWER, version="2" * 64))
        assert row.verdict == NOT_COMPARABLE
        assert row.reason == "the benchmark changed (version 11111111 before, 22222222 after)"
        assert row.comparison is None

    def test_neither_is_one_that_was_measured_in_another_way(self):
        row = _one(replace(BASE, protocol=1), replace(SLOWER, protocol=2))
        assert row.verdict == NOT_COMPARABLE
        assert row.reason == "the way of measuring changed (protocol 1 before, 2 after)"

    def test_old_results_without_version_or_protocol_are_compared(self):
        assert _one(BASE, replace(SLOWER, version="1", protocol=1)).verdict == REGRESSION

    def test_evidence_that_contradicts_asv_s_file_is_not_compared(self):
        row = _one(BASE, replace(SLOWER, conflict="the evidence contradicts asv's file (...)"))
        assert (row.verdict, row.reason) == (NOT_COMPARABLE, "the evidence contradicts asv's file (...)")
        assert row.comparison is None

    def test_nothing_refused_counts_as_compared(self):
        made = report(
            [results({"f": replace(BASE, version="1")})], [results({"f": replace(SAME, version="2")}, "b")]
        )
        assert not made.compared


class TestOrder:
    def test_by_what_matters(self):
        names = {
            "a": (BASE, side(1.1, 1.101, 1.099, 1.1005, 1.0995)), "b": (BASE, SLOWER),
            "c": (BASE, TestWithoutStatistics.FAILED), "d": (BASE, FASTER),
            "e": (BASE, NOISY), "f": (BASE, SAME), "g": (BASE, replace(SAME, conflict="no")),
            "h": (BASE, TestWithoutStatistics.MISSING),
        }  # fmt: skip
        before = results({**{n: pair[0] for n, pair in names.items()}, "i": BASE})
        after = results({n: pair[1] for n, pair in names.items()}, "b")
        # The guard would see a suite in disorder: half of it moves.
        made = report([_with_fact(before, "x", "1")], [_with_fact(after, "x", "2")], vary=["x"])
        assert [row.key.benchmark for row in made.rows] == ["b", "a", "c", "d", "e", "f", "g", "h", "i"]

    def test_undecided_ones_by_how_large_the_change_may_be(self):
        before = results(dict.fromkeys(("a", "b"), BASE))
        after = results({"a": side(1.0, 1.03, 0.97), "b": side(1.0, 2.0, 0.5)}, "b")
        assert [row.key.benchmark for row in report([before], [after]).rows] == ["b", "a"]


def _with_fact(one, name, value):
    return replace(one, facts={**one.facts, name: value})


class TestDifferences:
    SIDES = dict.fromkeys("abc", BASE)

    def _report(self, name, before, after, **options):
        sets = (
            _with_fact(results(self.SIDES), name, before),
            _with_fact(results(dict.fromkeys("abc", SAME), "b"), name, after),
        )
        return report([sets[0]], [sets[1]], **options)

    def test_a_machine_that_changed_refuses_every_row_and_keeps_the_figures_as_advice(self):
        made = self._report("device.driver", "6.3", "6.4")
        assert set(_verdicts(made).values()) == {NOT_COMPARABLE}
        assert made.refused == "the machine changed: device.driver was 6.3, is 6.4"
        assert {row.reason for row in made.rows} == {made.refused}
        assert all(row.comparison.ratio == pytest.approx(1.0, abs=1e-3) for row in made.rows)
        assert all(row.corrected is not None for row in made.rows)
        assert not made.compared
        assert [(one.name, one.declared) for one in made.differences] == [("device.driver", False)]

    def test_what_was_declared_is_compared(self):
        made = self._report("device.driver", "6.3", "6.4", vary=["driver"])
        assert set(_verdicts(made).values()) == {NO_CHANGE}
        assert made.differences[0].declared
        assert made.notes == [
            "declared as the experiment: device.driver; a change that all benchmarks share is part of it"
        ]

    def test_what_is_only_shown_refuses_nothing(self):
        made = self._report("host.load_1min", "0.5", "7")
        assert set(_verdicts(made).values()) == {NO_CHANGE}
        assert made.differences[0].after == "7"

    def test_a_wrong_declaration_is_refused(self):
        with pytest.raises(ComparisonError, match="--vary driver: no fact"):
            self._report("machine.cpu", "A", "A", vary=["driver"])
        with pytest.raises(ComparisonError, match="--vary cpu: it is the same"):
            self._report("machine.cpu", "A", "A", vary=["cpu"])

    def test_a_fact_of_one_benchmark_refuses_that_one_alone(self):
        other = {
            name: replace(SAME, facts={"switches.threads": "4" if name == "a" else "8"}) for name in "abc"
        }
        same = {name: replace(BASE, facts={"switches.threads": "8"}) for name in "abc"}
        made = report([results(same)], [results(other, "b")])
        assert _verdicts(made) == {"a": NOT_COMPARABLE, "b": NO_CHANGE, "c": NO_CHANGE}
        assert made.refused == ""

    def test_a_suite_that_moved_as_a_whole_is_refused_by_the_guard(self):
        names = [f"b{i}" for i in range(12)]
        made = report([results(dict.fromkeys(names, BASE))], [results(dict.fromkeys(names, SLOWER), "b")])
        assert set(_verdicts(made).values()) == {NOT_COMPARABLE}
        assert made.refused and made.shift == pytest.approx(1.2, rel=1e-3)
        assert all(row.corrected.ratio == pytest.approx(1.0, rel=1e-3) for row in made.rows)


class TestInterleaved:
    A = side(1.0, 1.1, 1.2)

    def test_rounds_in_turn_are_pairs_whichever_came_first(self):
        later = replace(
            self.A,
            rounds=tuple(
                replace(r, started_at=r.started_at.replace(":00.000", ":30.000")) for r in self.A.rounds
            ),
        )
        assert interleaved(self.A, later) and interleaved(later, self.A)

    def test_one_side_after_the_other_is_none(self):
        assert not interleaved(self.A, side(1.0, 1.1, 1.2, hour=11))

    def test_a_round_that_began_with_the_next_pair_s_is_none(self):
        assert not interleaved(self.A, side(1.0, 1.1, 1.2, every=4))

    def test_one_round_is_none(self):
        assert not interleaved(side(1.0), side(1.0))

    def test_without_times_or_with_several_sessions_there_is_none(self):
        assert not interleaved(self.A, side(1.0, 1.1, 1.2, session=""))
        mixed = (replace(self.A.rounds[0], session="s0"), *self.A.rounds[1:])
        assert not interleaved(replace(self.A, rounds=mixed), self.A)

    def test_pairs_are_cut_to_the_rounds_that_both_have(self):
        drift = [1.0, 2.0, 4.0, 8.0]
        row = _one(side(*drift), side(*(1.2 * level for level in drift[:3])))
        assert row.comparison.paired
        assert row.comparison.rounds == (3, 3)
        assert row.verdict == REGRESSION

    def test_few_rounds_in_common_are_not_worth_the_others(self):
        assert not interleaved(side(1, 1), side(1, 1, 1, 1, 1))


class TestHistory:
    """What the statistics are given of earlier commits, through a stand-in for them."""

    @pytest.fixture
    def given(self, monkeypatch):
        from dcu_asv_ext import stats

        seen = {}
        original = stats.compare_suite

        def compare_suite(pairs, *, history, **options):
            seen["history"] = [None if one is None else [run[0][1] for run in one] for one in history]
            return original(pairs, history=history, **options)

        monkeypatch.setattr(stats, "compare_suite", compare_suite)
        return seen

    def _runs(self, levels, **more):
        return [results({"f": side(level, level)}, commit, **more) for commit, level in levels.items()]

    def _ask(self, given, history, before="x"):
        report([results({"f": BASE}, before)], [results({"f": SAME}, "y")], history=history)
        return given["history"][0]

    def test_commits_before_the_first_side_in_order(self, given):
        runs = self._runs({"a": 1.0, "b": 2.0, "x": 3.0, "c": 4.0})
        assert self._ask(given, runs) == [1.0, 2.0]

    def test_neither_side_is_its_own_history(self, given):
        assert self._ask(given, self._runs({"a": 1.0, "y": 2.0, "x": 3.0})) == [1.0]

    def test_a_commit_that_is_not_in_the_history_takes_what_is_older(self, given):
        runs = [replace(one, date=date) for date, one in enumerate(self._runs({"a": 1.0, "b": 2.0}), 1)]
        before = replace(results({"f": BASE}, "x"), date=2)
        report([before], [results({"f": SAME}, "y")], history=runs)
        assert given["history"] == [[1.0]]

    def test_other_environments_versions_protocols_and_uncommitted_trees_are_left_out(self, given):
        runs = (
            self._runs({"a": 1.0}, env="other") + self._runs({"b": 2.0}, dirty=True) + self._runs({"c": 3.0})
        )
        changed = self._runs({"d": 4.0, "e": 5.0, "f": 6.0})
        key = Key("f", "latency")
        for one, change in zip(changed, ({"version": "2"}, {"protocol": 2}, {"state": FAILED}), strict=True):
            one.sides = {key: replace(one.sides[key], **change)}
        assert self._ask(given, runs + changed) == [3.0]

    def test_only_runs_of_the_same_set_up_lend_their_noise(self, given):
        """Two thread counts are not one series; a run that does not tell its set-up is believed to be of it."""
        eight, four = (of_facts({"switches.threads": number}) for number in ("8", "4"))
        runs = self._runs({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0})
        key = Key("f", "latency")
        for one, identity in zip(runs, (eight, four, None, eight), strict=True):
            one.sides = {key: replace(one.sides[key], identity=identity)}
        before = results({"f": replace(BASE, identity=eight)}, "x")
        report([before], [results({"f": replace(SAME, identity=four)}, "y")], history=runs)
        assert given["history"] == [[1.0, 3.0, 4.0]]

    def test_no_more_than_the_newest_fifty(self, given):
        runs = [
            replace(one, commit=str(i) * 8)
            for i, one in enumerate(self._runs({chr(200 + i): 1.0 + i for i in range(HISTORY + 9)}))
        ]
        found = self._ask(given, runs)
        assert (len(found), found[0], found[-1]) == (HISTORY, 10.0, HISTORY + 9.0)

    def test_none_where_there_is_none(self, given):
        assert self._ask(given, []) is None

    def test_a_history_of_one_point_is_no_hindrance(self):
        made = report(
            [results({"f": BASE}, "x")], [results({"f": SAME}, "y")], history=self._runs({"a": 1.0})
        )
        assert made.rows[0].verdict == NO_CHANGE


class TestEnvironments:
    def test_each_is_compared_with_its_own(self):
        before = [results({"f": BASE}, env="one"), results({"f": SLOWER}, env="two")]
        after = [results({"f": SLOWER}, "b", env="two"), results({"f": SLOWER}, "b", env="one")]
        made = report(before, after)
        assert [(row.env, row.verdict) for row in made.rows] == [("one", REGRESSION), ("two", NO_CHANGE)]

    def test_one_on_each_side_is_compared_whatever_its_name(self):
        made = report([results({"f": BASE}, env="one")], [results({"f": SLOWER}, "b", env="two")])
        assert [(row.env, row.verdict) for row in made.rows] == [("", REGRESSION)]

    def test_none_in_common_is_refused(self):
        sides = [results({}, env="one"), results({}, env="two")], [results({}, "b", env="three")]
        with pytest.raises(ComparisonError, match=r"no environment in common \(one, two against three\)"):
            report(*sides)

    def test_one_that_only_one_side_has_is_told(self):
        made = report(
            [results({"f": BASE}, env="one"), results({}, env="two")], [results({"f": SAME}, "b", env="one")]
        )
        assert made.notes == ["left out, since only one side has it: two"]

    def test_no_results_at_all_are_refused(self):
        with pytest.raises(ComparisonError, match="no results on the second side"):
            report([results({})], [])


def test_notes_of_the_results_and_of_an_uncommitted_tree_are_in_the_report():
    before = replace(results({"f": BASE}), notes=["a note"])
    made = report([before], [results({"f": SAME}, "b", dirty=True)])
    assert made.notes == ["a note", "after: measured from a tree with uncommitted changes"]
