"""What a name typed by a user selects."""

from __future__ import annotations

import pytest

from dcu_asv_ext.asv_plugin.interleaving import Function
from dcu_asv_ext.daily.choice import ChoiceError, choose, count, one_function


def function(name: str, *combinations: tuple[str, ...], ours: bool = True) -> Function:
    series = (f"{name}.latency", f"{name}.peak_allocated") if ours else (name,)
    names = tuple("xy"[: len(combinations[0])]) if combinations else ()
    return Function(name, series, names, combinations or ((),), ours)


SUITE = [
    function("gemm.matmul", ("256", "'float32'"), ("256", "'float16'"), ("1024", "'float32'")),
    function("gemm.matmul_fused", ("256", "'float32'")),
    function("attention.matmul"),
    function("plain.time_sum", ours=False),
]


def chosen(*names: str) -> dict[str, list[int]]:
    return {name: list(indices) for name, indices in choose(SUITE, names).items()}


def test_no_name_is_the_whole_suite() -> None:
    everything = choose(SUITE, [])
    assert {name: list(one) for name, one in everything.items()} == {
        "gemm.matmul": [0, 1, 2],
        "gemm.matmul_fused": [0],
        "attention.matmul": [0],
        "plain.time_sum": [0],
    }
    assert count(everything) == 6


@pytest.mark.parametrize(
    "name, found",
    [
        ("gemm.matmul", {"gemm.matmul": [0, 1, 2]}),
        ("matmul", {"gemm.matmul": [0, 1, 2], "attention.matmul": [0]}),
        ("gemm.matmul(256, 'float16')", {"gemm.matmul": [1]}),
        ("matmul(256,float16)", {"gemm.matmul": [1]}),
        ("gemm.matmul.latency", {"gemm.matmul": [0, 1, 2]}),
        ("time_sum", {"plain.time_sum": [0]}),
        # No name of a function, so a regular expression.
        ("float32", {"gemm.matmul": [0, 2], "gemm.matmul_fused": [0]}),
        (r"^gemm\..*256", {"gemm.matmul": [0, 1], "gemm.matmul_fused": [0]}),
    ],
)
def test_names(name: str, found: dict[str, list[int]]) -> None:
    assert chosen(name) == found


def test_several_names_add_up() -> None:
    assert chosen("matmul(256, float16)", "gemm.matmul(1024, float32)", "time_sum") == {
        "gemm.matmul": [1, 2],
        "plain.time_sum": [0],
    }


@pytest.mark.parametrize(
    "name, sentence",
    [
        (
            "matmull",
            r"no benchmark is called 'matmull', nor matches it \(did you mean (gemm|attention)\.matmul\?\)",
        ),
        ("zzz", "the suite has gemm.matmul, gemm.matmul_fused, attention.matmul, plain.time_sum"),
        ("gemm.matmul(7)", "no benchmark is called"),
        ("nothing(", "is no benchmark's name and no regular expression"),
    ],
)
def test_a_name_that_selects_nothing_is_an_error(name: str, sentence: str) -> None:
    with pytest.raises(ChoiceError, match=sentence):
        choose(SUITE, ["gemm.matmul", name])


def test_one_function_by_a_name_that_only_it_has() -> None:
    fused = one_function(SUITE, "matmul_fused")
    assert fused is not None and fused.name == "gemm.matmul_fused"
    whole = one_function(SUITE, "attention.matmul")
    assert whole is not None and whole.name == "attention.matmul"
    assert one_function(SUITE, "matmul") is None
    assert one_function(SUITE, "gemm.mat") is None
