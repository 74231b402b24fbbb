"""General matrix products over shapes and dtypes."""

from __future__ import annotations

import math

import torch

import dcu_asv_ext as dcu

from .common import bytes_of, sized, sizes_of

#: Rows of the left factor of a skinny product: a batch of tokens being decoded.
SKINNY_ROWS = 16


def dimensions(shape: str, side: int) -> tuple[int, int, int]:
    """(m, n, k) of an m x k times k x n product."""
    return (side, side, side) if shape == "square" else (SKINNY_ROWS, 4 * side, 4 * side)


def make_factors(
    device: torch.device, shape: str, cpu: int = 640, accelerator: int = 4096
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sizes: the side of the square product; a skinny one has 16 rows and four times that side."""
    m, n, k = dimensions(shape, sized(device, cpu, accelerator))
    # Scaled so that results are of order one, which absolute tolerances suppose.
    return torch.randn(m, k, device=device), torch.randn(k, n, device=device) / math.sqrt(k)


def make_half_factors(
    device: torch.device, shape: str, dtype: str, cpu: int = 256, accelerator: int = 8192
) -> tuple[torch.Tensor, torch.Tensor]:
    """Smaller on the CPU, where 16-bit products are mostly emulated."""
    a, b = make_factors(device, shape, cpu, accelerator)
    kind = getattr(torch, dtype)
    return a.to(kind), b.to(kind)


def exact_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.double() @ b.double()


def product_flop(side: int, shape: str) -> int:
    return 2 * math.prod(dimensions(shape, side))


def product_bytes(side: int, shape: str, dtype: str) -> int:
    m, n, k = dimensions(shape, side)
    return bytes_of(dtype) * (m * k + k * n + m * n)


@dcu.benchmark(
    setup=make_factors,
    params={"shape": ["square", "skinny"]},
    reference=exact_product,
    kind="micro",
    work={
        "flop": lambda shape: product_flop(sizes_of(make_factors), shape),
        "bytes": lambda shape: product_bytes(sizes_of(make_factors), shape, "float32"),
    },
)
def matmul_float32(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b in float32."""
    return a @ b


# Partial sums may be rounded to 16 bits between parts of k; results are of order one.
@dcu.benchmark(
    setup=make_half_factors,
    params={"shape": ["square", "skinny"], "dtype": ["bfloat16", "float16"]},
    reference=exact_product,
    rtol=1.6e-2,
    atol=1e-2,
    kind="micro",
    work={
        "flop": lambda shape, dtype: product_flop(sizes_of(make_half_factors), shape),
        "bytes": lambda shape, dtype: product_bytes(sizes_of(make_half_factors), shape, dtype),
    },
)
def matmul_half(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b in a 16-bit type."""
    return a @ b
