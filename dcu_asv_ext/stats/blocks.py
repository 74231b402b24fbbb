"""Many comparisons as a few arrays: pairs of one kind are reduced, and their variances moderated, together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from . import decision, variance
from .comparison import compare_exact
from .linear import compare_linear
from .rounds import BadRounds, Earlier, Floats, Rounds, block_levels, earlier_runs, levels
from .verdicts import NOT_COMPARABLE, Comparison


@dataclass
class Block:
    """Comparisons of one kind: the same number of rounds, paired or not, with a history or without."""

    index: NDArray[np.intp]
    made: decision.Estimates
    prior: variance.Mixture
    known: variance.Mixture
    settings: decision.Settings
    judged: decision.Judged


@dataclass(frozen=True)
class Options:
    margin: list[float]
    equivalence: list[float]
    direction: list[str]
    paired: list[bool]
    exact: list[bool]
    across_sessions: list[bool]
    history: list[Sequence[Rounds]]


@dataclass(frozen=True)
class _Side:
    """One usable pair: log medians of both sides, samples in the shortest round, variance inside the rounds."""

    before: Floats
    after: Floats
    samples: int
    sampling: float


def reduce(
    given: list[tuple[Rounds, Rounds]], options: Options, rows: list[Comparison | None]
) -> dict[int, _Side]:
    """The pairs that go the common way; the others are answered in `rows` at once."""
    block = _as_block(given)
    if block is not None and not any(options.exact):
        medians, sampling = block_levels(block)
        logs = np.log(medians)
        spread = sampling.mean(axis=1)
        samples = block.shape[-1]
        return {i: _Side(logs[i, 0], logs[i, 1], samples, float(spread[i])) for i in range(len(given))}
    found = {}
    for i, pair in enumerate(given):
        try:
            side = _reduce_one(pair, i, options, rows)
        except BadRounds as bad:
            rows[i] = refused(str(bad))
            continue
        if side is not None:
            found[i] = side
    return found


def _as_block(given: list[tuple[Rounds, Rounds]]) -> Floats | None:
    """(N, 2, rounds, samples) where all have one shape and every sample is a positive number."""
    try:
        block = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    if block.ndim != 4 or block.shape[1] != 2 or not block.size:
        return None
    return block if bool(np.isfinite(block).all()) and bool((block > 0).all()) else None


def _reduce_one(
    pair: tuple[Rounds, Rounds], i: int, options: Options, rows: list[Comparison | None]
) -> _Side | None:
    if len(pair) != 2:
        raise BadRounds(f"a pair must be (before, after), not {len(pair)} things")
    a, b = levels(pair[0], "before"), levels(pair[1], "after")
    if options.paired[i] and len(a.medians) != len(b.medians):
        raise BadRounds(
            f"paired rounds must be as many on both sides, not {len(a.medians)} and {len(b.medians)}"
        )
    if options.exact[i]:
        rows[i] = compare_exact(pair[0], pair[1], options.direction[i])
        if rows[i] is not None:
            return None
    if min(a.medians.min(), b.medians.min()) <= 0:
        rows[i] = compare_linear(
            a.medians, b.medians, options.history[i], options.paired[i], options.margin[i],
            options.equivalence[i], options.direction[i],
        )  # fmt: skip
        return None
    sampling = (a.sampling + b.sampling) / 2
    return _Side(np.log(a.medians), np.log(b.medians), min(a.samples, b.samples), sampling)


def refused(reason: str) -> Comparison:
    """A pair of which nothing can be said."""
    nan = float("nan")
    return Comparison(nan, nan, nan, nan, nan, nan, NOT_COMPARABLE, None, reason)


def make_blocks(sides: dict[int, _Side], options: Options) -> list[Block]:
    kinds: dict[tuple[int, int, bool], list[int]] = {}
    for i, side in sides.items():
        kinds.setdefault((len(side.before), len(side.after), bool(options.paired[i])), []).append(i)
    groups = []
    for (_, _, together), listed in kinds.items():
        before = np.array([sides[i].before for i in listed])
        after = np.array([sides[i].after for i in listed])
        groups.append((np.array(listed), decision.estimates(before, after, together)))
    if not groups:
        return []
    sampling = [np.array([sides[int(i)].sampling for i in members]) for members, _ in groups]
    # Paired differences hold the variance of two rounds.
    typical = np.concatenate([made.variance / (1.0 + made.paired) for _, made in groups])
    base = variance.suite_prior(
        typical, np.concatenate([made.df for _, made in groups]), np.concatenate(sampling)
    )
    found, start = [], 0
    for members, made in groups:
        part = base.take(np.arange(start, start + len(members)))
        start += len(members)
        earlier = [earlier_runs(options.history[i], sides[i].samples) for i in members.tolist()]
        runs = np.array([len(one) for one in earlier])
        for chosen in (np.flatnonzero(runs == 0), np.flatnonzero(runs > 0)):
            if len(chosen):
                told = [earlier[k] for k in chosen]
                prior = part.take(chosen)
                if runs[chosen[0]]:
                    prior = variance.with_history(prior, *_padded(told))
                found.append(_block(members[chosen], made.take(chosen), prior, told, options))
    return found


def _block(
    index: NDArray[np.intp],
    made: decision.Estimates,
    prior: variance.Mixture,
    told: list[Earlier],
    options: Options,
) -> Block:
    if made.paired[0]:
        prior = variance.shared_between_sides(prior)
    settings = decision.Settings(
        np.log1p(np.array([options.margin[i] for i in index])),
        np.log1p(np.array([options.equivalence[i] for i in index])),
        np.array([options.direction[i] == "lower" for i in index]),
    )
    known = variance.posterior(prior, made.variance, made.df)
    apart = np.array([options.across_sessions[i] for i in index.tolist()])
    if apart.any() and not made.paired[0]:
        values, df = variance.session_variances(
            [one.levels for one in told], [one.variances / (one.df + 1) for one in told]
        )
        known = variance.across_sessions(known, made.factor, np.where(apart, values, 0.0), df)
    return Block(index, made, prior, known, settings, decision.judge(made, known, settings))


def _padded(earlier: list[Earlier]) -> tuple[Floats, Floats]:
    longest = max(len(one) for one in earlier)
    values, df = np.zeros((len(earlier), longest)), np.zeros((len(earlier), longest))
    for row, one in enumerate(earlier):
        values[row, : len(one)], df[row, : len(one)] = one.variances, one.df
    return values, df


def shifted(block: Block, offset: float) -> Block:
    if block.made.paired[0]:
        return block  # interleaved rounds had no shift between them
    made = replace(block.made, difference=block.made.difference - offset, after=block.made.after - offset)
    return replace(block, made=made, judged=decision.judge(made, block.known, block.settings))
