"""`compare_suite`: many benchmarks of two commits at once, with false discoveries controlled and a session guard."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from . import decision, guard
from .blocks import Block, make_blocks, shifted
from .comparison import check_settings
from .reducing import Options, reduce
from .rounds import Floats, Rounds
from .tails import Tails
from .verdicts import EQUIVALENCE, FDR, MARGIN, NOT_COMPARABLE, Comparison

#: One-sided levels at which a suite may call a change, tried from the largest.
_LEVELS = decision.CHANGE_LEVEL * np.geomspace(1.0, 1e-5, 61)
#: So many comparisons of one kind tell what chance would do to all of them.
_ENOUGH = 1000


@dataclass(frozen=True)
class SuiteComparison(Sequence[Comparison]):
    """The comparisons, in the order of the pairs.

    comparable: the session guard let them pass; otherwise `reason` says why not, the pairs that it puts in doubt are
    "not comparable", and `corrected` holds the view with the common shift taken out of them, as advice.
    shift: common ratio of the suite with its 99 % interval; NaN where too few unpaired benchmarks tell it.
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


def compare_suite(
    pairs: Iterable[tuple[Rounds, Rounds]],
    *,
    history: Iterable[Sequence[Rounds] | None] | None = None,
    paired: bool | Sequence[bool] = False,
    exact: bool | Sequence[bool] = False,
    points: bool | Sequence[bool] = False,
    margin: float | Sequence[float] = MARGIN,
    equivalence: float | Sequence[float] = EQUIVALENCE,
    direction: str | Sequence[str] = "lower",
    fdr: float = FDR,
    across_sessions: bool | Sequence[bool] = False,
    use_guard: bool = True,
    groups: Sequence[Hashable | None] | None = None,
    differences: Sequence[str] = (),
) -> SuiteComparison:
    """Compare each (before, after) as `compare` does; every keyword takes one value, or one for each pair.

    Without histories the suite's own spread of variances moderates each. A change is called at the largest level at
    which the changes to be expected by chance, were nothing changed, are at most `fdr` of those called (a direct
    estimate as Storey's, doi 10.1111/1467-9868.00346, that takes each benchmark's margin and noise into account).
    across_sessions: the sides were measured at different times; how much the benchmark's level wanders between
    sessions then counts as noise too, which rounds of one session cannot show: as its history tells, else 0.5 %.
    differences: what is known to differ between the sides and was not meant to; any entry refuses the comparison.
    use_guard: look for a shift or a disorder of the suite as a whole; paired rounds, which share their session, are
    exempt. groups: what belongs together in that (parameters and metrics of one function), None for pairs that it
    must not look at; by default every pair is a group of its own.

    A pair that cannot be used is "not comparable", with its reason. Raises ValueError for wrong settings.
    """
    given = list(pairs)
    count = len(given)
    known_differences = [differences] if isinstance(differences, str) else list(differences)
    options = Options(
        _each(margin, count, "margin"),
        _each(equivalence, count, "equivalence"),
        _each(direction, count, "direction"),
        _each(paired, count, "paired"),
        _each(exact, count, "exact"),
        _each(points, count, "points"),
        _each(across_sessions, count, "across_sessions"),
        _each_history(history, count),
    )
    if not 0 < fdr < 1:
        raise ValueError(f"fdr must lie between 0 and 1, not {fdr!r}")
    for one in zip(options.margin, options.equivalence, options.direction, strict=True):
        check_settings(*one)
    rows: list[Comparison | None] = [None] * count
    sides = reduce(given, options, rows)
    blocks = make_blocks(sides, options, rows)
    owners = _owners(groups, count, options.paired)
    watched = _watched(blocks, owners) if use_guard else None
    shift = guard.common_shift(watched) if watched is not None else guard.NO_SHIFT
    reason = guard.verdict(shift, watched, known_differences)
    chances = [_Chance(block) for block in blocks]
    level = _fill(rows, blocks, chances, fdr)
    done = tuple(one for one in rows if one is not None)
    corrected: tuple[Comparison, ...] = ()
    if reason:
        hit = set(range(count)) if known_differences else _doubtful(owners, options.exact, done)
        moved = list(rows)
        if shift.known:
            _fill(moved, [shifted(block, shift.log_ratio, hit) for block in blocks], chances, fdr)
        corrected = tuple(one for one in moved if one is not None)
        done = tuple(
            replace(one, verdict=NOT_COMPARABLE, reason=reason, rounds_needed=None)
            if i in hit and one.verdict != NOT_COMPARABLE
            else one
            for i, one in enumerate(done)
        )
    low, middle, high = shift.ratios
    return SuiteComparison(done, not reason, reason, middle, low, high, corrected, level)


