"""What changed between profiles, on a terminal and as JSON."""

from __future__ import annotations

import json
from typing import Any

from dcu_asv_ext.comparing import as_json, markdown, text
from dcu_asv_ext.comparing.deciding import report
from dcu_asv_ext.comparing.picture import ASCII
from dcu_asv_ext.comparing.profile_changes import compare_profiles
from dcu_asv_ext.comparing.profile_changes_json import to_json
from dcu_asv_ext.comparing.profile_changes_text import render
from dcu_asv_ext.comparing.table import Style

from .measured import read
from .profiles import GEMM, RELU, Kernel, measured, profile, thrice

NEW: Kernel = ("new", "4x1", 4, 0.95e-3)
SYNC = ("copy", "hipMemcpyWithStream", 1.0, 1e-4, "model.py:12 forward")
STYLE = Style(120, ASCII)
AFTER = profile(
    (GEMM, RELU, NEW), idle=1.2e-3, syncs=(SYNC,), copies=(("DtoH", 1, 4, 0.0, "model.py:12 forward"),)
)
AFTER["syncs"][0].append("aten::item")


def test_a_page() -> None:
    assert (
        render(compare_profiles(thrice(profile()), thrice(AFTER, 5.2e-3)), STYLE)
        == """\
gemm.matmul(n=256, dtype='float32')
  profiles  3 of 10 calls, a profiled call x1.3 of its latency -> 3 of 10 calls, a profiled call x1.3 of its latency
  latency      4.00 ms -> 5.20 ms (+1.20 ms, regression)
  kernels      3 -> 7 (+4)
  idle         24.4 % -> 22.9 % (-1.5 points)
  device busy  3.10 ms -> 4.05 ms (+950 us)

Of +1.20 ms a call:
  +0.95 ms  new kernel new, called 4 times
  +0.20 ms  the device idle for longer (new: hipMemcpyWithStream by aten::item at model.py:12 forward)
  +0.05 ms  unexplained
Profiled times carry the profiler's cost: a profiled call takes x1.3 before, x1.3 after of its latency.

kernels that changed, of a call
  added: new 4x1: 4 calls, 950 us

copies that changed, of a call
  added: DtoH at model.py:12 forward: 1 call, 4 B, 0 s

synchronisations that changed, of a call
  added: hipMemcpyWithStream copy by aten::item at model.py:12 forward: 1 call, 100 us of the host"""
    )


def test_nothing_changed() -> None:
    told = render(compare_profiles(thrice(profile()), thrice(profile())), STYLE)
    assert "No kernel, copy, synchronisation or operator changed." in told


def test_what_is_not_sure_has_a_question_mark_and_a_note() -> None:
    slower = profile((("gemm", "64x1", 2, 3.6e-3), RELU))
    told = render(compare_profiles(measured([profile()]), measured([slower], 4.6e-3)), STYLE)
    assert "  slower?: gemm 64x1: 2 calls, 3.00 ms -> 3.60 ms" in told
    assert "  kernel gemm slower: 1.80 ms each, was 1.50 ms (not sure)" in told
    assert "note: a side has one profile" in told


def test_idle_time_that_is_not_counted_is_told() -> None:
    told = render(compare_profiles(thrice(profile()), thrice(profile(idle=4e-3), 5e-3)), STYLE)
    assert "+2.00 ms of idle time that the profiled calls have and the latency has no room for" in told


def test_many_rows_are_counted() -> None:
    after = profile((GEMM, *((f"k{number}", "1", 1, 1e-4) for number in range(20))))
    found = compare_profiles(thrice(profile((GEMM,))), thrice(after))
    assert "  and 8 more (--all)" in render(found, STYLE)
    many = compare_profiles(thrice(profile((GEMM,))), thrice(after, 5.9e-3))
    assert "+1.20 ms  12 more parts together (--all)" in render(many, STYLE)
    assert "more (--all)" not in render(found, Style(120, ASCII, everything=True))


def test_a_change_that_the_profiles_do_not_show() -> None:
    after = profile((GEMM, RELU, NEW), other=1e-3)
    told = render(compare_profiles(thrice(profile(), 6e-3), thrice(after, 5e-3)), STYLE)
    assert (
        "The profiles do not show this change: what they time changed by +1.95 ms a call, the latency by -1.00 ms.\n"
        "What changed in the profiles, of a call:\n"
        "  +950 us  new kernel new, called 4 times\n"
        "Profiled times"
    ) in told
    assert "unexplained" not in told and "fills" not in told and "Of -1.00 ms" not in told


