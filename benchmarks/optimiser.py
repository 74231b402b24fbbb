"""One optimiser step over many weights of different sizes."""

from __future__ import annotations

from typing import Any

import torch

import dcu_asv_ext as dcu

from .common import sized, sizes_of

RATE = 1e-3
#: Layers, each with a matrix of width x width and a vector of width.
LAYERS = 16


def gradient_of(weight: torch.Tensor) -> torch.Tensor:
    """Whole numbers from -3 to 3 in turn: the same at every step, zeros among them."""
    count = torch.arange(weight.numel(), device=weight.device)
    return (count % 7 - 3).to(weight.dtype).view(weight.shape)


def make_optimizer(
    device: torch.device, implementation: str, cpu: int = 256, accelerator: int = 4096
) -> torch.optim.Optimizer:
    """Sizes: width. Weights start at one and have constant gradients."""
    width = sized(device, cpu, accelerator)
    weights = []
    for _ in range(LAYERS):
        weights += [torch.ones(width, width, device=device), torch.ones(width, device=device)]
    for weight in weights:
        weight.requires_grad_()
        weight.grad = gradient_of(weight)
    try:
        return torch.optim.AdamW(weights, lr=RATE, weight_decay=0.0, **{implementation: True})
    except RuntimeError as error:
        if implementation != "fused":
            raise
        raise NotImplementedError(f"torch {torch.__version__} has no fused AdamW here: {error}") from error


def drift(output: dict[str, Any]) -> tuple[float, float]:
    """How far the weights are from where they must be, relative to how far they have come, and what is allowed.

    With constant gradients both corrected moments are exact at every step, so that each step moves a weight by
    the learning rate against the sign of its gradient, however many steps there were.
    """
    steps = float(output["steps"])
    if not steps >= 1:
        return float("inf"), 1e-2
    errors = [
        (weight - (1 - steps * RATE * gradient_of(weight).sign())).abs().max() for weight in output["weights"]
    ]
    # torch's maximum keeps a NaN, Python's may lose it.
    return float(torch.stack(errors).max()) / (steps * RATE), 1e-2


def step_bytes() -> int:
    """Weight and both moments read and written, gradient read."""
    width = sizes_of(make_optimizer)
    return 7 * 4 * LAYERS * (width**2 + width)


@dcu.benchmark(
    setup=make_optimizer,
    params={"implementation": ["foreach", "fused"]},
    mutates=True,
    check=drift,
    kind="micro",
    work={"bytes": lambda implementation: step_bytes()},
)
def adamw_step(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """One AdamW step; returns the weights and how many steps they have made."""
    optimizer.step()
    weights = optimizer.param_groups[0]["params"]
    return {
        "weights": [weight.detach() for weight in weights],
        "steps": optimizer.state[weights[0]]["step"],
    }
