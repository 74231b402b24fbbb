"""Copies hidden behind compute: chunks come from the host on one stream while another works on the last one."""

from __future__ import annotations

import math
from typing import Any

import torch

import dcu_asv_ext as dcu

from .common import device_module, require_accelerator

CHUNKS, SIDE = 8, 4096


class Pipeline:
    """Chunks in pinned memory, two buffers on the device that take turns, and the stream for the copies."""

    def __init__(self, device: torch.device, overlapped: bool) -> None:
        self.module = device_module(device)
        self.chunks = torch.randn(CHUNKS, SIDE, SIDE).pin_memory()
        self.buffers = [torch.empty(SIDE, SIDE, device=device) for _ in range(2)]
        self.weight = torch.randn(SIDE, SIDE, device=device) / math.sqrt(SIDE)
        self.overlapped = overlapped
        self.copying = self.module.Stream() if overlapped else self.module.current_stream()
        self.arrived = [self.module.Event() for _ in range(CHUNKS)]
        self.used = [self.module.Event() for _ in range(CHUNKS)]


def make_pipeline(device: torch.device, streams: int) -> Pipeline:
    """Eight chunks of 64 MiB; the product with each takes about as long as its copy."""
    require_accelerator(device, "overlap of copies and compute")
    return Pipeline(device, overlapped=streams == 2)


def exact_means(pipeline: Pipeline) -> torch.Tensor:
    """In float64, one chunk after another, the mean over rows taken before the product."""
    weight = pipeline.weight.double().cpu()
    return torch.stack([chunk.double().mean(0) @ weight for chunk in pipeline.chunks])


@dcu.benchmark(
    setup=make_pipeline,
    params={"streams": [1, 2]},
    reference=exact_means,
    kind="micro",
    work={"flop": 2 * CHUNKS * SIDE**3, "bytes": 4 * CHUNKS * SIDE**2},
)
def copy_and_compute(pipeline: Pipeline) -> torch.Tensor:
    """Each chunk copied to the device and multiplied; with two streams the next copy runs meanwhile."""
    computing = pipeline.module.current_stream()
    # The last call may still be reading the buffers.
    pipeline.copying.wait_stream(computing)
    means: list[Any] = []
    for number, chunk in enumerate(pipeline.chunks):
        buffer = pipeline.buffers[number % 2]
        with pipeline.module.stream(pipeline.copying):
            if number >= 2:
                pipeline.copying.wait_event(pipeline.used[number - 2])
            buffer.copy_(chunk, non_blocking=True)
            pipeline.arrived[number].record(pipeline.copying)
        computing.wait_event(pipeline.arrived[number])
        means.append((buffer @ pipeline.weight).mean(0))
        pipeline.used[number].record(computing)
    return torch.stack(means)
