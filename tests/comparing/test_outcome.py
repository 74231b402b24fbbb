from __future__ import annotations

from collections.abc import Sequence

import pytest

from dcu_asv_ext.comparing.model import Row
from dcu_asv_ext.comparing.outcome import DEFAULT_FAIL_ON, exit_code, refusal
from tests.comparing.reports import inconclusive, missing, no_change, regression, report, row

SAME = no_change("same")
OPEN = inconclusive("open")
LOST = row("lost", "failed")
REFUSED = row("other", "not comparable")
ALL = ("regression", "failed", "inconclusive", "not-comparable")


@pytest.mark.parametrize(
    ("rows", "fail_on", "code"),
    [
        ([SAME], DEFAULT_FAIL_ON, 0),
        ([SAME, regression()], DEFAULT_FAIL_ON, 1),
        ([SAME, regression()], ("failed",), 0),
        ([SAME, LOST], DEFAULT_FAIL_ON, 2),
        ([SAME, LOST, regression()], DEFAULT_FAIL_ON, 1),
        ([SAME, LOST, regression()], ("none",), 0),
        ([SAME, OPEN], DEFAULT_FAIL_ON, 0),
        ([SAME, OPEN], ("inconclusive",), 5),
        ([OPEN], DEFAULT_FAIL_ON, 0),
        ([SAME, REFUSED], DEFAULT_FAIL_ON, 0),
        ([SAME, REFUSED], ("not-comparable",), 4),
        ([SAME, REFUSED, OPEN], ALL, 4),
        ([SAME, REFUSED, OPEN, LOST], ALL, 2),
        ([SAME, row("mended", "fixed"), row("new", "only after")], ALL, 0),
    ],
)
def test_the_gravest_of_what_was_asked_for(rows: Sequence[Row], fail_on: Sequence[str], code: int) -> None:
    assert exit_code(report(*rows), fail_on) == code


@pytest.mark.parametrize(
    "rows",
    [[], [missing("a")], [REFUSED], [row("a", "only before"), row("b", "only after")], [row("a", "fixed")]],
)
@pytest.mark.parametrize("fail_on", [DEFAULT_FAIL_ON, ("none",), ALL])
def test_nothing_comparable_never_passes(rows: Sequence[Row], fail_on: Sequence[str]) -> None:
    assert exit_code(report(*rows), fail_on) == 4


def test_a_failure_alone_is_a_failure_where_it_was_asked_for() -> None:
    assert exit_code(report(LOST)) == 2
    assert exit_code(report(LOST), ("regression",)) == 4


def test_what_is_said_beside_exit_4() -> None:
    assert refusal(report(REFUSED)) == "nothing could be compared"
    assert refusal(report(SAME, REFUSED)) == "not comparable: 1 row"
