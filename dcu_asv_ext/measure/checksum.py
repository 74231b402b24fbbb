"""Checksums of tensors: whether inputs were modified, without keeping a copy of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch

_WORD = 1 << 20
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def tensors(value: Any, seen: set[int] | None = None) -> Iterable[torch.Tensor]:
    """Every tensor in nested containers, dataclasses and modules, each once."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, torch.nn.Module):
        for one in (*value.parameters(), *value.buffers()):
            yield from tensors(one, seen)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from tensors(one, seen)
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors(one, seen)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from tensors(getattr(value, field.name), seen)


def checksum(value: Any) -> tuple[int, ...]:
    """One number per tensor, of its bytes and their order. Temporary memory is bounded.

    Tensors without plain storage (sparse, nested, on the meta device) are left out.
    """
    return tuple(_one(tensor) for tensor in tensors(value) if _plain(tensor))


def _plain(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and tensor.device.type != "meta" and not tensor.is_quantized


def _one(tensor: torch.Tensor) -> int:
    flat = tensor.detach()
    if flat.is_complex():
        flat = torch.view_as_real(flat.resolve_conj())
    whole = _INTEGERS.get(flat.element_size())
    flat = flat.reshape(-1)
    if flat.is_neg():
        flat = flat.resolve_neg()
    total = 0
    for number, begin in enumerate(range(0, flat.numel(), _WORD)):
        # On the host: temporaries on the device would grow the allocator's pool before it is measured.
        piece = flat[begin : begin + _WORD].contiguous().cpu()
        words = piece.view(whole) if whole is not None else piece.view(torch.uint8)
        wide = words.to(torch.int64)
        place = torch.arange(1, wide.numel() + 1, dtype=torch.int64)
        # Wraps around: only equality matters, and the place makes a permutation visible.
        total += int((wide * place).sum()) * (2 * number + 1)
    return total
