"""The table of the claims: what counts as reached, and what is printed of it."""

from __future__ import annotations

import pytest

from peers.report import Row, as_json, print_table


@pytest.mark.parametrize(
    ("row", "reached", "bound"),
    [
        (Row("a ratio", 1.0, 2.0, "s", 0.5), True, "<= 0.5"),
        (Row("a ratio", 1.1, 2.0, "s", 0.5), False, "<= 0.5"),
        (Row("no peer", 11.0, None, "MB", 10.0), False, "<= 10"),
        (Row("both sides", 0.99, 1.0, "s", 0.005, both_sides=True), False, "1 +- 0.005"),
        (Row("absolute", 5.0, 1.0, "s", 5.0, absolute=True), True, "<= 5 s"),
        (Row("at least", 0.8, None, "", 0.9, at_least=True), False, ">= 0.9"),
        (Row("only told", 12.0, None, "MB", None), True, ""),
    ],
)
def test_what_is_reached_and_what_is_printed(
    row: Row, reached: bool, bound: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (row.reached, row.bound) == (reached, bound)
    print_table([row])
    out = capsys.readouterr().out
    assert row.what in out and ("not reached" in out) is not reached
    assert f'"reached": {str(reached).lower()}' in as_json([row])
