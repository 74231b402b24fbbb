from __future__ import annotations

import re

from dcu_asv_ext.comparing.markdown import render
from dcu_asv_ext.comparing.model import Difference
from tests.comparing.reports import (
    comparison,
    everything,
    inconclusive,
    missing,
    no_change,
    regression,
    report,
    row,
)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def tables(text: str) -> list[list[list[str]]]:
    found: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            found[-1].append(cells(line))
        elif found[-1]:
            found.append([])
    return [one for one in found if one]


def test_every_table_has_as_many_cells_in_every_row() -> None:
    for table in tables(render(everything())):
        assert len({len(one) for one in table}) == 1


def test_what_matters_stands_open_and_the_rest_is_folded() -> None:
    text = render(everything())
    opened, _, folded = text.partition("<details><summary>2 inconclusive")
    assert "transformer.block" in opened and "gemm.lost" in opened and "training.step" in opened
    assert "elementwise.chain\\_fused" not in opened and "elementwise.chain_fused" in folded
    assert text.count("<details>") == text.count("</details>")
    assert text.splitlines()[0] == "### Performance: `aaaaaaaa` → `bbbbbbbb`"
    assert text.splitlines()[2].startswith("**2 regressions, 1 failed, 1 improvement, 2 inconclusive")


def test_a_row() -> None:
    (table,) = tables(render(report(regression(params={"n": "1024"}))))
    assert table[0] == [
        "verdict",
        "benchmark",
        "metric",
        "before",
        "after",
        "ratio (95 % interval)",
        "rounds",
    ]
    assert table[2] == [
        "**regression**", "`gemm.matmul(n=1024)`", "latency", "12.3 ms", "13.5 ms", "1.100 (1.080 to 1.120)", "5+5"
    ]  # fmt: skip


def test_undecided_rows_say_how_many_rounds() -> None:
    (table,) = tables(render(report(inconclusive("a", 7))))
    assert table[0][-1] == "to settle" and table[2][-1] == "+7"


def test_failures_say_why() -> None:
    (table,) = tables(render(report(row("a", "failed", reason="out of | memory\nat once"), regression())))
    assert table[0][-1] == "reason"
    assert table[2][-1] == "out of \\| memory at once"


def test_names_cannot_break_the_table() -> None:
    (table,) = tables(render(report(regression("a", params={"mode": "'x|y`z'"}))))
    assert table[2][1] == "`` a(mode='x\\|y`z') ``"


def test_text_cannot_become_markup() -> None:
    text = render(report(regression(), notes=["<img src=x> *b* @team #1 [a](b)"]))
    assert "> \\<img src=x\\> \\*b\\* \\@team \\#1 \\[a\\](b)" in text


def test_rows_without_numbers_are_bullets() -> None:
    text = render(report(regression(), *(missing(f"m{n}", metric="device_time") for n in range(3))))
    assert (
        "<details><summary>3 missing</summary>\n\n- 3 rows of device\\_time: the CPU has no device events\n"
        in text
    )


def test_very_many_rows_are_bullets_too() -> None:
    text = render(report(regression(), *(no_change(f"calm{n}") for n in range(2000))))
    assert "- 2,000 rows of latency, ratio 1.001" in text and len(text) < 65_536
    text = render(report(*(regression(f"slow{n}", params={"n": "4096"}) for n in range(2000))))
    assert "- regression: 1,900 rows of latency, ratio 1.100" in text and len(text) < 65_536


def test_differences_that_forbid_stand_open() -> None:
    forbids = Difference("device.driver", "6.2", "6.3", matters=True)
    weightless = Difference("host.load", "1", "2", matters=False)
    assert "<details>" not in render(report(regression(), differences=[forbids]))
    assert "| `device.driver` | `6.2` | `6.3` | not declared |" in render(report(differences=[forbids]))
    assert "<summary>1 other thing differs</summary>" in render(report(differences=[weightless]))


def test_the_guards_sentence_and_its_advice() -> None:
    found = comparison(1.3, 1.2, 1.4, "regression")
    refused = row("a", "not comparable", found, corrected=found, reason="the machine changed")
    text = render(report(refused, refused="the machine changed", shift=1.3))
    assert "> **Not comparable:** the machine changed" in text
    assert (
        "<summary>Advice, no verdict: the refused rows once the suite's common shift, 1.300, is taken out</summary>"
        in text
    )
    assert "**1 not comparable**" in text
    assert "| regression? | `a` |" in text
