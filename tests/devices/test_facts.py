from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dcu_asv_ext.devices import DeviceUnavailable, TorchBuild, device_kind, facts, torch_build
from dcu_asv_ext.devices.request import Request, parse_request

CPU = TorchBuild("2.13.0+cpu", "cpu")
CUDA = TorchBuild("2.8.0+cu128", "cuda", cuda="12.8")
HIP = TorchBuild("2.4.0+rocm6.1", "hip", hip="6.1")
DAS = TorchBuild("2.10.0+das", "dcu", hip="6.3")
ABSENT = TorchBuild("", "absent")


def wheel(folder: Path, text: str) -> Path:
    (folder / "version.py").write_text(text)
    return folder


def test_nothing_here_imports_torch() -> None:
    code = (
        "import sys, dcu_asv_ext.devices as d; d.torch_build(); d.device_kind('cuda:1'); d.NotMeasured; d.select; "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_this_torch_is_told_from_its_text() -> None:
    torch = pytest.importorskip("torch")
    build = torch_build()
    told = (build.version, build.git, build.cuda, build.hip)
    assert told == (torch.__version__, torch.version.git_version, torch.version.cuda, torch.version.hip)


def test_builds(tmp_path: Path) -> None:
    typed = "__version__ = '2.8.0+cu128'\ncuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n"
    assert torch_build(wheel(tmp_path, typed)) == TorchBuild("2.8.0+cu128", "cuda", cuda="12.8")
    plain = "__version__ = '2.1.0+das1.0+git00661e0.abi0.dtk2404'\ncuda = None\nhip = '5.7.24'\ngit_version = 'f00'\n"
    assert torch_build(wheel(tmp_path, plain)) == TorchBuild(
        "2.1.0+das1.0+git00661e0.abi0.dtk2404", "dcu", hip="5.7.24", dtk="24.04", git="f00"
    )
    rocm = '__version__ = "2.4.0+rocm6.1"\nhip: Optional[str] = "6.1.40091"\nrocm: Optional[str] = "6.1"\n'
    assert torch_build(wheel(tmp_path, rocm)).kind == "hip"
    assert torch_build(wheel(tmp_path, "__version__ = '2.13.0+cpu'\ncuda = None\nhip = None\n")).kind == "cpu"
    assert (
        torch_build(wheel(tmp_path, "__version__ = '2.13.0+xpu'\nxpu: Optional[str] = '2025'\n")).kind
        == "xpu"
    )


def test_torch_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts.importlib.util, "find_spec", lambda name: None)
    assert torch_build() == ABSENT
    with pytest.raises(DeviceUnavailable, match="torch is not installed"):
        device_kind("cuda")
    assert device_kind("cpu") == "cpu"


@pytest.mark.parametrize(
    ("spec", "build", "kind"),
    [
        ("cpu", DAS, "cpu"),
        ("cpu", ABSENT, "cpu"),
        ("cuda", CPU, "cuda"),
        ("cuda:1", CUDA, "cuda"),
        ("cuda", HIP, "hip"),
        ("dcu", DAS, "dcu"),
        ("sim", CPU, "sim"),
        ("xpu:0", CPU, "xpu"),
    ],
)
def test_kinds(tmp_path: Path, spec: str, build: TorchBuild, kind: str) -> None:
    assert device_kind(spec, build=build, root=tmp_path) == kind


def test_default_kind_and_host_markers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DCU_ASV_DEVICE", raising=False)
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    assert [device_kind(build=b, root=tmp_path) for b in (CPU, CUDA, HIP, DAS)] == [
        "cpu",
        "cuda",
        "hip",
        "dcu",
    ]
    (tmp_path / "sys/module/hycu").mkdir(parents=True)
    assert device_kind(build=HIP, root=tmp_path) == "dcu"
    assert device_kind(build=CUDA, root=tmp_path) == "cuda"
    monkeypatch.setenv("DCU_ASV_DEVICE", "cpu")
    assert device_kind(build=HIP, root=tmp_path) == "cpu"


@pytest.mark.parametrize(
    "spec", ["", "  ", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda1", "cpu:1", "0", "cuda 1"]
)
def test_a_bad_spec_lists_what_is_allowed(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCU_ASV_DEVICE", spec)
    with pytest.raises(DeviceUnavailable, match=r'DCU_ASV_DEVICE .*(allowed are "cpu", "cuda"|write "cpu")'):
        device_kind(build=CPU)


def test_synonyms() -> None:
    assert parse_request(" HIP:2 ") == parse_request("dcu:2") == parse_request("cuda:2") == Request("cuda", 2)


def test_driver_and_toolkit_versions(tmp_path: Path) -> None:
    assert facts.driver_versions(tmp_path) == {} == facts.toolkit_versions(tmp_path, {})
    for path, text in {
        "sys/module/hycu/version": "6.3.30-V1.4.1a\n",
        "sys/module/amdgpu/initstate": "live\n",
        "opt/dtk/.info/version-dev": "24.04.3\n",
        "opt/rocm/.info/version": "6.1.0-82\n",
        "opt/other/.info/version": "26.04\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert facts.driver_versions(tmp_path) == {"hycu": "6.3.30-V1.4.1a", "amdgpu": ""}
    assert facts.toolkit_versions(tmp_path, {}) == {"dtk": "24.04.3", "rocm": "6.1.0-82"}
    assert facts.toolkit_versions(tmp_path, {"DTKROOT": "/opt/other"})["dtk"] == "26.04"


def test_only_listed_variables_are_described() -> None:
    environ = {"HIP_VISIBLE_DEVICES": "6", "CUDA_VISIBLE_DEVICES": "", "TOKEN": "secret"}
    assert facts.visible_devices(environ) == {"HIP_VISIBLE_DEVICES": "6", "CUDA_VISIBLE_DEVICES": ""}


def test_card_memory_from_sysfs(tmp_path: Path) -> None:
    folder = tmp_path / "sys/bus/pci/devices/0000:09:00.0"
    folder.mkdir(parents=True)
    assert facts.card_memory_from_sysfs("0000:09:00.0", tmp_path) is None
    (folder / "mem_info_vram_used").write_text("2207744\n")
    (folder / "mem_info_vram_total").write_text("68702699520\n")
    assert facts.card_memory_from_sysfs("0000:09:00.0", tmp_path) == (2207744, 68702699520)
    (folder / "mem_info_vram_total").write_text("0\n")
    assert facts.card_memory_from_sysfs("0000:09:00.0", tmp_path) is None


def test_settings_of_a_card_from_sysfs(tmp_path: Path) -> None:
    folder = tmp_path / "sys/bus/pci/devices/0000:0a:00.0"
    assert facts.card_facts("0000:0A:00.0", tmp_path) == {}
    (folder / "hwmon/hwmon3").mkdir(parents=True)
    (folder / "numa_node").write_text("1\n")
    (folder / "power_dpm_force_performance_level").write_text("manual\n")
    (folder / "hwmon/hwmon3/power1_cap").write_text("400000000\n")
    told = facts.card_facts("0000:0A:00.0", tmp_path)
    assert told == {"numa_node": 1, "performance_level": "manual", "power_cap_w": 400.0}
    for name, text in {"numa_node": "-1\n", "hwmon/hwmon3/power1_cap": "0\n"}.items():
        (folder / name).write_text(text)
    assert facts.card_facts("0000:0A:00.0", tmp_path) == {"performance_level": "manual"}
