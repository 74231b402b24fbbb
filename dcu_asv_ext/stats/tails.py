"""Student's t over a mixture of variances: what share of errors lies beyond a distance, and the distance beyond which
a share lies, for many comparisons at once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .rounds import Floats
from .variance import Mixture

#: From a tail so close to its level, and a distance so close (logs), one step of Newton's method gives twice as many
#: digits.
_CLOSE = 1e-5
#: Largest step (log of the tail) of the path from one level to another, and the most of them.
_STEP, _MOST_STEPS = 0.75, 16
#: No path leads further (factor of the distance).
_FAR = 1e3
#: Paths tried before the bracket is halved in turn, and paths and halvings in all.
_PATHS, _ATTEMPTS = 6, 150


class Tails:
    """Of N comparisons. The error's distribution is symmetric; its variance is `known`'s times `factor` (N,)."""

    def __init__(self, known: Mixture, factor: Floats) -> None:
        self.known, self.factor = known, factor
        self._error = np.sqrt(known.scale * factor[:, None])

    def take(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Tails:
        return Tails(self.known.take(index), self.factor[index])

    def beyond(self, distance: Floats) -> Floats:
        """P(error > distance), (N,)."""
        from scipy.special import stdtr

        each = stdtr(self.known.df, -distance[:, None] / self._error)
        return np.asarray((self.known.weights * each).sum(axis=1))

    def distance(self, level: float, near: tuple[float, Floats] | None = None) -> Floats:
        """The distance whose tail is `level`, (N,), to ten digits. near: another level and its distances.

        Newton's method on logarithms. Its start is where the solution of the differential equation d distance /
        d tail = -1 / density leads (fourth-order Runge-Kutta), since a density takes a small part of a tail's time.
        """
        from scipy.special import stdtrit

        df, error = self.known.df, self._error
        if df.shape[1] == 1:
            return np.asarray(-stdtrit(df[:, 0], level) * error[:, 0])
        if near is None:
            middle = np.sqrt(self.known.mean_scale * self.factor)
            start = np.asarray(-stdtrit(self.known.mean_df, level) * middle)
            return _solved(self, level, start, self.beyond(start))
        return _solved(self, level, near[1], np.full(len(df), near[0]))

    def density(self, distance: Floats) -> Floats:
        """Of the error at a distance, (N,)."""
        logs, power, narrowness = self._terms
        each = np.exp(logs - power * np.log(1.0 + narrowness * (distance * distance)[:, None]))
        return np.asarray(each.sum(axis=1))

    @cached_property
    def _terms(self) -> tuple[Floats, Floats, Floats]:
        """Of each component's density: log of its height, exponent, and what a squared distance is taken times."""
        from scipy.special import gammaln

        df, error = self.known.df, self._error
        power = (df + 1.0) / 2.0
        with np.errstate(divide="ignore"):
            logs = np.log(self.known.weights)
        logs = logs + gammaln(power) - gammaln(df / 2.0) - np.log(np.pi * df) / 2.0 - np.log(error)
        return logs, power, 1.0 / (df * error * error)

    def slope(self, distance: Floats, tail: Floats) -> Floats:
        """d log(distance) / d log(tail), where the distance has this tail."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return -tail / (self.density(distance) * distance)


def _solved(tails: Tails, level: float, distance: Floats, tail: Floats) -> Floats:
    """From distances with their tails to those of the level."""
    found = np.empty(len(distance))
    left = np.arange(len(distance))
    low, high = np.zeros(len(distance)), np.full(len(distance), np.inf)
    for attempt in range(_ATTEMPTS):
        with np.errstate(divide="ignore"):
            excess = np.log(tail) - np.log(level)
        with np.errstate(invalid="ignore"):
            step = excess * tails.slope(distance, tail)
        done = (np.abs(excess) < _CLOSE) & (np.abs(step) < _CLOSE)
        if done.any():
            found[left[done]] = distance[done] * np.exp(-step[done])
            if done.all():
                return found
            tails, left = tails.take(~done), left[~done]
            low, high, excess = low[~done], high[~done], excess[~done]
            distance, tail = distance[~done], tail[~done]
        low, high = np.where(excess > 0, distance, low), np.where(excess < 0, distance, high)
        distance = _next(tails, level, distance, excess, (low, high), attempt >= _PATHS and attempt % 2 == 1)
        tail = tails.beyond(distance)
    found[left] = distance
    return found


def _next(
    tails: Tails, level: float, distance: Floats, excess: Floats, bracket: tuple[Floats, Floats], halve: bool
) -> Floats:
    """Where the path to the level leads, if that lies in the bracket; else, and if `halve`, its middle."""
    low, high = bracket
    reached = np.clip(_path(tails, level, distance, excess), distance / _FAR, distance * _FAR)
    inside = (reached > low) & (reached < high)
    closed = (low > 0) & np.isfinite(high)
    with np.errstate(invalid="ignore"):
        middle = np.where(closed, np.sqrt(low * high), np.where(low > 0, 2.0 * low, high / 2.0))
    return np.where(inside & ~(closed & halve), reached, middle)


def _path(tails: Tails, level: float, distance: Floats, excess: Floats) -> Floats:
    """The distance at the end of the path from a tail of level * exp(excess), about; NaN where it leads nowhere."""
    known = np.isfinite(excess)
    largest = float(np.abs(excess[known]).max(initial=0.0))
    count = min(max(int(np.ceil(largest / _STEP)), 1), _MOST_STEPS)
    with np.errstate(over="ignore", invalid="ignore"):
        step, place = -excess / count, np.log(distance)
        start = np.log(level) + excess
        for number in range(count):
            tail = start + number * step
            one = tails.slope(np.exp(place), np.exp(tail))
            two = tails.slope(np.exp(place + step * one / 2), np.exp(tail + step / 2))
            three = tails.slope(np.exp(place + step * two / 2), np.exp(tail + step / 2))
            four = tails.slope(np.exp(place + step * three), np.exp(tail + step))
            place = place + step * (one + 2 * two + 2 * three + four) / 6
        return np.exp(place)
