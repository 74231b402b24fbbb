from __future__ import annotations

import math

import pytest

from dcu_asv_ext.comparing import showing
from dcu_asv_ext.comparing.model import SAMPLES, VALUE, Round, Side
from tests.comparing.reports import (
    SETTINGS,
    comparison,
    inconclusive,
    missing,
    no_change,
    regression,
    report,
    result_set,
    row,
    side,
)


def shown(view: showing.View) -> list[str]:
    return [line.row.key.benchmark for line in view.lines]


def test_what_matters_is_never_folded() -> None:
    rows = [regression(f"slow{n}") for n in range(9)] + [inconclusive(f"open{n}") for n in range(9)]
    view = showing.verdicts(report(*rows))
    assert len(view.lines) == 18 and not view.folds


def test_many_without_a_change_are_one_line_a_metric() -> None:
    rows = [no_change(f"calm{n}") for n in range(4)] + [no_change("one", metric="peak_allocated")]
    view = showing.verdicts(report(*rows))
    assert shown(view) == ["one"]
    assert [(fold.verdict, fold.text()) for fold in view.folds] == [
        ("no change", "4 rows of latency, ratio 1.001")
    ]
    assert len(showing.verdicts(report(*rows), everything=True).lines) == 5


def test_a_fold_tells_the_span_of_its_ratios() -> None:
    rows = [
        row(f"calm{n}", "no change", comparison(0.98 + n / 100, 0.97, 1.03, "no change")) for n in range(4)
    ]
    assert showing.folds(showing.verdicts(report(*rows), True).lines)[0].text() == (
        "4 rows of latency, ratios 0.980 to 1.010"
    )


def test_rows_without_a_number_fold_by_their_reason() -> None:
    rows = [
        missing("a", metric="device_time"),
        missing("b", metric="device_time"),
        missing("c", "skipped: no bfloat16", metric="latency"),
        missing("c", "skipped: no bfloat16", metric="cold_start"),
    ]
    view = showing.verdicts(report(*rows))
    assert not view.lines
    assert [fold.text() for fold in view.folds] == [
        "2 rows of device_time: the CPU has no device events",
        "2 rows of c: skipped: no bfloat16",
    ]


def test_a_number_that_is_missing_on_one_side_alone_is_shown() -> None:
    gone = row("a", "missing", reason="no events", after=Side(state="missing", reason="no events"))
    assert shown(showing.verdicts(report(gone))) == ["a"]


def test_rows_that_the_guard_refused_are_advice() -> None:
    small, large = comparison(1.1, 1.0, 1.2, "regression"), comparison(0.5, 0.4, 0.6, "improvement")
    rows = [
        row("a", "not comparable", small, corrected=comparison(1.0, 0.99, 1.01, "no change")),
        row("b", "not comparable", large, corrected=large),
        row("c", "not comparable", small, corrected=small),
        row("d", "not comparable", reason="the benchmark changed"),
    ]
    made = report(*rows, refused="the machine changed")
    assert shown(showing.verdicts(made)) == ["d"]
    advice = showing.advice(made)
    assert shown(advice) == ["c", "b", "a"]
    assert [line.verdict for line in advice.lines] == ["regression", "improvement", "no change"]


def test_the_summary_counts_in_the_order_of_what_matters() -> None:
    rows = [no_change("a"), no_change("b"), regression("c"), regression("d"), row("e", "failed")]
    assert showing.summary(report(*rows)) == "2 regressions, 1 failed, 2 no change"
    assert showing.summary(report()) == ""


def test_a_side_is_named_by_what_was_asked_for() -> None:
    assert showing.side_name([result_set("a" * 40, env="e1")]) == "aaaaaaaa, box, e1"
    assert showing.side_name([result_set("a" * 40, env="e1", label="main~1")]) == "main~1 (aaaaaaaa), box, e1"
    two = [result_set("a" * 40, env="e1", dirty=True), result_set("a" * 40, env="e2", dirty=True)]
    assert showing.side_name(two) == "aaaaaaaa with uncommitted changes, box, e1 + e2"
    assert showing.short([result_set("a" * 40, label="main")]) == "main"


@pytest.mark.parametrize(("needed", "told"), [(7, "+7"), (None, "many"), (0, "many")])
def test_rounds_that_are_still_needed(needed: int | None, told: str) -> None:
    (line,) = showing.verdicts(report(inconclusive("a", needed))).lines
    assert showing.needed(line) == told


