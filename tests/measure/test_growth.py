"""The growth pass, on a virtual allocator: exact."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest

from dcu_asv_ext.devices import Device, select
from dcu_asv_ext.devices.holders import Holder, Holders
from dcu_asv_ext.devices.levels import MemoryLevels, counted_levels
from dcu_asv_ext.evidence.record import Measurement
from dcu_asv_ext.evidence.summary import outcome
from dcu_asv_ext.measure.arguments import CallArguments
from dcu_asv_ext.measure.growth import memory_growth
from dcu_asv_ext.measure.passes import Run
from dcu_asv_ext.measure.request import Options

from .fakes import MS, FakeDevice
from .virtual_runs import run, spec_of

METRICS = ("latency", "memory_growth")
MIB = 1 << 20


class Counted(FakeDevice):
    """Its allocator's counters are read after each call. kept: what a look at the holders would find.
    most: bytes that calls may keep. asked: numbers of calls.
    """

    def __init__(self, most: int = 1 << 40) -> None:
        super().__init__()
        self.most = most
        self.kept: list[Holder] = []
        self.asked: list[int] = []

    def memory_levels(self, call: Callable[[], object], calls: int) -> MemoryLevels:
        self.asked.append(calls)
        return counted_levels(call, calls, self.most, self.start_peaks, self.synchronize)

    def alive_at_peak(self, call: Callable[[], object]) -> Holders:
        call()
        return Holders(0, 0, [], 0, 0, "", kept=self.kept)


def grown(device: Device, call: Callable[[], object], quick: bool = False, **options: Any) -> Measurement:
    """The record after this pass alone."""
    spec = spec_of(call, metrics=("memory_growth",), **options)
    record = Measurement("suite.bench", {}, metrics=["memory_growth"])
    memory_growth(Run(spec, device, Options(quick=quick), record, [CallArguments()]))
    return record


def test_a_leak_is_named_with_its_slope_and_what_grew() -> None:
    device = Counted()
    device.kept = [
        Holder(90_000, 1, "bench.py:3 in f", "aten::empty"),
        Holder(20 * 1024, 20, "bench.py:7 in f", "aten::zeros float32[256]"),
    ]
    rng = random.Random(3)
    ring: list[Any] = [None] * 8

    def leaking() -> None:
        device.kernel(MS // 10)
        device.virtual.malloc(1024)
        place = rng.randrange(8)
        if ring[place] is not None:
            device.virtual.free(ring[place])
        ring[place] = device.virtual.malloc(rng.randrange(1, 64 << 10))

    record = grown(device, leaking)
    growth = record.memory["growth"]
    assert record.status == "ok" and growth["leak"] and growth["reason"] == ""
    assert (growth["calls"], growth["series"]) == (1000, "allocated")
    assert record.memory["memory_growth"] == growth["slope"] == pytest.approx(1024, rel=0.1)
    assert growth["ci_low"] <= growth["slope"] <= growth["ci_high"] and growth["p_value"] <= 0.001
    # What grows with every call comes before the larger thing that survived once.
    assert growth["grew"] == [
        {"bytes": 1024, "count": 1.0, "where": "bench.py:7 in f", "what": "aten::zeros float32[256]"},
        {"bytes": 4500, "count": 0.05, "where": "bench.py:3 in f", "what": "aten::empty"},
    ]
    assert outcome(record.to_dict(), "memory_growth").samples == (pytest.approx(growth["slope"]),)


def test_memory_that_is_reserved_and_not_allocated_is_no_leak() -> None:
    device = Counted()

    memory, streams = device.virtual.memory, itertools.count(1)

    def fragmenting() -> None:
        # A pool a stream: each new one takes a segment of its own from the device.
        memory.free(memory.malloc(1024, next(streams)))

    record = grown(device, fragmenting)
    growth = record.memory["growth"]
    assert record.memory["memory_growth"] == 0.0 and not growth["leak"] and growth["grew"] == []
    assert growth["reserved_slope"] == 2 * MIB and growth["slope"] == growth["peak_slope"] == 0.0
    # A measured zero, not a missing one.
    assert outcome(record.to_dict(), "memory_growth").state == "ok" and not record.missing


def test_a_peak_that_rises_from_call_to_call_is_growth_even_though_nothing_is_kept() -> None:
    device = Counted()
    calls = [0]

    def widening() -> None:
        calls[0] += 1
        device.virtual.free(device.virtual.malloc(512 * calls[0]))

    growth = grown(device, widening).memory["growth"]
    assert growth["leak"] and growth["series"] == "peak" and growth["slope"] == 512
    assert "keep nothing" in growth["missing"]["grew"]


def test_a_cache_that_fills_is_no_leak() -> None:
    device = Counted()
    cache: list[Any] = []

    def caching() -> None:
        if len(cache) < 400:
            cache.append(device.virtual.malloc(4096))

    record = grown(device, caching)
    assert record.memory["memory_growth"] == 0.0 and record.memory["growth"]["reason"]


def test_cyclic_garbage_is_no_leak_and_is_told() -> None:
    device = Counted()

    class Cyclic:
        def __init__(self) -> None:
            self.itself, self.block = self, device.virtual.malloc(1000)

        def __del__(self) -> None:
            device.virtual.free(self.block)

    record = grown(device, lambda: Cyclic() and None)
    assert record.memory["memory_growth"] == 0.0 and record.memory["growth"]["collected"] == 1024


def test_a_large_leak_ends_the_calls_early_and_is_named() -> None:
    device = Counted(most=100 * MIB)
    record = grown(device, lambda: device.virtual.malloc(3 * MIB))
    assert record.memory["memory_growth"] == 3 * MIB and record.memory["growth"]["calls"] == 34


def test_a_leak_too_large_for_a_trend_is_missing_and_says_how_much_was_kept() -> None:
    device = Counted(most=100 * MIB)
    record = grown(device, lambda: device.virtual.malloc(20 * MIB))
    assert "memory_growth" not in record.memory and "growth" not in record.memory
    assert "6 calls kept" in record.missing["memory_growth"]
    assert outcome(record.to_dict(), "memory_growth").state == "missing"


def test_as_many_calls_as_the_budget_allows() -> None:
    device = Counted()
    grown(device, lambda: device.kernel(20 * MS))
    assert 145 <= device.asked[-1] <= 150
    device = Counted()
    grown(device, lambda: device.kernel(200 * MS))
    assert device.asked[-1] == 50


def test_calls_that_take_too_long_are_missing_with_the_reason() -> None:
    device = Counted()
    record = grown(device, lambda: device.kernel(400 * MS))
    assert "50 calls, of 0.4 s each when watched, take too long" in record.missing["memory_growth"]
    assert device.asked == [3, 13]


def test_calls_that_are_known_to_take_long_are_not_even_rehearsed(tmp_path: Any) -> None:
    device = Counted()
    spec = spec_of(lambda: device.kernel(400 * MS), metrics=METRICS)
    record = run(spec, device, tmp_path, repeat=1).record
    assert "take too long" in record.missing["memory_growth"] and device.asked == []


def test_fewer_calls_than_a_trend_needs() -> None:
    class Short(Counted):
        def memory_levels(self, call: Callable[[], object], calls: int) -> MemoryLevels:
            return super().memory_levels(call, min(calls, 30))

    record = grown(Short(), lambda: None)
    assert "only 30 calls can be watched at once" in record.missing["memory_growth"]


def test_a_reset_runs_before_each_call() -> None:
    device = Counted()
    log: list[str] = []

    def call() -> None:
        device.kernel(50 * MS)
        log.append("call")

    def reset() -> None:
        log.append("reset")

    grown(device, call, reset=reset)
    assert log == ["reset", "call"] * (len(log) // 2)


def test_a_device_that_cannot_tell_gives_its_reason_and_a_quick_run_its_own() -> None:
    record = grown(FakeDevice(), lambda: None)
    assert record.missing["memory_growth"] == "nothing tells what is allocated on virtual:0 after each call"
    assert "quick run" in grown(Counted(), lambda: None, quick=True).missing["memory_growth"]


def test_it_is_the_last_pass_of_a_measurement(tmp_path: Any) -> None:
    device = Counted()
    spec = spec_of(lambda: (device.kernel(50 * MS), device.virtual.malloc(512))[0], metrics=METRICS)
    record = run(spec, device, tmp_path, repeat=1).record
    assert record.status == "ok" and record.memory["memory_growth"] == 512
    assert list(record.spans)[-1] == "growth"


def test_without_the_metric_nothing_is_called(tmp_path: Any) -> None:
    device = Counted()
    run(spec_of(lambda: device.kernel(MS)), device, tmp_path, repeat=1)
    assert not device.asked


def test_on_the_cpu_a_leak_of_a_kibibyte_is_named_with_its_line(monkeypatch: Any) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("dcu_asv_ext.devices.cpu_holders.compiles", lambda: False)
    monkeypatch.setattr("dcu_asv_ext.measure.growth.BUDGET", 600.0)
    kept: list[Any] = []
    noise: list[Any] = [None] * 8
    rng = random.Random(5)

    def leaking() -> None:
        kept.append(torch.empty(1024, dtype=torch.uint8))
        noise[rng.randrange(8)] = torch.empty(rng.randrange(32 << 10), dtype=torch.uint8)

    record = grown(select("cpu"), leaking)
    growth = record.memory["growth"]
    assert growth["leak"] and growth["calls"] == 1000
    assert record.memory["memory_growth"] == pytest.approx(1024, rel=0.1)
    first = growth["grew"][0]
    assert (first["bytes"], first["count"], first["what"]) == (1024, 1.0, "aten::empty uint8[1024]")
    assert first["where"].endswith(f"measure/test_growth.py:{leaking.__code__.co_firstlineno + 1} in leaking")