def _each(value: Any, count: int, name: str) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        return [value.item() if isinstance(value, np.ndarray) else value] * count
    found = list(value)
    if len(found) != count:
        raise ValueError(f"{name} must be one value or one for each of {count} pairs, not {len(found)}")
    return found


def _each_history(history: Iterable[Sequence[Rounds] | None] | None, count: int) -> list[Sequence[Rounds]]:
    if history is None:
        return [()] * count
    found = list(history)
    if len(found) != count:
        raise ValueError(f"history must have one entry for each of {count} pairs, not {len(found)}")
    return [() if one is None else one for one in found]


def _owners(
    groups: Sequence[Hashable | None] | None, count: int, paired: Sequence[bool]
) -> list[Hashable | None]:
    """The group of each pair, None where the guard must not look at it."""
    given = list(range(count)) if groups is None else list(groups)
    if len(given) != count:
        raise ValueError(f"groups must have one entry for each of {count} pairs, not {len(given)}")
    return [None if together else one for one, together in zip(given, paired, strict=True)]


def _watched(blocks: list[Block], owners: list[Hashable | None]) -> guard.Watched | None:
    """What the session guard looks at, of the comparisons that have a spread."""
    if not blocks:
        return None
    known: dict[Hashable, int] = {}
    owner = np.array(
        [
            -1 if owners[i] is None else known.setdefault(owners[i], len(known))
            for block in blocks
            for i in block.index.tolist()
        ]
    )
    seen = owner >= 0
    return guard.Watched(
        np.concatenate([block.made.difference for block in blocks])[seen],
        np.concatenate([block.judged.half for block in blocks])[seen],
        np.concatenate([block.settings.margin for block in blocks])[seen],
        owner[seen],
    )


def _doubtful(owners: list[Hashable | None], exact: list[bool], done: tuple[Comparison, ...]) -> set[int]:
    """Pairs that a changed machine puts in doubt: all that the guard looks at, but for figures that never vary."""
    return {
        i
        for i, (owner, one) in enumerate(zip(owners, done, strict=True))
        if owner is not None and not (exact[i] and one.spread == 0)
    }


def _fill(rows: list[Comparison | None], blocks: list[Block], chances: list[_Chance], fdr: float) -> float:
    """Put the finished comparisons of the blocks into `rows`; the level at which changes were called."""
    level = _level(blocks, chances, fdr)
    for block in blocks:
        made = decision.comparisons(block.made, block.known, block.prior, block.settings, block.judged, level)
        for i, one in zip(block.index.tolist(), made, strict=True):
            rows[i] = one
    return level


def _level(blocks: list[Block], chances: list[_Chance], fdr: float) -> float:
    """The largest level at which the changes expected by chance alone are at most fdr of those called."""
    if sum(len(block.index) for block in blocks) < 2:
        return decision.CHANGE_LEVEL
    p = np.sort(np.concatenate([block.judged.p for block in blocks]))

    def holds(level: float) -> bool:
        allowed = fdr * max(int(np.searchsorted(p, 2 * level, side="right")), 1)
        if sum(one.at_most(level) for one in chances) <= allowed:
            return True
        return sum(one.expected(level) for one in chances) <= allowed

    if holds(_LEVELS[0]):
        return float(_LEVELS[0])
    large, small = 0, len(_LEVELS) - 1
    while small - large > 1:
        middle = (large + small) // 2
        large, small = (large, middle) if holds(_LEVELS[middle]) else (middle, small)
    return float(_LEVELS[small])


class _Chance:
    """How many of a block's comparisons would be called if nothing had changed: from some of them, evenly chosen, of
    which each stands for as many. What was worked out for one level is kept."""

    def __init__(self, block: Block) -> None:
        count = len(block.index)
        few = min(count, _ENOUGH)
        chosen = np.arange(few) * count // few
        self._weight = 2 * count / few
        self._tails = Tails(block.known.take(chosen), block.made.factor[chosen])
        self._margin = block.settings.margin[chosen]
        self._distances = {decision.CHANGE_LEVEL: block.judged.half[chosen]}
        self._calls: dict[float, Floats] = {}

    def expected(self, level: float) -> float:
        return self._weight * float(self._called(level).sum())

    def at_most(self, level: float) -> float:
        """A bound that takes no time: no call is likelier than at a larger level, nor than it would be without a
        margin."""
        larger = self._called(min(one for one in (decision.CHANGE_LEVEL, *self._calls) if one >= level))
        return self._weight * float(np.minimum(larger, level).sum())

    def _called(self, level: float) -> Floats:
        """Chance of each to be called on one side."""
        if level not in self._calls:
            if level not in self._distances:
                nearest = min(self._distances, key=lambda known: abs(np.log(known / level)))
                self._distances[level] = self._tails.distance(level, (nearest, self._distances[nearest]))
            self._calls[level] = self._tails.beyond(self._margin + self._distances[level])
        return self._calls[level]
