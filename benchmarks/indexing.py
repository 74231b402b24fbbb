"""Gather and scatter of rows: an embedding lookup, and messages summed at the nodes of a graph."""

from __future__ import annotations

import numpy as np
import torch

import dcu_asv_ext as dcu

from .common import sized, sizes_of


def make_lookup(
    device: torch.device,
    cpu: tuple[int, int, int] = (50_000, 64, 32_768),
    accelerator: tuple[int, int, int] = (1_000_000, 128, 1_000_000),
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sizes: rows of the table, columns, rows looked up."""
    rows, columns, count = sized(device, cpu, accelerator)
    return torch.randn(rows, columns, device=device), torch.randint(rows, (count,), device=device)


def make_messages(
    device: torch.device,
    cpu: tuple[int, int, int] = (10_000, 64, 65_536),
    accelerator: tuple[int, int, int] = (500_000, 64, 4_000_000),
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Sizes: nodes, columns, messages. Returns messages, the node of each, and the number of nodes."""
    nodes, columns, count = sized(device, cpu, accelerator)
    return torch.randn(count, columns, device=device), torch.randint(nodes, (count,), device=device), nodes


def exact_lookup(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(table.cpu().numpy()[index.cpu().numpy()])


def exact_sums(messages: torch.Tensor, node: torch.Tensor, nodes: int) -> torch.Tensor:
    """A histogram of each column, in float64 on the host."""
    places, values = node.cpu().numpy(), messages.cpu().numpy()
    columns = [np.bincount(places, column, nodes) for column in values.T]
    return torch.from_numpy(np.stack(columns, 1))


def lookup_bytes() -> int:
    _, columns, count = sizes_of(make_lookup)
    return count * (2 * 4 * columns + 8)


def sums_bytes() -> int:
    """Messages and indices read once, sums written once."""
    nodes, columns, count = sizes_of(make_messages)
    return count * (4 * columns + 8) + 4 * nodes * columns


@dcu.benchmark(
    setup=make_lookup, reference=exact_lookup, rtol=0, atol=0, kind="micro", work={"bytes": lookup_bytes}
)
def gather_rows(table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Random rows of a table, float32."""
    return table.index_select(0, index)


# The order of the additions varies on an accelerator.
@dcu.benchmark(setup=make_messages, reference=exact_sums, atol=5e-5, kind="micro", work={"bytes": sums_bytes})
def scatter_rows(messages: torch.Tensor, node: torch.Tensor, nodes: int) -> torch.Tensor:
    """Rows added up at random places, float32."""
    return messages.new_zeros(nodes, messages.shape[1]).index_add_(0, node, messages)
