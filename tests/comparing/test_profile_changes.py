"""Which rows of two sides' profiles belong together, and what became of them."""

from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.comparing.profile_changes import ProfilesDiffer, compare_profiles
from dcu_asv_ext.comparing.profile_model import (
    ADDED,
    FASTER,
    GONE,
    LESS_OFTEN,
    MORE_BYTES,
    MORE_OFTEN,
    REPLACED,
    SLOWER,
    ProfileChange,
    RowChange,
)

from .measured import record
from .profiles import GEMM, RELU, Kernel, measured, profile, thrice

TILED = "Cijk_Ailk_Bljk_HHS_BH_MT{}x32_MI16x16x16x1_SN"


def changed(before: dict[str, Any], after: dict[str, Any]) -> ProfileChange:
    return compare_profiles(thrice(before), thrice(after))


def words(rows: Any) -> dict[str, tuple[str, ...]]:
    return {row.name: row.words for row in rows}


def only(rows: Any) -> RowChange:
    (row,) = rows
    return row  # type: ignore[no-any-return]


def test_the_same_profiles_have_no_rows() -> None:
    found = changed(profile(), profile())
    assert list(found.rows) == []
    assert (found.benchmark, dict(found.params)) == ("gemm.matmul", {"n": "256", "dtype": "'float32'"})
    assert (found.before.profiles, found.before.rounds, found.before.steps) == (3, 3, (10, 10, 10))


