"""Whether a change of the inputs is seen, and an unchanged input is not called changed."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import pytest
import torch

from dcu_asv_ext.measure import checksum as module
from dcu_asv_ext.measure.checksum import checksum, tensors

DTYPES = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int8,
    torch.bool,
    torch.complex64,
    torch.complex128,
)


def values(dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(1, 13).reshape(3, 4).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_one_changed_element_is_seen(dtype: torch.dtype) -> None:
    tensor = values(dtype)
    before = checksum(tensor)
    assert checksum(tensor.clone()) == before
    tensor[2, 1] = 0
    assert checksum(tensor) != before


CHANGES: dict[str, Callable[[torch.Tensor], Any]] = {
    "negated": lambda x: x.neg_(),
    "reversed": lambda x: x.copy_(x.flip(0)),
    "two swapped": lambda x: x.copy_(x[[1, 0, 2, 3, 4, 5, 6, 7]]),
    "scaled": lambda x: x.mul_(2),
    "zeroed": lambda x: x.zero_(),
    "one up, one down": lambda x: x.add_(torch.tensor([1.0, -1.0, 0, 0, 0, 0, 0, 0], dtype=x.dtype)),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("name", CHANGES)
def test_structured_changes_are_seen(name: str, dtype: torch.dtype) -> None:
    """Sums of words are blind to some of them: negating an even number of doubles cancels."""
    tensor = torch.tensor([1.0, 1.25, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0], dtype=dtype)
    before = checksum(tensor)
    CHANGES[name](tensor)
    assert checksum(tensor) != before


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (5, 1, 3)])
def test_shapes(shape: tuple[int, ...]) -> None:
    tensor = torch.ones(shape)
    before = checksum(tensor)
    tensor += 1
    assert (checksum(tensor) != before) == bool(tensor.numel())


def test_pieces_of_a_large_tensor_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE", 10)
    tensor = torch.zeros(95)
    tensor[3] = 1
    moved = torch.zeros(95)
    moved[13] = 1
    assert checksum(tensor) != checksum(moved)


@pytest.mark.parametrize("view", ["transposed", "sliced", "conjugated", "negated", "strided"])
def test_views(monkeypatch: pytest.MonkeyPatch, view: str) -> None:
    monkeypatch.setattr(module, "_PIECE", 16)
    whole = torch.arange(400.0).reshape(20, 20) * (1 + 1j)
    made = {
        "transposed": whole.t(),
        "sliced": whole[2:12, 3:9],
        "conjugated": whole.conj(),
        "negated": torch.imag(whole.conj()),
        "strided": whole[::3, ::2],
    }[view]
    before = checksum(made)
    assert checksum(made) == before
    # Outside the view: its owner's business.
    whole[0, 1] = 99 if view in ("sliced", "strided") else whole[0, 1]
    assert checksum(made) == before
    whole[3, 4] = -5
    assert checksum(made) != before


def test_an_expanded_tensor_is_not_materialised() -> None:
    small = torch.ones(1, 1000)
    huge = small.expand(1_000_000_000, 1000)
    before = checksum(huge)
    small[0, 5] = 2
    assert checksum(huge) != before


def test_temporary_memory_is_bounded() -> None:
    tensor = torch.ones(6_000_000)
    tracemalloc.start()
    try:
        checksum(tensor)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10e6 < tensor.numel() * tensor.element_size()


@dataclass
class Pair:
    first: Any
    second: Any


def test_every_tensor_in_containers_once() -> None:
    one, two = torch.ones(2), torch.zeros(3)
    model = torch.nn.BatchNorm1d(2)
    found = list(tensors([one, (one, {"x": two}), Pair(two, "text"), model, 5, None]))
    assert len(found) == 2 + 2 + 3
    looped: list[Any] = [one]
    looped.append(looped)
    assert len(list(tensors(looped))) == 1


def test_numpy_arrays_are_watched() -> None:
    array = numpy.arange(5.0)
    before = checksum([array])
    array[2] = -1
    assert checksum([array]) != before


@pytest.mark.filterwarnings("error")
def test_odd_numpy_arrays() -> None:
    frozen = numpy.arange(5.0)
    frozen.flags.writeable = False
    assert checksum(frozen) == checksum(frozen[::-1][::-1])
    assert checksum(frozen[::-1]) != checksum(frozen)
    assert checksum(numpy.array(["text"])) == ()


def test_tensors_without_plain_storage_are_left_out() -> None:
    sparse = torch.eye(3).to_sparse()
    assert checksum([sparse, torch.empty(3, device="meta")]) == ()


def test_of_much_data_every_nth_piece_is_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE", 100)
    monkeypatch.setattr(module, "LIMIT_BYTES", 4000)
    large, small = torch.zeros(2000), torch.zeros(50)
    before = checksum([large, small])
    large[150] = 1  # the second piece of twenty, of which every third is hashed
    assert checksum([large, small]) == before
    large[301] = 1
    assert checksum([large, small])[0] != before[0]
    small[49] = 1
    assert checksum([large, small])[1] != before[1]
