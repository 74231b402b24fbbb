"""How many samples, of how many calls: plans, batch sizes, and the sampling loop itself."""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from ..devices.base import Device
from .spec import Repeat

MIN_SAMPLES = 5
#: More samples of one process say nothing more about it: the process is the unit of replication.
MAX_SAMPLES = 600
#: A batched sample is at least this long, so that clock and synchronisation weigh little.
WINDOW_SECONDS = 2.5e-3
#: Asynchronous calls from this length on are not batched: batched ones run ahead of each other, which hides what
#: launching a single one costs.
SINGLE_SECONDS = 0.5e-3
#: New objects after which the young generations are collected between two samples, Python's own threshold.
COLLECT_AFTER = 700
#: ... and at least this many times what an empty sample (clock, synchronise, clock) takes.
WINDOW_OVER_OVERHEAD = 50
MAX_BATCH = 1 << 20
#: A batch size taken from earlier evidence is given up only when one sample would take longer than this.
LONGEST_KEPT_SAMPLE = 5.0

#: With untimed parts (a reset, a check) a pass ends after this many times its budget, so that slow ones stay bounded.
UNTIMED_SHARE = 10

#: Seconds of sampling for each pass; about one second for the default ones together.
BUDGET = {"latency": 0.6, "device_time": 0.3, "host_time": 0.15}


@dataclass(frozen=True)
class Plan:
    """Take at least `low` and at most `high` samples, stopping after `seconds` once `low` are there."""

    low: int
    high: int
    seconds: float

    @classmethod
    def make(cls, source: str, repeat: Repeat) -> Plan:
        """From asv's `repeat`: 0 chooses, a count is obeyed, a triple bounds."""
        if isinstance(repeat, tuple):
            return cls(*repeat)
        if repeat:
            return cls(repeat, repeat, 0.0)
        return cls(MIN_SAMPLES, MAX_SAMPLES, BUDGET[source])

    def is_met(self, count: int, spent: float, elapsed: float) -> bool:
        """spent: seconds inside samples; elapsed: seconds since the pass began, untimed parts included."""
        if count < self.low:
            return False
        return count >= self.high or spent >= self.seconds or elapsed >= self.seconds * UNTIMED_SHARE


def overhead(device: Device, tries: int = 20) -> float:
    """Seconds of an empty sample: clock, synchronise, clock (the smallest of a few)."""
    clock = device.clock
    best = float("inf")
    for _ in range(tries):
        begin = clock()
        device.synchronize()
        best = min(best, clock() - begin)
    return best


def choose_batch(call_seconds: float, empty_sample: float, asynchronous: bool = False) -> int:
    """The smallest power of two of calls that fills the window; one for a call that is long enough by itself."""
    if asynchronous and call_seconds >= max(SINGLE_SECONDS, WINDOW_OVER_OVERHEAD * empty_sample):
        return 1
    window = max(WINDOW_SECONDS, WINDOW_OVER_OVERHEAD * empty_sample)
    batch = 1
    while batch * call_seconds < window and batch < MAX_BATCH:
        batch *= 2
    return batch


def keep_batch(earlier: int | None, call_seconds: float) -> int | None:
    """The batch size of earlier evidence, unless the function has become far too slow for it."""
    if earlier is None or earlier < 1 or (earlier > 1 and earlier * call_seconds > LONGEST_KEPT_SAMPLE):
        return None
    return earlier


class OutputKeeper(Protocol):
    """Chooses, before a sample, whether its result is kept, and then gets it."""

    def wants(self, number: int) -> bool: ...

    def take(self, number: int, output: Any) -> None: ...


@contextmanager
def collector_off() -> Iterator[None]:
    """No collection inside a sample. The memory pass, which comes first, has collected everything already."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def sample_synchronized(
    device: Device,
    call: Callable[[], Any],
    plan: Plan,
    before: Callable[[], None] | None = None,
    after: Callable[[], None] | None = None,
    keeper: OutputKeeper | None = None,
) -> array[float]:
    """End-to-end seconds of each `call()`: synchronised, clock, call, synchronised, clock.

    before, after: untimed, around each sample (the benchmark's reset; reading events).
    keeper: says beforehand which samples' results it wants. Every other result is let go of inside the sample, as
    it is between the calls of a batch: releasing it is part of what a call costs.
    """
    clock, synchronize = device.clock, device.synchronize
    taken = array("d")
    spent = 0.0
    last = False
    kept = None
    with collector_off():
        begun = clock()
        while not last:
            if before is not None:
                before()
            wanted = keeper is not None and keeper.wants(len(taken))
            synchronize()
            if wanted:
                begin = clock()
                kept = call()
            else:
                begin = clock()
                call()
            synchronize()
            end = clock()
            taken.append(end - begin)
            spent += end - begin
            last = plan.is_met(len(taken), spent, end - begun)
            if wanted and keeper is not None:
                keeper.take(len(taken) - 1, kept)
                kept = None
            if after is not None:
                after()
            collect_young()
    return taken


def sample_submission(
    device: Device, call: Callable[[], Any], plan: Plan, before: Callable[[], None] | None = None
) -> array[float]:
    """Seconds until `call()` returns, the device idle at its start and not waited for at its end."""
    clock, synchronize = device.clock, device.synchronize
    taken = array("d")
    spent = 0.0
    last = False
    with collector_off():
        begun = clock()
        while not last:
            if before is not None:
                before()
            synchronize()
            begin = clock()
            call()
            end = clock()
            synchronize()
            taken.append(end - begin)
            done = clock()
            spent += done - begin
            last = plan.is_met(len(taken), spent, done - begun)
            collect_young()
    return taken


def collect_young() -> None:
    """Outside a sample: garbage in reference cycles must not pile up while the collector is off."""
    if gc.get_count()[0] > COLLECT_AFTER:
        gc.collect(1)


def per_call(samples: array[float], batch: int) -> list[float]:
    return [seconds / batch for seconds in samples]