class TestKernels:
    def test_one_that_is_new_and_one_that_is_gone(self) -> None:
        found = changed(profile((GEMM, RELU)), profile((GEMM, ("tanh", "1x1", 3, 2e-4))))
        assert words(found.kernels) == {"tanh": (ADDED,), "relu": (GONE,)}
        new = found.kernels[0]
        assert new.after is not None and new.before is None
        assert new.seconds == pytest.approx(2e-4)
        assert (new.after.count.value, new.sure) == (3.0, True)

    def test_figures_are_of_a_call_whatever_the_steps(self) -> None:
        assert list(changed(profile(steps=10), profile(steps=40)).rows) == []

    def test_one_that_is_called_more_often(self) -> None:
        row = only(changed(profile((GEMM,)), profile((("gemm", "64x1", 3, 4.5e-3),))).kernels)
        assert (row.words, row.sure, row.count) == ((MORE_OFTEN,), True, 1.0)

    def test_one_that_is_called_less_often_and_each_takes_longer(self) -> None:
        row = only(changed(profile((GEMM,)), profile((("gemm", "64x1", 1, 2e-3),))).kernels)
        assert row.words == (LESS_OFTEN, SLOWER)

    def test_one_that_is_slower_beyond_the_spread_of_several_profiles(self) -> None:
        before = [profile((("gemm", "64x1", 2, x),)) for x in (3.00e-3, 3.01e-3, 2.99e-3)]
        after = [profile((("gemm", "64x1", 2, x),)) for x in (3.60e-3, 3.61e-3, 3.59e-3)]
        row = only(compare_profiles(measured(before), measured(after)).kernels)
        assert (row.words, row.sure) == ((SLOWER,), True)
        assert row.seconds == pytest.approx(0.6e-3)
        row = only(compare_profiles(measured(after), measured(before)).kernels)
        assert row.words == (FASTER,)

    def test_within_the_spread_nothing_is_told(self) -> None:
        before = [profile((("gemm", "64x1", 2, x),)) for x in (3.0e-3, 3.6e-3, 2.6e-3)]
        after = [profile((("gemm", "64x1", 2, x),)) for x in (3.2e-3, 2.8e-3, 3.7e-3)]
        assert list(compare_profiles(measured(before), measured(after)).rows) == []

    def test_of_one_profile_a_side_a_tenth_is_told_and_is_not_sure(self) -> None:
        slower = profile((("gemm", "64x1", 2, 3.4e-3), RELU))
        row = only(compare_profiles(measured([profile()]), measured([slower])).kernels)
        assert (row.words, row.sure) == ((SLOWER,), False)
        little = profile((("gemm", "64x1", 2, 3.2e-3), RELU))
        assert not compare_profiles(measured([profile()]), measured([little])).kernels

    def test_a_change_of_time_that_is_nothing_of_the_call_is_not_told(self) -> None:
        tiny: Kernel = ("fill", "1x1", 1, 1e-6)
        slower: Kernel = ("fill", "1x1", 1, 2e-6)
        assert not changed(profile((GEMM, tiny)), profile((GEMM, slower))).kernels

    def test_another_launch_shape_is_the_same_kernel(self) -> None:
        assert not changed(profile((GEMM,)), profile((("gemm", "128x1", 2, 3e-3),))).kernels

    def test_the_same_name_in_two_shapes_is_two_rows(self) -> None:
        both = (GEMM, ("gemm", "8x1", 1, 1e-4))
        row = only(changed(profile((GEMM,)), profile(both)).kernels)
        assert (row.words, row.detail) == ((ADDED,), "8x1")

    def test_another_tuning_replaces_it(self) -> None:
        old, new = TILED.format("128x64"), TILED.format("64x64")
        row = only(changed(profile(((old, "a", 2, 1e-3),)), profile(((new, "b", 2, 2e-3),))).kernels)
        assert (row.name, row.was, row.words[0]) == (new, old, REPLACED)

    def test_called_another_number_of_times_it_is_no_replacement(self) -> None:
        old, new = TILED.format("128x64"), TILED.format("64x64")
        found = changed(profile(((old, "a", 2, 1e-3),)), profile(((new, "b", 3, 2e-3),)))
        assert words(found.kernels) == {new: (ADDED,), old: (GONE,)}

    def test_from_another_operator_it_is_none_either(self) -> None:
        old, new = TILED.format("128x64"), TILED.format("64x64")
        sides = [profile(((name, "a", 2, 1e-3),)) for name in (old, new)]
        sides[0]["kernels"][0].append(["aten::mm"])
        sides[1]["kernels"][0].append(["aten::bmm"])
        assert words(changed(*sides).kernels) == {new: (ADDED,), old: (GONE,)}
        sides[1]["kernels"][0][4] = ["aten::mm"]
        assert words(changed(*sides).kernels) == {new: (REPLACED,)}

    def test_the_only_one_of_its_operators_is_replaced_by_any_other(self) -> None:
        sides = [profile(((name, "a", 2, 1e-3), RELU)) for name in ("rocblas_gemm", "my_gemm")]
        assert words(changed(*sides).kernels) == {"my_gemm": (ADDED,), "rocblas_gemm": (GONE,)}
        for one in sides:
            one["kernels"][0].append(["aten::mm"])
        row = only(changed(*sides).kernels)
        assert (row.name, row.was, row.words) == ("my_gemm", "rocblas_gemm", (REPLACED,))
        sides[1]["kernels"].append(["another", "a", 20, 1e-3, ["aten::mm"]])
        assert REPLACED not in [word for row in changed(*sides).kernels for word in row.words]

    def test_what_may_only_be_too_short_to_be_kept_is_not_surely_new(self) -> None:
        rest: Kernel = ("(rest)", "", 50, 1e-4)
        row = only(changed(profile((GEMM, rest)), profile((GEMM, RELU, rest))).kernels)
        assert (row.words, row.sure) == ((ADDED,), False)
        row = only(changed(profile((GEMM,)), profile((GEMM, RELU, rest))).kernels)
        assert (row.name, row.sure) == ("relu", True)

    def test_counts_that_vary_are_told_only_where_they_lie_apart(self) -> None:
        def side(*counts: float) -> list[dict[str, Any]]:
            return measured([profile((("k", "1", count, 1e-3 * count),)) for count in counts])

        assert not compare_profiles(side(2, 3, 2.5), side(3, 2.5, 2.6)).kernels
        assert only(compare_profiles(side(2, 3, 2.5), side(4, 3.5, 3.6)).kernels).words == (MORE_OFTEN,)


