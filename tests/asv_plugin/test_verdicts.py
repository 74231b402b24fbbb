"""asv's table decided by our verdicts: its marks, what it calls not comparable, and what is said under it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from asv import util

from dcu_asv_ext.asv_plugin import verdict_notes, verdict_table, verdicts
from dcu_asv_ext.asv_plugin.verdict_table import Entry, Margins, Table
from dcu_asv_ext.comparing.model import SAMPLES, Difference, Key, Report, ResultSet, Row, Series, Side
from dcu_asv_ext.stats.verdicts import (
    IMPROVEMENT,
    INCONCLUSIVE,
    NO_CHANGE,
    NOT_COMPARABLE,
    REGRESSION,
)

#: asv's name -> (verdict, reason)
Verdicts = Mapping[str, tuple[str, str]]
ENV = "env"


def entry(name: str, *values: Any, params: Sequence[str] = (), version: str = "1", env: str = ENV) -> Entry:
    given = [list(params)] if params else []
    return Entry(name, given, list(values), None, None, version, "box", env, "c" * 40)


def result_set(entries: Sequence[Entry], source: str = "evidence") -> ResultSet:
    """What is read of one environment's entries."""
    found = ResultSet("box", "c" * 40, entries[0].env)
    for one in entries:
        for place, value, _ in verdict_table._combinations(one):
            key = Key(*one.name.rsplit(".", 1), place[1])
            found.sides[key] = Side(source=source, value=value)
            found.series[key] = Series(one.name)
    return found


class Files:
    """What stands in for result files: everything that the entries of both sides tell."""

    def __init__(self, *sides: Sequence[Entry], source: str = "evidence") -> None:
        self.sides, self.source = sides, source

    def results(self, entry: Entry) -> ResultSet:
        (side,) = [one for one in self.sides if any(other is entry for other in one)][:1]
        return result_set([one for one in side if one.env == entry.env], self.source)

    def history(self, before: ResultSet) -> list[ResultSet]:
        return [before]


def table(
    before: list[Entry], after: list[Entry], said: Verdicts, source: str = "evidence", **of_report: Any
) -> Table:
    """A table whose reports say of each name what `said` has for it; a name without an entry has no row."""
    made = Table(Margins.of(1.1), before, after)

    def report(first: list[ResultSet], second: list[ResultSet], **settings: Any) -> Report:
        rows = []
        for key in sorted({*first[0].sides, *second[0].sides}):
            series = first[0].series.get(key) or second[0].series[key]
            if series.asv_name in said:
                sides = first[0].sides.get(key), second[0].sides.get(key)
                rows.append(Row(key, series, *sides, *said[series.asv_name]))
        return Report(first, second, rows, settings=settings, **of_report)

    made.decide(Files(made.before, made.after, source=source), report)
    return made


def asks(made: Table, name: str) -> str:
    """The mark that asv gives a row, asking as its print_table does: "-", "+", "~", "x" or " "."""
    (before,), (after,) = ([one for one in made.entries(side) if one[0] == name] for side in (False, True))
    if before[5] != after[5]:
        return "x"
    first, second = ((one[3][0], one[4][0]) for one in (before, after))
    if made.better(second, first):
        return "-"
    if made.better(first, second):
        return "+"
    return "~" if made.better(None, None) or made.better(None, None) else " "


class TestMargins:
    def test_at_asvs_default_factor_ours_holds(self) -> None:
        assert Margins.of(1.1) == Margins(0.01, 0.05, given=False)

    @pytest.mark.parametrize(
        ("factor", "margin", "equivalence"), [(1.05, 0.05, 0.05), (1.25, 0.25, 0.25), (1, 0, 0.05)]
    )
    def test_any_other_is_the_margin(self, factor: float, margin: float, equivalence: float) -> None:
        assert Margins.of(factor) == Margins(margin, equivalence, given=True)

    @pytest.mark.parametrize("factor", [0.9, -1.0, math.nan, math.inf])
    def test_one_that_is_none_is_one_sentence(self, factor: float) -> None:
        with pytest.raises(util.UserError, match=r"--factor must be a number of at least 1, not"):
            Margins.of(factor)


