"""What asv's regressions page makes of steps that are more than asv's five figures.

asv looks for upward steps that were not undone. Where more is better it must look at the reciprocals, and a step that
the machine made must not count; both are a change of scale: asv's own rule, with its thresholds, works on the scaled
steps, and what it finds is scaled back. A regression shows the two levels on the machine it was found on; the best
value of a series, with which the last one is compared, is what it would be on the last machine.
Shares of a whole, and series with a zero, have no ratios: there the scale is moved, and turned by its sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

#: (last commit before, first commit after, value before, best value after), as asv reports a regression.
Jump = tuple[int, int, float, float]
Found = tuple[float | None, float | None, list[Jump] | None]


class Step(tuple[int, int, float, float, float]):
    """asv's (left, right, value, smallest, error), and facts that asv has no place for.

    higher: more is better in this series. machine: it begins where the machine changed, not the code. points: it is
    of shares, which have no ratios.
    """

    higher: bool
    machine: bool
    points: bool

    def __new__(
        cls, figures: Sequence[Any], higher: bool = False, machine: bool = False, points: bool = False
    ) -> Step:
        made = super().__new__(cls, figures)
        made.higher, made.machine, made.points = higher, machine, points
        return made

    @property
    def value(self) -> float:
        return self[2]


@dataclass(frozen=True)
class _Level:
    """Neighbouring steps between which only the machine changed. scale: from the last of them to the series' end, a
    factor, or what is added."""

    left: int
    right: int
    value: float
    error: float
    scale: float


def find_regressions(original: Callable[..., Found], steps: Sequence[Any], *rest: Any, **named: Any) -> Found:
    """asv's `detect_regressions` on steps that may be `Step`; others are asv's alone."""
    ours = [one for one in steps if isinstance(one, Step)]
    if len(ours) < len(steps) or not any(one.higher or one.machine for one in ours):
        return original(steps, *rest, **named)
    turned = ours[-1].higher
    moved = any(one.points or one.value <= 0 for one in ours)
    levels = _moved_levels(ours, -1 if turned else 1) if moved else _levels(ours, turned)
    last, best, jumps = original(
        [(one.left, one.right, one.value, one.value, one.error) for one in levels], *rest, **named
    )
    if jumps is None or last is None or best is None:
        return None, None, None
    scales = {one.right - 1: one.scale for one in levels}

    def back(value: float, scale: float | None = None) -> float:
        if moved:
            return (value - (scale or 0.0)) * (-1 if turned else 1)
        scale = 1.0 if scale is None else scale
        return scale / value if turned else value / scale

    return (
        back(last),
        back(best),
        [(i, j, back(old, scales[i]), back(new, scales[i])) for i, j, old, new in jumps],
    )


def _levels(steps: Sequence[Step], turned: bool) -> list[_Level]:
    """From the last step to the first, so that every scale leads to the last machine."""
    levels: list[_Level] = []
    scale = 1.0
    following: Step | None = None
    for step in reversed(steps):
        value = 1 / step.value if turned else step.value
        error = step[4] * value / step.value
        if following is not None and following.machine:
            before, after = (step.value, following.value) if not turned else (following.value, step.value)
            scale *= after / before
            known = levels.pop()
            error = max(error * scale, known.error)
            levels.append(_Level(step[0], known.right, known.value, error, known.scale))
        else:
            levels.append(_Level(step[0], step[1], value * scale, error * scale, scale))
        following = step
    return levels[::-1]


def _moved_levels(steps: Sequence[Step], sign: int) -> list[_Level]:
    """The same where there are no ratios: a step of the machine's is a distance."""
    levels: list[_Level] = []
    scale = 0.0
    following: Step | None = None
    for step in reversed(steps):
        value = sign * step.value
        if following is not None and following.machine:
            scale += sign * following.value - value
            known = levels.pop()
            levels.append(_Level(step[0], known.right, known.value, max(step[4], known.error), known.scale))
        else:
            levels.append(_Level(step[0], step[1], value + scale, step[4], scale))
        following = step
    return levels[::-1]
