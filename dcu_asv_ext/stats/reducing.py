"""From pairs of rounds to pairs of log medians; what cannot go that way is answered at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .comparison import compare_exact, exactly
from .linear import compare_linear
from .points import compare_points
from .rounds import (
    LARGEST,
    BadRounds,
    Floats,
    Rounds,
    as_floats,
    block_levels,
    check_paired,
    levels,
    read_rounds,
)
from .verdicts import NOT_COMPARABLE, Comparison


@dataclass(frozen=True)
class Options:
    """One entry for each pair."""

    margin: list[float]
    equivalence: list[float]
    direction: list[str]
    paired: list[bool]
    exact: list[bool]
    points: list[bool]
    across_sessions: list[bool]
    history: list[Sequence[Rounds]]


@dataclass(frozen=True)
class Sides:
    """One usable pair: log medians of both sides, samples in the shortest round, variance inside the rounds."""

    before: Floats
    after: Floats
    samples: int
    sampling: float


def reduce(given: Sequence[Any], options: Options, rows: list[Comparison | None]) -> dict[int, Sides]:
    """The pairs that have logarithms, by place; the others are answered in `rows`."""
    alike: dict[tuple[int, ...], list[int]] = {}
    alone = []
    for i, pair in enumerate(given):
        shape = _shape(pair)
        if shape is None:
            alone.append(i)
        else:
            alike.setdefault(shape, []).append(i)
    found: dict[int, Sides] = {}
    for places in alike.values():
        alone += _together(given, places, options, rows, found)
    for i in alone:
        try:
            side = _one(given[i], i, options, rows)
        except BadRounds as bad:
            rows[i] = refused(str(bad))
            continue
        if side is not None:
            found[i] = side
    return dict(sorted(found.items()))


def refused(reason: str) -> Comparison:
    """A pair of which nothing can be said."""
    nan = float("nan")
    return Comparison(nan, nan, nan, nan, nan, nan, NOT_COMPARABLE, None, reason)


def _shape(pair: Any) -> tuple[int, ...] | None:
    """(rounds, samples) of both sides, None where a side's rounds are not all of one length."""
    shape: list[int] = []
    try:
        before, after = pair
        for side in (before, after):
            lengths = {len(one) for one in side} if hasattr(side, "__len__") else set()
            if len(lengths) != 1 or 0 in lengths:
                return None
            shape += [len(side), *lengths]
    except (TypeError, ValueError):
        return None
    return tuple(shape)


def _together(
    given: Sequence[Any],
    places: list[int],
    options: Options,
    rows: list[Comparison | None],
    found: dict[int, Sides],
) -> list[int]:
    """Reduce pairs of one shape; the places of those that must be looked at one by one."""
    blocks = []
    for side in (0, 1):
        try:
            block = as_floats(np.array([given[i][side] for i in places]))
        except (TypeError, ValueError, OverflowError):
            return places
        if block is None or block.ndim != 3:
            return places
        blocks.append(block)
    before, after = blocks
    good = _all_positive(before) & _all_positive(after)
    good &= ~np.array([bool(options.points[i]) for i in places])
    if before.shape[1] != after.shape[1]:
        good &= ~np.array([bool(options.paired[i]) for i in places])
    logs, sampling = [], []
    for block in blocks:
        medians, spread = block_levels(np.where(good[:, None, None], block, 1.0))
        logs.append(np.log(medians))
        sampling.append(spread)
    samples = min(before.shape[2], after.shape[2])
    constant = _constant(before) & _constant(after)
    for k, i in enumerate(places):
        if not good[k]:
            continue
        if options.exact[i] and constant[k]:
            counts = (before.shape[1], after.shape[1])
            rows[i] = exactly(before[k, 0, 0], after[k, 0, 0], options.direction[i], counts)
        else:
            found[i] = Sides(logs[0][k], logs[1][k], samples, float(sampling[0][k] + sampling[1][k]) / 2)
    return [i for k, i in enumerate(places) if not good[k]]


def _all_positive(block: Floats) -> NDArray[np.bool_]:
    return np.asarray(((block > 0) & (block <= LARGEST)).all(axis=(1, 2)))


def _constant(block: Floats) -> NDArray[np.bool_]:
    return np.asarray((block == block[:, :1, :1]).all(axis=(1, 2)))


def _one(pair: Any, i: int, options: Options, rows: list[Comparison | None]) -> Sides | None:
    try:
        before, after = pair
    except (TypeError, ValueError):
        raise BadRounds("a pair must be (before, after), each a sequence of rounds") from None
    arrays = read_rounds(before, "before"), read_rounds(after, "after")
    check_paired(options.paired[i], *arrays)
    if options.exact[i]:
        rows[i] = compare_exact(*arrays, options.direction[i])
        if rows[i] is not None:
            return None
    a, b = levels(arrays[0]), levels(arrays[1])
    if options.points[i]:
        rows[i] = compare_points(
            a.medians, b.medians, options.history[i], options.paired[i], options.direction[i]
        )
        return None
    if min(a.medians.min(), b.medians.min()) <= 0:
        rows[i] = compare_linear(
            a.medians, b.medians, options.history[i], options.paired[i], options.margin[i],
            options.equivalence[i], options.direction[i],
        )  # fmt: skip
        return None
    sampling = (a.sampling + b.sampling) / 2
    return Sides(np.log(a.medians), np.log(b.medians), min(a.samples, b.samples), sampling)
