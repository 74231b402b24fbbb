"""Device time: event pairs around the calls, one wait for many, side streams inside the pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..devices.base import Device, EventTimer, NotMeasured
from .sampling import Plan, collect_young, collector_off

#: Pairs recorded before the host waits: few enough that no queue fills up.
BLOCK = 20
#: After the stop event is complete the device must be idle; a synchronise that takes longer found escaped work.
IDLE_SECONDS = 200e-6
#: Tries, and seconds after which a busy device is believed with fewer.
ESCAPE_TRIES = 6
ESCAPE_SECONDS = 3.0

STREAM_ESCAPE = (
    "stream escape: work of the call was still running after its last event, on a stream that the call does not "
    "join; join side streams before returning, or compare latency instead"
)


@dataclass
class EventTimes:
    """seconds: every pair of `batch` calls, unclamped. bad: how many are not finite or negative."""

    seconds: list[float] = field(default_factory=list)

    @property
    def bad(self) -> int:
        return sum(1 for value in self.seconds if not math.isfinite(value) or value < 0)


def escapes(
    device: Device, call: Callable[[], Any], streams: Sequence[Any], before: Callable[[], None] | None = None
) -> bool:
    """Whether work outlives the stop event: the device was not idle after it in most of a few tries.

    One busy try proves nothing: the host may have been preempted between the two waits. One idle try neither: a
    call that alternates between streams escapes every other time.
    """
    clock = device.clock
    first = clock()
    idle = 0
    for number in range(ESCAPE_TRIES):
        if number > 1 and clock() - first > ESCAPE_SECONDS:
            break
        timer = device.event_timer(1, streams)
        device.synchronize()
        record_block(device, timer, call, 1, before)
        timer.wait()
        begin = clock()
        device.synchronize()
        idle += clock() - begin <= IDLE_SECONDS
        # Two cannot both be the quiet half of an alternation; of a call of seconds one has to do.
        if (idle > 1 and idle > (number + 1) // 2) or (idle and clock() - first > ESCAPE_SECONDS):
            return False
    return True


def time_events(
    device: Device,
    call: Callable[[], Any],
    plan: Plan,
    streams: Sequence[Any] = (),
    before: Callable[[], None] | None = None,
) -> EventTimes:
    """Blocks of event pairs until the plan is met. Raises NotMeasured for escaped work or a device without events."""
    if escapes(device, call, streams, before):
        raise NotMeasured(STREAM_ESCAPE)
    taken = EventTimes()
    clock = device.clock
    spent = 0.0
    with collector_off():
        while len(taken.seconds) < plan.low or (len(taken.seconds) < plan.high and spent < plan.seconds):
            size = _block_size(plan, len(taken.seconds), spent)
            timer = device.event_timer(size, streams)
            device.synchronize()
            begin = clock()
            record_block(device, timer, call, size, before)
            timer.wait()
            taken.seconds += timer.read()
            device.synchronize()
            spent += clock() - begin
            collect_young()
    return taken


def _block_size(plan: Plan, count: int, spent: float) -> int:
    """As many pairs as fit in a block, in what is still wanted, and in what is left of the budget."""
    if count < plan.low:
        return min(BLOCK, plan.low - count)
    fitting = int((plan.seconds - spent) * count / spent) + 1 if spent > 0 else BLOCK
    return min(BLOCK, plan.high - count, fitting)


def record_block(
    device: Device, timer: EventTimer, call: Callable[[], Any], size: int, before: Callable[[], None] | None
) -> None:
    for _ in range(size):
        if before is not None:
            before()
            # What the reset queued, on whatever stream, must not reach into the pair.
            device.synchronize()
        timer.start()
        call()
        timer.stop()