def test_decided_rows_need_nothing() -> None:
    for one in (regression(), no_change("a"), missing("b")):
        assert showing.needed(showing.verdicts(report(one), True).lines[0]) == ""


def test_an_interval_that_says_a_change_among_many() -> None:
    made = report(
        row("chance", "inconclusive", comparison(1.1, 1.02, 1.2, "inconclusive")),
        row("faster", "inconclusive", comparison(0.9, 0.8, 0.98, "inconclusive")),
        row("open", "inconclusive", comparison(1.1, 1.005, 1.2, "inconclusive")),
        regression(),
    )
    marked = [showing.by_chance(line, made) for line in showing.verdicts(made).lines]
    assert marked == [True, True, False, False]
    assert (
        showing.chance(made).startswith("* Its own interval") and showing.chance(report(regression())) == ""
    )


def test_the_command_that_settles() -> None:
    asked = {**SETTINGS, "against": "main"}
    few = report(inconclusive("a.b"), inconclusive("a.b", metric="cold_start"), settings=asked)
    assert showing.undecided(few) == (
        'The column "to settle" tells how many more rounds a side would do; '
        "dcu-asv run a.b --against main measures more."
    )
    many = report(*(inconclusive(f"a{n}") for n in range(4)), settings=asked)
    assert "dcu-asv run NAME --against main" in showing.undecided(many)
    # Two result files have no commit to run against.
    assert showing.undecided(report(inconclusive("a"))).endswith("rounds a side would do.")
    assert showing.undecided(report(no_change("a"))) == ""


def test_the_rule_says_what_it_rests_on() -> None:
    plain = no_change("plain", after=side(source=SAMPLES), before=side(source=VALUE))
    paired = row("paired", "no change", comparison(1, 0.99, 1.01, "no change", paired=True))
    exact = row("exact", "no change", comparison(1, 1, 1, "no change"), exact=True)
    made = report(plain, paired, exact, missing("gone"), settings={**SETTINGS, "fdr": 0.02, "history": 12})
    assert showing.rule(made) == (
        "dcu-asv's rule, on the median of each round; a change counts beyond 1 %, no change is claimed within 5 %; "
        "of the changes called, 2 % at most are expected by chance; the noise is learned from 12 earlier commits "
        "too. Rows: 2 from rounds of the evidence, 1 from asv's single figures, 1 with interleaved rounds paired, "
        "1 exact, where any change counts."
    )


def test_samples_that_were_cut_are_counted() -> None:
    cut = Side(rounds=(Round((1.0, 1.0, 1.0), 1, cut=2, note="warm-up"), Round((1.0,) * 5, 2)))
    unsteady = Side(rounds=(Round((1.0,) * 5, 1, note="no steady state: drifts"),))
    assert showing.cut(report(no_change("a"))) == ""
    assert showing.cut(report(no_change("a", before=cut, after=side(rounds=0)))) == (
        "2 of 10 samples, in 1 round, came before the steady state and were left out."
    )
    assert showing.cut(report(no_change("a", before=cut, after=unsteady))).endswith(
        "left out; 1 round never became steady and were used whole."
    )


def test_an_infinite_ratio_leads_its_advice() -> None:
    worst = comparison(math.inf, math.inf, math.inf, "regression", before=0.0, after=1.0)
    bad = comparison(2.0, 1.9, 2.1, "regression")
    made = report(
        row("bad", "not comparable", bad, corrected=bad),
        row("worst", "not comparable", worst, corrected=worst),
    )
    assert shown(showing.advice(made)) == ["worst", "bad"]


def test_an_exact_change_that_the_ratio_does_not_show_is_told_in_full() -> None:
    def told(before: float, after: float, metric: str = "peak_allocated") -> str:
        ratio = after / before
        found = comparison(ratio, ratio, ratio, "improvement", before=before, after=after)
        made = report(row("a", "improvement", found, metric=metric, exact=True))
        return showing.interval(showing.verdicts(made).lines[0])

    assert told(65544, 65536) == "exact: -8 B"
    assert told(2.0**40, 2.0**40 + 4096) == "exact: +4,096 B"
    assert told(65536, 65536) == told(65536, 32768) == "exact"


def test_the_rule_of_shares_says_both_bounds() -> None:
    nan = math.nan
    found = comparison(nan, nan, nan, "no change", difference_low=-0.03, difference_high=0.04)
    told = showing.rule(report(row("idle", "no change", found, metric="idle_share")))
    assert told.endswith("1 of shares, where 2 points do, and none is claimed within 5.")
