from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcu_asv_ext.comparing.memory_model import MemoryOf, memory_of
from dcu_asv_ext.comparing.memory_text import Page, render
from dcu_asv_ext.comparing.table import Style
from tests.comparing import memories
from tests.comparing.measured import failed
from tests.comparing.memories import CARD, KIB, LINE, MIB, STEADY, leak, one, quiet, told


def shown(*found: MemoryOf, width: int = 110, **style: Any) -> str:
    return render(Page("aaaaaaaa  box, env", found), Style(width, **style))


def flat(*found: MemoryOf) -> str:
    """Without line breaks."""
    return " ".join(shown(*found).split())


def many(count: int, memory: dict[str, Any]) -> Sequence[MemoryOf]:
    return memory_of([told(1, memory, params={"n": str(number)}) for number in range(count)])


def test_the_figures_side_by_side() -> None:
    text = shown(one())
    assert text.splitlines()[:9] == [
        "aaaaaaaa  box, env: K100_AI, 1 round",
        "",
        "gemm.matmul(n=256, dtype='float32')",
        "                          a steady call                   the first call",
        "                     before      peak     after      before      peak     after",
        "  requested               -   191 MiB         -           -   447 MiB         -",
        "  allocated         128 MiB   192 MiB   128 MiB     128 MiB   448 MiB   128 MiB",
        "  reserved          512 MiB   512 MiB   512 MiB     130 MiB   512 MiB   512 MiB",
        "  whole card       1.35 GiB  1.35 GiB  1.35 GiB     700 MiB         -  1.35 GiB",
    ]
    assert "a steady call adds 64 MiB at its peak and keeps nothing" in text
    text = flat(one())
    assert "1 MiB rounding, 320 MiB cache and fragmentation, 870 MiB outside the allocator" in text
    assert "the first call's peak is 256 MiB above a steady one's" in text
    assert (
        "the first call leaves +382 MiB reserved, +320 MiB in the process, +682 MiB on the whole card (300 MiB"
        in text
    )
    assert "read by sysfs, 37 readings during the call, 10 ms apart, 64 GiB in all, nobody else on it" in text


def test_below_each_other_where_the_terminal_is_narrow() -> None:
    text = shown(one(), width=60)
    heads = [
        line.strip() for line in text.splitlines() if line.strip() in ("a steady call", "the first call")
    ]
    assert heads == ["a steady call", "the first call"]


def test_rounds_that_differ_are_told_with_their_range() -> None:
    (found,) = memory_of(
        [told(n, STEADY | {"peak_allocated": peak * MIB}) for n, peak in enumerate((190, 192, 200), 1)]
    )
    assert "the rounds differ, and their medians are shown: allocated peak 190 MiB to 200 MiB" in shown(found)
    assert "the rounds differ" not in shown(one())


def test_who_is_alive_with_line_and_share() -> None:
    text = shown(one(STEADY | {"alive": memories.ALIVE}))
    lines = [line for line in text.splitlines() if " %  " in line]
    assert "  alive at the peak of 192 MiB" in text.splitlines()
    assert lines == [
        f"     48 MiB   25 %   1x  {LINE}  aten::mm float32[4096, 3072]",
        "     15 MiB    8 %  15x  attention.py:20 in parts  aten::add float32[512, 512]",
        "    128 MiB   67 %       from before the call (inputs, weights, what setup keeps)",
        "      1 MiB    1 %       everything else",
    ]


def test_what_is_too_small_to_see_is_summed() -> None:
    small = [{"bytes": MIB, "count": 1, "where": f"a.py:{n} in f", "what": ""} for n in range(20)]
    alive = memories.ALIVE | {"bytes": 220 * MIB, "holders": small, "rest": 0, "before_call": 200 * MIB}
    found = one(STEADY | {"alive": alive})
    assert "20 MiB 9 % everything else" in flat(found)
    assert "a.py:19 in f" in shown(found, everything=True)


def test_a_leak_is_named_with_its_slope_and_what_grew() -> None:
    text = shown(one(STEADY | {"growth": leak(1024.0)}))
    assert "LEAK: every call keeps 1 KiB (1004 B to 1.02 KiB) over 1,000 calls" in text
    assert f"grew: 1 KiB a call  {LINE}  aten::empty uint8[1024]" in text
    held = shown(one(STEADY | {"growth": leak(1024.0), "alive": memories.ALIVE}))
    assert "from before the call (inputs, weights, what setup and earlier calls keep)" in held
    assert "\x1b[31mLEAK\x1b[0m" in shown(one(STEADY | {"growth": leak(1024.0)}), colour=True)


