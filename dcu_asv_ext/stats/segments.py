"""Candidate change points: the best piecewise-constant fit to a series, by dynamic programming over its prefixes.

The fit only proposes; `prune` decides. It is cheap and generous, and it can be continued by one value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .rounds import MAD_TO_SD

Array = npt.NDArray[np.float64]

#: Values on each side that set the local level, to which a value is clipped.
LEVEL_REACH = 5
#: Differences on each side that set the local noise.
NOISE_REACH = 20
#: A value counts at most as this many times the local noise: a spike alone can then never pay for a segment.
CLIP = 3.0
#: Most noise that is believed (of logarithms): zeros among the values would make weights vanish beside others.
LOUDEST = 1.0
#: What one more segment must save, in squared units of the noise.
PENALTY = 9.0
#: The longest segment of the fit. It bounds the cost of a value; longer levels come in pieces that `prune` joins.
LONGEST = 128


def running_median(values: Array, reach: int, start: int = 0) -> Array:
    """Medians over [i - reach, i + reach] for i >= start; windows are cut off at the ends."""
    count = len(values)
    out = np.empty(count - start)
    if count > 2 * reach:
        windows = np.lib.stride_tricks.sliding_window_view(values, 2 * reach + 1)
        first = max(reach, start)
        out[first - start : count - reach - start] = np.median(windows[first - reach :], axis=1)
    for index in range(start, count):
        if index < reach or index >= count - reach:
            out[index - start] = np.median(values[max(0, index - reach) : index + reach + 1])
    return out


class Partition:
    """The optimal partition of a growing series y under weighted squared error (Jackson et al. 2005).

    The error of a value is measured in units of the local noise, which is never taken below `floor`, and
    values are clipped around the local level (as Fearnhead and Rigaill 2019 bound the loss). Both look ahead,
    so the last values are fitted anew by each `extend`; the result is the same as from one call with all values.
    """

    def __init__(self, floor: float) -> None:
        self.floor = floor
        self._y = np.empty(0)
        self._weight = np.zeros(1)
        self._sum = np.zeros(1)
        self._square = np.zeros(1)
        self._cost = np.zeros(1)
        self._start = np.zeros(1, dtype=np.int64)

    def kept(self) -> dict[str, Any]:
        """Plain lists, of which `resumed` makes the partition again."""
        first = max(0, len(self._y) - NOISE_REACH - 1 - LONGEST)
        sums = (self._weight, self._sum, self._square, self._cost)
        lengths = np.arange(len(self._start)) - self._start
        return {"sums": [one[first:].tolist() for one in sums], "lengths": lengths.tolist()}

    @classmethod
    def resumed(cls, floor: float, y: Array, kept: Mapping[str, Any]) -> Partition:
        """y: all values that it had. Of the sums those alone are known that the next values need."""
        made = cls(floor)
        made._y = y
        made._start = np.arange(len(y) + 1) - np.array(kept["lengths"])
        unknown = np.full(len(y) + 1 - len(kept["sums"][0]), np.nan)
        sums = [np.concatenate([unknown, one]) for one in kept["sums"]]
        made._weight, made._sum, made._square, made._cost = sums
        return made

    def extend(self, y: Array) -> list[int]:
        """Fit y, which begins with the values of the call before; return the first index of every later segment."""
        settled = max(0, len(self._y) - NOISE_REACH - 1)
        self._y = y
        self._accumulate(settled)
        self._solve(settled)
        found: list[int] = []
        end = len(y)
        while end > 0:
            end = int(self._start[end])
            found.append(end)
        return found[-2::-1]

    def _accumulate(self, settled: int) -> None:
        """Running sums of weight, weighted value and weighted square, from the value `settled` on."""
        y = self._y
        noise = np.full(len(y) - settled, self.floor)
        if len(y) > 1:
            # The noise of a value is that of the differences around the one that leads to it.
            lead = max(0, settled - 1)
            begin = max(0, lead - NOISE_REACH)
            local = running_median(np.abs(np.diff(y[begin:])), NOISE_REACH, lead - begin)
            local = local if settled else np.concatenate([local[:1], local])
            noise = np.clip(MAD_TO_SD / math.sqrt(2.0) * local, self.floor, LOUDEST)
        begin = max(0, settled - LEVEL_REACH)
        level = running_median(y[begin:], LEVEL_REACH, settled - begin)
        value = np.clip(y[settled:], level - CLIP * noise, level + CLIP * noise) - y[0]
        weight = noise**-2
        self._weight = _continued(self._weight, settled, weight)
        self._sum = _continued(self._sum, settled, weight * value)
        self._square = _continued(self._square, settled, weight * value * value)

    def _solve(self, settled: int) -> None:
        weight, total, square = self._weight, self._sum, self._square
        count = len(self._y)
        cost, start = np.zeros(count + 1), np.zeros(count + 1, dtype=np.int64)
        cost[: settled + 1], start[: settled + 1] = self._cost[: settled + 1], self._start[: settled + 1]
        base = cost - square
        for end in range(settled + 1, count + 1):
            low = max(0, end - LONGEST)
            part = total[end] - total[low:end]
            saved = base[low:end] - part * part / (weight[end] - weight[low:end])
            # Of equal starts the last, so that the pieces of a constant series stay where they are as it grows.
            best = end - 1 - int(saved[::-1].argmin())
            start[end] = best
            cost[end] = square[end] + saved[best - low] + PENALTY
            base[end] = cost[end] - square[end]
        self._cost, self._start = cost, start


def _continued(sums: Array, settled: int, terms: Array) -> Array:
    """The running sums up to `settled`, continued by the terms in order, so that the rounding is always the same."""
    return np.concatenate([sums[:settled], np.cumsum(np.concatenate([sums[settled : settled + 1], terms]))])
