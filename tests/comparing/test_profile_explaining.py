"""What changed in the profiles adds up, with what stays unexplained, to the change of the latency."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dcu_asv_ext.comparing.profile_changes import compare_profiles
from dcu_asv_ext.comparing.profile_explaining import LATENCY, PROFILED_CALL, why
from dcu_asv_ext.comparing.profile_model import (
    COPY,
    IDLE,
    KERNEL,
    OPERATOR,
    OTHER,
    Explanation,
    ProfileChange,
)

from .profiles import GEMM, RELU, Kernel, measured, profile, thrice

NEW: Kernel = ("new", "4x1", 4, 0.95e-3)


def compared(
    before: dict[str, Any], after: dict[str, Any], old: float | None = 4e-3, new: float | None = 5.2e-3
) -> ProfileChange:
    return compare_profiles(thrice(before, old), thrice(after, new))


def explained(*given: Any) -> Explanation:
    found = compared(*given)
    assert found.explanation is not None
    told = found.explanation
    assert sum(part.seconds for part in told.parts) + told.unexplained == pytest.approx(
        told.change, abs=1e-11
    )
    return told


def parts(told: Explanation) -> list[tuple[str, float]]:
    return [(part.what, pytest.approx(part.seconds, abs=1e-10)) for part in told.parts]


def test_a_new_kernel_and_idle_time_leave_the_rest_unexplained() -> None:
    sync = ("copy", "hipMemcpyWithStream", 1.0, 1e-4, "model.py:12 forward")
    told = explained(profile(), profile((GEMM, RELU, NEW), idle=1.2e-3, syncs=(sync,)))
    assert (told.of, told.capped) == (LATENCY, 0.0)
    assert told.change == pytest.approx(1.2e-3)
    assert parts(told) == [(KERNEL, 0.95e-3), (IDLE, 0.2e-3)]
    assert told.unexplained == pytest.approx(0.05e-3)
    assert told.parts[0].text == "new kernel new, called 4 times"
    assert told.parts[1].text == (
        "the device idle for longer (new: hipMemcpyWithStream at model.py:12 forward)"
    )
    assert all(part.sure for part in told.parts)
    assert "x1.3 before, x1.3 after" in told.notes[0]


def test_nothing_that_changed_leaves_all_of_it_unexplained() -> None:
    told = explained(profile(), profile())
    assert (told.parts, told.unexplained) == ((), pytest.approx(1.2e-3))


def test_idle_time_beyond_the_latency_is_the_profilers() -> None:
    told = explained(profile(), profile((GEMM, RELU, NEW), idle=3e-3))
    assert parts(told) == [(KERNEL, 0.95e-3), (IDLE, 0.25e-3)]
    assert told.capped == pytest.approx(1.75e-3)
    assert told.unexplained == 0.0
    assert not told.parts[1].sure, "how much of the rest was the profiler's too, nobody knows"


def test_a_little_more_idle_time_than_there_is_room_for_is_sure_all_the_same() -> None:
    told = explained(profile(), profile((GEMM, RELU, NEW), idle=1.26e-3))
    assert parts(told) == [(KERNEL, 0.95e-3), (IDLE, 0.25e-3)]
    assert told.capped == pytest.approx(0.01e-3) and told.parts[1].sure


def test_work_that_fills_holes_is_more_work_and_less_idle_time() -> None:
    told = explained(profile(), profile((GEMM, RELU, NEW), idle=0.1e-3), 4e-3, 4.05e-3)
    assert parts(told) == [(KERNEL, 0.95e-3), (IDLE, -0.9e-3)]
    assert told.unexplained == 0.0


def test_an_improvement_is_explained_the_same_way() -> None:
    told = explained(profile((GEMM, RELU, NEW)), profile(), 5e-3, 4e-3)
    assert parts(told) == [(KERNEL, -0.95e-3)]
    assert (told.parts[0].text, told.unexplained) == ("kernel new is gone", pytest.approx(-0.05e-3))


def test_the_device_may_have_done_more_than_the_latency_shows() -> None:
    told = explained(profile(), profile((GEMM, RELU, ("new", "1", 1, 2e-3))))
    assert parts(told) == [(KERNEL, 2e-3)]
    assert told.unexplained == pytest.approx(-0.8e-3), "it is said, and not hidden in another part"
    assert not told.shown


def test_copies_and_busy_time_of_no_row() -> None:
    copy = ("HtoD", 1.0, 4096, 0.3e-3, "data.py:3 load")
    told = explained(profile(), profile(copies=(copy,), other=0.5e-3))
    assert parts(told) == [(COPY, 0.3e-3), (OTHER, 0.5e-3)], "the sure one first"
    assert told.parts[0].text == "new HtoD copies, called once, at data.py:3 load"
    assert not told.parts[1].sure


def test_copies_that_are_gone() -> None:
    copy = ("DtoD", 2.0, 4096, 1.0e-3, "")
    told = explained(profile(copies=(copy,)), profile(), 5e-3, 4e-3)
    assert [part.text for part in told.parts] == ["DtoD copies are gone"]


def test_kernels_each_a_little_slower_are_told_together() -> None:
    before = profile([(f"k{n}", "1", 1, 1e-4) for n in range(20)])
    after = profile([(f"k{n}", "1", 1, 1.4e-4) for n in range(20)])
    after["kernels"] = [[name, shape, count, seconds] for name, shape, count, seconds in after["kernels"]]
    told = explained(before, after, 4e-3, 8e-3)
    assert len(told.parts) == 1 and told.parts[0].seconds == pytest.approx(0.8e-3)
    assert told.unexplained == pytest.approx(3.2e-3)


class TestCauses:
    BEFORE = profile(idle=0.4e-3, gaps=(("host late", 3, 0.4e-3, ""),))
    AFTER = profile(
        idle=1.4e-3,
        gaps=(("host late", 3, 0.4e-3, ""), ("at a synchronisation", 1, 1.0e-3, "model.py:12 forward")),
    )

    def test_idle_time_by_its_cause_and_line(self) -> None:
        told = explained(self.BEFORE, self.AFTER)
        assert parts(told) == [(IDLE, 1.0e-3)]
        assert told.parts[0].text == "the device idle, at a synchronisation, model.py:12 forward"
        assert told.parts[0].source == "model.py:12 forward" and told.parts[0].sure

    def test_without_causes_on_a_side_the_idle_time_is_one_part(self) -> None:
        told = explained(profile(idle=0.4e-3), self.AFTER)
        assert [part.text for part in told.parts] == ["the device idle for longer"]

    def test_what_is_not_counted_has_no_causes(self) -> None:
        told = explained(self.BEFORE, self.AFTER, 4e-3, 4.3e-3)
        assert [part.text for part in told.parts] == ["the device idle for longer"]
        assert told.capped == pytest.approx(0.7e-3)

    def test_a_line_that_has_less_than_half_is_not_named(self) -> None:
        gaps = [("at a synchronisation", 1.0, 0.4e-3, f"model.py:{line} forward") for line in (1, 2, 3)]
        late = ("host late", 1.0, 0.4e-3, "")
        told = explained(profile(idle=0.4e-3, gaps=[late]), profile(idle=1.6e-3, gaps=[late, *gaps]))
        assert [part.source for part in told.parts] == [""]


class TestWithout:
    def test_latency_samples_the_profiled_call_is_explained(self) -> None:
        told = explained(profile(), profile((GEMM, RELU, NEW), idle=1.2e-3), None, None)
        assert (told.of, told.change) == (PROFILED_CALL, pytest.approx(1.15e-3))
        assert told.unexplained == 0.0

    def test_idle_time(self) -> None:
        told = explained(profile(idle=None), profile((GEMM, RELU, NEW), idle=None))
        assert parts(told) == [(KERNEL, 0.95e-3)]
        assert any("idle" in note for note in told.notes)

    def test_a_device_the_hosts_operators_do(self) -> None:
        sides = [profile((), operators=(("aten::mm", 2, x),), device=False) for x in (1e-3, 2e-3)]
        told = explained(*sides)
        assert parts(told) == [(OPERATOR, 1e-3)]
        assert told.unexplained == pytest.approx(0.2e-3)
        assert "no rows of a device" in told.notes[0]

    def test_a_device_and_samples_there_is_nothing(self) -> None:
        side = profile((), device=False)
        found = compared(side, side, None, None)
        assert (found.explanation, found.why_not) == (
            None,
            "there are no latency samples, and no rows of a device",
        )

    def test_a_device_on_one_side_alone(self) -> None:
        found = compared(profile(), profile((), device=False))
        assert (found.explanation, found.why_not) == (None, "one side's profiles have no rows of a device")

    def test_an_overhead_it_says_so(self) -> None:
        told = explained(profile(overhead=None), profile(overhead=None))
        assert told.notes[0].endswith("which is not known here")


class TestOneLine:
    AFTER = profile((GEMM, RELU, NEW), idle=1.2e-3)

    def test_what_is_sure(self) -> None:
        assert why(compared(profile(), self.AFTER)) == (
            "of +1.20 ms a call: +0.95 ms new kernel new, called 4 times, "
            "+0.20 ms the device idle for longer; +0.05 ms unexplained"
        )

    def test_all_of_it(self) -> None:
        assert why(compared(profile(), self.AFTER, 4e-3, 5.15e-3)).endswith("idle for longer")

    def test_parts_that_are_not_sure_are_the_rest(self) -> None:
        told = why(compared(profile(), profile((GEMM, RELU, NEW), other=0.25e-3)))
        assert told.endswith("called 4 times; +0.25 ms smaller parts and unexplained")

    def test_less_than_half_of_it_is_nothing(self) -> None:
        assert why(compared(profile(), self.AFTER, 4e-3, 7e-3)) == ""

    def test_more_than_there_is_is_nothing(self) -> None:
        assert why(compared(profile(), profile((GEMM, RELU, ("new", "1", 1, 2e-3))))) == ""

    def test_where_the_latency_did_not_surely_change(self) -> None:
        same = compared(profile(), self.AFTER, 4e-3, 4.001e-3)
        assert same.verdict == "no change" and why(same) == ""

    def test_of_a_broken_trace(self) -> None:
        assert why(compared(profile(faults=["3 rows were lost"]), self.AFTER)) == ""

    def test_idle_time_of_one_profile_is_not_sure(self) -> None:
        sides = measured([profile()], 4e-3), measured([profile(idle=2.2e-3)], 5.2e-3)
        found = replace(compare_profiles(*sides), verdict="regression")
        assert why(found) == ""
        assert why(compared(profile(), profile(idle=2.2e-3))) != ""

    def test_a_latency_that_others_know_more_of(self) -> None:
        sides = measured([None, profile()], 4e-3)[1:], measured([None, profile((GEMM, RELU, NEW))], 5e-3)[1:]
        found = compare_profiles(*sides)
        assert found.verdict == "inconclusive" and why(found) == ""
        assert why(replace(found, verdict="regression")).startswith("of +1.00 ms a call: +0.95 ms new kernel")


class TestDoubt:
    """What is not sure of the parts, and of the profiler's cost."""

    @staticmethod
    def of_host(*given: tuple[str, float, float]) -> dict[str, Any]:
        return profile((), operators=given, device=False)

    def test_unchanged_operators_on_a_host_are_not_sure(self) -> None:
        before = self.of_host(("aten::mm", 2, 1e-3), ("aten::sum", 1, 1e-3))
        after = self.of_host(("aten::mm", 2, 2e-3), ("aten::sum", 1, 1.001e-3))
        found = compared(before, after)
        assert found.explanation is not None
        assert [(part.text, part.sure) for part in found.explanation.parts if not part.rest] == [
            ("operator aten::mm slower: 1.00 ms each, was 500 us", False)
        ], "what has not changed is no part by its name"
        assert why(found) == ""

    def test_a_new_operator_is_sure_and_comes_first(self) -> None:
        before = self.of_host(("aten::mm", 2, 1e-3))
        after = self.of_host(("aten::mm", 2, 1.7e-3), ("aten::sum", 1, 0.5e-3))
        found = compared(before, after)
        assert found.explanation is not None
        assert [part.sure for part in found.explanation.parts] == [True, False]
        assert found.explanation.parts[0].text == "new operator aten::sum, called once"

    def test_fewer_calls_that_take_longer_are_not_sure(self) -> None:
        found = compared(self.of_host(("aten::mm", 4, 1e-3)), self.of_host(("aten::mm", 3, 2e-3)))
        assert found.explanation is not None
        assert [part.sure for part in found.explanation.parts] == [False]

    def test_more_calls_whose_times_overlap_are_not_sure(self) -> None:
        def side(count: int, seconds: tuple[float, ...], latency: float) -> list[dict[str, Any]]:
            return measured([profile((("gemm", "64x1", count, one), RELU)) for one in seconds], latency)

        apart, overlapping = (1.5e-3, 1.6e-3, 1.7e-3), (0.9e-3, 1.9e-3, 2.0e-3)
        for after, sure in ((apart, True), (overlapping, False)):
            found = compare_profiles(side(2, (1.0e-3, 1.1e-3, 1.2e-3), 4e-3), side(3, after, 4.6e-3))
            assert found.explanation is not None
            (part,) = (one for one in found.explanation.parts if one.what == KERNEL)
            assert part.sure is sure

    @pytest.mark.parametrize(("before", "after"), [(0.74, 1.3), (1.3, 0.99), (30.1, 1.1)])
    def test_a_cost_that_cannot_be_true_is_not_told(self, before: float, after: float) -> None:
        found = compared(profile(overhead=before), profile(overhead=after))
        assert found.before.overhead is None and found.after.overhead is None
        assert found.explanation is not None
        assert found.explanation.notes == (
            "profiled times carry the profiler's cost, which could not be determined (the machine was busy)",
        )
