from __future__ import annotations

import re

import pytest

from dcu_asv_ext.comparing.figures import columns
from dcu_asv_ext.comparing.model import Difference
from dcu_asv_ext.comparing.picture import ASCII
from dcu_asv_ext.comparing.table import Style
from dcu_asv_ext.comparing.text import render
from tests.comparing.reports import (
    comparison,
    everything,
    inconclusive,
    no_change,
    regression,
    report,
    result_set,
    row,
)


def lines(*rows: object, width: int = 140, **more: object) -> list[str]:
    return render(report(*rows, **more), Style(width, ASCII)).splitlines()  # type: ignore[arg-type]


def line(found: list[str], *parts: str) -> str:
    (one,) = [each for each in found if all(part in each for part in parts)]
    return one


@pytest.mark.parametrize("width", [80, 100, 120, 160, 240])
@pytest.mark.parametrize("whole", [False, True])
def test_no_line_is_wider_than_the_terminal(width: int, whole: bool) -> None:
    text = render(everything(), Style(width, everything=whole))
    assert max(columns(one) for one in text.splitlines()) <= width


def test_a_wide_terminal_has_a_line_a_row() -> None:
    found = lines(regression("gemm.matmul", 1.1))
    assert line(found, "gemm.matmul") == (
        "regression  gemm.matmul latency  12.3 ms  13.5 ms  1.100  [1.080, 1.120]     5+5  "
        "...................:|:......[-o-]........"
    )
    heading = line(found, "95 % interval")
    assert heading.index("0.83") == line(found, "gemm.matmul").index("....")


def test_a_narrow_terminal_has_two() -> None:
    found = lines(regression("gemm.matmul", 1.1, params={"shape": "'a very long name of a shape'"}), width=80)
    place = found.index("regression  gemm.matmul(shape='a very long name of a shape') latency")
    assert found[place + 1].startswith("  12.3 ms  13.5 ms  1.100  [1.080, 1.120]     5+5  ..")
    assert len(found[place + 1]) <= 80


def test_no_room_for_pictures_is_a_table_without() -> None:
    found = lines(regression("gemm.matmul", 1.1), width=50)
    assert "  12.3 ms  13.5 ms  1.100  [1.080, 1.120]     5+5" in found


def test_undecided_rows_say_how_many_rounds_would_settle_them() -> None:
    chance = row("b", "inconclusive", comparison(1.1, 1.05, 1.2, "inconclusive", rounds_needed=2))
    found = lines(inconclusive("a", 7), chance, inconclusive("c", None))
    assert "  +7  " in line(found, "a latency") and "+2*  " in line(found, "b latency")
    assert "many  " in line(found, "c latency") and "to settle" in line(found, "95 % interval")
    assert any(one.startswith("* Its own interval") for one in found)
    assert "to settle" not in "\n".join(lines(regression()))


def test_rows_without_figures_say_why() -> None:
    found = lines(row("a.b", "not comparable", reason="the benchmark changed"), regression())
    place = found.index(line(found, "a.b"))
    assert found[place + 1] == "    the benchmark changed"


def test_folded_rows_are_counted() -> None:
    found = lines(*(no_change(f"calm{n}") for n in range(30)), regression())
    assert "no change   30 rows of latency, ratio 1.001" in found
    assert "--all shows every row." in found
    assert found[-1] == "1 regression, 30 no change"


def test_what_differs_stands_on_top() -> None:
    differences = [
        Difference("software.torch", "2.12", "2.13", matters=True, declared=True),
        Difference("device.driver", "6.2", "6.3", matters=True),
        Difference("host.load", "0.2", "1.3", matters=False),
    ]
    found = lines(regression(), differences=differences)
    assert found[3:7] == [
        "Besides the code, these differ:",
        "  software.torch  2.12 -> 2.13  (declared: the experiment)",
        "  device.driver   6.2 -> 6.3  (not declared)",
        "  for information: host.load 0.2 -> 1.3",
    ]
    assert "Besides the code, nothing that was recorded differs." in lines(regression())


def test_many_differences_without_weight_are_cut_short() -> None:
    many = [Difference(f"switches.s{n}", "on", "off", matters=False) for n in range(20)]
    text = " ".join(lines(regression(), differences=many))
    assert "12 more (--all)" in text and "s7 on" in text and "s8 on" not in text


def test_the_guards_sentence_and_its_advice() -> None:
    found = comparison(1.3, 1.2, 1.4, "no change")
    rows = [row("a", "not comparable", found, corrected=found, reason="the machine changed")]
    text = lines(*rows, refused="the machine changed: the suite moved by 30 %", shift=1.3)
    assert "Not comparable: the machine changed: the suite moved by 30 %" in text
    advice = text.index(line(text, "Advice, no verdict:", "common shift, 1.300, is"))
    assert text[advice + 2].startswith("no change?  a latency")
    assert text[-1] == "1 not comparable"


def test_both_sides_and_the_notes_are_named() -> None:
    found = lines(
        regression(),
        before=[result_set("a" * 40, label="main")],
        notes=["a file was passed over", "a file was passed over"],
    )
    assert found[0].startswith("before  main (aaaaaaaa), box, ") and found[1].startswith(
        "after   bbbbbbbb, box"
    )
    assert found.count("note: a file was passed over") == 1


def test_nothing_in_common_is_said() -> None:
    assert lines()[-1] == "nothing to compare"


def test_colour_only_where_it_was_asked_for() -> None:
    coloured = render(everything(), Style(120, colour=True))
    assert "\x1b[31mregression\x1b[0m" in coloured and "\x1b[32mimprovement\x1b[0m" in coloured
    plain = render(everything(), Style(120))
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain


def test_ascii_is_ascii() -> None:
    assert render(everything(), Style(120, ASCII)).isascii()


def test_several_environments_stand_in_the_names() -> None:
    assert "regression  gemm.matmul [py3-x] latency" in line(lines(regression(env="py3-x")), "gemm.matmul")