def test_a_latency_that_is_not_decided_is_not_explained() -> None:
    slower = profile((("gemm", "64x1", 2, 3.6e-3), RELU, NEW))
    one, other = measured([profile()]), measured([slower], 5.6e-3)
    told = render(compare_profiles(one, other), STYLE)
    assert (
        "Whether the latency changed is not known (+1.60 ms, inconclusive), so nothing explains it.\n"
        "What changed in the profiles, of a call:\n"
        "  +950 us  new kernel new, called 4 times\n"
        "  +600 us  kernel gemm slower: 1.80 ms each, was 1.50 ms (not sure)\n"
    ) in told
    assert "unexplained" not in told
    against = render(compare_profiles(other, measured([profile()], 7e-3)), Style(240, ASCII))
    assert "The profiles do not show this change: what they time changed by -1.55 ms a call" in against


def test_a_latency_without_a_change_has_nothing_to_explain() -> None:
    told = render(compare_profiles(thrice(profile()), thrice(profile((GEMM, RELU, NEW)))), STYLE)
    assert "The latency shows no change, so there is none to explain.\nWhat changed" in told


def test_a_cost_of_the_profiler_that_cannot_be_true_is_not_told() -> None:
    told = render(compare_profiles(thrice(profile(overhead=0.74)), thrice(profile())), STYLE)
    assert "x0.74" not in told and "x1.3" not in told and "could not be determined" in told


def test_what_cannot_be_explained_says_why() -> None:
    side = thrice(profile((), device=False))
    told = render(compare_profiles(side, thrice(profile())), STYLE)
    assert "Not explained: one side's profiles have no rows of a device." in told


def test_names_from_a_trace_reach_no_terminal_unread() -> None:
    bad = "k\x1b[31m\nevil"
    after = profile(
        (GEMM, RELU, (bad, "4\x1b[0m", 1, 1e-3)), syncs=(("stream", "x\x1b", 1, 0.0, "a\x1b.py:1"),)
    )
    assert "\x1b" not in render(compare_profiles(thrice(profile()), thrice(after)), STYLE)


def test_json_is_strict_and_whole() -> None:
    found = compare_profiles(thrice(profile()), thrice(AFTER, 5.2e-3))
    told = json.loads(json.dumps(to_json(found), allow_nan=False))
    assert told["latency_verdict"] == "regression"
    (kernel,) = told["kernels"]
    assert (kernel["name"], kernel["changes"], kernel["before"]) == ("new", ["added"], None)
    assert kernel["after"]["count"] == {"value": 4.0, "rounds": [4.0, 4.0, 4.0]}
    assert told["syncs"][0]["source"] == "model.py:12 forward"
    one = told["explanation"]
    total = sum(part["seconds"] for part in one["parts"]) + one["unexplained"]
    assert abs(total - one["change"]) < 1e-12 and told["why"].startswith("of +1.20 ms a call")


def test_json_without_an_explanation() -> None:
    side = thrice(profile((), device=False), None)
    told = to_json(compare_profiles(side, side))
    assert (told["explanation"], told["why"]) == (None, None) and "no latency samples" in told[
        "not_explained"
    ]


class TestBesideARow:
    def found(self) -> Any:
        after = read(thrice(AFTER, 5.2e-3))
        after.commit = "b" * 40
        return report([read(thrice(profile()))], [after])

    def test_on_a_terminal(self) -> None:
        assert "    why: of +1.20 ms a call: +0.95 ms new kernel new, called 4 times" in text.render(
            self.found(), STYLE
        )

    def test_as_json(self) -> None:
        rows = {row["metric"]: row for row in as_json.as_json(self.found(), 1)["rows"]}
        assert rows["latency"]["explanation"].startswith("of +1.20 ms a call")
        assert rows["device_time"]["explanation"] is None

    def test_as_markdown(self) -> None:
        told = markdown.render(self.found())
        assert "- `gemm.matmul(n=256, dtype='float32')` why: of +1.20 ms a call" in told
