"""Scaled-dot-product attention through torch's own dispatch to fused kernels."""

from __future__ import annotations

import torch
from torch.nn.functional import scaled_dot_product_attention

import dcu_asv_ext as dcu

from .common import exact_attention, sized, sizes_of


def make_heads(
    device: torch.device,
    causal: bool,
    cpu: tuple[int, int, int, int] = (1, 8, 512, 64),
    accelerator: tuple[int, int, int, int] = (4, 16, 4096, 64),
) -> dict[str, object]:
    """Sizes: batch, heads, tokens, width of a head."""
    shape = sized(device, cpu, accelerator)
    q, k, v = (torch.randn(shape, device=device) for _ in range(3))
    return {"q": q, "k": k, "v": v, "causal": causal}


def make_half_heads(
    device: torch.device,
    causal: bool,
    cpu: tuple[int, int, int, int] = (1, 8, 512, 64),
    accelerator: tuple[int, int, int, int] = (4, 32, 8192, 128),
) -> dict[str, object]:
    """Sizes: batch, heads, tokens, width of a head."""
    made = make_heads(device, causal, cpu, accelerator)
    return {name: one.half() if isinstance(one, torch.Tensor) else one for name, one in made.items()}


def attention_flop(shape: tuple[int, int, int, int], causal: bool) -> int:
    """The two matrix products; a causal mask halves them."""
    batch, heads, tokens, width = shape
    return (2 if causal else 4) * batch * heads * tokens**2 * width


@dcu.benchmark(
    setup=make_heads,
    params={"causal": [False, True]},
    reference=exact_attention,
    kind="micro",
    work={"flop": lambda causal: attention_flop(sizes_of(make_heads), causal)},
)
def attention_float32(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """Self-attention in float32."""
    return scaled_dot_product_attention(q, k, v, is_causal=causal)


# Fused kernels round the weights to 16 bits before the second product.
@dcu.benchmark(
    setup=make_half_heads,
    params={"causal": [False, True]},
    reference=exact_attention,
    rtol=2e-3,
    atol=2e-3,
    kind="micro",
    work={"flop": lambda causal: attention_flop(sizes_of(make_half_heads), causal)},
)
def attention_float16(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """Self-attention in float16."""
    return scaled_dot_product_attention(q, k, v, is_causal=causal)
