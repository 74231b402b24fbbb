"""How far an output is from its reference, in float64, piece by piece so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import torch

from .spec import BenchmarkError

#: Elements compared at a time.
CHUNK = 1 << 22

#: (rtol, atol), the documented defaults of torch.testing.assert_close; other dtypes compare exactly.
TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}


class StructureError(BenchmarkError):
    """Output and reference cannot be compared element by element; the text says where they differ."""


class Leaves(dict[str, torch.Tensor]):
    """An output that was taken apart already: path -> tensor."""


def host_copy(value: Any) -> Leaves:
    """A copy of every leaf on the host, whatever is later written to the original."""
    return Leaves({path: one.to("cpu", copy=True) for path, one in leaves(value)})


def leaves(value: Any, path: str = "output") -> Iterator[tuple[str, Any]]:
    """(path, tensor) of every number or array in nested tuples, lists, mappings and dataclasses.

    Raises StructureError for anything that is not numeric. None counts as nothing.
    """
    if value is None:
        return
    if isinstance(value, Leaves):
        yield from value.items()
    elif isinstance(value, torch.Tensor):
        plain = value.detach()
        yield path, plain if plain.layout == torch.strided else plain.to_dense()
    elif isinstance(value, Mapping):
        for key in value:
            yield from leaves(value[key], f"{path}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        for index, one in enumerate(value):
            yield from leaves(one, f"{path}[{index}]")
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from leaves(getattr(value, one.name), f"{path}.{one.name}")
    elif isinstance(value, (bool, int, float, complex)) or hasattr(value, "__array__"):
        yield path, _as_tensor(value)
    else:
        raise StructureError(f"{path} is a {type(value).__name__}, which cannot be compared with a reference")


def _as_tensor(value: Any) -> torch.Tensor:
    # Python numbers are doubles, numpy scalars and arrays keep their dtype.
    if hasattr(value, "__array__"):
        import numpy

        return torch.from_numpy(numpy.array(value, order="C")).reshape(numpy.shape(value))
    if isinstance(value, (float, complex)):
        return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else torch.complex128)
    return torch.as_tensor(value)


@dataclass
class Difference:
    """largest: max|out-ref|; total: sum|out-ref|; scale: max|ref| over finite elements; count: elements.

    outside: elements beyond atol + rtol*|ref|. non_finite: NaN or infinity on one side only. epsilon: of the coarsest
    dtype, relative to 1; 0 where all are whole numbers.
    """

    largest: float = 0.0
    total: float = 0.0
    scale: float = 0.0
    count: int = 0
    outside: int = 0
    non_finite: int = 0
    rtol: float = 0.0
    atol: float = 0.0
    epsilon: float = 0.0

    def add(self, other: Difference) -> None:
        self.largest = max(self.largest, other.largest)
        self.scale = max(self.scale, other.scale)
        self.total += other.total
        self.count += other.count
        self.outside += other.outside
        self.non_finite += other.non_finite
        self.rtol, self.atol = max(self.rtol, other.rtol), max(self.atol, other.atol)
        self.epsilon = max(self.epsilon, other.epsilon)

    @property
    def right(self) -> bool:
        return self.outside == 0 and self.non_finite == 0

    def relative(self, absolute: float) -> float | None:
        """The error over max|ref|; None where the reference is all zeros and the output is not."""
        if self.scale > 0:
            return absolute / self.scale
        return 0.0 if absolute == 0 else None


def compare(out: Any, ref: Any, rtol: float | None = None, atol: float | None = None) -> Difference:
    """Differences summed over every leaf. Raises StructureError where the structures differ."""
    made, wanted = sorted(leaves(out), key=_path), sorted(leaves(ref), key=_path)
    if not made:
        raise StructureError(
            "the function returned nothing, so there is nothing to compare with the reference"
        )
    if [path for path, _ in made] != [path for path, _ in wanted]:
        raise StructureError(
            f"the function returned {_names(made)}, the reference {_names(wanted)}: same structure is needed"
        )
    whole = Difference()
    for (path, one), (_, other) in zip(made, wanted, strict=True):
        if one.shape != other.shape:
            raise StructureError(f"{path} has shape {tuple(one.shape)}, its reference {tuple(other.shape)}")
        whole.add(compare_tensors(one, other, rtol, atol))
    return whole


def compare_tensors(
    out: torch.Tensor, ref: torch.Tensor, rtol: float | None = None, atol: float | None = None
) -> Difference:
    """One pair of tensors of one shape, in float64 (complex128), on the host."""
    relative, absolute = tolerances(out.dtype, ref.dtype)
    found = Difference(
        rtol=relative if rtol is None else rtol,
        atol=absolute if atol is None else atol,
        epsilon=max(map(_epsilon, (out.dtype, ref.dtype))),
    )
    flat_out, flat_ref = out.reshape(-1), ref.reshape(-1)
    for begin in range(0, flat_out.numel(), CHUNK):
        _compare_piece(found, flat_out[begin : begin + CHUNK].cpu(), flat_ref[begin : begin + CHUNK].cpu())
    return found


def tolerances(*dtypes: torch.dtype) -> tuple[float, float]:
    known = [TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max(rtol for rtol, _ in known), max(atol for _, atol in known)


def _epsilon(dtype: torch.dtype) -> float:
    return float(torch.finfo(dtype).eps) if dtype.is_floating_point or dtype.is_complex else 0.0


def _wide(piece: torch.Tensor) -> torch.Tensor:
    if piece.is_quantized:
        piece = piece.dequantize()
    return piece.to(torch.complex128 if piece.is_complex() else torch.float64)


def _whole_number(tensor: torch.Tensor) -> bool:
    return not (tensor.is_floating_point() or tensor.is_complex() or tensor.is_quantized)


def _compare_piece(found: Difference, raw_out: torch.Tensor, raw_ref: torch.Tensor) -> None:
    out, ref = _wide(raw_out), _wide(raw_ref)
    found.count += out.numel()
    finite_out, finite_ref = torch.isfinite(out), torch.isfinite(ref)
    both = finite_out & finite_ref
    same = (out == ref) | (torch.isnan(out) & torch.isnan(ref))
    found.non_finite += int((~both & ~same).sum())
    size = torch.where(finite_ref, ref.abs(), torch.zeros((), dtype=torch.float64))
    error = torch.where(both, (out - ref).abs(), torch.zeros((), dtype=torch.float64))
    if _whole_number(raw_out) and _whole_number(raw_ref):
        # Beyond 2**53 a double no longer tells neighbours apart.
        error = torch.where(raw_out != raw_ref, error.clamp(min=1.0), error)
    found.outside += int((both & (error > found.atol + found.rtol * size)).sum())
    if out.numel():
        found.largest = max(found.largest, float(error.max()))
        found.scale = max(found.scale, float(size.max()))
        found.total += float(error.sum())


def _path(leaf: tuple[str, Any]) -> str:
    return leaf[0]


def _names(found: list[tuple[str, Any]]) -> str:
    return ", ".join(path for path, _ in found) or "nothing"
