"""Single convolutions: of images, in both memory layouts, and of volumes."""

from __future__ import annotations

import math

import torch

import dcu_asv_ext as dcu

from .common import exact_convolution, sized, sizes_of

_FORMATS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}


def make_images(
    device: torch.device,
    layout: str,
    cpu: tuple[int, int, int] = (4, 32, 56),
    accelerator: tuple[int, int, int] = (128, 128, 56),
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sizes: images, channels, pixels along a side. Weights are scaled so that results are of order one."""
    batch, channels, side = sized(device, cpu, accelerator)
    x = torch.randn(batch, channels, side, side, device=device)
    weight = torch.randn(channels, channels, 3, 3, device=device) / math.sqrt(9 * channels)
    return x.to(memory_format=_FORMATS[layout]), weight.to(memory_format=_FORMATS[layout])


def make_volumes(
    device: torch.device,
    cpu: tuple[int, int, int] = (1, 8, 32),
    accelerator: tuple[int, int, int] = (8, 64, 64),
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sizes: volumes, channels, cells along a side."""
    batch, channels, side = sized(device, cpu, accelerator)
    x = torch.randn(batch, channels, side, side, side, device=device)
    return x, torch.randn(channels, channels, 3, 3, 3, device=device) / math.sqrt(27 * channels)


def exact_same_convolution(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return exact_convolution(x, weight, padding=1)


def convolution_flop(sizes: tuple[int, int, int], space: int) -> int:
    batch, channels, side = sizes
    return 2 * batch * side**space * channels**2 * 3**space


# Convolutions may use TF32 where torch's default allows it: 10 bits of mantissa.
@dcu.benchmark(
    setup=make_images,
    params={"layout": ["nchw", "nhwc"]},
    reference=exact_same_convolution,
    rtol=1e-3,
    atol=5e-3,
    kind="micro",
    work={"flop": lambda layout: convolution_flop(sizes_of(make_images), 2)},
)
def conv2d(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """3 x 3 convolution of a batch of images, float32."""
    return torch.nn.functional.conv2d(x, weight, padding=1)


@dcu.benchmark(
    setup=make_volumes,
    reference=exact_same_convolution,
    rtol=1e-3,
    atol=5e-3,
    kind="micro",
    work={"flop": lambda: convolution_flop(sizes_of(make_volumes), 3)},
)
def conv3d(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """3 x 3 x 3 convolution of volumes, float32."""
    return torch.nn.functional.conv3d(x, weight, padding=1)
