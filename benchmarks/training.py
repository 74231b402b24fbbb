"""One training step of a small causal language model: forward, backward, clipping, AdamW."""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

import dcu_asv_ext as dcu

from .common import sized, sizes_of
from .transformer import Block

LAYERS = 2
RATE, BETAS, EPS, DECAY, CLIP = 1e-3, (0.9, 0.999), 1e-8, 0.01, 1.0
#: The step measured is this one: the moments are those of a training under way.
STEPS_BEFORE = 10
SECOND_MOMENT = 1e-8


class LanguageModel(nn.Module):
    def __init__(self, vocabulary: int, width: int, heads: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def loss(self, tokens: torch.Tensor) -> torch.Tensor:
        logits = self.head(self.norm(self.blocks(self.embedding(tokens[:, :-1]))))
        return cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


class Trainer:
    """Model, optimiser and one batch, with the state that every measured step starts from."""

    def __init__(self, model: LanguageModel, tokens: torch.Tensor) -> None:
        self.model = model
        self.tokens = tokens
        self.optimizer = torch.optim.AdamW(
            model.parameters(), lr=RATE, betas=BETAS, eps=EPS, weight_decay=DECAY
        )
        self.start = copy.deepcopy(model)
        for weight in model.parameters():
            self.optimizer.state[weight] = {
                "step": torch.tensor(float(STEPS_BEFORE)),
                "exp_avg": torch.zeros_like(weight),
                "exp_avg_sq": torch.full_like(weight, SECOND_MOMENT),
            }


def make_trainer(
    device: torch.device,
    cpu: tuple[int, int, int, int, int] = (4, 65, 512, 128, 4),
    accelerator: tuple[int, int, int, int, int] = (16, 1025, 16384, 1024, 16),
) -> Trainer:
    """Sizes: sequences, tokens in each, vocabulary, width, heads."""
    batch, tokens, vocabulary, width, heads = sized(device, cpu, accelerator)
    model = LanguageModel(vocabulary, width, heads).to(device)
    return Trainer(model, torch.randint(vocabulary, (batch, tokens), device=device))


def back_to_start(trainer: Trainer) -> None:
    """Undo the step, so that every call does the same work and can be judged by one reference."""
    with torch.no_grad():
        for weight, first in zip(trainer.model.parameters(), trainer.start.parameters(), strict=True):
            weight.copy_(first)
            state = trainer.optimizer.state[weight]
            state["step"].fill_(STEPS_BEFORE)
            state["exp_avg"].zero_()
            state["exp_avg_sq"].fill_(SECOND_MOMENT)


def exact_step(trainer: Trainer) -> tuple[Any, ...]:
    """The step from the start in float64, clipping and AdamW written out."""
    model = copy.deepcopy(trainer.start).double()
    loss = model.loss(trainer.tokens)
    weights = list(model.parameters())
    gradients = torch.autograd.grad(loss, weights)
    norm = math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients))
    scale = min(1.0, CLIP / (norm + 1e-6))
    step = STEPS_BEFORE + 1
    updated = []
    for weight, gradient in zip(weights, gradients, strict=True):
        first = (1 - BETAS[0]) * scale * gradient / (1 - BETAS[0] ** step)
        second = BETAS[1] * SECOND_MOMENT + (1 - BETAS[1]) * (scale * gradient) ** 2
        root = (second / (1 - BETAS[1] ** step)).sqrt() + EPS
        updated.append((weight * (1 - RATE * DECAY) - RATE * first / root).detach())
    return loss.detach(), norm, *updated


def step_flop() -> int:
    """Matrix products only: the backward pass has twice those of the forward pass."""
    batch, tokens, vocabulary, width, _ = sizes_of(make_trainer)
    tokens -= 1
    forward = batch * tokens * (LAYERS * (24 * width**2 + 2 * tokens * width) + 2 * width * vocabulary)
    return 3 * forward


# A step moves a weight by 1e-5 and more, so a missing or a doubled update stands out.
@dcu.benchmark(
    setup=make_trainer,
    reset=back_to_start,
    mutates=True,
    reference=exact_step,
    rtol=1e-5,
    atol=2e-6,
    work={"flop": step_flop},
    metrics=[..., "profile"],
)
def train_step(trainer: Trainer) -> tuple[Any, ...]:
    """One step of AdamW in float32; returns loss, gradient norm and the updated weights."""
    trainer.optimizer.zero_grad(set_to_none=True)
    loss = trainer.model.loss(trainer.tokens)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(trainer.model.parameters(), CLIP)
    trainer.optimizer.step()
    return loss.detach(), norm, *(weight.detach() for weight in trainer.model.parameters())
