from __future__ import annotations

from pathlib import Path

import pytest

from dcu_asv_ext.trace import questions as module
from dcu_asv_ext.trace.analysis import Analysis
from dcu_asv_ext.trace.questions import Answer, questions

from .tabling import Tabling

MIB = 1 << 20
MUL = "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>, x>(int)"
GEMM = "Cijk_Alik_Bljk_SB_MT64x16x32_MI16x16x1"


def answers(analysis: Analysis, operator: str) -> dict[str, Answer]:
    (found,) = [one for one in questions(analysis) if one.operator == operator]
    return {one.question: one for one in found.answers}


def steadily(folder: Path, name: str = MUL, others: str = MUL, count: int = 4) -> Analysis:
    """A device that is never idle: calls of aten::mul, each followed by one of aten::other."""
    made = Tabling()
    for number in range(count):
        made.operator("aten::mul", 20 * number, 20 * number + 8)
        made.runs(name, 20 * number + 2, 40 * number + 20, 40 * number + 40)
        made.operator("aten::other", 20 * number + 10, 20 * number + 18)
        made.runs(others, 20 * number + 12, 40 * number + 40, 40 * number + 60)
    return made.analysis(folder)


def test_they_are_asked_of_those_worth_it_the_longest_first(tmp_path: Path) -> None:
    made = Tabling()
    for number, (name, length) in enumerate({"a": 50, "b": 10, "c": 9, "d": 31}.items()):
        made.operator(name, 100 * number, 100 * number + 10)
        made.runs("k", 100 * number + 1, 100 * number + 20, 100 * number + 20 + length)
    made.runs("k", 500, 510, 610)
    found = questions(made.analysis(tmp_path))
    assert [(one.operator, one.share) for one in found] == [("a", 0.25), ("d", 0.155)]
    assert all(
        [answer.question for answer in one.answers]
        == [module.CRITICAL, module.FUSABLE, module.REUSED, module.GROWTH]
        for one in found
    )


def test_of_three_at_most(tmp_path: Path) -> None:
    made = Tabling()
    for number in range(5):
        made.operator(f"op{number}", 100 * number, 100 * number + 10)
        made.runs("k", 100 * number + 1, 100 * number + 20, 100 * number + 50)
    assert len(questions(made.analysis(tmp_path))) == module.MOST


