"""Warm-up: call until stable by a stated rule, with a cap, keeping every time.

Stable means that the medians of the last two windows of calls agree within a tolerance (after pyperf's idea of
comparing two neighbouring windows, reduced to what a fresh process can afford every round). A call is never
warmed up for less than a minimum time, so that clocks and allocators settle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from ..devices.base import Device

MAX_BATCH = 1 << 16


@dataclass(frozen=True)
class Rule:
    """window: calls in each of the two windows compared; tolerance: relative difference of their medians.

    A call longer than `long_call` seconds is compared singly, with `long_tolerance`.
    """

    window: int = 5
    tolerance: float = 0.05
    min_seconds: float = 0.1
    max_seconds: float = 1.0
    min_calls: int = 2
    max_calls: int = 1 << 20
    long_call: float = 0.2
    long_tolerance: float = 0.1
    max_long_calls: int = 3

    @classmethod
    def for_device(cls, device: Device, quick: bool) -> Rule:
        if quick:
            return cls(min_seconds=0.0, max_seconds=0.0, min_calls=1)
        return cls(min_seconds=0.3, max_seconds=1.5) if device.asynchronous else cls()

    def as_text(self) -> str:
        return (
            f"two windows of {self.window} calls within {self.tolerance:.0%} (calls of {self.long_call:g} s: "
            f"{self.long_tolerance:.0%}), in {self.min_seconds:g} s to {self.max_seconds:g} s"
        )


@dataclass
class WarmUp:
    """seconds: warm-up time per call, in order: single calls first, then, where calls are short, means over
    `batch` calls from entry `batched_from` on. stable: whether the rule was met before the cap.
    """

    seconds: list[float] = field(default_factory=list)
    calls: int = 0
    batch: int = 1
    batched_from: int | None = None
    stable: bool = False

    @property
    def call_seconds(self) -> float:
        """What a warm call takes, from the last window."""
        return median(self.seconds[-5:])


def is_stable(seconds: Sequence[float], rule: Rule) -> bool:
    if len(seconds) >= 2 and seconds[-1] >= rule.long_call:
        return abs(seconds[-1] - seconds[-2]) <= rule.long_tolerance * seconds[-2]
    if len(seconds) < 2 * rule.window:
        return False
    earlier = median(seconds[-2 * rule.window : -rule.window])
    later = median(seconds[-rule.window :])
    return abs(later - earlier) <= rule.tolerance * earlier


def warm_up(
    device: Device,
    call: Callable[[], Any],
    rule: Rule,
    before: Callable[[], None] | None = None,
    window_seconds: float = 1e-3,
) -> WarmUp:
    """Synchronised calls until the rule is met or its cap reached; resets count towards the seconds of the rule."""
    done = WarmUp()
    begun = device.clock()
    while True:
        took = _timed(device, call, done.batch, before)
        done.seconds.append(took / done.batch)
        done.calls += done.batch
        spent = device.clock() - begun
        done.stable = is_stable(done.seconds, rule)
        enough = done.calls >= rule.min_calls
        if enough and spent >= rule.min_seconds and done.stable:
            return done
        too_long = took >= rule.long_call and done.calls >= rule.max_long_calls
        if enough and (spent >= rule.max_seconds or done.calls >= rule.max_calls or too_long):
            return done
        if before is None and done.batched_from is None and len(done.seconds) == 2 * rule.window:
            # Thousands of single entries would say no more than their means over a millisecond.
            done.batched_from = len(done.seconds)
            while done.batch * done.call_seconds < window_seconds and done.batch < MAX_BATCH:
                done.batch *= 2


def _timed(device: Device, call: Callable[[], Any], batch: int, before: Callable[[], None] | None) -> float:
    if before is not None:
        before()
    device.synchronize()
    begin = device.clock()
    for _ in range(batch):
        call()
    device.synchronize()
    return device.clock() - begin
