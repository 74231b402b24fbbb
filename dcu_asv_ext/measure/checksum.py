"""Checksums of tensors: whether inputs were modified, without keeping a copy of them."""

from __future__ import annotations

import ctypes
import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any

import torch

#: Elements that are brought to the host and hashed at a time.
_PIECE = 1 << 18
#: Bytes hashed in all; of more, evenly spread pieces are taken, so that large models do not cost seconds.
LIMIT_BYTES = 64 << 20


def tensors(value: Any, seen: set[int] | None = None) -> Iterable[torch.Tensor]:
    """Every tensor and numpy array in nested containers, dataclasses and modules, each once."""
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
    elif type(value).__module__ == "numpy" and hasattr(value, "__array_interface__"):
        plain = value.flags.writeable and min(value.strides, default=0) >= 0
        with suppress(TypeError):  # a dtype that torch does not have
            yield torch.as_tensor(value if plain else value.copy())


def checksum(value: Any) -> tuple[str, ...]:
    """One hash per tensor, of its bytes in order; beyond LIMIT_BYTES in all, of every n-th piece of it, the first
    always. Temporary memory is bounded.

    Tensors without plain storage (sparse, nested, on the meta device) are left out.
    """
    found = [tensor for tensor in tensors(value) if _plain(tensor)]
    size = sum(tensor.numel() * tensor.element_size() for tensor in found)
    step = max(1, -(-size // LIMIT_BYTES))
    return tuple(_one(tensor, step) for tensor in found)


def _plain(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and tensor.device.type != "meta" and not tensor.is_quantized


def _one(tensor: torch.Tensor, step: int) -> str:
    found = hashlib.blake2b(digest_size=16)
    for piece in itertools.islice(_pieces(_stored(tensor.detach())), 0, None, step):
        # On the host: temporaries on the device would grow the allocator's pool before it is measured.
        there = piece.contiguous().cpu().resolve_conj().resolve_neg()
        found.update(ctypes.string_at(there.data_ptr(), there.numel() * there.element_size()))
    return found.hexdigest()


def _stored(tensor: torch.Tensor) -> torch.Tensor:
    """A view with each stored element once (expanded dimensions cut to one), in the order of the storage."""
    strides = tensor.stride()
    for dimension, stride in enumerate(strides):
        if stride == 0 and tensor.shape[dimension] > 1:
            tensor = tensor.narrow(dimension, 0, 1)
    return tensor.permute(sorted(range(tensor.dim()), key=lambda dimension: -strides[dimension]))


def _pieces(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The tensor in parts of bounded size, without a copy of the whole where it is not contiguous."""
    if tensor.is_contiguous():
        flat = tensor.reshape(-1)
        yield from (flat[begin : begin + _PIECE] for begin in range(0, flat.numel(), _PIECE))
    elif tensor.numel() <= _PIECE:
        yield tensor
    else:
        longest = max(range(tensor.dim()), key=lambda dimension: tensor.shape[dimension])
        rows = max(1, tensor.shape[longest] * _PIECE // tensor.numel())
        for begin in range(0, tensor.shape[longest], rows):
            yield from _pieces(tensor.narrow(longest, begin, min(rows, tensor.shape[longest] - begin)))