class TestCopiesAndSyncs:
    def test_a_new_copy_with_its_line(self) -> None:
        after = profile(copies=(("HtoD", 1, 4096, 5e-5, "model.py:12 forward"),))
        row = only(changed(profile(), after).copies)
        assert (row.name, row.words, row.source) == ("HtoD", (ADDED,), "model.py:12 forward")
        assert row.after is not None and row.after.bytes is not None and row.after.bytes.value == 4096

    def test_more_bytes_in_as_many_copies(self) -> None:
        sides = [profile(copies=(("HtoD", 1, size, 5e-5, ""),)) for size in (4096, 8192)]
        assert only(changed(*sides).copies).words == (MORE_BYTES,)

    def test_a_new_synchronisation_with_its_line(self) -> None:
        after = profile(syncs=(("copy", "hipMemcpyWithStream", 1, 1e-3, "model.py:12 forward"),))
        row = only(changed(profile(), after).syncs)
        assert (row.name, row.detail, row.words) == ("hipMemcpyWithStream", "copy", (ADDED,))
        assert row.source == "model.py:12 forward"

    def test_the_operator_that_made_it(self) -> None:
        after = profile(syncs=(("copy", "hipMemcpyWithStream", 1, 1e-3, "model.py:12 forward"),))
        assert only(changed(profile(), after).syncs).operator == ""
        after["syncs"][0].append("aten::item")
        assert only(changed(profile(), after).syncs).operator == "aten::item"
        assert only(changed(after, profile()).syncs).operator == "aten::item"

    def test_a_line_that_moved_is_the_same(self) -> None:
        sides = [
            profile(syncs=(("stream", "hipStreamSynchronize", 1, 1e-3, f"model.py:{line} forward"),))
            for line in (12, 40)
        ]
        assert not changed(*sides).rows

    def test_the_prefix_of_the_runtime_is_none_of_a_waits_name(self) -> None:
        sides = [
            profile(syncs=(("stream", f"{one}StreamSynchronize", 1, 1e-3, ""),)) for one in ("hip", "cuda")
        ]
        assert not changed(*sides).rows

    def test_a_wait_is_not_slower_it_waits_for_the_device(self) -> None:
        sides = [profile(syncs=(("stream", "hipStreamSynchronize", 1, x, ""),)) for x in (1e-3, 3e-3)]
        assert not changed(*sides).rows


def test_operators_by_calls_and_host_time() -> None:
    before = profile(operators=(("aten::mm", 2, 1e-4), ("aten::relu", 1, 1e-5)))
    after = profile(operators=(("aten::mm", 4, 2e-4), ("aten::gelu", 1, 1e-5)))
    assert words(changed(before, after).operators) == {
        "aten::mm": (MORE_OFTEN,),
        "aten::gelu": (ADDED,),
        "aten::relu": (GONE,),
    }


class TestBadInput:
    def test_a_side_without_a_profile(self) -> None:
        with pytest.raises(ProfilesDiffer, match="no profile on the side after"):
            compare_profiles(thrice(profile()), [record(1)])
        with pytest.raises(ProfilesDiffer, match="no profile on the side before"):
            compare_profiles([record(1)], thrice(profile()))

    def test_a_first_call_is_not_held_against_steady_ones(self) -> None:
        with pytest.raises(ProfilesDiffer, match="first call"):
            compare_profiles(thrice(profile(first=True)), thrice(profile()))

    @pytest.mark.parametrize(
        "broken",
        [
            {"kernels": "none"},
            {
                "kernels": [
                    ["gemm"],
                    "gemm",
                    ["gemm", "1", None, 1.0],
                    ["gemm", "1", -1, 1.0],
                    [1, "1", 1, 1.0],
                ]
            },
            {"kernels": [["gemm", "1", float("nan"), 1.0], ["gemm", "1", True, 1.0]]},
            {"copies": {"HtoD": 1}, "syncs": [[]], "gaps": [["x", "y", "z"]], "operators": [[None]]},
            {"per_call": [1], "faults": [1, None]},
            {"overhead": "much"},
        ],
    )
    def test_what_is_no_row_is_not_there(self, broken: dict[str, Any]) -> None:
        made = {**profile((), operators=()), **broken}
        found = changed(made, made)
        assert not found.rows and not found.before.faults

    @pytest.mark.parametrize("steps", [0, -1, None, "10", True, 2.5])
    def test_a_profile_without_steps_is_none(self, steps: Any) -> None:
        with pytest.raises(ProfilesDiffer):
            changed(profile(), {**profile(), "steps": steps})

    def test_measurements_without_one_and_faults_are_told(self) -> None:
        before = measured([profile(), None, profile(faults=["the trace is cut"])])
        found = compare_profiles(before, measured([profile()]))
        assert "before: 1 of 3 measurements have no profile" in found.notes
        assert "before: the trace is cut" in found.notes
        assert any("spread" in note for note in found.notes)
