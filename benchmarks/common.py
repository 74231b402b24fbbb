"""What several benchmarks share: sizes by device, and plain float64 formulas to judge results by."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any

import torch

#: Devices that compute on the host's processor.
_HOST_TYPES = ("cpu", "sim")


def sized(device: torch.device, cpu: Any, accelerator: Any) -> Any:
    """The sizes that suit the device."""
    return cpu if device.type in _HOST_TYPES else accelerator


def sizes_of(setup: Callable[..., Any]) -> Any:
    """The sizes that `setup` declares, as defaults of its arguments, for the device being measured.

    For functions that tell a call's work: they are given the parameters and not the device.
    """
    from dcu_asv_ext.devices import select

    parameters = inspect.signature(setup).parameters
    return sized(select().torch_device, parameters["cpu"].default, parameters["accelerator"].default)


def require_accelerator(device: torch.device, what: str) -> None:
    """Raises NotImplementedError (asv shows n/a) on the CPU."""
    if device.type == "cpu":
        raise NotImplementedError(f"{what} means nothing on the CPU: host and device memory are the same")


def require_native_bfloat16(device: torch.device) -> None:
    """Raises NotImplementedError (asv shows n/a) on a CPU that has no bfloat16 instructions."""
    if device.type != "cpu":
        return
    known = getattr(torch.cpu, "_is_avx512_bf16_supported", None) or getattr(
        torch.cpu, "_is_cpu_support_avx512_bf16", None
    )
    if known is None or not known():
        raise NotImplementedError(
            "this CPU has no bfloat16 instructions known to torch; emulated, the block takes seconds"
        )


def device_module(device: torch.device) -> Any:
    """`torch.cuda` for a HIP or CUDA device, `torch.xpu` for an XPU, ..."""
    return getattr(torch, device.type)


def bytes_of(dtype: str) -> int:
    return torch.empty(0, dtype=getattr(torch, dtype)).element_size()


# --- float64 formulas, written out: nothing below uses the operator that it judges ---


def exact_linear(x: torch.Tensor, layer: torch.nn.Linear) -> torch.Tensor:
    return x @ layer.weight.double().T + layer.bias.double()


def exact_layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    x = x.double()
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred**2).mean(-1, keepdim=True)
    return centred / (variance + eps).sqrt() * weight.double() + bias.double()


def exact_norm(x: torch.Tensor, norm: torch.nn.LayerNorm) -> torch.Tensor:
    return exact_layer_norm(x, norm.weight, norm.bias, norm.eps)


def exact_gelu(x: torch.Tensor) -> torch.Tensor:
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def exact_softmax(x: torch.Tensor) -> torch.Tensor:
    x = x.double()
    powers = (x - x.amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True)


def exact_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """softmax(q k^T / sqrt(d) + bias) v over the last two dimensions, (..., tokens, d), in float64.

    One leading index at a time, so that the scores of a large batch are never held at once.
    """
    out = torch.empty(q.shape, dtype=torch.float64, device=q.device)
    later = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).triu(1)
    for place in itertools.product(*(range(length) for length in q.shape[:-2])):
        scores = q[place].double() @ k[place].double().T / math.sqrt(q.shape[-1])
        if bias is not None:
            scores = scores + bias[place].double()
        if causal:
            scores = scores.masked_fill(later, -math.inf)
        out[place] = exact_softmax(scores) @ v[place].double()
    return out


def exact_convolution(
    x: torch.Tensor, weight: torch.Tensor, padding: int = 0, stride: int = 1
) -> torch.Tensor:
    """Convolution of (batch, channels, *space) in float64 as a sum of matrix products, one per kernel offset.

    Vendor convolution libraries have no float64; a sum over offsets needs none of them.
    """
    space = weight.dim() - 2
    kernel = weight.shape[2:]
    padded = torch.nn.functional.pad(x.double(), [padding, padding] * space)
    lengths = [(padded.shape[2 + d] - kernel[d]) // stride + 1 for d in range(space)]
    out = torch.zeros(x.shape[0], *lengths, weight.shape[0], dtype=torch.float64, device=x.device)
    for offset in itertools.product(*(range(length) for length in kernel)):
        window = padded
        for d in range(space):
            stop = offset[d] + stride * (lengths[d] - 1) + 1
            window = window[(slice(None),) * (2 + d) + (slice(offset[d], stop, stride),)]
        out += window.movedim(1, -1) @ weight[(slice(None), slice(None), *offset)].double().T
    return out.movedim(-1, 1)
