"""`compare_suite`: many benchmarks of two commits at once, with false discoveries controlled and a session guard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from . import decision, guard, variance
from .comparison import check_settings, compare_exact
from .linear import compare_linear
from .rounds import BadRounds, Floats, Rounds, block_levels, history_variances, levels
from .verdicts import NOT_COMPARABLE, Comparison

T = TypeVar("T")

#: One-sided levels at which a suite may call a change, tried from the largest.
_LEVELS = decision.CHANGE_LEVEL * np.geomspace(1.0, 1e-5, 61)


@dataclass(frozen=True)
class SuiteComparison(Sequence[Comparison]):
    """The comparisons, in the order of the pairs.

    comparable: the session guard let them pass; otherwise `reason` says why not, every verdict on noisy rounds is
    "not comparable", and `corrected` holds the view with the common shift taken out, as advice.
    shift: common ratio of the suite with its 95 % interval; NaN where too few unpaired benchmarks tell it.
    level: one-sided, at which a change was called.
    """

    rows: tuple[Comparison, ...]
    comparable: bool = True
    reason: str = ""
    shift: float = float("nan")
    shift_low: float = float("nan")
    shift_high: float = float("nan")
    corrected: tuple[Comparison, ...] = ()
    level: float = decision.CHANGE_LEVEL

    @overload
    def __getitem__(self, index: int) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Comparison, ...]: ...
    def __getitem__(self, index: int | slice) -> Comparison | tuple[Comparison, ...]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass
class _Block:
    """Comparisons of one kind: the same number of rounds, paired or not, with a history or without."""

    index: NDArray[np.intp]
    made: decision.Estimates
    prior: variance.Mixture
    known: variance.Mixture
    settings: decision.Settings
    judged: decision.Judged


def compare_suite(
    pairs: Iterable[tuple[Rounds, Rounds]],
    *,
    history: Sequence[Sequence[Rounds] | None] | None = None,
    paired: bool | Sequence[bool] = False,
    exact: bool | Sequence[bool] = False,
    margin: float | Sequence[float] = 0.01,
    equivalence: float | Sequence[float] = 0.05,
    direction: str | Sequence[str] = "lower",
    fdr: float = 0.05,
    use_guard: bool = True,
    differences: Sequence[str] = (),
) -> SuiteComparison:
    """Compare each (before, after) as `compare` does; every keyword takes one value, or one for each pair.

    Without histories the suite's own spread of variances moderates each. A change is called at the largest level at
    which the changes to be expected by chance, were nothing changed, are at most `fdr` of those called (a direct
    estimate as Storey's, doi 10.1111/1467-9868.00346, that takes each benchmark's margin and noise into account).
    differences: what is known to differ between the sides and was not meant to; any entry refuses the comparison.
    use_guard: look for a shift or a disorder of the suite as a whole; paired rounds, which share their session, are
    exempt.

    A pair that cannot be used is "not comparable", with its reason. Raises ValueError for wrong settings.
    """
    given = list(pairs)
    count = len(given)
    options = _Options(
        _each(margin, count, "margin"),
        _each(equivalence, count, "equivalence"),
        _each(direction, count, "direction"),
        _each(paired, count, "paired"),
        _each(exact, count, "exact"),
        _each_history(history, count),
    )
    if not 0 < fdr < 1:
        raise ValueError(f"fdr must lie between 0 and 1, not {fdr!r}")
    for one in set(zip(options.margin, options.equivalence, options.direction, strict=True)):
        check_settings(*one)
    rows: list[Comparison | None] = [None] * count
    sides = _reduce(given, options, rows)
    blocks = _blocks(sides, options)
    watched = _watched(blocks) if use_guard else None
    shift = guard.common_shift(*watched) if watched is not None else guard.NO_SHIFT
    reason = guard.verdict(shift, watched, differences)
    level = _fill(rows, blocks, fdr)
    corrected: tuple[Comparison, ...] = ()
    done = tuple(one for one in rows if one is not None)
    if reason:
        moved: list[Comparison | None] = list(done)
        offset = shift.log_ratio if shift.known else 0.0
        _fill(moved, [_shifted(block, offset) for block in blocks], fdr)
        corrected = tuple(one for one in moved if one is not None)
        noisy = {int(i) for block in blocks for i in block.index}
        done = tuple(
            replace(one, verdict=NOT_COMPARABLE, reason=reason, rounds_needed=None) if i in noisy else one
            for i, one in enumerate(done)
        )
    low, middle, high = shift.ratios
    return SuiteComparison(done, not reason, reason, middle, low, high, corrected, level)


@dataclass(frozen=True)
class _Options:
    margin: list[float]
    equivalence: list[float]
    direction: list[str]
    paired: list[bool]
    exact: list[bool]
    history: list[Sequence[Rounds]]


@dataclass(frozen=True)
class _Side:
    """One usable pair: log medians of both sides, samples in the shortest round, variance inside the rounds."""

    before: Floats
    after: Floats
    samples: int
    sampling: float


def _each(value: Any, count: int, name: str) -> list[Any]:
    if isinstance(value, (str, bool, int, float, np.generic)):
        return [value] * count
    found = list(value)
    if len(found) != count:
        raise ValueError(f"{name} must be one value or one for each of {count} pairs, not {len(found)}")
    return found


def _each_history(history: Sequence[Sequence[Rounds] | None] | None, count: int) -> list[Sequence[Rounds]]:
    if history is None:
        return [()] * count
    if len(history) != count:
        raise ValueError(f"history must have one entry for each of {count} pairs, not {len(history)}")
    return [() if one is None else one for one in history]


def _reduce(
    given: list[tuple[Rounds, Rounds]], options: _Options, rows: list[Comparison | None]
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
    except (TypeError, ValueError):
        return None
    if block.ndim != 4 or block.shape[1] != 2 or not block.size:
        return None
    return block if bool(np.isfinite(block).all()) and bool((block > 0).all()) else None


def _reduce_one(
    pair: tuple[Rounds, Rounds], i: int, options: _Options, rows: list[Comparison | None]
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


def _blocks(sides: dict[int, _Side], options: _Options) -> list[_Block]:
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
        earlier = [history_variances(options.history[i], sides[i].samples) for i in members.tolist()]
        runs = np.array([len(one[0]) for one in earlier])
        for chosen in (np.flatnonzero(runs == 0), np.flatnonzero(runs > 0)):
            if len(chosen):
                prior = part.take(chosen)
                if runs[chosen[0]]:
                    prior = variance.with_history(prior, *_padded([earlier[k] for k in chosen]))
                found.append(_block(members[chosen], made.take(chosen), prior, options))
    return found


def _block(
    index: NDArray[np.intp], made: decision.Estimates, prior: variance.Mixture, options: _Options
) -> _Block:
    if made.paired[0]:
        prior = variance.shared_between_sides(prior)
    settings = decision.Settings(
        np.log1p(np.array([options.margin[i] for i in index])),
        np.log1p(np.array([options.equivalence[i] for i in index])),
        np.array([options.direction[i] == "lower" for i in index]),
    )
    known = variance.posterior(prior, made.variance, made.df)
    return _Block(index, made, prior, known, settings, decision.judge(made, known, settings))


def _padded(earlier: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    longest = max(len(one[0]) for one in earlier)
    values, df = np.zeros((len(earlier), longest)), np.zeros((len(earlier), longest))
    for row, (some, own) in enumerate(earlier):
        values[row, : len(some)], df[row, : len(own)] = some, own
    return values, df


def _shifted(block: _Block, offset: float) -> _Block:
    made = replace(block.made, difference=block.made.difference - offset, after=block.made.after - offset)
    return replace(block, made=made, judged=decision.judge(made, block.known, block.settings))


def _watched(blocks: list[_Block]) -> guard.Watched | None:
    """What the session guard looks at: everything that was not interleaved."""
    loose = [block for block in blocks if not block.made.paired[0]]
    if not loose:
        return None
    return guard.Watched(
        np.concatenate([block.made.difference for block in loose]),
        np.concatenate([block.judged.half for block in loose]),
        np.concatenate([block.settings.margin for block in loose]),
    )


def _fill(rows: list[Comparison | None], blocks: list[_Block], fdr: float) -> float:
    """Put the finished comparisons of the blocks into `rows`; the level at which changes were called."""
    level = _level(blocks, fdr)
    for block in blocks:
        made = decision.comparisons(block.made, block.known, block.prior, block.settings, block.judged, level)
        for i, one in zip(block.index.tolist(), made, strict=True):
            rows[i] = one
    return level


def _level(blocks: list[_Block], fdr: float) -> float:
    """The largest level at which the changes expected by chance alone are at most fdr of those called."""
    if sum(len(block.index) for block in blocks) < 2:
        return decision.CHANGE_LEVEL
    p = np.sort(np.concatenate([block.judged.p for block in blocks]))
    for level in _LEVELS:
        called = max(int(np.searchsorted(p, 2 * level, side="right")), 1)
        expected = 0.0
        for block in blocks:
            reach = block.settings.margin + decision.distance_of(block.known, block.made.factor, level)
            expected += 2 * float(decision.upper_tail(block.known, block.made.factor, reach).sum())
        if expected <= fdr * called:
            return float(level)
    return float(_LEVELS[-1])