def test_growing_reserved_is_never_called_a_leak() -> None:
    text = shown(one(STEADY | {"growth": quiet(4.0 * KIB)}), *many(3, STEADY | {"growth": quiet(4.0 * KIB)}))
    assert "LEAK" not in text and "no leak over 1,000 calls" in text
    assert "what is reserved grew by 4 KiB a call: the allocator's cache, given out again later" in text
    # The only other mention is that the cache is none.
    assert text.count("leak") == text.count("no leak")


def test_retries_and_failures_of_the_allocator() -> None:
    first = memories.FIRST | {"retries": 2, "ooms": 1}
    text = shown(one(STEADY | {"first": first, "retries": 1}))
    assert "in the first call allocations did not fit: 2 retries, 1 failure" in text
    assert "in a steady call allocations did not fit: 1 retry" in text


def test_a_shared_card_and_a_peak_that_was_missed() -> None:
    card = CARD | {
        "others": {"count": 1, "mib": 3072},
        "contended": True,
        "own": 900 * MIB,
        "peak": 100 * MIB,
    }
    text = flat(one(STEADY | {"card": card}))
    assert "900 MiB this process's own, 1 other process with 3 GiB" in text
    assert "contended: somebody else was using the card" in text
    assert "its peak was too short to be seen there" in text
    assert "too short" not in shown(one())


def test_a_table_of_several_without_empty_columns() -> None:
    found = memory_of(
        [
            told(1, STEADY | {"growth": leak(1024.0), "empty_cache": {"calls": 1, "seconds": 0.1}}),
            told(1, STEADY, params={"n": "512", "dtype": "'float32'"}),
        ]
    )
    lines = shown(*found).splitlines()
    figures = ["192", "MiB", "+64", "MiB", "0", "512", "MiB"]
    assert [line.split() for line in lines[2:6]] == [
        ["peak", "added", "by", "kept", "by", "peak", "growth"],
        ["allocated", "a", "call", "a", "call", "reserved", "per", "call"],
        ["gemm.matmul(n=256,", "dtype='float32')", *figures, "+1", "KiB", "LEAK,", "empty_cache"],
        ["gemm.matmul(n=512,", "dtype='float32')", *figures, "-"],
    ]


def test_of_many_the_five_that_call_for_it_leaks_first() -> None:
    found = [*many(8, STEADY), one(STEADY | {"growth": leak(1024.0)})]
    lines = shown(*found).splitlines()
    details = [line for line in lines if line.startswith("gemm.matmul(") and "MiB" not in line]
    assert len(details) == 5 and details[0] == "gemm.matmul(n=256, dtype='float32')"
    assert lines[-1] == "Not shown one by one: 4 functions (--all shows all, --bench REGEX chooses)."
    assert "Not shown" not in shown(*found, everything=True)


def test_a_reason_that_several_have_is_told_once() -> None:
    memory = {name: value for name, value in STEADY.items() if "reserved" not in name}
    text = shown(*many(4, memory | {"missing": {"reserved": "there is no reserve", "card": "no card"}}))
    assert text.count("there is no reserve") == text.count("no card") == 1
    assert "not measured: reserved: there is no reserve" in text


def test_advice_is_numbered_and_explained_once() -> None:
    text = shown(*many(3, STEADY | {"alive": memories.ALIVE}))
    assert text.count(f"1. alive at the peak: begin with {LINE} (48 MiB)") == 3
    assert text.count("2. shorten lifetimes: 64 MiB of the peak (33 %) is gone when the call ends") == 3
    assert text.count("del, in-place or fused operations") == 1


def test_what_failed_is_told_and_does_not_widen_the_table() -> None:
    found = memory_of([told(1), told(1, params={"n": "1"}), failed(1, memory={}, params={"n": "9"})])
    text = shown(*found)
    assert "no figures: gemm.matmul(n=9): out of memory: 3 GiB" in text
    assert "quick" not in text and "--quick" in shown(one(switches={"quick": True, "cache": {}}))


def test_nothing_that_a_terminal_obeys() -> None:
    alive = memories.ALIVE | {
        "holders": [{"bytes": 48 * MIB, "count": 1, "where": "a\x1b[2J.py:1", "what": "x"}]
    }
    assert "\x1b" not in shown(one(STEADY | {"alive": alive}))
