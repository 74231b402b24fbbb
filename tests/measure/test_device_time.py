"""Event pairs on virtual time: blocks, one wait for many, side streams inside, escapes refused."""

from __future__ import annotations

import math

import pytest

from dcu_asv_ext.devices.base import NotMeasured
from dcu_asv_ext.measure.device_time import (
    BLOCK,
    ESCAPE_TRIES,
    STREAM_ESCAPE,
    EventTimes,
    escapes,
    time_events,
)
from dcu_asv_ext.measure.sampling import Plan

from .fakes import LAUNCH, MS, FakeDevice


def test_pairs_come_in_blocks_with_one_wait_each() -> None:
    device = FakeDevice()
    taken = time_events(device, lambda: device.kernel(MS), Plan(50, 50, 0.0))
    blocks = [timer for timer in device.timers if timer.size > 1]
    assert [timer.size for timer in blocks] == [BLOCK, BLOCK, 50 - 2 * BLOCK]
    assert [timer.waits for timer in blocks] == [1, 1, 1]
    assert len(taken.seconds) == 50 and taken.bad == 0


def test_inside_a_block_the_host_runs_ahead() -> None:
    """The launch gap is hidden: only the first kernel of a block waits for its launch inside the pair."""
    device = FakeDevice()
    taken = time_events(device, lambda: device.kernel(MS), Plan(BLOCK, BLOCK, 0.0))
    assert taken.seconds[0] == pytest.approx(1e-3 + LAUNCH / 1e9)
    assert taken.seconds[1:] == pytest.approx([1e-3] * (BLOCK - 1))


def test_side_streams_are_forked_and_joined() -> None:
    device = FakeDevice()

    def call() -> None:
        for _ in range(5):
            device.kernel(5 * MS, device.side)

    taken = time_events(device, call, Plan(5, 5, 0.0), [device.side])
    assert taken.seconds == pytest.approx([25e-3] * 5, rel=0.01)


def test_what_a_reset_queued_on_a_side_stream_stays_outside_the_pair() -> None:
    device = FakeDevice()
    taken = time_events(
        device,
        lambda: device.kernel(MS, device.side),
        Plan(5, 5, 0.0),
        [device.side],
        before=lambda: device.kernel(20 * MS, device.side),
    )
    assert max(taken.seconds) < 2e-3


def test_work_on_a_side_stream_that_is_not_joined_is_an_escape() -> None:
    device = FakeDevice()
    with pytest.raises(NotMeasured, match="stream escape") as caught:
        time_events(device, lambda: device.kernel(MS, device.hidden), Plan(5, 5, 0.0))
    assert caught.value.reason == STREAM_ESCAPE


def test_one_busy_try_proves_no_escape() -> None:
    device = FakeDevice()
    tries = [0]

    def call() -> None:
        tries[0] += 1
        device.kernel(MS, device.hidden if tries[0] == 1 else device.home)

    assert not escapes(device, call, ())
    assert tries[0] == 3


def test_one_idle_try_proves_nothing_either() -> None:
    """Work that goes to a hidden stream every other time escapes every other time."""
    device = FakeDevice()
    tries = [0]

    def call() -> None:
        tries[0] += 1
        device.kernel(MS, device.hidden if tries[0] % 2 else device.home)

    assert escapes(device, call, ())
    assert tries[0] == ESCAPE_TRIES


def test_one_idle_try_has_to_do_for_a_call_of_seconds() -> None:
    device = FakeDevice()
    tries = [0]

    def call() -> None:
        tries[0] += 1
        device.kernel(10_000 * MS)

    assert not escapes(device, call, ())
    assert tries[0] == 1


def test_a_clean_call_is_tried_twice() -> None:
    device = FakeDevice()
    tries = [0]

    def call() -> None:
        tries[0] += 1
        device.kernel(MS)

    assert not escapes(device, call, ())
    assert tries[0] == 2


def test_reset_before_each_call_and_outside_the_pair() -> None:
    device = FakeDevice()
    order: list[str] = []

    def reset() -> None:
        order.append("reset")
        device.kernel(30 * MS)

    def call() -> None:
        order.append("call")
        device.kernel(5 * MS)

    taken = time_events(device, call, Plan(5, 5, 0.0), (), reset)
    assert order == ["reset", "call"] * 7
    assert taken.seconds == pytest.approx([5e-3] * 5, rel=0.01)


@pytest.mark.parametrize("milliseconds", [1, 20, 50])
def test_the_budget_is_kept_within_one_call(milliseconds: int) -> None:
    """A whole block of 50 ms calls would take 1 s where 0.3 s is left."""
    device = FakeDevice()
    plan = Plan(5, 250, 0.3)
    assert not escapes(device, lambda: device.kernel(milliseconds * MS), ())
    begin = device.clock()
    taken = time_events(device, lambda: device.kernel(milliseconds * MS), plan)
    spent = device.clock() - begin
    assert len(taken.seconds) >= plan.low
    assert spent <= plan.seconds + 3e-3 * milliseconds


def test_stops_at_the_maximum() -> None:
    device = FakeDevice()
    assert len(time_events(device, lambda: device.kernel(1000), Plan(5, 33, 0.3)).seconds) == 33


def test_bad_times_are_counted_and_kept() -> None:
    device = FakeDevice()
    # Numbers of pairs that are read; the escape check reads none.
    device.event_faults = {1: -0.5, 3: math.nan, 4: math.inf}
    taken = time_events(device, lambda: device.kernel(MS), Plan(5, 5, 0.0))
    assert taken.bad == 3
    assert taken.seconds[1] == -0.5
    assert math.isnan(taken.seconds[3]) and math.isinf(taken.seconds[4])


def test_bad_counts_negative_and_not_finite() -> None:
    assert EventTimes([1.0, 0.0, -1e-9, math.nan, -math.inf]).bad == 3


def test_a_device_without_events_says_why() -> None:
    device = FakeDevice(missing={"device_time": "the fake has no events today"})
    with pytest.raises(NotMeasured, match="no events today"):
        time_events(device, lambda: device.kernel(MS), Plan(5, 5, 0.0))


def test_the_device_is_idle_before_a_block() -> None:
    device = FakeDevice()
    device.kernel(100 * MS, device.side)
    taken = time_events(device, lambda: device.kernel(MS), Plan(5, 5, 0.0), [device.side])
    assert taken.seconds == pytest.approx([1e-3] * 5, rel=0.01)
