from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dcu_asv_ext.devices import NotMeasured
from dcu_asv_ext.devices.torch_cuda import TorchCuda

from .fakes import FakeCuda, torch_21


def device(tmp_path: Path, torch: Any, index: int = 0) -> TorchCuda:
    return TorchCuda(torch, index, tmp_path)


@pytest.mark.parametrize(
    ("version", "hip", "arch", "kind"),
    [
        ("2.8.0+cu128", None, None, "cuda"),
        ("2.4.0+rocm6.1", "6.1", "gfx90a", "hip"),
        ("2.4.0+rocm6.1", "6.1", "gfx906:sramecc+", "hip"),
        ("2.4.0", "6.1", "gfx936:sramecc+:xnack-", "dcu"),
        ("2.5.1+das.opt1.dtk25042", "6.1", "gfx906", "dcu"),
    ],
)
def test_kinds(tmp_path: Path, version: str, hip: str | None, arch: str | None, kind: str) -> None:
    properties = {} if arch is None else {"gcnArchName": arch}
    made = device(tmp_path, torch_21(FakeCuda(**properties), version, hip=hip))
    assert made.kind == kind and not made.simulated


def test_simulated_by_either_mark(tmp_path: Path) -> None:
    assert device(tmp_path, torch_21(hip="6.3.0-sim")).simulated
    assert device(tmp_path, torch_21(FakeCuda(product="Simulated DCU"), hip="6.3.0")).simulated


def test_synchronize_covers_own_device_then_all_that_are_used(tmp_path: Path) -> None:
    torch = torch_21(hip="6.1")
    made = device(tmp_path, torch, 1)
    torch.cuda.log.clear()
    made.synchronize()
    assert torch.cuda.log == [("synchronize", 1)]
    made.use({0})
    torch.cuda.log.clear()
    made.synchronize()
    assert sorted(torch.cuda.log) == [("synchronize", 0), ("synchronize", 1)]
    with pytest.raises(ValueError, match="cuda:2 cannot be synchronised: 2 are visible"):
        made.use({2})


def test_peaks_are_absolute_and_reset_before_the_call(tmp_path: Path) -> None:
    torch = torch_21(hip="6.1")
    made = device(tmp_path, torch)
    torch.cuda.allocate(1000)
    torch.cuda.allocate(-900)

    def call() -> None:
        torch.cuda.allocate(64)
        torch.cuda.allocate(-64)
        torch.cuda.retries += 2

    torch.cuda.retries, torch.cuda.ooms = 5, 1
    torch.cuda.log.clear()
    peaks = made.peak_memory(call)
    assert (peaks.baseline_allocated, peaks.peak_allocated, peaks.after_allocated) == (100, 164, 100)
    assert (peaks.baseline_reserved, peaks.peak_reserved, peaks.after_reserved) == (1000, 1000, 1000)
    assert (peaks.requested_peak, peaks.retries, peaks.ooms) == (144, 2, 0)
    assert not peaks.missing
    assert torch.cuda.log == [("synchronize", 0), ("reset", 0), ("synchronize", 0)]


def test_peaks_of_several_devices_are_summed(tmp_path: Path) -> None:
    torch = torch_21(hip="6.1")
    made = device(tmp_path, torch)
    made.use({1})
    torch.cuda.allocate(50)
    peaks = made.peak_memory(lambda: None)
    assert peaks.peak_allocated == 100 and "summed" in peaks.method


def test_counters_that_stay_at_zero_are_no_measurement(tmp_path: Path) -> None:
    torch = torch_21(hip="6.1")
    torch.cuda.counting = False
    peaks = device(tmp_path, torch).peak_memory(lambda: None)
    assert peaks.peak_allocated is None and peaks.peak_reserved is None
    assert "stay at 0" in peaks.missing["peak_allocated"]


def test_a_call_that_allocates_nothing_reads_zero(tmp_path: Path) -> None:
    peaks = device(tmp_path, torch_21(hip="6.1")).peak_memory(lambda: None)
    assert peaks.peak_allocated == 0 and not peaks.missing


def test_an_allocator_that_is_switched_off_is_no_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")
    made = device(tmp_path, torch_21(hip="6.1"))
    calls: list[int] = []
    peaks = made.peak_memory(lambda: calls.append(1))
    assert peaks.peak_allocated is None and "PYTORCH_NO_CUDA_MEMORY_CACHING" in peaks.missing["peak_reserved"]
    assert calls == [1]
    assert "PYTORCH_NO_CUDA_MEMORY_CACHING" in str(made.metric_support()["peak_allocated"])


def test_card_memory_from_the_driver_then_from_torch(tmp_path: Path) -> None:
    address = {"pci_domain_id": 0, "pci_bus_id": 9, "pci_device_id": 0}
    made = device(tmp_path, torch_21(FakeCuda(**address), hip="6.1"))
    assert made.card_memory() == (54, 64)
    folder = tmp_path / "sys/bus/pci/devices/0000:09:00.0"
    folder.mkdir(parents=True)
    (folder / "mem_info_vram_used").write_text("7\n")
    (folder / "mem_info_vram_total").write_text("70\n")
    assert made.card_memory() == (7, 70)


def test_card_memory_that_is_not_told(tmp_path: Path) -> None:
    torch = torch_21(hip="6.1")
    made = device(tmp_path, torch)
    torch.cuda.mem_get_info = lambda index: (0, 0)
    with pytest.raises(NotMeasured, match="total memory of 0 bytes"):
        made.card_memory()

    def broken(index: int) -> tuple[int, int]:
        raise RuntimeError("HIP error: not supported")

    torch.cuda.mem_get_info = broken
    assert made.metric_support()["peak_card"] == "cuda:0 does not tell its memory (HIP error: not supported)"


