"""Windowed 3-D attention on a latitude-longitude grid, as global weather models of the Pangu and Swin kind use it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch
from torch import nn
from torch.nn.functional import gelu, scaled_dot_product_attention

import dcu_asv_ext as dcu

from .common import exact_attention, exact_gelu, exact_linear, exact_norm, sized, sizes_of

#: Levels, latitudes and longitudes of a window.
WINDOW = (2, 6, 12)
TOKENS = math.prod(WINDOW)


class EarthBlock(nn.Module):
    """Pre-norm block whose tokens attend within windows of a (level, latitude, longitude) grid.

    The bias knows where on Earth a window lies: one table per (level, latitude) window, shared along a circle of
    latitude. A shifted block rolls the grid by half a window first; longitude is periodic, so only windows that
    wrap in level or latitude are masked.
    """

    def __init__(self, grid: tuple[int, int, int], width: int, heads: int, shifted: bool) -> None:
        super().__init__()
        self.grid, self.heads = grid, heads
        self.counts = tuple(length // size for length, size in zip(grid, WINDOW, strict=True))
        self.bands = self.counts[0] * self.counts[1]
        self.shift = tuple(size // 2 if shifted else 0 for size in WINDOW)
        self.norm_attention = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.norm_mlp = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        pairs = WINDOW[0] ** 2 * WINDOW[1] ** 2 * (2 * WINDOW[2] - 1)
        self.bias_table = nn.Parameter(0.5 * torch.randn(pairs, self.bands, heads))
        self.register_buffer("pair_index", _pair_index().flatten())
        self.register_buffer("mask", self._wrap_mask() if shifted else None)

    def partition(self, x: torch.Tensor) -> torch.Tensor:
        """(level, latitude, longitude, channels) to (longitude windows, bands, tokens, channels)."""
        (nz, ny, nx), (wz, wy, wx) = self.counts, WINDOW
        x = x.reshape(nz, wz, ny, wy, nx, wx, -1).permute(4, 0, 2, 1, 3, 5, 6)
        return x.reshape(nx, self.bands, TOKENS, -1)

    def merge(self, windows: torch.Tensor) -> torch.Tensor:
        (nz, ny, nx), (wz, wy, wx) = self.counts, WINDOW
        x = windows.reshape(nx, nz, ny, wz, wy, wx, -1).permute(1, 3, 2, 4, 0, 5, 6)
        return x.reshape(*self.grid, -1)

    def _wrap_mask(self) -> torch.Tensor:
        """(bands, tokens, tokens): minus infinity between tokens that only the roll has made neighbours."""
        label = torch.zeros(*self.grid, 1)
        label[self.grid[0] - self.shift[0] :] += 1
        label[:, self.grid[1] - self.shift[1] :] += 2
        label = self.partition(label)[0, :, :, 0]
        apart = label[:, :, None] != label[:, None, :]
        return torch.zeros(apart.shape).masked_fill(apart, -math.inf)

    def bias(self) -> torch.Tensor:
        """(1, bands * heads, tokens, tokens)."""
        bias = self.bias_table[self.pair_index].unflatten(0, (TOKENS, TOKENS)).permute(2, 3, 0, 1)
        if self.mask is not None:
            bias = bias + self.mask[:, None]
        return bias.flatten(0, 1)[None].contiguous()

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        rolled = x.roll([-one for one in self.shift], (0, 1, 2))
        qkv = self.qkv(self.partition(rolled)).unflatten(-1, (3, self.heads, -1))
        q, k, v = qkv.permute(3, 0, 1, 4, 2, 5).flatten(2, 3)
        mixed = scaled_dot_product_attention(q, k, v, attn_mask=self.bias())
        mixed = mixed.unflatten(1, (self.bands, self.heads)).transpose(2, 3).flatten(-2)
        return self.merge(self.projection(mixed)).roll(self.shift, (0, 1, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norm_attention(x))
        return x + self.down(gelu(self.up(self.norm_mlp(x))))


def _pair_index() -> torch.Tensor:
    """(tokens, tokens): the row of the bias table; absolute in level and latitude, relative in longitude."""
    z, y, x = torch.meshgrid(*(torch.arange(size) for size in WINDOW), indexing="ij")
    z, y, x = z.flatten(), y.flatten(), x.flatten()
    level = z[:, None] * WINDOW[0] + z[None]
    latitude = y[:, None] * WINDOW[1] + y[None]
    longitude = x[:, None] - x[None] + WINDOW[2] - 1
    return (level * WINDOW[1] ** 2 + latitude) * (2 * WINDOW[2] - 1) + longitude


def make_earth_block(
    device: torch.device,
    shifted: bool,
    cpu: tuple[tuple[int, int, int], int, int] = ((4, 24, 36), 64, 4),
    accelerator: tuple[tuple[int, int, int], int, int] = ((8, 186, 360), 192, 6),
) -> tuple[Any, ...]:
    """Sizes: grid (levels, latitudes, longitudes), width, heads.

    The large grid is that of a quarter-degree model after patches of 4 x 4 cells, its latitudes padded to windows.
    """
    grid, width, heads = sized(device, cpu, accelerator)
    block = EarthBlock(grid, width, heads, shifted).to(device).eval()
    return block, torch.randn(*grid, width, device=device)


def exact_earth_block(block: EarthBlock, x: torch.Tensor) -> torch.Tensor:
    """One window after another in float64, its cells found by their own coordinates: no roll, no label, no view."""
    with torch.no_grad():
        x = x.double()
        qkv = exact_linear(exact_norm(x, block.norm_attention), block.qkv)
        mixed = torch.empty_like(x)
        offsets = torch.tensor(list(itertools.product(*(range(size) for size in WINDOW))), device=x.device)
        for window in itertools.product(*(range(count) for count in block.counts)):
            _exact_window(block, qkv, mixed, window, offsets)
        x = x + exact_linear(mixed, block.projection)
        hidden = exact_gelu(exact_linear(exact_norm(x, block.norm_mlp), block.up))
        return x + exact_linear(hidden, block.down)


def _exact_window(
    block: EarthBlock, qkv: torch.Tensor, mixed: torch.Tensor, window: tuple[int, ...], offsets: torch.Tensor
) -> None:
    starts = [w * size + s for w, size, s in zip(window, WINDOW, block.shift, strict=True)]
    places = offsets + torch.tensor(starts, device=offsets.device)
    z, y, x = (places[:, axis] % block.grid[axis] for axis in range(3))
    # A cell past the top level or the pole has come round from the other side: it is no neighbour.
    round_z, round_y = places[:, 0] >= block.grid[0], places[:, 1] >= block.grid[1]
    apart = (round_z[:, None] != round_z[None]) | (round_y[:, None] != round_y[None])
    (az, ay, ax), (bz, by, bx) = offsets.T[:, :, None], offsets.T[:, None, :]
    row = ((az * WINDOW[0] + bz) * WINDOW[1] + ay) * WINDOW[1] + by
    row = row * (2 * WINDOW[2] - 1) + ax - bx + WINDOW[2] - 1
    band = window[0] * block.counts[1] + window[1]
    bias = block.bias_table[:, band][row].double().masked_fill(apart[:, :, None], -math.inf)
    q, k, v = qkv[z, y, x].unflatten(-1, (3, block.heads, -1)).permute(1, 2, 0, 3)
    mixed[z, y, x] = exact_attention(q, k, v, bias=bias.permute(2, 0, 1)).transpose(0, 1).flatten(-2)


def earth_block_flop() -> int:
    """Matrix products only."""
    grid, width, _ = sizes_of(make_earth_block)
    return math.prod(grid) * (24 * width**2 + 4 * TOKENS * width)


@dcu.benchmark(
    setup=make_earth_block,
    params={"shifted": [False, True]},
    reference=exact_earth_block,
    atol=1e-4,
    work={"flop": lambda shifted: earth_block_flop()},
)
def earth_block(block: EarthBlock, x: torch.Tensor) -> torch.Tensor:
    """One block over the whole globe, float32, with windows in place or shifted by half a window."""
    with torch.inference_mode():
        return block(x)
