"""The timer contract must fail for broken timers: a guard that cannot fail guards nothing.

The variants are made from the shipped source, with one line changed, so that they stay what is shipped.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from dcu_asv_ext.measure import device_time, sampling

from .fakes import MS, FakeDevice, FakeTimer
from .timer_contract import Timers, Work, check_earlier_work, check_kernel, check_side_stream, check_timers


def work_on(device: FakeDevice) -> Work:
    return Work(
        kernel=lambda: device.kernel(5 * MS),
        side=lambda: [device.kernel(5 * MS, device.side) for _ in range(5)] and None,
        earlier=lambda: device.kernel(20 * MS),
    )


def broken(function: Callable[..., Any], line: str, replacement: str, occurrence: int) -> Callable[..., Any]:
    """The shipped function with the given occurrence of a line replaced."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    places = [number for number, text in enumerate(lines) if text.strip() == line]
    assert len(places) > occurrence, f"{function.__name__} has no line {line!r} number {occurrence}"
    text = lines[places[occurrence]]
    lines[places[occurrence]] = text.replace(line, replacement)
    module = inspect.getmodule(function)
    assert module is not None
    names = dict(vars(module))
    exec(compile("from __future__ import annotations\n" + "\n".join(lines), "<broken>", "exec"), names)
    return names[function.__name__]  # type: ignore[no-any-return]


def test_the_shipped_timers_fulfil_the_contract() -> None:
    device = FakeDevice()
    check_timers(device, work_on(device))


def test_an_unchanged_copy_of_the_source_fulfils_it_too() -> None:
    """The machinery that breaks timers breaks nothing by itself."""
    copy = broken(sampling.sample_synchronized, "synchronize()", "synchronize()", 0)
    events = broken(device_time.time_events, "timer.wait()", "timer.wait()", 0)
    device = FakeDevice()
    check_timers(device, work_on(device), Timers(latency=copy, device_time=events))


def test_no_synchronise_before_the_start() -> None:
    late = broken(sampling.sample_synchronized, "synchronize()", "pass", 0)
    device = FakeDevice()
    with pytest.raises(AssertionError, match=r"latency after earlier work reads 0\.02"):
        check_earlier_work(device, work_on(device), Timers(latency=late))


def test_no_synchronise_before_the_stop() -> None:
    early = broken(sampling.sample_synchronized, "synchronize()", "pass", 1)
    device = FakeDevice()
    with pytest.raises(AssertionError, match="latency reads"):
        check_kernel(device, work_on(device), Timers(latency=early))


class CurrentStreamOnly(FakeDevice):
    """Its synchronise waits for the current stream alone."""

    def synchronize(self) -> None:
        self.virtual.current_stream().synchronize()


def test_synchronise_of_the_current_stream_only() -> None:
    device = CurrentStreamOnly()
    check_kernel(device, work_on(device), Timers())
    with pytest.raises(AssertionError, match="latency, side stream reads"):
        check_side_stream(device, work_on(device), Timers())


class OtherStreamTimer(FakeTimer):
    def start(self) -> None:
        with self.owner.virtual.stream(self.owner.hidden):
            super().start()

    def stop(self) -> None:
        with self.owner.virtual.stream(self.owner.hidden):
            super().stop()


class OtherStreamEvents(FakeDevice):
    """Its events go to another stream than the work."""

    def event_timer(self, pairs: int, side_streams: Any = ()) -> FakeTimer:
        return OtherStreamTimer(self, pairs, list(side_streams))


def without_escape_check() -> Callable[..., Any]:
    line = "if escapes(device, call, streams, before):"
    return broken(device_time.time_events, line, "if False:", 0)


def test_events_on_another_stream_than_the_work() -> None:
    device = OtherStreamEvents()
    with pytest.raises(AssertionError, match="device_time reads"):
        check_kernel(device, work_on(device), Timers(device_time=without_escape_check()))


def test_events_on_another_stream_are_found_by_the_escape_check() -> None:
    """The shipped pass gives no number at all for such events."""
    device = OtherStreamEvents()
    with pytest.raises(device_time.NotMeasured, match="stream escape"):
        check_kernel(device, work_on(device), Timers())


def test_side_streams_not_forked_and_joined() -> None:
    class Unjoined(FakeDevice):
        def event_timer(self, pairs: int, side_streams: Any = ()) -> FakeTimer:
            return FakeTimer(self, pairs, [])

    device = Unjoined()
    check_kernel(device, work_on(device), Timers())
    with pytest.raises(AssertionError, match="device_time, side stream reads"):
        check_side_stream(device, work_on(device), Timers(device_time=without_escape_check()))


def test_submission_that_waits_for_the_device() -> None:
    waiting = broken(sampling.sample_submission, "call()", "call(); synchronize()", 0)
    device = FakeDevice()
    with pytest.raises(AssertionError, match="host_time of an asynchronous kernel"):
        check_kernel(device, work_on(device), Timers(host_time=waiting))


def test_a_block_that_is_read_without_waiting() -> None:
    unread = broken(device_time.time_events, "timer.wait()", "pass", 0)
    device = FakeDevice()
    with pytest.raises(RuntimeError, match="device not ready"):
        check_kernel(device, work_on(device), Timers(device_time=unread))
