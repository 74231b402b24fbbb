from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dcu_asv_ext.devices import DeviceUnavailable, select
from dcu_asv_ext.devices import facts as facts_module

from .fakes import FakeCuda, FakeDevice, torch_21


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DCU_ASV_DEVICE", *facts_module.VISIBILITY_VARIABLES):
        monkeypatch.delenv(name, raising=False)


def cpu_build() -> Any:
    return torch_21(FakeCuda(available=False), "2.13.0+cpu")


def hip_build(**options: Any) -> Any:
    return torch_21(FakeCuda(**options), "2.1.0+das1.0+git00661e0.abi0.dtk2404", hip="5.7")


def refusal(spec: str | None, torch: Any, root: Path) -> str:
    with pytest.raises(DeviceUnavailable) as caught:
        select(spec, torch=torch, root=root)
    text = str(caught.value)
    assert "DCU_ASV_DEVICE" in text and "\n" not in text
    return text


def test_cpu_build_gives_the_cpu(tmp_path: Path) -> None:
    assert select(torch=cpu_build(), root=tmp_path).kind == "cpu"


def test_accelerator_build_gives_the_accelerator_and_the_cpu_only_on_purpose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = select(torch=hip_build(), root=tmp_path)
    assert (device.kind, device.name, device.index) == ("dcu", "cuda:0", 0)
    monkeypatch.setenv("DCU_ASV_DEVICE", "cpu")
    assert select(torch=hip_build(), root=tmp_path).kind == "cpu"


def test_an_index_is_made_current(tmp_path: Path) -> None:
    torch = hip_build()
    device = select("dcu:1", torch=torch, root=tmp_path)
    assert device.name == "cuda:1"
    assert ("set_device", 1) in torch.cuda.log


def test_no_silent_cpu_run(tmp_path: Path) -> None:
    assert "no driver is loaded (none of the kernel modules hycu, hydcu" in refusal(
        None, hip_build(available=False), tmp_path
    )
    cuda = torch_21(FakeCuda(available=False), "2.8.0+cu128", nvidia="12.8")
    assert "no driver is loaded (none of the kernel modules nvidia)" in refusal(None, cuda, tmp_path)


def test_cuda_on_a_cpu_build(tmp_path: Path) -> None:
    assert "2.13.0+cpu is a CPU build" in refusal("cuda", cpu_build(), tmp_path)


def test_index_out_of_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "6")
    text = refusal("cuda:1", hip_build(count=1), tmp_path)
    assert "torch sees 1 (cuda:0, with HIP_VISIBLE_DEVICES=6)" in text
    assert "torch sees 2 (cuda:0 to cuda:1" in refusal("cuda:7", hip_build(), tmp_path)


def test_device_node_that_may_not_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/kfd").touch()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "/dev/kfd is there but this user may not open it" in refusal(
        None, hip_build(available=False), tmp_path
    )


def test_hidden_devices_and_missing_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sys/module/hycu").mkdir(parents=True)
    assert "/dev/kfd is not there" in refusal(None, hip_build(available=False), tmp_path)
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "-1")
    assert "HIP_VISIBLE_DEVICES='-1' hides every device" in refusal(
        None, hip_build(available=False), tmp_path
    )


def test_enumeration_that_raises(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/kfd").touch()
    torch = hip_build()

    def wedged() -> bool:
        raise RuntimeError("Open mkfd failed\nmore")

    torch.cuda.is_available = wedged
    assert "Open mkfd failed;" in refusal(None, torch, tmp_path)


def test_a_device_that_fails_when_it_is_made_current(tmp_path: Path) -> None:
    torch = hip_build()

    def refuse(index: int) -> None:
        raise RuntimeError("HIP error: device busy")

    torch.cuda.set_device = refuse
    assert "cuda:0 is there but cannot be used (HIP error: device busy)" in refusal(None, torch, tmp_path)


def with_accelerator(kind: str, count: int) -> Any:
    torch = cpu_build()
    torch.accelerator = SimpleNamespace(
        current_accelerator=lambda: FakeDevice(kind),
        is_available=lambda: count > 0,
        device_count=lambda: count,
        set_device_index=lambda index: None,
        synchronize=lambda index: None,
    )
    return torch


def test_other_accelerators(tmp_path: Path) -> None:
    device = select(torch=with_accelerator("xpu", 2), root=tmp_path)
    assert (device.kind, device.name, device.simulated) == ("xpu", "xpu:0", False)
    assert select("sim:0", torch=with_accelerator("sim", 1), root=tmp_path).simulated
    assert "is 'xpu'" in refusal("sim", with_accelerator("xpu", 1), tmp_path)
    assert "finds no usable device" in refusal(None, with_accelerator("xpu", 0), tmp_path)
    assert "xpu:3 was asked for, but torch sees 2" in refusal("xpu:3", with_accelerator("xpu", 2), tmp_path)
    assert "torch >= 2.6" in refusal("xpu", cpu_build(), tmp_path)


def test_cuda_wheel_without_driver_names_cuda_as_current_accelerator(tmp_path: Path) -> None:
    torch = with_accelerator("cuda", 0)
    torch.version.cuda = "13.0"
    assert "finds no usable device" in refusal(None, torch, tmp_path)


def test_garbage_is_refused_before_torch_is_asked(tmp_path: Path) -> None:
    with pytest.raises(DeviceUnavailable, match="allowed are"):
        select("gpu", torch=object(), root=tmp_path)


@pytest.mark.parametrize("version", ["1.13.1", "2.0.1", "3.0.0", "1.10.0a0"])
def test_a_torch_that_is_not_known_is_refused(version: str, tmp_path: Path) -> None:
    torch = torch_21(FakeCuda(), version, hip="5.7")
    with pytest.raises(DeviceUnavailable, match="is not known to this version") as caught:
        select(torch=torch, root=tmp_path)
    assert version in str(caught.value) and "\n" not in str(caught.value)


def test_a_device_used_before_a_fork_is_refused_with_the_way_out(tmp_path: Path) -> None:
    torch = hip_build()
    torch.cuda._is_in_bad_fork = lambda: True
    with pytest.raises(
        DeviceUnavailable, match=r"forked after the device had been used.*--launch-method spawn"
    ):
        select(torch=torch, root=tmp_path)
    assert select("cpu", torch=torch, root=tmp_path).kind == "cpu"
