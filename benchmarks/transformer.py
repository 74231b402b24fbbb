"""A transformer block as language models and vision transformers stack it, in inference."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import gelu, scaled_dot_product_attention

import dcu_asv_ext as dcu

from .common import (
    exact_attention,
    exact_gelu,
    exact_linear,
    exact_norm,
    require_native_bfloat16,
    sized,
    sizes_of,
)


class Block(nn.Module):
    """Pre-norm: x + attention(norm(x)), then x + mlp(norm(x)); causal, MLP of four times the width."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_attention = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.norm_mlp = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        qkv = self.qkv(self.norm_attention(x)).unflatten(-1, (3, self.heads, -1))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(mixed.transpose(1, 2).flatten(-2))
        return x + self.down(gelu(self.up(self.norm_mlp(x))))


def make_block(
    device: torch.device,
    cpu: tuple[int, int, int, int] = (1, 384, 256, 8),
    accelerator: tuple[int, int, int, int] = (8, 2048, 2048, 16),
) -> tuple[Any, ...]:
    """Sizes: sequences, tokens in each, width, heads."""
    batch, tokens, width, heads = sized(device, cpu, accelerator)
    block = Block(width, heads).to(device).eval()
    return block, torch.randn(batch, tokens, width, device=device)


def make_block_bfloat16(
    device: torch.device,
    cpu: tuple[int, int, int, int] = (1, 384, 256, 8),
    accelerator: tuple[int, int, int, int] = (8, 2048, 2048, 16),
) -> tuple[Any, ...]:
    """Sizes: sequences, tokens in each, width, heads."""
    require_native_bfloat16(device)
    block, x = make_block(device, cpu, accelerator)
    return block.bfloat16(), x.bfloat16()


def exact_block(block: Block, x: torch.Tensor) -> torch.Tensor:
    """The block in float64, with attention and normalisation written out."""
    with torch.no_grad():
        x = x.double()
        qkv = exact_linear(exact_norm(x, block.norm_attention), block.qkv)
        q, k, v = qkv.unflatten(-1, (3, block.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = exact_attention(q, k, v, causal=True)
        x = x + exact_linear(mixed.transpose(1, 2).flatten(-2), block.projection)
        hidden = exact_gelu(exact_linear(exact_norm(x, block.norm_mlp), block.up))
        return x + exact_linear(hidden, block.down)


def block_flop() -> int:
    """Matrix products only; a causal mask halves those of attention."""
    batch, tokens, width, _ = sizes_of(make_block)
    return batch * tokens * (24 * width**2 + 2 * tokens * width)


@dcu.benchmark(
    setup=make_block,
    reference=exact_block,
    atol=1e-4,
    work={"flop": block_flop},
    metrics=[..., "profile"],
)
def block_float32(block: Block, x: torch.Tensor) -> torch.Tensor:
    """One causal pre-norm block over a batch of sequences, float32."""
    with torch.inference_mode():
        return block(x)


# Outputs of size 4 are rounded to 1/64 in bfloat16, and intermediates are rounded too.
@dcu.benchmark(
    setup=make_block_bfloat16, reference=exact_block, rtol=2e-2, atol=5e-2, work={"flop": block_flop}
)
def block_bfloat16(block: Block, x: torch.Tensor) -> torch.Tensor:
    """The same block in bfloat16, as large models are served."""
    with torch.inference_mode():
        return block(x)
