from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dcu_asv_ext.devices import NotMeasured
from dcu_asv_ext.devices.torch_accelerator import TorchAccelerator

from .fakes import FakeCuda, torch_21


def torch_26(backend: FakeCuda | None = None, counters_in: str = "nowhere") -> Any:
    """torch with an "xpu": its accelerator module has the basics, and memory counters where told."""
    backend = FakeCuda() if backend is None else backend
    torch = torch_21(backend, "2.6.0")
    basics = ("current_stream", "device_count", "synchronize")
    torch.accelerator = SimpleNamespace(
        set_device_index=backend.set_device, **{name: getattr(backend, name) for name in basics}
    )
    torch.Event = lambda device, enable_timing=False: backend.Event(enable_timing)
    torch.xpu = SimpleNamespace()
    if counters_in != "nowhere":
        for name in dir(backend):
            if "memory" in name:
                setattr(getattr(torch, counters_in), name, getattr(backend, name))
    return torch


def device(torch: Any, tmp_path: Path) -> TorchAccelerator:
    return TorchAccelerator(torch, "xpu", 1, tmp_path)


def test_basics_of_torch_26(tmp_path: Path) -> None:
    torch = torch_26()
    made = device(torch, tmp_path)
    made.synchronize()
    assert (made.kind, made.name, made.simulated) == ("xpu", "xpu:1", False)
    assert torch.cuda.log == [("set_device", 1), ("synchronize", 1)]
    timer = made.event_timer(1)
    timer.start()
    torch.cuda.clock[0] += 2.0
    timer.stop()
    assert timer.read() == [0.002]
    assert None not in made.describe().values()
    made.seed(1)
    assert made.memory_summary() == ""


def test_without_counters_the_peaks_are_missing(tmp_path: Path) -> None:
    made = device(torch_26(), tmp_path)
    calls: list[int] = []
    peaks = made.peak_memory(lambda: calls.append(1))
    assert peaks.peak_allocated is None and calls == [1]
    assert peaks.missing["peak_allocated"] == "this torch has no memory_allocated for xpu:1"
    assert made.metric_support()["peak_card"] == "this torch does not tell the memory of xpu:1"


@pytest.mark.parametrize("place", ["accelerator", "xpu"])
def test_counters_of_torch_or_of_the_backend(tmp_path: Path, place: str) -> None:
    torch = torch_26(counters_in=place)
    peaks = device(torch, tmp_path).peak_memory(lambda: torch.cuda.allocate(64))
    assert (peaks.baseline_allocated, peaks.peak_allocated) == (0, 64)


def test_counters_that_raise(tmp_path: Path) -> None:
    torch = torch_26(counters_in="accelerator")

    def broken(index: int) -> int:
        raise RuntimeError("Allocator for xpu is not a DeviceAllocator.\nmore")

    torch.accelerator.memory_allocated = broken
    reason = device(torch, tmp_path).metric_support()["peak_reserved"]
    assert reason == "the allocator of xpu:1 keeps no counters (Allocator for xpu is not a DeviceAllocator.)"


def test_events_that_construct_but_cannot_record(tmp_path: Path) -> None:
    torch = torch_26()

    class Broken:
        def record(self, stream: Any) -> None:
            raise RuntimeError("Backend doesn't support events.")

    made: list[Broken] = []

    def construct(device: str, enable_timing: bool = False) -> Broken:
        made.append(Broken())
        return made[-1]

    torch.Event = construct
    xpu = device(torch, tmp_path)
    for _ in range(2):
        with pytest.raises(NotMeasured, match=r"xpu:1 cannot time events \(Backend doesn't support events"):
            xpu.event_timer(5)
    assert len(made) == 2, "probed once"
