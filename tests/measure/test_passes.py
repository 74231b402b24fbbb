"""The passes in their order, on virtual time, counted call by call."""

from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.measure import passes
from dcu_asv_ext.measure.passes import WATCHED_CALLS

from .fakes import LAUNCH, MS, FakeDevice
from .virtual_runs import ALL, run, spec_of


def test_cold_is_the_first_call_alone(tmp_path: Any) -> None:
    device = FakeDevice()
    calls = [0]

    def function() -> None:
        calls[0] += 1
        device.kernel(500 * MS if calls[0] == 1 else 5 * MS)

    record = run(spec_of(function), device, tmp_path).record
    assert record.status == "ok"
    assert record.times["cold"] == [pytest.approx(0.5 + LAUNCH / 1e9)]
    assert max(record.times["warm_up"]) < 0.006
    assert max(value or 0 for value in record.times["latency"]) < 0.006


def test_cold_excludes_what_setup_left_running(tmp_path: Any) -> None:
    device = FakeDevice()

    def setup() -> tuple[()]:
        device.kernel(700 * MS)
        return ()

    record = run(spec_of(lambda: device.kernel(5 * MS), setup=setup), device, tmp_path).record
    assert record.times["cold"][0] == pytest.approx(0.005, rel=0.01)


def test_the_memory_pass_follows_the_warm_up_and_precedes_everything_kept(tmp_path: Any) -> None:
    device = FakeDevice()
    memory = device.virtual.memory

    class Output:
        def __init__(self) -> None:
            self.block = device.virtual.malloc(1 << 20)

        def __del__(self) -> None:
            device.virtual.free(self.block)

    def function(log: list[str]) -> Output:
        log.append("call")
        device.kernel(20 * MS)
        return Output()

    # What an earlier, larger call left in the allocator's cache stays there.
    device.virtual.free(device.virtual.malloc(64 << 20))
    reserved = memory.reserved
    assert reserved >= 64 << 20
    spec = spec_of(function, setup=lambda: (device.log,), check=lambda output: True)
    record = run(spec, device, tmp_path).record
    assert record.status == "ok"
    assert record.memory["baseline_allocated"] == 0
    assert record.memory["peak_allocated"] == 1 << 20
    assert record.memory["baseline_reserved"] == record.memory["peak_reserved"] == memory.reserved >= reserved
    before = device.log[: device.log.index("peak")]
    assert before.count("call") == 1 + WATCHED_CALLS + record.warm_up["count"]
    peak = device.log[device.log.index("peak") : device.log.index("peak end")]
    assert peak.count("call") == 1


def test_the_batch_is_a_power_of_two_and_kept_with_the_times(tmp_path: Any) -> None:
    device = FakeDevice()
    record = run(spec_of(lambda: device.kernel(100_000)), device, tmp_path).record
    assert record.batch["latency"] == 32
    assert record.batch["device_time"] == 32
    assert record.times["latency"][0] == pytest.approx(100e-6, rel=0.01)
    assert record.times["device_time"][0] == pytest.approx(100e-6, rel=0.01)


def test_the_batch_of_earlier_evidence_is_used(tmp_path: Any) -> None:
    device = FakeDevice()
    record = run(spec_of(lambda: device.kernel(100_000)), device, tmp_path, batch={"latency": 512}).record
    assert record.batch["latency"] == 512
    faster = FakeDevice()
    record = run(spec_of(lambda: faster.kernel(10_000)), faster, tmp_path, batch={"latency": 512}).record
    assert record.batch["latency"] == 512


def test_a_batch_that_became_far_too_slow_is_chosen_anew_and_noted(tmp_path: Any) -> None:
    device = FakeDevice()
    record = run(spec_of(lambda: device.kernel(100 * MS)), device, tmp_path, batch={"latency": 512}).record
    assert record.batch["latency"] == 1
    assert any("batch size chosen anew" in note for note in record.notes)