class TestMarks:
    @pytest.mark.parametrize(
        ("verdict", "mark"),
        [
            (REGRESSION, "+"),
            (IMPROVEMENT, "-"),
            (NO_CHANGE, " "),
            (INCONCLUSIVE, "~"),
            (NOT_COMPARABLE, "x"),
        ],
    )
    def test_the_verdict_decides_whatever_the_values_say(self, verdict: str, mark: str) -> None:
        for values in ((1.0, 2.0), (2.0, 1.0)):
            made = table(
                [entry("s.f.latency", values[0])],
                [entry("s.f.latency", values[1])],
                {"s.f.latency": (verdict, "")},
            )
            assert asks(made, "s.f.latency") == mark

    def test_each_row_has_its_own(self) -> None:
        names = {
            f"s.{word}.latency": (word, "") for word in (REGRESSION, INCONCLUSIVE, NO_CHANGE, IMPROVEMENT)
        }
        entries = [entry(name, 1.0) for name in names]
        made = table(entries, entries, names)
        assert [asks(made, name) for name in names] == ["+", "~", " ", "-"]

    def test_each_combination_of_parameters_is_a_row(self) -> None:
        made = table(
            [entry("s.f.latency", 1.0, None, params=("8", "16"))],
            [entry("s.f.latency", 2.0, 2.0, params=("8", "16"))],
            {"s.f.latency": (REGRESSION, "")},
        )
        assert [one[1:3] for one in made.entries(False)] == [([["8"]], [1.0]), ([["16"]], [None])]
        assert list(made.decided) == [(("box", ENV), ("s.f.latency", ("8",)))], "the other one failed before"

    def test_a_failure_is_left_to_asv(self) -> None:
        made = table(
            [entry("s.f.latency", 1.0)], [entry("s.f.latency", None)], {"s.f.latency": ("failed", "")}
        )
        assert made.decided == {}
        assert [one[5] for one in made.entries(True)] == ["1"]

    def test_evidence_that_contradicts_asvs_file_is_not_comparable(self) -> None:
        made = table(
            [entry("s.f.latency", 1.0)],
            [entry("s.f.latency", 2.0)],
            {"s.f.latency": ("failed", "it crashed")},
        )
        assert list(made.decided.values()) == [(NOT_COMPARABLE, "failed: it crashed")]
        assert asks(made, "s.f.latency") == "x"

    def test_a_row_without_rounds_is_not_comparable(self) -> None:
        made = table([entry("s.f.latency", 1.0)], [entry("s.f.latency", 2.0)], {})
        assert asks(made, "s.f.latency") == "x"
        assert not made.compared


class TestWhatIsDecided:
    def test_only_what_is_shown_weighs(self) -> None:
        """A benchmark that is in the files and not in the table takes no part in the suite's decision."""
        shown, hidden = entry("s.f.latency", 1.0), entry("s.g.latency", 1.0)
        made = Table(Margins.of(1.1), [shown], [shown])
        seen: list[list[Key]] = []

        def report(first: list[ResultSet], second: list[ResultSet], **_: Any) -> Report:
            seen.append([*first[0].sides, *second[0].sides])
            return Report(first, second)

        made.decide(Files([shown, hidden]), report)
        assert seen == [[Key("s.f", "latency")] * 2]

    def test_each_environment_is_decided_by_itself(self) -> None:
        entries = [entry("s.f.latency", 1.0, env=env) for env in ("a", "b")]
        made = table(entries, entries, {"s.f.latency": (NO_CHANGE, "")})
        assert list(made.reports) == [("box", "a"), ("box", "b")]

    def test_the_margin_reaches_the_decision(self) -> None:
        one = entry("s.f.latency", 1.0)
        made = Table(Margins.of(1.3), [one], [one])
        seen: dict[str, Any] = {}

        def report(first: list[ResultSet], second: list[ResultSet], **settings: Any) -> Report:
            seen.update(settings)
            return Report(first, second)

        made.decide(Files([one]), report)
        assert (seen["margin"], seen["equivalence"]) == (0.3, 0.3)


def said(made: Table) -> str:
    return verdict_notes.notes(made, "a" * 40, "b" * 40)


class TestNotes:
    def one(self, verdict: str = NO_CHANGE, reason: str = "", **more: Any) -> Table:
        return table(
            [entry("s.f.latency", 1.0)],
            [entry("s.f.latency", 1.0)],
            {"s.f.latency": (verdict, reason)},
            **more,
        )

    def test_the_rule_and_where_to_read_on(self) -> None:
        text = said(self.one())
        assert "Decided by dcu-asv" in text
        assert "beyond 1 % (another --factor is the margin), no change one surely within 5 %" in text
        assert "dcu-asv compare aaaaaaaa bbbbbbbb" in text

    def test_counts(self) -> None:
        names = {f"s.{i}.latency": (REGRESSION if i < 2 else INCONCLUSIVE, "") for i in range(5)}
        entries = [entry(name, 1.0) for name in names]
        text = said(table(entries, entries, names))
        assert "2 worse, 3 inconclusive" in text
        assert "more rounds would tell" in text

    def test_the_guard_speaks_once(self) -> None:
        guard = "the machine changed: everything is 12 % slower"
        text = said(self.one(NOT_COMPARABLE, guard, refused=guard))
        assert text.count(guard) == 1
        assert "1 not comparable" in text

    def test_other_reasons_are_counted(self) -> None:
        entries = [entry(f"s.{i}.latency", 1.0) for i in range(3)]
        text = said(
            table(entries, entries, {one.name: (NOT_COMPARABLE, "its version changed") for one in entries})
        )
        assert "not comparable: its version changed (3)" in text

    def test_what_differs(self) -> None:
        differs = Difference("device.driver", "5.1", "5.2", matters=False)
        text = said(self.one(differences=[differs]))
        assert "differs besides the commit: device.driver: 5.1 -> 5.2" in text

    def test_a_long_list_is_cut(self) -> None:
        differs = [Difference(f"software.package{i}", "1", "2", matters=False) for i in range(9)]
        text = said(self.one(differences=differs))
        assert text.count("differs besides the commit") == 6
        assert "and 3 more differences" in text

    def test_the_reports_notes(self) -> None:
        assert (
            said(self.one(notes=["measured from a changed tree"] * 2)).count("measured from a changed tree")
            == 1
        )

    def test_where_more_is_better(self) -> None:
        made = self.one()
        assert "also where more is better" not in said(made)
        (report,) = made.reports.values()
        report.rows = [replace(row, series=replace(row.series, better="higher")) for row in report.rows]
        assert "+ is worse and - is better, also where more is better" in said(made)

    def test_where_there_are_no_rounds(self) -> None:
        assert "1 of 1 without rounds of ours" in said(self.one(source=SAMPLES))
        assert "without rounds" not in said(self.one())

    def test_environments_are_named_where_there_are_several(self) -> None:
        entries = [entry("s.f.latency", 1.0, env=env) for env in ("a", "b")]
        text = said(table(entries, entries, {"s.f.latency": (NOT_COMPARABLE, "moved")}, refused="moved"))
        assert "[box/a] moved" in text
        assert "[box/b] moved" in text


