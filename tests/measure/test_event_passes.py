"""Device time as a pass of a whole measurement: side streams, escapes, events shared with long calls."""

from __future__ import annotations

from typing import Any

import pytest

from .fakes import MS, FakeDevice
from .virtual_runs import run, spec_of


def test_a_side_stream_is_observed_once_and_joined_in_every_pair(tmp_path: Any) -> None:
    device = FakeDevice()

    def function() -> None:
        device.kernel(5 * MS)
        for _ in range(5):
            device.kernel(5 * MS, device.side)

    record = run(spec_of(function), device, tmp_path).record
    assert record.times["device_time"] == pytest.approx([25e-3] * len(record.times["device_time"]), rel=0.01)
    assert record.times["latency"] == pytest.approx([25e-3] * len(record.times["latency"]), rel=0.01)
    assert any("side streams" in note for note in record.notes)


@pytest.mark.parametrize("milliseconds", [5, 500])
def test_stream_escape_gives_a_reason_and_no_number(tmp_path: Any, milliseconds: int) -> None:
    device = FakeDevice()

    def function() -> None:
        device.kernel(milliseconds * MS, device.hidden)

    record = run(spec_of(function), device, tmp_path).record
    assert record.status == "ok"
    assert "stream escape" in record.missing["device_time"]
    assert "device_time" not in record.times
    assert record.times["latency"][0] == pytest.approx(milliseconds / 1e3, rel=0.01)


def test_an_escape_of_a_long_call_is_looked_for_once(tmp_path: Any) -> None:
    device = FakeDevice()
    calls = [0]

    def function() -> None:
        calls[0] += 1
        device.kernel(10_000 * MS, device.hidden)

    run(spec_of(function), device, tmp_path)
    # first, observed, 2 warm-up, memory, 5 samples, and the tries of one look
    assert 2 <= calls[0] - (1 + 1 + 2 + 1 + 5) <= 3


@pytest.mark.parametrize("milliseconds", [5, 500])
def test_side_streams_that_cannot_be_tied_give_a_reason(tmp_path: Any, milliseconds: int) -> None:
    device = FakeDevice()
    device.sides_refused = "a side stream cannot be tied"
    record = run(spec_of(lambda: device.kernel(milliseconds * MS, device.side)), device, tmp_path).record
    assert record.status == "ok"
    assert record.missing["device_time"] == "a side stream cannot be tied"
    assert len(record.times["latency"]) >= 5


@pytest.mark.parametrize("milliseconds", [5, 100])
def test_bad_event_times_are_noted_and_kept(tmp_path: Any, milliseconds: int) -> None:
    device = FakeDevice()
    device.event_faults = {1: float("nan"), 2: -0.25}
    record = run(spec_of(lambda: device.kernel(milliseconds * MS)), device, tmp_path).record
    times = record.to_dict()["times"]["device_time"]
    assert times[1] is None and times[2] == -0.25
    assert any("2 of" in note and "event times" in note for note in record.notes)


def test_no_events_is_missing_with_the_reason_of_the_device(tmp_path: Any) -> None:
    device = FakeDevice(missing={"device_time": "the fake has no events today"})
    for milliseconds in (5, 500):
        call = lambda time=milliseconds: device.kernel(time * MS)  # noqa: E731
        record = run(spec_of(call), device, tmp_path).record
        assert record.missing["device_time"] == "the fake has no events today"


def test_long_calls_share_their_events_with_latency(tmp_path: Any) -> None:
    device = FakeDevice()
    record = run(spec_of(lambda: device.kernel(1000 * MS)), device, tmp_path).record
    assert len(record.times["device_time"]) == len(record.times["latency"]) == 5
    assert record.times["device_time"] == pytest.approx([1.0] * 5, rel=1e-4)
    assert record.batch["device_time"] == 1
    assert any("same calls" in note for note in record.notes)


def test_shared_events_are_read_in_blocks_whatever_their_number(tmp_path: Any) -> None:
    device = FakeDevice()
    record = run(spec_of(lambda: device.kernel(100 * MS)), device, tmp_path, repeat=47).record
    assert len(record.times["latency"]) == len(record.times["device_time"]) == 47


def test_short_calls_have_a_pass_of_their_own(tmp_path: Any) -> None:
    device = FakeDevice()
    record = run(spec_of(lambda: device.kernel(10 * MS)), device, tmp_path).record
    assert not any("same calls" in note for note in record.notes)
    assert len(record.times["latency"]) == 60
    assert len(record.times["device_time"]) == pytest.approx(30, abs=1)
