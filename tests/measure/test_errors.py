"""How far an output is from its reference: dtypes, structures, and what cannot be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy
import pytest
import torch

from dcu_asv_ext.measure import errors
from dcu_asv_ext.measure.errors import StructureError, compare, leaves, tolerances

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.complex64, torch.complex128], ids=str)
def test_default_tolerances_are_those_of_torch_testing(dtype: torch.dtype) -> None:
    rtol, atol = tolerances(dtype)
    reference = torch.full((1,), 100.0, dtype=torch.float64)
    for factor, inside in ((0.5, True), (2.0, False)):
        out = (reference + factor * (atol + rtol * 100.0)).to(dtype)
        step = (reference.to(dtype), out)
        if inside:
            torch.testing.assert_close(out, step[0])
        found = compare(out, step[0])
        expected = True
        try:
            torch.testing.assert_close(out, step[0])
        except AssertionError:
            expected = False
        assert found.right == expected


def test_the_looser_of_two_dtypes_counts() -> None:
    assert tolerances(torch.float16, torch.float64) == errors.TOLERANCES[torch.float16]
    assert tolerances(torch.int64, torch.int32) == (0.0, 0.0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_relative_error_in_float64(dtype: torch.dtype) -> None:
    ref = torch.tensor([1.0, -8.0, 2.0], dtype=torch.float64)
    found = compare(torch.tensor([1.0, -8.0, 2.5], dtype=dtype), ref)
    assert found.relative(found.largest) == 0.5 / 8
    assert found.relative(found.total / found.count) == pytest.approx(0.5 / 3 / 8)
    assert found.outside == 1 and not found.right


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.uint8, torch.bool], ids=str)
def test_integers_and_truth_values_compare_exactly(dtype: torch.dtype) -> None:
    ref = torch.tensor([1, 0, 1], dtype=dtype)
    assert compare(ref.clone(), ref).right
    other = torch.tensor([1, 1, 1], dtype=dtype)
    assert compare(other, ref).outside == 1


def test_large_integers_that_float64_cannot_tell_apart() -> None:
    found = compare(torch.tensor([2**53 + 1]), torch.tensor([2**53]))
    assert found.outside == 1 and not found.right


def test_complex_values() -> None:
    ref = torch.tensor([3 + 4j, 1j])
    found = compare(torch.tensor([3 + 4j, 2j]), ref)
    assert found.relative(found.largest) == pytest.approx(1 / 5)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_not_finite_on_one_side_is_wrong(bad: float) -> None:
    good, broken = torch.tensor([1.0, 2.0]), torch.tensor([1.0, bad])
    for out, ref in ((broken, good), (good, broken)):
        found = compare(out, ref, rtol=1e9, atol=1e9)
        assert found.non_finite == 1 and not found.right
        assert found.largest == 0.0


def test_the_same_non_finite_on_both_sides_is_right() -> None:
    one = torch.tensor([float("nan"), float("inf"), float("-inf"), 1.0])
    assert compare(one.clone(), one).right
    assert compare(torch.tensor([float("inf")]), torch.tensor([float("-inf")])).non_finite == 1


def test_an_all_zero_reference_has_no_relative_error_unless_it_is_met() -> None:
    zero = torch.zeros(3)
    assert compare(zero, zero).relative(0.0) == 0.0
    found = compare(zero + 1e-6, zero)
    assert found.right and found.relative(found.largest) is None
    assert not compare(zero + 1, zero).right


def test_declared_tolerances_replace_the_defaults() -> None:
    out, ref = torch.tensor([1.1]), torch.tensor([1.0])
    assert compare(out, ref, atol=0.2).right
    assert compare(out, ref, rtol=0.2).right
    assert not compare(out, ref, rtol=0.0, atol=0.05).right


@dataclass
class Result:
    logits: Any
    more: Any = None


@pytest.mark.parametrize(
    "value",
    [
        torch.ones(3),
        [torch.ones(2), (torch.zeros(1), 4)],
        {"a": torch.ones(1), 7: {"b": 2.5}},
        Result(torch.ones(2), [1 + 2j]),
        numpy.arange(4, dtype="float32"),
        numpy.float32(0.1),
        numpy.arange(6.0).reshape(2, 3).T,
        numpy.arange(4.0)[::-1],
        torch.eye(3).to_sparse(),
        torch.ones(2, requires_grad=True),
        True,
        0.1,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_can_be_compared(value: Any) -> None:
    found = compare(value, value)
    assert found.right and found.count == sum(one.numel() for _, one in leaves(value))


def test_python_numbers_are_doubles() -> None:
    assert not compare(0.1 + 1e-6, 0.1, rtol=0.0, atol=0.0).right
    assert compare(0.1 + 0.1j, 0.1 + 0.1j, rtol=0.0, atol=0.0).right
    assert not compare(0.1 + 1e-12j, 0.1 + 0j, rtol=0.0, atol=0.0).right


@pytest.mark.parametrize(
    ("out", "ref", "words"),
    [
        (None, torch.ones(1), "returned nothing"),
        ([], torch.ones(1), "returned nothing"),
        (torch.ones(2), None, "the reference nothing"),
        (torch.ones(2), torch.ones(3), r"shape \(2,\), its reference \(3,\)"),
        (torch.ones(1, 3), torch.ones(3), "shape"),
        ([torch.ones(1)], torch.ones(1), r"output\[0\]"),
        ({"a": 1}, {"b": 1}, "same structure"),
        ("text", "text", "is a str"),
        (object(), 1, "is a object"),
    ],
)
def test_what_cannot_is_said_in_one_sentence(out: Any, ref: Any, words: str) -> None:
    with pytest.raises(StructureError, match=words) as caught:
        compare(out, ref)
    assert "\n" not in str(caught.value)


def test_key_order_and_unused_none_do_not_matter() -> None:
    assert compare({"a": 1, "b": 2}, {"b": 2, "a": 1}).right
    assert compare((torch.ones(1), None), (torch.ones(1), None)).right


def test_pieces_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    out, ref = torch.arange(100.0), torch.arange(100.0)
    out[17], out[93] = 50.0, -50.0
    whole = compare(out, ref)
    monkeypatch.setattr(errors, "CHUNK", 7)
    assert compare(out, ref) == whole
    assert whole.outside == 2 and whole.largest == 143.0
