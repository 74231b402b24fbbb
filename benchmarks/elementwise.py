"""A chain of element-wise operations (a gated unit with its residual), one kernel each and fused by hand."""

from __future__ import annotations

import torch

import dcu_asv_ext as dcu

from .common import sized, sizes_of


def make_gate(
    device: torch.device, cpu: int = 1 << 21, accelerator: int = 1 << 27
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sizes: elements. Returns gate, value and residual."""
    count = sized(device, cpu, accelerator)
    gate, value, residual = (torch.randn(count, device=device) for _ in range(3))
    return gate, value, residual


def exact_gate(gate: torch.Tensor, value: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
    gate = gate.double()
    return residual.double() + gate / (1 + (-gate).exp()) * value.double()


def gate_bytes() -> int:
    """The least that the whole chain must move: three arrays read, one written."""
    return 4 * 4 * sizes_of(make_gate)


def gate_chain(gate: torch.Tensor, value: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
    """residual + gate * sigmoid(gate) * value, four operations."""
    return residual + gate * torch.sigmoid(gate) * value


@dcu.benchmark(setup=make_gate, reference=exact_gate, kind="micro", work={"bytes": gate_bytes})
def chain_unfused(gate: torch.Tensor, value: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
    """Four kernels, three intermediate arrays."""
    return gate_chain(gate, value, residual)


@dcu.benchmark(setup=make_gate, reference=exact_gate, kind="micro", work={"bytes": gate_bytes})
def chain_fused(gate: torch.Tensor, value: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
    """Two kernels that torch has for the purpose, one intermediate array."""
    return torch.addcmul(residual, torch.nn.functional.silu(gate), value)
