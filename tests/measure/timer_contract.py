"""What every way of timing a call must fulfil, written once, so that broken timers can be put to the same test.

The functions take the timing functions as arguments; each raises AssertionError where the contract is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from dcu_asv_ext.devices.base import Device
from dcu_asv_ext.measure.device_time import time_events
from dcu_asv_ext.measure.sampling import Plan, sample_submission, sample_synchronized

KERNEL = 5e-3
SIDE_KERNELS = 5
TOLERANCE = 0.1
PLAN = Plan(5, 5, 0.0)


@dataclass(frozen=True)
class Timers:
    """The three sampling functions under test, with the signatures of the shipped ones."""

    latency: Callable[..., Sequence[float]] = sample_synchronized
    device_time: Callable[..., Any] = time_events
    host_time: Callable[..., Sequence[float]] = sample_submission


@dataclass(frozen=True)
class Work:
    """Work of known length on a device.

    kernel: submits one 5 ms kernel on the current stream.
    side: submits five 5 ms kernels on a side stream that the call does not join.
    earlier: submits 20 ms that do not belong to the call, and returns at once.
    """

    kernel: Callable[[], None]
    side: Callable[[], None]
    earlier: Callable[[], None]


def check_timers(device: Device, work: Work, timers: Timers | None = None) -> None:
    """The whole contract."""
    timers = timers or Timers()
    check_kernel(device, work, timers)
    check_side_stream(device, work, timers)
    check_earlier_work(device, work, timers)


def check_kernel(device: Device, work: Work, timers: Timers) -> None:
    """A 5 ms kernel reads 5 ms by latency and device time, under 1 ms by host time."""
    _near(KERNEL, timers.latency(device, work.kernel, PLAN), "latency")
    _near(KERNEL, timers.device_time(device, work.kernel, PLAN).seconds, "device_time")
    submitted = median(timers.host_time(device, work.kernel, PLAN))
    assert submitted < 1e-3, f"host_time of an asynchronous kernel reads {submitted} s"


def check_side_stream(device: Device, work: Work, timers: Timers) -> None:
    """Kernels on a side stream are all inside latency and device time."""
    with device.observe() as usage:
        work.side()
        device.synchronize()
    _near(SIDE_KERNELS * KERNEL, timers.latency(device, work.side, PLAN), "latency, side stream")
    events = timers.device_time(device, work.side, PLAN, usage.streams).seconds
    _near(SIDE_KERNELS * KERNEL, events, "device_time, side stream")


def check_earlier_work(device: Device, work: Work, timers: Timers) -> None:
    """Work that was queued before a sample is not inside it."""
    _near(KERNEL, timers.latency(device, work.kernel, PLAN, work.earlier), "latency after earlier work")
    events = timers.device_time(device, work.kernel, PLAN, (), work.earlier).seconds
    _near(KERNEL, events, "device_time after earlier work")


def _near(expected: float, samples: Sequence[float], what: str) -> None:
    assert len(samples) == PLAN.low, f"{what}: {len(samples)} samples, not {PLAN.low}"
    found = median(samples)
    assert abs(found - expected) <= TOLERANCE * expected, f"{what} reads {found} s, not {expected} s"
