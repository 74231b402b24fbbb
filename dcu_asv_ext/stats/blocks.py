"""Many comparisons as a few arrays: pairs of one kind have their variances moderated and are judged together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from . import decision, variance
from .reducing import Options, Sides, refused
from .rounds import BadRounds, Earlier, earlier_runs, look_ahead
from .verdicts import Comparison


@dataclass
class Block:
    """Comparisons of one kind: the same number of rounds, paired or not, with a history or without."""

    index: NDArray[np.intp]
    made: decision.Estimates
    prior: variance.Mixture
    known: variance.Mixture
    settings: decision.Settings
    judged: decision.Judged


def make_blocks(sides: dict[int, Sides], options: Options, rows: list[Comparison | None]) -> list[Block]:
    """A history that cannot be read refuses its pair in `rows`."""
    earlier: dict[int, Earlier] = {}
    look_ahead((options.history[i], side.samples) for i, side in sides.items())
    for i, side in sides.items():
        try:
            earlier[i] = earlier_runs(options.history[i], side.samples)
        except BadRounds as bad:
            rows[i] = refused(str(bad))
    groups = _of_one_kind(sides, options, earlier)
    if not groups:
        return []
    base = variance.suite_prior(
        # Paired differences hold the variance of two rounds.
        np.concatenate([made.variance / (1.0 + made.paired) for _, made in groups]),
        np.concatenate([made.df for _, made in groups]),
        np.array([sides[i].sampling for index, _ in groups for i in index.tolist()]),
        np.concatenate([made.difference for _, made in groups]),
        np.concatenate([made.factor * (1.0 + made.paired) for _, made in groups]),
    )
    found, start = [], 0
    for index, made in groups:
        own = base.take(np.arange(start, start + len(index)))
        start += len(index)
        found.append(_block(index, made, own, [earlier[i] for i in index.tolist()], options))
    return found


def _of_one_kind(
    sides: dict[int, Sides], options: Options, earlier: dict[int, Earlier]
) -> list[tuple[NDArray[np.intp], decision.Estimates]]:
    """The pairs of each kind, by place."""
    kinds: dict[tuple[int, int, bool, bool], list[int]] = {}
    for i, told in earlier.items():
        kind = (len(sides[i].before), len(sides[i].after), bool(options.paired[i]), len(told) > 0)
        kinds.setdefault(kind, []).append(i)
    found = []
    for (_, _, paired, _), places in kinds.items():
        before = np.array([sides[i].before for i in places])
        after = np.array([sides[i].after for i in places])
        found.append((np.array(places), decision.estimates(before, after, paired)))
    return found


def _block(
    index: NDArray[np.intp],
    made: decision.Estimates,
    base: variance.Mixture,
    told: list[Earlier],
    options: Options,
) -> Block:
    paired = bool(made.paired[0])
    prior = variance.prior_of(base, told, made.variance, made.df, paired)
    settings = decision.Settings(
        np.log1p(np.array([options.margin[i] for i in index])),
        np.log1p(np.array([options.equivalence[i] for i in index])),
        np.array([options.direction[i] == "lower" for i in index]),
    )
    known = variance.posterior(prior, made.variance, made.df)
    apart = np.array([options.across_sessions[i] for i in index.tolist()])
    if apart.any() and not paired:
        values, df = variance.session_variances(
            [one.levels for one in told], [one.variances / (one.df + 1) for one in told]
        )
        made = replace(made, lasting=2.0 * np.where(apart, values, 0.0))
        known = variance.across_sessions(known, made.factor, made.lasting, df)
    return Block(index, made, prior, known, settings, decision.judge(made, known, settings))


def shifted(block: Block, offset: float, whose: Collection[int]) -> Block:
    """The block with a common shift taken out of the comparisons of `whose`."""
    taken = np.where([i in whose for i in block.index.tolist()], offset, 0.0)
    made = replace(block.made, difference=block.made.difference - taken, after=block.made.after - taken)
    judged = decision.judge(made, block.known, block.settings, block.judged.half)
    return replace(block, made=made, judged=judged)
