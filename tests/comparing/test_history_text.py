from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dcu_asv_ext.comparing.figures import columns
from dcu_asv_ext.comparing.history import Commit, Event, HistoryReport, Restart
from dcu_asv_ext.comparing.history_text import DATE, SIZE, Style, ordered, render
from dcu_asv_ext.comparing.sparkline import ASCII

from .histories import branch, change, timeline

STEP = [1e-3] * 20 + [1.2e-3] * 20


def _report() -> HistoryReport:
    slower, faster = timeline(STEP), timeline([1.0] * 30 + [0.5] * 10, "attention.forward")
    changes = [change(slower, 20, behind=3), change(faster, 30, "improvement", pending=True)]
    return HistoryReport("main", branch(40), [slower, faster], changes)


def _event(report: HistoryReport, place: int) -> Event:
    lines = [timeline([1.0] * place + [1.1] * (40 - place), f"m.b{number}") for number in range(3)]
    report.timelines += lines
    return Event(
        "m", "e", "seconds", place, place - 1, place, tuple(change(one, place) for one in lines), 3, 5
    )


def test_the_summary_counts_everything() -> None:
    report = _report()
    report.timelines.append(timeline([1.0, 1.0], "short.one"))
    report.events.append(_event(report, 10))
    text = render(report, Style(200))
    assert text.startswith(
        "main: 1 regression, 1 improvement, 1 machine event (1 of them pending).\n"
        "m, e: 6 series, 1 of them too short to tell, 40 measured commits of 40, 2023-11-14 to 2023-12-23.\n"
    )


def test_newest_first_with_commit_figures_and_picture() -> None:
    text = render(_report(), Style(160))
    assert text.index("0000001e  Change 30") < text.index("2023-12-04  00000014  Change 20")
    (line,) = [line for line in text.splitlines() if "gemm.matmul(n=256) latency" in line]
    assert "regression   1.200 [1.176, 1.224]  1.00 -> 1.20 ms " in line
    assert "▂▂▂│▇▇▇" in line
    assert "can be any of 3 commits: git log 00000011..00000014" in text
    assert "    pending: too few commits follow" in text


def test_a_terminal_does_not_obey_a_commits_subject() -> None:
    report = _report()
    report.commits[20] = replace(report.commits[20], subject="\x1b[31mred\tor not")
    assert "00000014   [31mred or not" in render(report, Style(160))


@pytest.mark.parametrize("width", [80, 100, 160])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    report = _report()
    report.events.append(_event(report, 10))
    report.restarts.append(Restart("m", "e", 5, "version", tuple("abcdefg")))
    text = render(report, Style(width, quiet=True))
    assert max(columns(line) for line in text.splitlines()) <= width


def test_a_narrow_terminal_has_the_name_on_its_own_line() -> None:
    lines = render(_report(), Style(80)).splitlines()
    place = lines.index("  gemm.matmul(n=256) latency")
    assert lines[place + 1].startswith("    regression   1.200")


def test_events_come_first_then_regressions_then_improvements() -> None:
    report = _report()
    event = _event(report, 20)
    worse, better = change(timeline(STEP), 20), change(timeline(STEP), 20, "improvement")
    assert ordered([better, worse, event], DATE) == [event, worse, better]


def test_by_size_a_halving_is_larger_than_a_fifth() -> None:
    report = _report()
    assert [one.point.ratio for one in ordered(report.changes, SIZE)] == [0.5, pytest.approx(1.2)]
    from_zero = change(timeline(STEP), 20, ratio=math.inf)
    assert ordered([*report.changes, from_zero], SIZE)[0] is from_zero


def test_an_event_is_one_line_and_its_members_are_not_repeated() -> None:
    report = _report()
    report.events.append(_event(report, 10))
    text = render(report, Style(200))
    assert "machine event: 3 of 5 benchmarks moved together, by 1.100 in the middle, 1.100 to 1.100" in text
    assert "(3 series worse, 0 better)" in text
    assert "m.b0" not in text


def test_what_the_limit_leaves_out_is_counted() -> None:
    text = render(_report(), Style(limit=1))
    assert "Change 30" in text and "Change 20" not in text
    assert "Not shown: 1 more (--limit 0 shows all)." in text


def test_machines_are_named_where_there_are_several() -> None:
    report = _report()
    assert "(m, e)" not in render(report, Style())
    report.timelines.append(timeline(STEP, machine="other"))
    assert "gemm.matmul(n=256) latency  (m, e)" in render(report, Style())


def test_quiet_series_have_their_level_and_spread() -> None:
    report = _report()
    report.timelines += [timeline([1.0, 1.01, 0.99, 1.0] * 5, "still.one"), timeline([2.0], "short.one")]
    lines = render(report, Style(120, quiet=True)).splitlines()
    assert any("1.00 s  +-0.741 %  still.one" in line for line in lines)
    assert any("▅" in line and "2.00 s  too short  short.one" in line for line in lines)
    assert not any("gemm.matmul" in line for line in lines[lines.index("2 series without a change point") :])


def test_ascii() -> None:
    text = render(_report(), Style(160, ASCII))
    assert text.isascii() and "..|%%" in text


def test_without_a_change_it_says_so() -> None:
    report = HistoryReport("main", branch(40), [timeline([1.0] * 40)])
    assert render(report, Style()).startswith("main: 0 regressions, 0 improvements, 0 machine events.")


def test_restarts_name_what_changed() -> None:
    report = _report()
    report.restarts.append(Restart("m", "e", 5, "version", ("a.a", "b.b", "c.c", "d.d")))
    assert "2023-11-19  00000005  another version of a.a, b.b, c.c and 1 more (m, e)" in render(
        report, Style(160)
    )


def test_a_date_that_is_not_known_is_not_1970() -> None:
    report = _report()
    report.commits = [Commit(one.hash) for one in report.commits]
    text = render(report, Style(160))
    assert "????-??-??  00000014\n" in text and "1970" not in text
