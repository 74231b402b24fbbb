"""Synthetic histories: noise of several kinds around 1, and steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


def noisy(kind: str, count: int, seed: int, noise: float = 0.02) -> Values:
    rng = np.random.default_rng(seed)
    plain = rng.normal(0.0, noise, count)
    if kind == "normal":
        return np.exp(plain)
    if kind == "spikes":
        return np.exp(plain) * (1.0 + (rng.random(count) < 0.05) * rng.exponential(0.15, count))
    if kind.startswith("correlated"):
        correlation = float(kind.split()[1])
        values = np.empty(count)
        values[0] = plain[0]
        for index in range(1, count):
            values[index] = correlation * values[index - 1] + (1.0 - correlation**2) ** 0.5 * plain[index]
        return np.exp(values)
    if kind == "bimodal":
        return np.exp(plain) * (1.0 + 0.08 * (rng.random(count) < 0.3))
    if kind == "sticky":
        state = np.cumsum(rng.random(count) < 0.05) % 2
        return np.exp(plain) * (1.0 + 0.08 * state)
    if kind == "drift":
        return np.exp(plain + np.linspace(0.0, 0.1, count))
    raise ValueError(kind)


def stepped(values: Values, at: Sequence[int], sizes: Sequence[float] | Values) -> Values:
    """The values with steps of these sizes (logarithms) from these indices on."""
    level = np.zeros(len(values))
    for index, size in zip(at, sizes, strict=True):
        level[index:] += size
    return values * np.exp(level)
