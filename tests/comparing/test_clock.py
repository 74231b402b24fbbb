"""Changes of a time that only follow the clock, and those that do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dcu_asv_ext.comparing import text
from dcu_asv_ext.comparing.as_json import as_json
from dcu_asv_ext.comparing.deciding import report
from dcu_asv_ext.comparing.model import Report, Row, Side
from dcu_asv_ext.comparing.outcome import exit_code
from dcu_asv_ext.exit_codes import NOTHING_COMPARABLE, REGRESSED
from dcu_asv_ext.stats.verdicts import IMPROVEMENT, NO_CHANGE, NOT_COMPARABLE, REGRESSION
from tests.comparing.measured import record, results, side

FAST, SLOW = 1400.0, 1200.0
#: Times of the same cycles at the two clocks.
BY_CLOCK = FAST / SLOW


def at(clock: float | Sequence[float | None], *levels: float, **more: Any) -> Side:
    made = side(*levels, **more)
    clocks = clock if isinstance(clock, Sequence) else [clock] * len(levels)
    return replace(
        made, rounds=tuple(replace(one, clock_mhz=mhz) for one, mhz in zip(made.rounds, clocks, strict=True))
    )


LEVELS = (1.0, 1.002, 0.998, 1.001, 0.999)
BEFORE = at(FAST, *LEVELS)


def slower(by: float, clock: float | Sequence[float | None] = SLOW) -> Side:
    return at(clock, *(by * one for one in LEVELS), hour=12)


def compared(before: Side, after: Side, **options: Any) -> Report:
    return report([results({"f": before})], [results({"f": after}, "b")], **options)


def only(before: Side, after: Side, **options: Any) -> Row:
    (row,) = compared(before, after, **options).rows
    return row


def test_a_change_that_only_follows_the_clock_is_no_regression() -> None:
    made = compared(BEFORE, slower(BY_CLOCK))
    (row,) = made.rows
    assert row.verdict == NOT_COMPARABLE
    assert row.reason.startswith(
        "the clock changed: 1.40 GHz before, 1.20 GHz after; in cycles the ratio is 1.00"
    )
    assert row.clock is not None and row.clock.cycles.verdict == NO_CHANGE
    assert row.comparison is not None and row.comparison.ratio == pytest.approx(BY_CLOCK, rel=1e-3)
    assert exit_code(made) == NOTHING_COMPARABLE


def test_nor_is_a_faster_one_an_improvement() -> None:
    assert only(at(SLOW, *LEVELS), slower(1 / BY_CLOCK, FAST)).verdict == NOT_COMPARABLE


def test_a_change_that_stays_in_cycles_keeps_its_verdict_and_tells_the_clock() -> None:
    made = compared(BEFORE, slower(1.3 * BY_CLOCK))
    (row,) = made.rows
    assert row.verdict == REGRESSION and exit_code(made) == REGRESSED
    assert "the clock changed too: 1.40 GHz before, 1.20 GHz after; in cycles the ratio is 1.3" in row.reason
    (note,) = made.notes
    assert note.startswith("the clock changed too where f latency is called regression: 1.40 GHz before")


def test_one_that_turns_round_in_cycles_is_none() -> None:
    """5 % slower on a clock that fell by 14 %: fewer cycles than before."""
    row = only(BEFORE, slower(1.05))
    assert row.verdict == NOT_COMPARABLE and row.clock is not None
    assert row.clock.cycles.verdict == IMPROVEMENT


def test_what_cycles_cannot_settle_is_said() -> None:
    jumpy = [FAST * factor for factor in (0.8, 0.85, 0.87, 0.95, 0.99)]
    row = only(BEFORE, slower(1.15, jumpy))
    assert row.verdict == NOT_COMPARABLE and row.reason.endswith(", which does not settle it")


def test_no_change_stays_none_and_tells_what_cycles_say() -> None:
    """Memory-bound work does not follow the core clock."""
    made = compared(BEFORE, slower(1.0))
    assert made.rows[0].verdict == NO_CHANGE
    assert "f latency is called no change" in made.notes[0] and made.notes[0].endswith("(improvement)")


@pytest.mark.parametrize(
    "after",
    [
        slower(BY_CLOCK, FAST * 1.005),
        slower(BY_CLOCK, [SLOW, SLOW, None, SLOW, SLOW]),
        slower(BY_CLOCK, [0.0] * 5),
        slower(BY_CLOCK, [1100.0, 1200.0, 1200.0, 1200.0, 1500.0]),
    ],
    ids=["within 1 %", "a round without", "stopped", "overlapping"],
)
def test_without_two_clocks_the_time_decides(after: Side) -> None:
    row = only(BEFORE, after)
    assert row.verdict == REGRESSION and row.clock is None


def test_a_clock_that_is_the_experiment_withholds_nothing() -> None:
    caps = [{"device.power_cap_w": watts} for watts in ("400", "300")]
    before, after = replace(BEFORE, facts=caps[0]), replace(slower(BY_CLOCK), facts=caps[1])
    row = only(before, after, vary=["power_cap_w"])
    assert row.verdict == REGRESSION and row.clock is not None


def test_memory_does_not_follow_the_clock() -> None:
    before, after = results({"f": BEFORE}), results({"f": slower(BY_CLOCK)}, "b")
    for one in (before, after):
        (key,) = one.sides
        memory = replace(key, metric="peak_reserved")
        one.sides, one.series = {memory: one.sides[key]}, {memory: one.series[key]}
    assert report([before], [after]).rows[0].verdict == REGRESSION


def test_text_and_json() -> None:
    made = compared(BEFORE, slower(BY_CLOCK))
    assert "the clock changed: 1.40 GHz before" in " ".join(text.render(made).split())
    (row,) = as_json(made, 4)["rows"]
    assert (row["clock"]["before_mhz"], row["clock"]["after_mhz"]) == (FAST, SLOW)
    assert row["clock"]["verdict"] == NO_CHANGE and row["ratio"] == pytest.approx(BY_CLOCK, rel=1e-3)
    assert as_json(compared(BEFORE, BEFORE), 0)["rows"][0]["clock"] is None


def test_rounds_have_the_clock_of_the_pass_that_they_report() -> None:
    from dcu_asv_ext.comparing.model import Key
    from tests.comparing.measured import PARAMS, read

    passes = {"latency": {"core_clock_mhz": 1400.0}, "device_time": {"core_clock_mhz": 1300.0}}
    found = read([record(1, sampled={"passes": passes}), record(2)])
    clocks = {
        metric: [one.clock_mhz for one in found.sides[Key("gemm.matmul", metric, PARAMS)].rounds]
        for metric in ("latency", "device_time", "cold_start")
    }
    assert clocks == {"latency": [1400.0, None], "device_time": [1300.0, None], "cold_start": [None, None]}
