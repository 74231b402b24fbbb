"""Where in a performance history the level changed, by how much, and in which commits that can have happened."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .boundary import REACH, Step
from .memo import Memo
from .prune import Pruner, Rule
from .segments import Partition
from .verdicts import MARGIN, POINTS

#: Stands for 0 in logarithms, and is read back as 0.
_ZERO = float(np.finfo(np.float64).tiny)
#: What a quiet machine shifts by itself from one session to the next, relative and at 95 %;
#: the values of one level say nothing of it. Measured on repeated runs of unchanged OCaml benchmarks (sandmark).
_SHIFT = 0.0025


@dataclass(frozen=True)
class ChangePoint:
    """A change of level. Indices are into the values given, unmeasured ones counted.

    index: first value of the new level, where the change fits best.
    before, after: the levels, in the unit of the values. ratio: after / before (infinite after 0, NaN of shares).
    ci_low, ci_high: 95 % interval of the ratio. difference_low, difference_high: that of after - before, of shares;
    else NaN.
    first, last: the first changed commit is one of these, with 95 % confidence; unmeasured commits included.
    pending: too few values follow, or are there at all; it may be a passing disturbance, and has no p-value (1).
    verdict: "regression" or "improvement".
    p_value: two-sided, of a step of at most half the margin; 0 for exact values.
    """

    index: int
    before: float
    after: float
    ratio: float
    ci_low: float
    ci_high: float
    first: int
    last: int
    pending: bool
    verdict: str
    p_value: float
    reason: str
    difference_low: float = math.nan
    difference_high: float = math.nan

    @property
    def points(self) -> bool:
        """Whether the difference was judged, not the ratio."""
        return not math.isnan(self.difference_low)


def change_points(
    values: Sequence[float | None] | npt.NDArray[np.float64],
    *,
    margin: float = MARGIN,
    direction: str = "lower",
    min_segment: int = 5,
    alpha: float = 1.5e-4,
    exact: bool = False,
    points: bool = False,
    include_pending: bool = False,
) -> list[ChangePoint]:
    """The change points of a history: one value per commit, in commit order; None or NaN where none was measured.

    margin: smaller changes (relative) are not reported. points: the values are shares of a whole, changes are judged
    by their difference, and those below POINTS are not reported, whatever the margin.
    direction: "lower" or "higher" is better.
    min_segment: values that must be measured on each side of a change; fewer make it pending.
    alpha: one-sided p-value that a change must reach in each of two tests. In 20 000 runs of unchanged code it let
    through 0.3 false changes in 1000 at 1.5e-4, and 0.6 at 2e-3.
    exact: the values do not vary by themselves (counts, bytes): every difference is a change, none is pending.
    include_pending: also changes that too few values follow.

    A partition by dynamic programming proposes changes. Those hold whose sides differ by more than half the margin
    in a robust t-test that allows for autocorrelation, and by a test of order alone (boundary.py); steps through
    which a straight line fits as well are a drift (drift.py), and frequent ones between the same two levels a
    machine of two states (prune.py): no changes.

    ValueError: negative or infinite values, an unknown direction, a margin below 0, an alpha outside (0, 1), a
    min_segment below 3.
    """
    return History(
        values,
        margin=margin,
        direction=direction,
        min_segment=min_segment,
        alpha=alpha,
        exact=exact,
        points=points,
        include_pending=include_pending,
    ).points


class History:
    """A history that grows. After `append`, `points` are those of `change_points` with all values, cheaply."""

    def __init__(
        self,
        values: Iterable[float | None] = (),
        *,
        margin: float = MARGIN,
        direction: str = "lower",
        min_segment: int = 5,
        alpha: float = 1.5e-4,
        exact: bool = False,
        points: bool = False,
        include_pending: bool = False,
    ) -> None:
        if direction not in ("lower", "higher"):
            raise ValueError(f'direction must be "lower" or "higher", not {direction!r}')
        if not 0.0 <= margin < math.inf:
            raise ValueError(f"margin must be a number of at least 0, not {margin!r}")
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha must lie between 0 and 1, not {alpha!r}")
        if min_segment < 3:
            raise ValueError(f"min_segment must be at least 3, not {min_segment!r}")
        self._direction, self._exact, self._include_pending = direction, exact, include_pending
        self._shares = points
        least = POINTS if points else math.log1p(max(margin, 1e-9))
        self._pruner = Pruner(Rule(least, least / 2.0, -math.log10(alpha), min_segment))
        self._partition = Partition(max(least / 4.0, 1e-5))
        self._values: list[float] = []
        self._at: list[int] = []
        self._count = 0
        self._points: list[ChangePoint] | None = None
        self._made_before: Memo[tuple[int, int, int], ChangePoint] = Memo()
        for value in values:
            self.append(value)

    def __len__(self) -> int:
        return self._count

    def append(self, value: float | None) -> None:
        """Add the value of the next commit; None or NaN if it was not measured."""
        number = math.nan if value is None else float(value)
        if number < 0.0 or math.isinf(number):
            raise ValueError(
                f"value {self._count} of the history is {number}; values must be finite and not negative"
            )
        if not math.isnan(number):
            self._values.append(number)
            self._at.append(self._count)
        self._count += 1
        self._points = None

    def kept(self) -> dict[str, Any]:
        """What `resume` takes, for JSON. Of values that vary, after `points`."""
        return {
            "partition": self._partition.kept(),
            "pruner": self._pruner.kept(),
            "made": [[*key, *dataclasses.astuple(one)] for key, one in self._made_before.found.items()],
        }

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Go on from what was kept of a history of the same rule, whose values are the ones that this one has now."""
        self._partition = Partition.resumed(self._partition.floor, self._scaled(), kept["partition"])
        self._pruner.resume(kept["pruner"])
        self._made_before = Memo({(a, b, c): ChangePoint(*one) for a, b, c, *one in kept["made"]})

    @property
    def points(self) -> list[ChangePoint]:
        if self._points is None:
            self._points = self._exact_points() if self._exact else self._noisy_points()
        return list(self._points)

    def _exact_points(self) -> list[ChangePoint]:
        values = np.asarray(self._values)
        splits = np.flatnonzero(np.diff(values)) + 1
        return [self._exact_point(int(split)) for split in splits]

    def _exact_point(self, split: int) -> ChangePoint:
        before, after = self._values[split - 1], self._values[split]
        ratio = after / before if before else math.inf
        first, last = self._at[split - 1] + 1, self._at[split]
        return ChangePoint(
            index=last,
            before=before,
            after=after,
            ratio=ratio,
            ci_low=ratio,
            ci_high=ratio,
            first=first,
            last=last,
            pending=False,
            verdict=self._verdict(after > before),
            p_value=0.0,
            reason="exact values differ",
        )

    def _noisy_points(self) -> list[ChangePoint]:
        if len(self._values) <= self._pruner.rule.least:
            return []
        y = self._scaled()
        splits = self._pruner.prune(y, self._partition.extend(y))
        edge = [0, *splits, len(y)]
        found = [self._point(*edge[at - 1 : at + 2]) for at in range(1, len(edge) - 1)]
        tail = self._pruner.tail(edge[-2])
        if self._include_pending and tail is not None:
            found.append(self._pending_point(*tail))
        return found

    def _scaled(self) -> npt.NDArray[np.float64]:
        y = np.asarray(self._values)
        return y if self._shares else np.asarray(np.log(np.maximum(y, _ZERO)))

    def _point(self, start: int, split: int, end: int) -> ChangePoint:
        key = (start, split, min(end, split + REACH))
        return self._made_before.of(key, lambda: self._tested_point(*key))

    def _tested_point(self, start: int, split: int, end: int) -> ChangePoint:
        step = self._pruner.step(start, split, end)
        first, last = self._pruner.places(start, split, end)
        sides = min(split - start, REACH), end - split
        times = abs(step.size) / step.error
        reason = f"{sides[0]} values before and {sides[1]} after differ by {times:.1f} standard errors"
        return self._made(split, step, first, last, False, reason)

    def _pending_point(self, split: int, step: Step) -> ChangePoint:
        follow, wanted = len(self._values) - split, self._pruner.rule.least
        if follow < wanted:
            reason = f"only {follow} of {wanted} values follow that are needed to believe it"
        else:
            reason = f"{follow} values follow, and there are too few before and after to believe it"
        return self._made(split, step, split, split, True, reason)

    def _made(self, split: int, step: Step, first: int, last: int, pending: bool, reason: str) -> ChangePoint:
        if self._shares:
            return self._made_of_shares(split, step, first, last, pending, reason)
        before, after = _level(step.before), _level(step.after)
        ratio = after / before if before else math.inf
        # Zeros among the values can make the noise so large that its exponential overflows.
        half_width = min(math.hypot(step.half_width, _SHIFT), 700.0)
        return ChangePoint(
            index=self._at[split],
            before=before,
            after=after,
            ratio=ratio,
            ci_low=ratio * math.exp(-half_width) if before else math.inf,
            ci_high=ratio * math.exp(half_width) if before else math.inf,
            first=self._at[first - 1] + 1,
            last=self._at[last],
            pending=pending,
            verdict=self._verdict(step.size > 0.0),
            p_value=min(1.0, 2.0 * 10.0 ** -(step.evidence or 0.0)),
            reason=reason,
        )

    def _made_of_shares(
        self, split: int, step: Step, first: int, last: int, pending: bool, reason: str
    ) -> ChangePoint:
        half_width = math.hypot(step.half_width, _SHIFT)
        return ChangePoint(
            index=self._at[split],
            before=step.before,
            after=step.after,
            ratio=math.nan,
            ci_low=math.nan,
            ci_high=math.nan,
            first=self._at[first - 1] + 1,
            last=self._at[last],
            pending=pending,
            verdict=self._verdict(step.size > 0.0),
            p_value=min(1.0, 2.0 * 10.0 ** -(step.evidence or 0.0)),
            reason=reason,
            difference_low=step.size - half_width,
            difference_high=step.size + half_width,
        )

    def _verdict(self, rose: bool) -> str:
        return "regression" if rose == (self._direction == "lower") else "improvement"


def _level(logarithm: float) -> float:
    level = math.exp(logarithm)
    return level if level > 2.0 * _ZERO else 0.0
