"""What can be told about torch, drivers and devices without importing torch."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .base import DeviceUnavailable
from .dcu import DCU_MODULES, is_dcu, parse_torch_version
from .request import Request, parse_request

#: Environment variables that choose devices; nothing else of the environment is ever described.
VISIBILITY_VARIABLES = (
    "HIP_VISIBLE_DEVICES",
    "CUDA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HCU_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
)

_DRIVER_MODULES = (*DCU_MODULES, "amdgpu", "nvidia")
_DTK_FILES = ("version-dev", "version", "version-rocm", "version-libs")
_NUMBERED = re.compile(r"\d+(\.\d+)+[\w.+-]*")
_ASSIGNMENT = r"""^{name}\s*(?::[^=\n]*)?=\s*["']([^"'\n]*)["']"""


@dataclass(frozen=True)
class TorchBuild:
    """The torch that this interpreter would import.

    version: torch.__version__ ("" where torch is absent).
    kind: what it was built for: "dcu", "hip", "cuda", "xpu", "cpu", or "absent".
        "dcu" by the vendor's marks in the version alone; a plain HIP build says "hip" whatever card is there.
    hip, cuda, dtk, git: versions, None where the build names none.
    """

    version: str
    kind: str
    hip: str | None = None
    cuda: str | None = None
    dtk: str | None = None
    git: str | None = None


def torch_build(folder: Path | None = None) -> TorchBuild:
    """Reads torch/version.py as text.

    folder: torch's package folder; None looks where this interpreter would import it from.
    """
    if folder is None:
        folder = _torch_folder()
    if folder is None:
        return TorchBuild("", "absent")
    try:
        text = (folder / "version.py").read_text(errors="replace")
    except OSError:
        text = ""
    version = _assigned(text, "__version__") or _metadata_version()
    hip, cuda, xpu = (_assigned(text, name) for name in ("hip", "cuda", "xpu"))
    parsed = parse_torch_version(version)
    if parsed.vendor:
        kind = "dcu"
    else:
        kind = "hip" if hip else "cuda" if cuda else "xpu" if xpu else "cpu"
    return TorchBuild(version, kind, hip, cuda, parsed.dtk, _assigned(text, "git_version"))


def _torch_folder() -> Path | None:
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _assigned(text: str, name: str) -> str | None:
    found = re.search(_ASSIGNMENT.format(name=re.escape(name)), text, re.MULTILINE)
    return found.group(1) or None if found else None


def _metadata_version() -> str:
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return ""


def device_kind(spec: str | None = None, *, build: TorchBuild | None = None, root: Path = Path("/")) -> str:
    """The kind of device that `select(spec)` would choose, told without importing torch.

    spec: as for `select`; None reads DCU_ASV_DEVICE. "cuda" on a CPU build of torch stays "cuda": what stands
    in for the device there is known only at run time. Whether the device is there is not looked at.
    Raises DeviceUnavailable for a bad spec, and where torch is not installed.
    """
    request = parse_request(spec)
    if request.type not in (None, "cuda"):
        return str(request.type)
    if build is None:
        build = torch_build()
    if build.kind == "absent":
        raise DeviceUnavailable(absent_sentence())
    if build.kind in ("dcu", "hip"):
        return "dcu" if is_dcu(build.version, root=root) else "hip"
    return _kind_of_other_build(request, build.kind)


def _kind_of_other_build(request: Request, kind: str) -> str:
    if request.type == "cuda":
        return "cuda"
    return (_plugged_in_backend() or kind) if kind == "cpu" else kind


def absent_sentence() -> str:
    return (
        "torch is not installed for this interpreter; install the torch build that your driver asks for "
        "(in a DTK container: the vendor's wheel), or `pip install dcu-asv-ext[torch]` on a machine without one"
    )


def _plugged_in_backend() -> str | None:
    """The backend that a CPU build of torch loads by itself (torch_npu and the like), by its entry point."""
    if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "0":
        return None
    for point in importlib.metadata.entry_points(group="torch.backends"):
        return point.name.removeprefix("torch_")
    return None


def driver_versions(root: Path = Path("/")) -> dict[str, str]:
    """Version of each loaded card driver, by kernel module. A module that names no version reads ""."""
    found: dict[str, str] = {}
    for module in _DRIVER_MODULES:
        folder = root / "sys/module" / module
        if folder.is_dir():
            found[module] = read_line(folder / "version")
    return found


def toolkit_versions(root: Path = Path("/"), environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Installed toolkits, "dtk" and "rocm", from their version files; one that is not there is absent."""
    environ = os.environ if environ is None else environ
    found: dict[str, str] = {}
    for folder in (environ.get("DTKROOT"), "/opt/dtk"):
        for name in _DTK_FILES if folder else ():
            version = _NUMBERED.search(read_line(_under(root, str(folder)) / ".info" / name))
            if version and "dtk" not in found:
                found["dtk"] = version.group(0)
    for name in ("version", "version-dev"):
        version = _NUMBERED.search(read_line(root / "opt/rocm/.info" / name))
        if version and "rocm" not in found:
            found["rocm"] = version.group(0)
    return found


def _under(root: Path, path: str) -> Path:
    return root / path.lstrip("/")


def read_line(path: Path) -> str:
    """The first line of a small file, "" where it cannot be read."""
    try:
        return (path.read_text(errors="replace").splitlines() or [""])[0].strip()
    except OSError:
        return ""


def visible_devices(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that hide devices, as far as they are set."""
    environ = os.environ if environ is None else environ
    return {name: environ[name] for name in VISIBILITY_VARIABLES if name in environ}


def cpu_model(root: Path = Path("/")) -> str | None:
    """The CPU's model name, None where /proc/cpuinfo has none (some ARM machines)."""
    try:
        text = (root / "proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return None
    found = re.search(r"^(?:model name|Model|Hardware)\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else None


def card_memory_from_sysfs(address: str, root: Path = Path("/")) -> tuple[int, int] | None:
    """(used, total) bytes of the card at a PCI address, None where its driver does not publish them."""
    folder = root / "sys/bus/pci/devices" / address.lower()
    try:
        used = int((folder / "mem_info_vram_used").read_text())
        total = int((folder / "mem_info_vram_total").read_text())
    except (OSError, ValueError):
        return None
    return (used, total) if total > 0 else None


def card_facts(address: str, root: Path = Path("/")) -> dict[str, Any]:
    """Settings of the card at a PCI address, as its driver publishes them; one that it does not tell is absent.

    numa_node; performance_level ("auto", "manual", "high"); power_cap_w.
    """
    folder = root / "sys/bus/pci/devices" / address.lower()
    node = read_line(folder / "numa_node")
    caps = [read_line(path) for path in sorted(folder.glob("hwmon/hwmon*/power1_cap"))]
    watts = [int(one) / 1e6 for one in caps if one.isdigit() and int(one) > 0]
    told = {
        # -1: the firmware does not say.
        "numa_node": int(node) if node.isdigit() else None,
        "performance_level": read_line(folder / "power_dpm_force_performance_level") or None,
        "power_cap_w": watts[0] if watts else None,
    }
    return {name: value for name, value in told.items() if value is not None}