class TestAroundAsvsTable:
    """What asv's print_table is called with, and what comes of it."""

    def call(self, monkeypatch: pytest.MonkeyPatch, verdict: str, rule: str = "dcu", **given: Any) -> Any:
        def decide(made: Table, conf: Any) -> None:
            for where, place in verdict_table._numbers(made.before):
                made.decided[where, place] = (verdict, "")

        def print_table(**arguments: Any) -> tuple[bool, bool]:
            """As asv's, as far as the marks go: the last argument is what came back for each row."""
            self.seen = arguments
            if rule == "asv" or not arguments["use_stats"]:
                return False, False
            rows = zip(*(list(arguments[f"resultset_{number}"]) for number in (1, 2)), strict=True)
            worse = better = False
            for before, after in rows:
                if before[5] == after[5]:
                    first, second = ((one[3][0], one[4][0]) for one in (before, after))
                    better |= ask(0, 0, second, first, 1.1)
                    worse |= ask(0, 0, first, second, 1.1)
            return worse, better

        def asvs(*_: Any) -> bool:
            raise AssertionError("asv's own rule was asked")

        ask = verdicts.is_result_better(asvs)
        monkeypatch.setattr(verdicts, "_decide", decide)
        one = tuple(entry("s.f.latency", 1.0))[:-1]
        arguments = {
            "cls": None,
            "conf": None,
            "hash_1": "a" * 40,
            "hash_2": "b" * 40,
            "factor": 1.1,
            "use_stats": True,
            "resultset_1": iter([one]),
            "resultset_2": iter([one]),
            "machine": None,
            "env_names": None,
        }
        return verdicts.decided(print_table, {**arguments, **given}, rule)

    @pytest.mark.parametrize(
        ("verdict", "worse_better"),
        [
            (REGRESSION, (True, False)),
            (IMPROVEMENT, (False, True)),
            (INCONCLUSIVE, (False, False)),
            (NO_CHANGE, (False, False)),
        ],
    )
    def test_the_exit_status_follows_our_verdicts(
        self, monkeypatch: pytest.MonkeyPatch, verdict: str, worse_better: tuple[bool, bool]
    ) -> None:
        assert self.call(monkeypatch, verdict) == worse_better
        assert not verdicts._TABLES

    def test_nothing_comparable_is_not_nothing_changed(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def run(cls: Any, conf: Any) -> bool:
            worse, _ = self.call(monkeypatch, NOT_COMPARABLE)
            return bool(worse)

        assert verdicts.continuous_run(run)(None, None) == 4
        out = capsys.readouterr().out
        assert "1 not comparable" in out
        assert not verdicts._TABLES

    @pytest.mark.parametrize(("rule", "given"), [("asv", {}), ("dcu", {"use_stats": False})])
    def test_asvs_own_rule_gets_asvs_own_arguments(
        self, monkeypatch: pytest.MonkeyPatch, rule: str, given: dict[str, Any]
    ) -> None:
        sides = {"resultset_1": iter([]), "resultset_2": iter([])}
        assert self.call(monkeypatch, REGRESSION, rule, **given, **sides) == (False, False)
        assert self.seen["resultset_1"] is sides["resultset_1"]

    def test_outside_a_table_asv_decides(self) -> None:
        asked = []
        better = verdicts.is_result_better(lambda *given: asked.append(given) or 1)
        assert better(1.0, 2.0, None, None, 1.1) is True
        assert asked == [(1.0, 2.0, None, None, 1.1, True)]
