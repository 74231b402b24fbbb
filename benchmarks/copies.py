"""Copies between host and device, from and to pinned and pageable host memory."""

from __future__ import annotations

import torch

import dcu_asv_ext as dcu

from .common import require_accelerator

#: Elements (float32) of the array copied.
COUNT = 1 << 26


def make_ends(device: torch.device, direction: str, memory: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns source and destination, 256 MiB each."""
    require_accelerator(device, "a copy between host and device")
    host = torch.empty(COUNT, pin_memory=memory == "pinned")
    remote = torch.empty(COUNT, device=device)
    source, destination = (host, remote) if direction == "to_device" else (remote, host)
    source.uniform_()
    return source, destination.zero_()


def exact_copy(source: torch.Tensor, destination: torch.Tensor) -> torch.Tensor:
    return source


# Its destination is what a copy changes.
@dcu.benchmark(
    setup=make_ends,
    params={"direction": ["to_device", "to_host"], "memory": ["pinned", "pageable"]},
    mutates=True,
    reference=exact_copy,
    rtol=0,
    atol=0,
    kind="micro",
    work={"bytes": 4 * COUNT},
)
def copy(source: torch.Tensor, destination: torch.Tensor) -> torch.Tensor:
    """One copy of 256 MiB, asynchronous where the memory allows it."""
    return destination.copy_(source, non_blocking=True)
