"""Where in one round's raw times the steady segment begins, and whether there is one.

The question and its four answers are those of Barrett et al., "Virtual Machine Warmup Blows Hot and Cold"
(OOPSLA 2017): change points cut the sequence into levels; equal levels are one; the last level is the steady
state if it holds for long enough. Traini et al. (EMSE 2022) ask the same of JMH forks. Their change points
(PELT on mean and variance) assume independent times and some thousand of them; those of `levels` bear spikes
and autocorrelation, and five times. A window's coefficient of variation (Georges et al., OOPSLA 2007) is not
used: one pause raises it, and a level that changes slowly does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .levels import Array, Levels, median, outer_thirds

STEADY = "steady from the start"
WARM_UP = "steady after warm-up"
SLOWDOWN = "slowdown"
NEVER = "never steady"
UNKNOWN = "cannot tell"

#: Fewer times than this tell nothing; a level after the first is at least this long, shorter ones are pauses.
FEW = 5


@dataclass(frozen=True)
class Segment:
    """A stretch of one level: entries `start` to `stop` (excluded) of the sequence; `level` in seconds."""

    start: int
    stop: int
    level: float


@dataclass(frozen=True)
class SteadyState:
    """Whether and from where one sequence of times is steady.

    start: index of the first sample of the steady segment, None when there is none (0 when nobody can tell).
    kind: "steady from the start", "steady after warm-up" (it got faster), "slowdown" (it was faster before),
    "never steady", or "cannot tell". level: median of the steady segment in seconds, or None.
    cut: measured samples before `start`. reason: one sentence. segments: the levels the sequence went through.
    """

    start: int | None
    kind: str
    level: float | None
    cut: int
    reason: str
    segments: tuple[Segment, ...] = ()


def steady_state(
    times: Sequence[float | None],
    *,
    warm_up: int = 0,
    tolerance: float = 0.02,
    significance: float = 0.0005,
    share: float = 0.5,
) -> SteadyState:
    """Find the steady segment of one process's times (seconds a call, in the order they were taken).

    warm_up: how many leading entries are warm-up calls; shares are then shares of the timed samples alone.
    tolerance: levels this close (relative) are one level; a drift this small is none.
    significance: the chance at which noise alone is split, once per test.
    share: the least part of the samples that the last level must hold for the sequence to be steady.
    Entries that are None, not finite or zero were not measured: they are left out and counted in the reason.
    A level that interrupts the last one, or ends the sequence, for less than a tenth of the samples or less than 5
    is a pause, not a level. Raises ValueError for no entries, a negative time, and arguments out of range.
    """
    _check(len(times), warm_up, tolerance, significance, share)
    seconds, places = _measured(times)
    left_out = len(times) - seconds.size
    note = f" ({left_out} of {len(times)} entries without a time left out)" if left_out else ""
    if seconds.size < FEW:
        level = median(seconds) if seconds.size else None
        return SteadyState(0, UNKNOWN, level, 0, f"{_few(seconds.size)}{note}")
    found = Levels(np.log(seconds), tolerance, significance)
    timed = int(np.searchsorted(places, warm_up))
    if timed == seconds.size:
        timed = 0
    start, steady = _last_level(found, seconds.size - timed)
    segments = _segments(found, start, places, len(times))
    unsteady = _drift(found, start) or _too_short(seconds, start, timed, share)
    if unsteady:
        return SteadyState(None, NEVER, None, 0, unsteady + note, segments)
    first, level = int(places[start]), median(seconds[start:])
    kind, reason = _classified(segments, first, level, steady - tolerance)
    paused = _paused(found, start, steady)
    pauses = f", but for {paused} samples at another level for a short while" if paused else ""
    return SteadyState(first, kind, level, start, reason + pauses + note, segments)


def steady_samples(
    times: Sequence[float | None], *, warm_up: int = 0, **options: float
) -> tuple[tuple[float, ...], SteadyState]:
    """The measured, timed samples (warm-up calls left out) of the steady segment, and how it was found.

    Nothing is cut from a sequence that is never steady or too short to tell; its `kind` says so. Arguments and
    errors as in `steady_state`.
    """
    state = steady_state(times, warm_up=warm_up, **options)
    seconds, places = _measured(times)
    return tuple(seconds[places >= max(state.start or 0, warm_up)].tolist()), state


def _check(length: int, warm_up: int, tolerance: float, significance: float, share: float) -> None:
    if not 0 <= warm_up <= length:
        raise ValueError(f"warm_up must lie between 0 and the {length} entries there are, not {warm_up!r}")
    for name, value in (("tolerance", tolerance), ("significance", significance), ("share", share)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must lie between 0 and 1, not {value!r}")


def _measured(times: Sequence[float | None]) -> tuple[Array, npt.NDArray[np.intp]]:
    """The finite, positive times, and their places in the sequence."""
    try:
        seconds: Array = np.array(times, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"times must be numbers of seconds, or None where there is none: {error}") from error
    if seconds.ndim != 1 or not seconds.size:
        raise ValueError("a steady state needs a plain sequence of at least one time")
    if (seconds < 0).any():
        place = int(np.flatnonzero(seconds < 0)[0])
        raise ValueError(f"time {place + 1} of {seconds.size} is negative ({seconds[place]:g} s)")
    places = np.flatnonzero(np.isfinite(seconds) & (seconds > 0))
    return seconds[places], places


def _last_level(found: Levels, timed: int) -> tuple[int, float]:
    """First sample of the last level, walking back over equal levels and over pauses; and the level (log)."""
    bounds, size = found.bounds, found.logs.size
    long = max(min(FEW, timed // 2), math.ceil(timed / 10))
    levels = [median(found.logs[a:b]) for a, b in pairwise(bounds)]
    here = max(i for i in range(len(levels)) if size - bounds[i] >= long)
    level = levels[here]

    def same(segment: int) -> bool:
        return segment >= 0 and abs(levels[segment] - level) <= found.tolerance

    while here:
        if same(here - 1):
            here -= 1
        elif same(here - 2) and bounds[here] - bounds[here - 1] < long:
            here -= 2
        else:
            break
    return bounds[here] + found.head(bounds[here]), level


def _segments(found: Levels, start: int, places: npt.NDArray[np.intp], length: int) -> tuple[Segment, ...]:
    bounds = sorted({*found.bounds, start})
    entries = [0, *(int(places[b]) for b in bounds[1:-1]), length]
    return tuple(
        Segment(first, last, math.exp(median(found.logs[a:b])))
        for (first, last), (a, b) in zip(pairwise(entries), pairwise(bounds), strict=True)
    )


def _classified(segments: tuple[Segment, ...], start: int, level: float, faster: float) -> tuple[str, str]:
    """Kind and reason of a steady segment; earlier levels below `faster` (log) make it a slowdown."""
    before = [segment for segment in segments if segment.stop <= start]
    if not before:
        return STEADY, f"all {segments[-1].stop} samples hold {_text(level)}"
    text = f"{_text(level)} from sample {start + 1} of {segments[-1].stop} on"
    lowest = min(before, key=lambda segment: segment.level)
    if math.log(lowest.level) < faster:
        return SLOWDOWN, f"{text}, {_against(level, lowest.level)} of {_range(lowest)}"
    highest = max(before, key=lambda segment: segment.level)
    return WARM_UP, f"{text}, {_against(level, highest.level)} of {_range(highest)}"


def _range(segment: Segment) -> str:
    if segment.stop == segment.start + 1:
        return f"sample {segment.stop}"
    return f"samples {segment.start + 1} to {segment.stop}"


def _paused(found: Levels, start: int, steady: float) -> int:
    """Samples of the steady segment that are at another level than `steady` (log)."""
    stretches = [(max(a, start), b) for a, b in pairwise(found.bounds) if b > start]
    return sum(b - a for a, b in stretches if abs(median(found.logs[a:b]) - steady) > found.tolerance)


def _drift(found: Levels, start: int) -> str:
    """What drifts, in words; empty where nothing does."""
    if found.slopes(start):
        return _drifting("what follows the last change" if start else "the sequence", found.logs[start:])
    if len(found.bounds) > 2 and found.is_line():
        return _drifting("the sequence", found.logs)
    return ""


def _drifting(what: str, logs: Array) -> str:
    first, last = (math.exp(level) for level in outer_thirds(logs))
    return f"{what} drifts: its last third is at {_text(last)}, {_against(last, first)} of its first"


def _too_short(seconds: Array, start: int, timed: int, share: float) -> str:
    """Why the last level does not hold for long enough; empty where it does."""
    held, all_timed = seconds.size - max(start, timed), seconds.size - timed
    if held >= share * all_timed:
        return ""
    return (
        f"the last level, {_text(median(seconds[start:]))}, holds only {held} of the {all_timed} "
        f"{'timed ' if timed else ''}samples, less than the {share:.0%} that a steady state needs"
    )


def _few(count: int) -> str:
    return f"{count or 'no'} measured {'time is' if count == 1 else 'times are'} too few to tell ({FEW} are needed)"


def _against(level: float, other: float) -> str:
    return f"{level / other - 1:+.1%} against the {_text(other)}"


def _text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