def test_events_are_timed_and_checked(tmp_path: Path) -> None:
    torch = torch_21(hip="6.1")
    made = device(tmp_path, torch)
    timer = made.event_timer(1)
    timer.start()
    torch.cuda.clock[0] += 5.0
    timer.stop()
    assert timer.read() == [0.005]
    assert made.metric_support() == dict.fromkeys(
        ("device_time", "peak_allocated", "peak_reserved", "peak_card")
    )


def test_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "6")
    (tmp_path / "sys/module/hycu").mkdir(parents=True)
    (tmp_path / "sys/module/hycu/version").write_text("6.3.30-V1.4.1a\n")
    version = "2.5.1+das.opt1.dtk25042"
    told = device(tmp_path, torch_21(FakeCuda(gcnArchName="gfx936"), version, hip="6.3")).describe()
    assert told["driver"] == "hycu 6.3.30-V1.4.1a" and told["dtk"] == "25.04.2" and told["runtime"] == "6.3"
    assert told["architecture"] == "gfx936" and told["visible"]["HIP_VISIBLE_DEVICES"] == "6"
    nvidia = device(tmp_path, torch_21(FakeCuda(major=9, minor=0), "2.8.0+cu128", nvidia="12.8")).describe()
    assert nvidia["architecture"] == "sm_90" and nvidia["runtime"] == "12.8" and "driver" not in nvidia


def test_description_without_properties(tmp_path: Path) -> None:
    torch = torch_21(hip="6.1")

    def broken(index: int) -> Any:
        raise RuntimeError("no properties")

    torch.cuda.get_device_properties = broken
    told = device(tmp_path, torch).describe()
    assert told["kind"] == "hip" and "product" not in told and None not in told.values()


def test_description_of_the_card_and_of_those_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "sys/bus/pci/devices/0000:09:00.0"
    folder.mkdir(parents=True)
    (folder / "power_dpm_force_performance_level").write_text("high\n")
    (folder / "numa_node").write_text("3\n")
    address = {"pci_domain_id": 0, "pci_bus_id": 9, "pci_device_id": 0}
    torch = torch_21(FakeCuda(**address), hip="6.1")
    others = {0: SimpleNamespace(**{**address, "pci_bus_id": 5}), 1: torch.cuda.properties}
    torch.cuda.get_device_properties = others.__getitem__
    told = device(tmp_path, torch, 1).describe()
    assert told["visible_addresses"] == ["0000:05:00.0", "0000:09:00.0"]
    assert told["pci_bus_id"] == told["visible_addresses"][told["index"]]
    assert (told["performance_level"], told["numa_node"]) == ("high", 3)
    assert "power_cap_w" not in told
    unnamed = device(tmp_path, torch_21(hip="6.1")).describe()
    assert not {"visible_addresses", "performance_level", "numa_node"} & unnamed.keys()
    simulated = device(tmp_path, torch_21(FakeCuda(product="Simulated DCU", **address), hip="6.1")).describe()
    assert "performance_level" not in simulated


def test_summary_and_seed(tmp_path: Path) -> None:
    torch = torch_21(hip="6.1")
    made = device(tmp_path, torch, 1)
    assert made.memory_summary() == "summary of 1"
    made.seed(5)
    assert torch.cuda.seeds == [5]


ADDRESS = {"pci_domain_id": 0, "pci_bus_id": 9, "pci_device_id": 0}


def test_the_card_is_looked_at_by_its_files_then_by_torch(tmp_path: Path) -> None:
    made = device(tmp_path, torch_21(FakeCuda(**ADDRESS), hip="6.1"))
    assert made.card_source().name == "mem_get_info" and made.card_source().read().used_bytes == 54
    folder = tmp_path / "sys/bus/pci/devices/0000:09:00.0"
    folder.mkdir(parents=True)
    (folder / "gpu_busy_percent").write_text("7\n")
    assert made.card_source().name == "mem_get_info"
    (folder / "mem_info_vram_used").write_text("7\n")
    (folder / "mem_info_vram_total").write_text("70\n")
    source = made.card_source()
    assert source.arguments == ("sysfs", "0000:09:00.0", str(tmp_path)) and source.read().used_bytes == 7


def test_a_card_that_nobody_tells_of(tmp_path: Path) -> None:
    torch = torch_21(hip="6.1")
    torch.cuda.mem_get_info = lambda index: (0, 0)
    with pytest.raises(NotMeasured, match="0 of 0 bytes are free"):
        device(tmp_path, torch).card_source()


def test_how_another_process_looks_at_the_card(tmp_path: Path) -> None:
    made = device(tmp_path, torch_21(FakeCuda(**ADDRESS), hip="6.1"))
    assert made.card_arguments() == ("search", "hip", "0000:09:00.0", str(tmp_path))
    with pytest.raises(NotMeasured, match="does not tell the PCI address of cuda:0"):
        device(tmp_path, torch_21(hip="6.1")).card_arguments()


def test_a_simulated_device_has_no_card_of_this_machine(tmp_path: Path) -> None:
    folder = tmp_path / "sys/bus/pci/devices/0000:09:00.0"
    folder.mkdir(parents=True)
    (folder / "mem_info_vram_used").write_text("7\n")
    (folder / "mem_info_vram_total").write_text("70\n")
    made = device(tmp_path, torch_21(FakeCuda(**ADDRESS), hip="6.3.0-sim"))
    assert made.card_source().name == "mem_get_info"
    with pytest.raises(NotMeasured, match="simulated device has no card"):
        made.card_arguments()