def test_a_reset_means_one_call_a_sample_and_lies_outside_it(tmp_path: Any) -> None:
    device = FakeDevice()
    log: list[str] = []

    def function() -> None:
        log.append("call")
        device.kernel(100_000)

    def reset() -> None:
        log.append("reset")
        device.kernel(2 * MS)

    spec = spec_of(function, reset=reset, metrics=(*ALL, "host_time"))
    record = run(spec, device, tmp_path, batch={"latency": 64}).record
    assert record.status == "ok"
    assert record.batch == {"latency": 1, "device_time": 1, "host_time": 1}
    assert record.boundary["outside"] == ["setup", "reset"]
    for source in ("cold", "warm_up", "latency"):
        assert record.times[source] == pytest.approx([105e-6] * len(record.times[source]), rel=0.01)
    assert record.times["device_time"] == pytest.approx([100e-6] * len(record.times["device_time"]), rel=0.06)
    assert log == ["reset", "call"] * (len(log) // 2)


@pytest.mark.parametrize("milliseconds", [0.05, 5, 100])
def test_host_time_is_a_pass_of_its_own_and_below_latency(tmp_path: Any, milliseconds: float) -> None:
    device = FakeDevice()
    spec = spec_of(lambda: device.kernel(round(milliseconds * MS)), metrics=(*ALL, "host_time"))
    record = run(spec, device, tmp_path).record
    host, latency = record.times["host_time"], record.times["latency"]
    assert host == pytest.approx([LAUNCH / 1e9] * len(host))
    assert max(host) < 0.2 * min(latency)
    assert "host_time" not in run(spec_of(spec.function), device, tmp_path).record.times


@pytest.mark.parametrize(("repeat", "samples"), [(3, 3), ((6, 8, 100.0), 8), ((6, 8, 1e-6), 6)])
def test_repeat_is_obeyed_in_every_pass(tmp_path: Any, repeat: Any, samples: int) -> None:
    device = FakeDevice()
    spec = spec_of(lambda: device.kernel(5 * MS), metrics=(*ALL, "host_time"))
    record = run(spec, device, tmp_path, repeat=repeat).record
    assert {
        name: len(record.times[name]) for name in ("latency", "device_time", "host_time")
    } == dict.fromkeys(("latency", "device_time", "host_time"), samples)


def test_quick_makes_one_sample_a_pass(tmp_path: Any) -> None:
    device = FakeDevice()
    calls = [0]

    def function() -> None:
        calls[0] += 1
        device.kernel(5 * MS)

    spec = spec_of(function, metrics=(*ALL, "host_time"))
    record = run(spec, device, tmp_path, repeat=1, quick=True).record
    assert {name: len(times) for name, times in record.times.items()} == dict.fromkeys(
        ("cold", "warm_up", "latency", "device_time", "host_time"), 1
    )
    assert not any("not stable" in note for note in record.notes)
    assert record.batch["latency"] == 1
    # first, observed, warm-up, memory, latency, twice for the escape check, device time, host time
    assert calls[0] == 9


def test_quick_binds_no_later_run_to_a_batch_size(tmp_path: Any) -> None:
    device = FakeDevice()
    spec = spec_of(lambda: device.kernel(round(0.02 * MS)))
    record = run(spec, device, tmp_path, repeat=1, quick=True).record
    assert record.batch["latency"] == 1
    assert record.switches["quick"] is True
    kept = run(spec, device, tmp_path, repeat=1, quick=True, batch={"latency": 64}).record
    assert kept.batch["latency"] == 64


@pytest.mark.parametrize("milliseconds", [0.02, 1, 10])
def test_a_short_call_samples_for_about_a_second(tmp_path: Any, milliseconds: float) -> None:
    device = FakeDevice()
    begin = device.clock()
    record = run(spec_of(lambda: device.kernel(round(milliseconds * MS))), device, tmp_path).record
    batch = record.batch["latency"]
    sampled = sum(value or 0 for name in ("latency", "device_time") for value in record.times[name]) * batch
    assert 0.7 <= sampled <= 1.1
    assert device.clock() - begin <= 1.6


def test_a_call_of_ten_seconds_finishes_a_round_in_two_minutes(tmp_path: Any) -> None:
    device = FakeDevice()
    calls = [0]

    def function() -> float:
        calls[0] += 1
        device.kernel(10_000 * MS - LAUNCH)
        return 1.0

    spec = spec_of(function, reference=lambda: 1.0, metrics=(*ALL, "max_error"))
    begin = device.clock()
    record = run(spec, device, tmp_path).record
    assert record.status == "ok"
    assert len(record.times["latency"]) == 5
    # first, observed, 2 warm-up, memory, escape check, 5 samples with events, 1 judged whole
    assert calls[0] == 12
    assert device.clock() - begin == pytest.approx(120.0)


def test_at_least_five_samples_by_default_however_long(tmp_path: Any) -> None:
    device = FakeDevice()
    record = run(spec_of(lambda: device.kernel(60_000 * MS)), device, tmp_path).record
    assert len(record.times["latency"]) == len(record.times["device_time"]) == 5


def test_other_devices_that_the_call_uses_are_synchronised_from_then_on(tmp_path: Any) -> None:
    device = FakeDevice()

    def function() -> None:
        device.kernel(5 * MS)
        if device.usage is not None:
            device.usage.devices.add(3)

    run(spec_of(function), device, tmp_path)
    assert device.used_indices == {3}


def test_emptying_the_cache_inside_the_call_is_noted_with_what_it_costs(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    device = FakeDevice()

    def emptied() -> None:
        device.host(3 * MS)

    monkeypatch.setattr(torch.cuda, "empty_cache", emptied)

    def function() -> None:
        device.kernel(5 * MS)
        torch.cuda.empty_cache()
        torch.cuda.empty_cache()

    record = run(spec_of(function), device, tmp_path).record
    told = f"({2 * WATCHED_CALLS} calls of empty_cache were watched, 6 ms of the last call)"
    assert any(told in note for note in record.notes)
    # The kernel that was still running is not what emptying cost.
    assert record.memory["empty_cache"] == {"calls": 2, "seconds": pytest.approx(0.006)}
    assert torch.cuda.empty_cache is emptied
    quiet = run(spec_of(lambda: device.kernel(5 * MS)), device, tmp_path).record
    assert not any("empty_cache" in note for note in quiet.notes) and "empty_cache" not in quiet.memory


def test_never_stable_is_noted(tmp_path: Any) -> None:
    device = FakeDevice()
    length = [20.0]

    def function() -> None:
        length[0] *= 1.03
        device.kernel(round(length[0] * MS))

    record = run(spec_of(function), device, tmp_path, repeat=5).record
    assert record.warm_up["stable"] is False
    assert any("not stable after" in note for note in record.notes)
    assert record.warm_up["rule"] == passes.Rule.for_device(device, False).as_text()