def test_none_without_a_device(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::mul", 0, 500)
    assert questions(made.analysis(tmp_path)) == []


class TestCriticalPath:
    def test_yes_where_the_device_does_nothing_else_and_is_never_late(self, tmp_path: Path) -> None:
        found = answers(steadily(tmp_path), "aten::mul")[module.CRITICAL]
        assert found.answer == module.YES
        assert found.text == (
            "in 100 % of its 80.0 us nothing else ran on the device: without it the device's span of 160 us would be "
            "up to 80.0 us shorter."
        )

    def test_no_where_the_host_is_late_with_what_follows(self, tmp_path: Path) -> None:
        made = Tabling()
        for number in range(4):
            made.operator("aten::mul", 100 * number, 100 * number + 8)
            made.runs(MUL, 100 * number + 2, 100 * number + 4, 100 * number + 24)
        made.operator("aten::last", 400, 410)
        made.runs("last", 402, 404, 406)
        found = answers(made.analysis(tmp_path), "aten::mul")[module.CRITICAL]
        assert found.answer == module.NO
        assert found.text.startswith(
            "of its 80.0 us the device waits for the host after 80.0 us in any case:"
        )
        assert found.text.endswith("the device's span of 402 us would be no shorter.")

    def test_partly_where_another_stream_runs_beside_it(self, tmp_path: Path) -> None:
        made = Tabling()
        made.operator("aten::mul", 0, 10)
        made.runs(MUL, 2, 20, 60)
        made.operator("aten::other", 10, 20)
        made.runs("k", 12, 30, 50, stream=5)
        found = answers(made.analysis(tmp_path), "aten::mul")[module.CRITICAL]
        assert found.answer == module.PARTLY
        assert found.text.startswith("in 50 % of its 40.0 us nothing else ran")

    def test_open_where_the_launches_are_not_known(self, tmp_path: Path) -> None:
        made = Tabling()
        made.operator("aten::mul", 0, 10, **{"External id": 1})
        made.kernel(20, 30, **{"External id": 1})
        made.kernel(40, 50, **{"External id": 1})
        assert answers(made.analysis(tmp_path), "aten::mul")[module.CRITICAL].answer == module.OPEN


class TestFusable:
    @pytest.mark.parametrize(
        ("name", "others", "answer", "figure"),
        [
            (MUL, MUL, module.YES, "4 of 4 kernels beside its own"),
            (MUL, GEMM, module.PARTLY, "0 of 4 kernels beside its own"),
            (GEMM, MUL, module.PARTLY, "4 of 4 kernels beside its own"),
            (GEMM, GEMM, module.NO, "0 of 4 kernels beside its own"),
            ("attn_fwd", GEMM, module.NO, "0 of 4"),
            ("triton_poi_fused_add_0", MUL, module.NO, "made by the compiler"),
            ("mystery", MUL, module.OPEN, "4 of 4 kernels beside its own"),
        ],
    )
    def test_by_the_names_of_its_kernels_and_of_those_beside_them(
        self, tmp_path: Path, name: str, others: str, answer: str, figure: str
    ) -> None:
        found = answers(steadily(tmp_path, name, others), "aten::mul")[module.FUSABLE]
        assert (found.answer, figure in found.text) == (answer, True), found

    def test_a_product_with_an_element_wise_kernel_is_still_a_librarys(self, tmp_path: Path) -> None:
        made = Tabling()
        made.operator("aten::addmm", 0, 20)
        made.runs(MUL, 2, 5, 20)
        made.runs(GEMM, 4, 20, 60)
        made.operator("aten::other", 20, 30)
        made.runs(MUL, 22, 60, 70)
        found = answers(made.analysis(tmp_path), "aten::addmm")[module.FUSABLE]
        assert (found.answer, "1 of 1 kernels" in found.text) == (module.PARTLY, True)

    def test_what_runs_on_another_stream_is_not_beside_it(self, tmp_path: Path) -> None:
        made = Tabling()
        made.operator("aten::mul", 0, 8)
        made.runs(MUL, 2, 20, 40)
        made.operator("aten::other", 10, 18)
        made.runs(GEMM, 12, 40, 60, stream=5)
        made.operator("aten::other", 20, 28)
        made.runs(MUL, 22, 60, 80)
        found = answers(made.analysis(tmp_path), "aten::mul")[module.FUSABLE]
        assert (found.answer, "1 of 1 kernels" in found.text) == (module.YES, True)

    def test_copies_cannot_be(self, tmp_path: Path) -> None:
        made = Tabling()
        made.operator("aten::copy_", 0, 50)
        made.copies("Memcpy HtoD (Host -> Device)", (5, 45), (10, 40))
        assert answers(made.analysis(tmp_path), "aten::copy_")[module.FUSABLE].answer == module.NO


def with_outputs(folder: Path, freed_after: int | None, steps: int = 6) -> Analysis:
    """Each call leaves 1 MiB, freed after so many further launches (None: never)."""
    made = Tabling()
    for step in range(steps):
        at = 20 * step
        made.operator("aten::linear", at, at + 10)
        made.operator("aten::empty", at + 1, at + 2)
        made.memory(at + 1.5, MIB, 100 + step, total=(step + 1) * MIB)
        made.runs(MUL, at + 3, at + 5, at + 24)
        if freed_after is not None:
            made.memory(at + 20 * freed_after + 15, -MIB, 100 + step)
    return made.analysis(folder)


class TestOutputs:
    def test_an_output_that_the_next_kernel_uses_up_is_an_intermediate(self, tmp_path: Path) -> None:
        found = answers(with_outputs(tmp_path, 1), "aten::linear")[module.REUSED]
        assert found.answer == module.NO
        assert found.text == (
            "of 6 outputs 6 are freed after at most one more launch; the median lives through 1: intermediates, "
            "which a fused kernel would not write."
        )

    def test_an_output_that_lives_longer_is_used_again(self, tmp_path: Path) -> None:
        found = answers(with_outputs(tmp_path, None), "aten::linear")[module.REUSED]
        assert (found.answer, found.text) == (
            module.YES,
            "of 6 outputs 0 are freed after at most one more launch; the median lives through 2, and 6 to the end of "
            "the trace.",
        )
        some = answers(with_outputs(tmp_path, 3), "aten::linear")[module.REUSED]
        assert some.answer == module.PARTLY  # the last two see no further launch

    def test_what_is_freed_inside_a_call_is_no_output(self, tmp_path: Path) -> None:
        made = Tabling()
        made.operator("aten::linear", 0, 50)
        made.memory(5, MIB, 1)
        made.memory(10, MIB, 2)
        made.runs(MUL, 20, 25, 60)
        made.memory(40, -MIB, 2)
        found = answers(made.analysis(tmp_path), "aten::linear")[module.REUSED]
        assert found.text.startswith("of 1 output 0 are freed")

    def test_open_without_memory_rows(self, tmp_path: Path) -> None:
        told = answers(steadily(tmp_path), "aten::mul")
        assert (told[module.REUSED].answer, told[module.GROWTH].answer) == (module.OPEN, module.OPEN)
        assert "profile_memory" in told[module.REUSED].text

    def test_memory_grows_against_an_operator_that_works_in_place(self, tmp_path: Path) -> None:
        made = Tabling()
        made.memory(0, 64 * MIB, 5, total=64 * MIB)
        made.operator("aten::mul_", 5, 15)
        made.runs(MUL, 7, 9, 29)
        told = answers(made.analysis(tmp_path), "aten::mul_")
        assert told[module.GROWTH].answer == module.YES
        assert "(the trace's peak: 64.0 MiB)" in told[module.GROWTH].text
        assert told[module.REUSED].answer == module.OPEN

    def test_memory_does_not_grow_by_what_is_allocated_already(self, tmp_path: Path) -> None:
        found = answers(with_outputs(tmp_path, 1), "aten::linear")[module.GROWTH]
        assert found.answer == module.NO
        assert found.text.startswith("a call now allocates up to 1.00 MiB and leaves 1.00 MiB")


def test_of_a_copy_whether_it_is_needed(tmp_path: Path) -> None:
    made = Tabling()
    made.operator("aten::copy_", 0, 10)
    made.runs("copy", 2, 20, 60)
    (found,) = questions(made.analysis(tmp_path))
    assert [one.question for one in found.answers] == [
        module.NEEDED,
        module.CRITICAL,
        module.FUSABLE,
        module.REUSED,
        module.GROWTH,
    ]
