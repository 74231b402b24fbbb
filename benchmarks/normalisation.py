"""Row-wise reductions: layer normalisation and softmax."""

from __future__ import annotations

import torch

import dcu_asv_ext as dcu

from .common import bytes_of, exact_layer_norm, exact_softmax, sized, sizes_of


def make_rows(
    device: torch.device,
    dtype: str,
    cpu: tuple[int, int] = (2048, 1024),
    accelerator: tuple[int, int] = (32768, 4096),
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sizes: rows, columns. Returns rows, weight and bias."""
    rows, columns = sized(device, cpu, accelerator)
    kind = getattr(torch, dtype)
    x = 2 * torch.randn(rows, columns, device=device, dtype=kind) + 1
    return x, torch.rand(columns, device=device, dtype=kind), torch.rand(columns, device=device, dtype=kind)


def make_scores(
    device: torch.device,
    dtype: str,
    cpu: tuple[int, int] = (2048, 1024),
    accelerator: tuple[int, int] = (32768, 4096),
) -> torch.Tensor:
    """Sizes: rows, columns."""
    rows, columns = sized(device, cpu, accelerator)
    return 3 * torch.randn(rows, columns, device=device, dtype=getattr(torch, dtype))


def rows_bytes(dtype: str) -> int:
    """Every element read once and written once."""
    rows, columns = sizes_of(make_rows)
    return 2 * bytes_of(dtype) * rows * columns


def exact_rows(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return exact_layer_norm(x, weight, bias, 1e-5)


@dcu.benchmark(
    setup=make_rows,
    params={"dtype": ["float32", "bfloat16"]},
    reference=exact_rows,
    kind="micro",
    work={"bytes": rows_bytes},
)
def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Layer normalisation of every row."""
    return torch.nn.functional.layer_norm(x, weight.shape, weight, bias)


@dcu.benchmark(
    setup=make_scores,
    params={"dtype": ["float32"]},
    reference=exact_softmax,
    kind="micro",
    work={"bytes": rows_bytes},
)
def softmax(scores: torch.Tensor) -> torch.Tensor:
    """Softmax of every row."""
    return scores.softmax(-1)
