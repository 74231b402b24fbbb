"""A small residual convolutional network in inference."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import relu

import dcu_asv_ext as dcu

from .common import exact_convolution, exact_linear, sized, sizes_of

CLASSES = 100


class Residual(nn.Module):
    """Two 3x3 convolutions with batch normalisation; halves the image and doubles the channels."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, 2 * channels, 3, stride=2, padding=1, bias=False)
        self.norm_first = nn.BatchNorm2d(2 * channels)
        self.second = nn.Conv2d(2 * channels, 2 * channels, 3, padding=1, bias=False)
        self.norm_second = nn.BatchNorm2d(2 * channels)
        self.short = nn.Conv2d(channels, 2 * channels, 1, stride=2, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = relu(self.norm_first(self.first(x)))
        return relu(self.norm_second(self.second(inner)) + self.short(x))


class ConvNet(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.stages = nn.ModuleList([Residual(channels), Residual(2 * channels)])
        self.head = nn.Linear(4 * channels, CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = relu(self.norm(self.stem(images)))
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean((2, 3)))


def make_convnet(
    device: torch.device,
    cpu: tuple[int, int, int] = (8, 48, 16),
    accelerator: tuple[int, int, int] = (128, 224, 64),
) -> tuple[Any, ...]:
    """Sizes: images, pixels along a side, channels of the first layer."""
    batch, side, channels = sized(device, cpu, accelerator)
    net = ConvNet(channels).to(device).eval()
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            # Statistics as a trained network has them: with zeros and ones the normalisation would do nothing.
            nn.init.uniform_(module.running_mean, -0.2, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    return net, torch.randn(batch, 3, side, side, device=device)


def _exact_batch_norm(x: torch.Tensor, norm: nn.BatchNorm2d) -> torch.Tensor:
    def along_channels(values: Any) -> torch.Tensor:
        return values.double()[:, None, None]

    root = (along_channels(norm.running_var) + norm.eps).sqrt()
    scaled = (x - along_channels(norm.running_mean)) / root
    return scaled * along_channels(norm.weight) + along_channels(norm.bias)


def exact_convnet(net: ConvNet, images: torch.Tensor) -> torch.Tensor:
    """The network in float64, convolutions as sums of matrix products."""
    with torch.no_grad():
        x = _exact_batch_norm(exact_convolution(images, net.stem.weight, padding=1), net.norm).clamp(min=0)
        for stage in net.stages:
            inner = exact_convolution(x, stage.first.weight, padding=1, stride=2)
            inner = _exact_batch_norm(inner, stage.norm_first).clamp(min=0)
            inner = exact_convolution(inner, stage.second.weight, padding=1)
            short = exact_convolution(x, stage.short.weight, stride=2)
            x = (_exact_batch_norm(inner, stage.norm_second) + short).clamp(min=0)
        return exact_linear(x.mean((2, 3)), net.head)


def convnet_flop() -> int:
    """Multiplications and additions of the convolutions."""
    batch, side, channels = sizes_of(make_convnet)
    total = side**2 * 9 * 3 * channels
    for _ in range(2):
        side, channels = side // 2, 2 * channels
        total += side**2 * channels * (9 * channels // 2 + 9 * channels + channels // 2)
    return 2 * batch * total


# Convolutions may use TF32 where torch's default allows it: 10 bits of mantissa.
@dcu.benchmark(setup=make_convnet, reference=exact_convnet, rtol=1e-3, atol=1e-3, work={"flop": convnet_flop})
def residual_net(net: ConvNet, images: torch.Tensor) -> torch.Tensor:
    """Seven convolutions with batch normalisation and two residual stages; class scores of a batch, float32."""
    with torch.inference_mode():
        return net(images)
