"""The pass that names what is alive at the peak: when it looks, and what it puts into the record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dcu_asv_ext.devices.holders import Holder, Holders

from .fakes import MS, FakeDevice
from .virtual_runs import run, spec_of

FOUND = Holders(
    bytes=120,
    before_call=20,
    holders=[Holder(90, 2, "bench.py:7 in step", "aten::mm float32[4, 4]")],
    rest=10,
    unexplained=4,
    method="made up",
    earlier=[Holder(20, 1, "alive before the call", "float32[5]")],
)


class Watched(FakeDevice):
    def alive_at_peak(self, call: Callable[[], object]) -> Holders:
        self.log.append("alive")
        call()
        self.log.append("alive end")
        return FOUND


def test_the_record_has_the_holders_and_the_pass_follows_the_memory_pass(tmp_path: Any) -> None:
    device = Watched()
    spec = spec_of(lambda: (device.kernel(5 * MS), device.log.append("call"))[0])
    record = run(spec, device, tmp_path, repeat=1).record
    assert record.status == "ok"
    assert record.memory["alive"] == {
        "bytes": 120,
        "before_call": 20,
        "method": "made up",
        "holders": [
            {"bytes": 90, "count": 2, "where": "bench.py:7 in step", "what": "aten::mm float32[4, 4]"}
        ],
        "rest": 10,
        "unexplained": 4,
        "earlier": [{"bytes": 20, "count": 1, "where": "alive before the call", "what": "float32[5]"}],
    }
    begin, end = device.log.index("alive"), device.log.index("alive end")
    assert device.log[begin:end].count("call") == 1
    assert device.log.index("peak end") < begin and "call" in device.log[end:]


def test_a_reset_comes_before_each_call_also_of_a_device_that_tries_two_ways(tmp_path: Any) -> None:
    class Twice(Watched):
        def alive_at_peak(self, call: Callable[[], object]) -> Holders:
            call()
            return super().alive_at_peak(call)

    device = Twice()
    log: list[str] = []
    spec = spec_of(lambda: (device.kernel(MS), log.append("call"))[0], reset=lambda: log.append("reset"))
    assert run(spec, device, tmp_path, repeat=1).record.status == "ok"
    assert log == ["reset", "call"] * (len(log) // 2)


@pytest.mark.parametrize("asked", [{"quick": True}, {"metrics": ("latency",)}])
def test_nobody_is_asked_in_a_quick_run_or_where_no_memory_metric_is_wanted(
    asked: dict[str, Any], tmp_path: Any
) -> None:
    device = Watched()
    metrics = {"metrics": asked["metrics"]} if "metrics" in asked else {}
    spec = spec_of(lambda: device.kernel(MS), **metrics)
    record = run(spec, device, tmp_path, repeat=1, quick="quick" in asked).record
    assert "alive" not in record.memory and "alive" not in device.log


def test_a_call_that_takes_seconds_is_not_made_once_more(tmp_path: Any) -> None:
    device = Watched()
    record = run(spec_of(lambda: device.kernel(3000 * MS)), device, tmp_path, repeat=1).record
    assert "one call takes 3.0 s" in record.memory["missing"]["alive"] and "alive" not in device.log


def test_a_device_that_cannot_tell_gives_its_reason(tmp_path: Any) -> None:
    record = run(spec_of(lambda: None), FakeDevice(), tmp_path, repeat=1).record
    assert record.status == "ok" and "alive" not in record.memory
    assert record.memory["missing"]["alive"] == "nothing tells which allocations are alive on virtual:0"


def test_a_fault_names_the_pass(tmp_path: Any) -> None:
    class Faulty(FakeDevice):
        def alive_at_peak(self, call: Callable[[], object]) -> Holders:
            raise RuntimeError("boom")

    record = run(spec_of(lambda: None), Faulty(), tmp_path, repeat=1).record
    assert record.status == "failed in the pass that looks who is alive at the peak: RuntimeError: boom"


def test_on_the_cpu_the_line_of_the_measured_function_is_named(take: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("dcu_asv_ext.devices.cpu_holders.compiles", lambda: False)
    torch = pytest.importorskip("torch")

    def bench() -> None:
        torch.empty(64 << 20, dtype=torch.uint8)

    record = take(bench, quick=False).record
    (holder,) = record.memory["alive"]["holders"]
    assert holder["bytes"] == 64 << 20 and holder["where"].endswith(
        f"measure/test_alive.py:{bench.__code__.co_firstlineno + 1} in bench"
    )
    assert record.memory["alive"]["bytes"] == record.memory["peak_allocated"]
