"""From candidate boundaries to those that hold: the weakest go first, the rest move to where they fit best."""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .boundary import CLIP, LOCATION, REACH, Array, Step, order_evidence, step_at, step_to
from .drift import steps_beat_line
from .memo import Memo

#: Two-state machines: at least so many stays between steps, of a mean length up to this times their number.
FEWEST_STAYS = 3
LONGEST_STAY = 10
#: Puts boundaries beside a segment that is too short before all others.
CROWDED = 1e6
#: Values on each side of a run of steps that say whether the history drifts there.
DRIFT_REACH = 150

#: Start, split and end of the neighbourhood of a boundary.
_Edges = tuple[int, int, int]


@dataclass(frozen=True)
class Rule:
    """What a boundary must show.

    margin, null: a step's size must exceed `margin`, and be proven to exceed `null` (both in logarithms).
    evidence: -log10 of the p-value that both tests must reach.
    least: values that each side must have.
    """

    margin: float
    null: float
    evidence: float
    least: int


class Pruner:
    """Decides on boundaries of one growing series. Values never change, so what was computed once is kept."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.y: Array = np.empty(0)
        self._steps: Memo[_Edges, Step] = Memo()
        self._places: Memo[_Edges, int] = Memo()
        self._drifts: Memo[tuple[int, ...], bool] = Memo()

    def kept(self) -> dict[str, Any]:
        """Plain lists, which `resume` takes."""
        return {
            "steps": [[*key, *dataclasses.astuple(one)] for key, one in self._steps.found.items()],
            "places": [[*key, one] for key, one in self._places.found.items()],
            "drifts": [[*key, one] for key, one in self._drifts.found.items()],
        }

    def resume(self, kept: Mapping[str, Any]) -> None:
        """kept: of a series that this one begins with."""
        self._steps = Memo({(a, b, c): Step(*one) for a, b, c, *one in kept["steps"]})
        self._places = Memo({(a, b, c): one for a, b, c, one in kept["places"]})
        self._drifts = Memo({tuple(key): one for *key, one in kept["drifts"]})

    def step(self, start: int, split: int, end: int) -> Step:
        start, end = max(start, split - REACH), min(end, split + REACH)
        rule = self.rule
        return self._steps.of(
            (start, split, end), lambda: step_at(self.y, start, split, end, rule.null, rule.least)
        )

    def strength(self, start: int, split: int, end: int) -> float:
        """How far a boundary is above what it must show (0); below -1 where a side is too short to test."""
        step = self.step(start, split, end)
        if step.evidence is None:
            return -1.0 - 1.0 / (1.0 + abs(step.size) / self.rule.margin)
        return min(step.evidence / self.rule.evidence, abs(step.size) / self.rule.margin) - 1.0

    def prune(self, y: Array, candidates: Sequence[int]) -> list[int]:
        """The boundaries that hold, in order: candidates are removed, weakest first, and moved until settled."""
        self.y = y
        kept = list(candidates)
        for _ in range(4):
            before = kept
            kept = self._moved(self._without_weak(kept))
            kept = self._without_drift(self._without_states(kept))
            if kept == before:
                break
        return self._without_weak(kept)

    def _without_weak(self, splits: Sequence[int]) -> list[int]:
        """Remove the weakest until all hold; those beside a segment that is too short first."""
        edge = [0, *splits, len(self.y)]
        last, least = len(edge) - 1, self.rule.least
        left, right = list(range(-1, last)), list(range(1, last + 2))
        current = [math.inf] * len(edge)
        heap: list[tuple[float, int]] = []

        def rate(at: int) -> None:
            before, after = left[at], right[at]
            # What lies behind a short segment is the better witness of the level.
            while before > 0 and edge[at] - edge[before] < least:
                before = left[before]
            while after < last and edge[after] - edge[at] < least:
                after = right[after]
            crowded = before != left[at] or after != right[at]
            current[at] = self.strength(edge[before], edge[at], edge[after]) - (CROWDED if crowded else 0.0)
            heapq.heappush(heap, (current[at], at))

        for at in range(1, last):
            rate(at)
        while heap:
            strength, at = heapq.heappop(heap)
            if strength != current[at]:
                continue
            if strength >= 0.0:
                break
            current[at] = math.nan
            before, after = left[at], right[at]
            right[before], left[after] = after, before
            # Of those farther away only the crowded can have looked past the one that is gone.
            while before > 0:
                rate(before)
                near, before = before, left[before]
                if edge[near] - edge[before] >= least:
                    break
            while after < last:
                rate(after)
                near, after = after, right[after]
                if edge[after] - edge[near] >= least:
                    break
        return [edge[at] for at in range(1, last) if not math.isnan(current[at])]

    def _moved(self, splits: Sequence[int]) -> list[int]:
        edge = [0, *splits, len(self.y)]
        for at in range(1, len(edge) - 1):
            edge[at] = self.place(edge[at - 1], edge[at], edge[at + 1])
        return edge[1:-1]

    def place(self, start: int, split: int, end: int) -> int:
        """Where between two neighbours a boundary fits best."""
        key = (max(start, split - REACH), split, min(end, split + REACH))
        return self._places.of(key, lambda: self._best(*key))

    def _best(self, start: int, split: int, end: int) -> int:
        costs, low = self._costs(start, split, end)
        return low + int(costs.argmin()) if len(costs) else split

    def places(self, start: int, split: int, end: int) -> tuple[int, int]:
        """The first and the last place that a boundary can have, with 95 % confidence."""
        costs, low = self._costs(max(start, split - REACH), split, min(end, split + REACH))
        good = np.flatnonzero(costs <= costs.min() + LOCATION) + low
        return min(int(good[0]), split), max(int(good[-1]), split)

    def _costs(self, start: int, split: int, end: int) -> tuple[Array, int]:
        """Minus the log likelihood (but for a constant) of every place of a boundary; and the first place."""
        step = self.step(start, split, end)
        if step.evidence is None:
            return np.empty(0), split
        # A value beyond both levels speaks for neither, and none for one of them more than the loss of an outlier.
        bound = max(CLIP * step.noise, abs(step.size))
        left = np.minimum(np.abs(self.y[start:end] - step.before), bound)
        right = np.minimum(np.abs(self.y[start:end] - step.after), bound)
        gains = np.clip((left * left - right * right) / step.noise**2, -(CLIP**2), CLIP**2)
        costs = np.cumsum(gains) / 2.0
        least = self.rule.least
        return costs[least - 1 : len(costs) - least], start + least

    def tail(self, start: int) -> tuple[int, Step] | None:
        """A step that is not testable yet: the last values, all beyond the noise on one side, are fewer than a
        segment, or too few, together with those before, for ranks to tell anything.

        start: of the last segment. Returns the step's place and itself.
        """
        count = len(self.y)
        for split in range(max(count - self.rule.least + 1, start + self.rule.least), count):
            step = self._beyond(start, split)
            if step is not None:
                return self._begun_before(start, split, step)
        return None

    def _beyond(self, start: int, split: int) -> Step | None:
        """The step to the values from `split` on, if all of them lie beyond the noise."""
        left, right = self.y[max(start, split - REACH) : split], self.y[split:]
        step = step_to(left, right)
        beyond = (right - step.before) * math.copysign(1.0, step.size)
        return step if beyond.min() > max(CLIP * step.noise, self.rule.margin) else None

    def _begun_before(self, start: int, split: int, step: Step) -> tuple[int, Step] | None:
        """Where the new level began: values before `split` may be of it too. None where so many are that the tests,
        which found no boundary there, could have found it, or where too few are of the old level."""
        middle, sign = (step.before + step.after) / 2, math.copysign(1.0, step.size)
        first = split
        while first > start and (self.y[first - 1] - middle) * sign > 0.0:
            first -= 1
        if first == split:
            return split, step
        before, after = first - start, len(self.y) - first
        if before < self.rule.least or (after >= self.rule.least and self._testable(before, after)):
            return None
        whole = self._beyond(start, first)
        return None if whole is None else (first, whole)

    def _testable(self, before: int, after: int) -> bool:
        """Whether so many values, all of one side below all of the other, pass the tests of order."""
        return order_evidence(min(before, REACH), min(after, REACH)) >= self.rule.evidence

    def _without_states(self, splits: list[int]) -> list[int]:
        """Without the steps of a machine that goes to and fro between two states.

        Four steps or more between the same two levels, with short stays, are such a machine. Code, too, can come
        back to where it was; the more often, the longer the mean stay that is still taken for a machine's.
        """
        edge = [0, *splits, len(self.y)]
        kept: list[int] = []
        at = 0
        while at < len(splits):
            end = at
            while end + 1 < len(splits) and self._returns(edge[end : end + 4]):
                end += 1
            stays = end - at
            if stays >= FEWEST_STAYS and splits[end] - splits[at] <= LONGEST_STAY * stays * stays:
                at = end + 1
            else:
                kept.append(splits[at])
                at += 1
        return kept

    def _returns(self, edge: Sequence[int]) -> bool:
        """Whether the second of two steps leads back to the level before the first."""
        there, back = self.step(*edge[:3]), self.step(*edge[1:])
        if there.size * back.size > 0.0:
            return False
        tolerance = max(
            0.25 * min(abs(there.size), abs(back.size)), 2.0 * math.hypot(there.error, back.error)
        )
        return abs(there.size + back.size) < tolerance

    def _without_drift(self, splits: list[int]) -> list[int]:
        """Without runs of steps in one direction through which a straight line fits as well."""
        edge = [0, *splits, len(self.y)]
        kept: list[int] = []
        at = 1
        while at <= len(splits):
            rises = self.step(*edge[at - 1 : at + 2]).size > 0.0
            end = at
            while end < len(splits) and (self.step(*edge[end : end + 3]).size > 0.0) == rises:
                end += 1
            if self._beats_line(tuple(edge[at - 1 : end + 2])):
                kept += edge[at : end + 1]
            at = end + 1
        return kept

    def _beats_line(self, edge: tuple[int, ...]) -> bool:
        edge = (max(edge[0], edge[1] - DRIFT_REACH), *edge[1:-1], min(edge[-1], edge[-2] + DRIFT_REACH))
        return self._drifts.of(
            edge, lambda: steps_beat_line([self.y[a:b] for a, b in itertools.pairwise(edge)])
        )
