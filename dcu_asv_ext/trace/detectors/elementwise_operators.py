"""Which operators work element by element, and the bytes that they read and write by their input shapes."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from math import prod

_NAMES = """
    abs acos acosh add addcdiv addcmul angle asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or
    bitwise_xor ceil celu clamp clamp_max clamp_min clip copysign cos cosh deg2rad digamma div divide elu eq
    erf erfc erfinv exp exp2 expm1 fill float_power floor floor_divide fmax fmin fmod frac ge gelu gt
    hardshrink hardsigmoid hardswish hardtanh heaviside hypot isfinite isinf isnan le leaky_relu lerp lgamma
    log log10 log1p log2 log_sigmoid_forward logaddexp logical_and logical_not logical_or logical_xor logit lt
    masked_fill maximum minimum mish mul multiply nan_to_num ne neg negative polygamma pow prelu reciprocal
    relu relu6 remainder round rsqrt rsub selu sgn sigmoid sign silu sin sinc sinh softplus softshrink sqrt
    square sub subtract tan tanh threshold true_divide trunc where xlogy
    elu_backward gelu_backward hardsigmoid_backward hardswish_backward hardtanh_backward leaky_relu_backward
    log_sigmoid_backward mish_backward sigmoid_backward silu_backward softplus_backward tanh_backward
    threshold_backward
"""
_ELEMENTWISE = frozenset(f"aten::{name}" for name in _NAMES.split())
#: Those that may return another type than their inputs have: one byte each.
_TO_BOOL = frozenset(
    f"aten::{name}"
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "logical_not")
)
_CAST = frozenset({"aten::copy_", "aten::_to_copy", "aten::to"})
_SIZES = {
    "double": 8,
    "float": 4,
    "c10::half": 2,
    "c10::bfloat16": 2,
    "long int": 8,
    "long": 8,
    "int": 4,
    "short int": 2,
    "short": 2,
    "signed char": 1,
    "unsigned char": 1,
    "char": 1,
    "bool": 1,
    "c10::complex<float>": 8,
    "c10::complex<double>": 16,
}

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Traffic:
    """Of one element-wise operator. shape: of its result. read, written: bytes. element: bytes of a result's one."""

    shape: Shape
    read: int
    written: int


@lru_cache(maxsize=1 << 14)
def traffic(name: str, shapes: str, types: str) -> Traffic | None:
    """None where the operator is none that works element by element, or its inputs are not told."""
    plain = name if name in _CAST else name.rstrip("_")
    if plain not in _ELEMENTWISE and name not in _CAST:
        return None
    inputs = _tensors(shapes, types)
    if not inputs:
        return None
    if name in _CAST and (
        len({size for _, size in inputs[:2]}) < 2 or len({one for one, _ in inputs[:2]}) > 1
    ):
        return None  # a copy of the same type moves the tensor, and may change its layout
    shape = _broadcast([one for one, _ in inputs])
    if shape is None:
        return None
    element = (
        1 if plain in _TO_BOOL else max(size for one, size in inputs if one == shape or len(inputs) == 1)
    )
    if name == "aten::copy_":  # (target, source)
        return Traffic(shape, prod(shape) * inputs[1][1], prod(shape) * inputs[0][1])
    return Traffic(shape, sum(prod(one) * size for one, size in inputs), prod(shape) * element)


def _tensors(shapes: str, types: str) -> list[tuple[Shape, int]]:
    """Shape and element size of each input that is a tensor; empty where one cannot be read."""
    try:
        dims = ast.literal_eval(shapes)
    except (ValueError, SyntaxError):
        return []
    kinds = types.split(", ")
    if not isinstance(dims, list) or len(kinds) != len(dims):
        return []
    found = []
    for one, kind in zip(dims, kinds, strict=True):
        if kind in ("", "Scalar", "ScalarList"):
            continue
        size = _SIZES.get(kind.lower())
        if size is None or not isinstance(one, list) or not all(type(length) is int for length in one):
            return []
        found.append((tuple(one), size))
    return found


def _broadcast(shapes: list[Shape]) -> Shape | None:
    """The shape of them all together, if one of them has it: else the result is larger than what is read."""
    largest = max(shapes, key=lambda one: (prod(one), len(one)))
    for shape in shapes:
        if len(shape) > len(largest):
            return None
        for length, whole in zip(reversed(shape), reversed(largest), strict=False):
            if length not in (1, whole):
                return None
    return largest
