"""Which device is measured, and when that is an error."""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path
from typing import Any

from . import facts
from .base import Device, DeviceUnavailable
from .events import first_line
from .request import VARIABLE, Request, parse_request

_OR_CPU = f"set {VARIABLE}=cpu to measure on the CPU on purpose"


def select(spec: str | None = None, *, torch: Any = None, root: Path = Path("/")) -> Device:
    """The device named by `spec`, or by DCU_ASV_DEVICE where it is None, made current in torch.

    Without either: the accelerator that torch was built for; the CPU only where torch is a CPU build.
    Raises DeviceUnavailable, in one sentence, for a device that is not there, not permitted or not known.
    """
    request = parse_request(spec)
    torch = _import_torch() if torch is None else torch
    _refuse_unknown_torch(torch)
    kind = request.type or _default_type(torch)
    if kind != "cpu":
        _refuse_used_before_fork(torch)
    if kind == "cpu":
        from .cpu import Cpu

        return Cpu(torch, root)
    if kind == "cuda":
        return _select_cuda(torch, request, root)
    return _select_accelerator(torch, kind, request, root)


def _import_torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ModuleNotFoundError as error:
        if error.name == "torch":
            raise DeviceUnavailable(facts.absent_sentence()) from error
        raise DeviceUnavailable(f"torch is installed but cannot be imported: {first_line(error)}") from error
    except (ImportError, OSError) as error:
        raise DeviceUnavailable(
            f"torch is installed but cannot be imported ({first_line(error)}); "
            "under DTK, source the env.sh of the toolkit that this torch was built for"
        ) from error


def _refuse_unknown_torch(torch: Any) -> None:
    """Another major version may mean other things by the same names; before 2.1 they are not all there."""
    known = re.match(r"(\d+)\.(\d+)", str(torch.__version__))
    if known and (int(known[1]) != 2 or int(known[2]) < 1):
        raise DeviceUnavailable(
            f"torch {torch.__version__} is not known to this version of dcu-asv-ext, which measures with torch 2 "
            "from 2.1 on; install one of those, or a dcu-asv-ext that knows it"
        )


def _refuse_used_before_fork(torch: Any) -> None:
    forked = getattr(torch.cuda, "_is_in_bad_fork", None)
    if forked is not None and forked():
        raise DeviceUnavailable(
            "this process was forked after the device had been used, so it cannot use it: a module of the suite "
            "touches the device when it is imported; move that into setup, or run asv with --launch-method spawn"
        )


def _built_for_cuda(torch: Any) -> bool:
    return bool(getattr(torch.version, "hip", None) or getattr(torch.version, "cuda", None))


def _default_type(torch: Any) -> str:
    if _built_for_cuda(torch):
        return "cuda"
    # A CUDA wheel without a driver names "cuda" here as well: what torch was built for, not what is there.
    accelerator = _current_accelerator(torch)
    return "cpu" if accelerator is None else accelerator


def _current_accelerator(torch: Any) -> str | None:
    module = getattr(torch, "accelerator", None)
    device = None if module is None else module.current_accelerator()
    return None if device is None else str(device.type)


def _select_cuda(torch: Any, request: Request, root: Path) -> Device:
    version = torch.__version__
    available, trouble = _cuda_available(torch)
    if not available:
        if not _built_for_cuda(torch):
            raise DeviceUnavailable(
                f"a HIP or CUDA device was asked for, but torch {version} is a CPU build: "
                f"install the build for your device, or {_OR_CPU}"
            )
        why = _why_unavailable(torch, root, trouble)
        raise DeviceUnavailable(f"torch {version} finds no usable device: {why}; repair that, or {_OR_CPU}")
    index = _checked_index(request, "cuda", int(torch.cuda.device_count()))
    from .torch_cuda import TorchCuda

    try:
        return TorchCuda(torch, index, root)
    except (RuntimeError, AssertionError) as error:
        raise DeviceUnavailable(
            f"cuda:{index} is there but cannot be used ({first_line(error)}); "
            f"choose another with {VARIABLE}, or {_OR_CPU}"
        ) from error


def _cuda_available(torch: Any) -> tuple[bool, str]:
    """Whether torch can use a device, and its own words where not."""
    try:
        if torch.cuda.is_available() and torch.cuda.device_count() > 0:
            return True, ""
        torch.cuda.init()
    except Exception as error:
        # Enumeration itself is known to raise on a wedged card or an unreadable /dev/kfd.
        return False, first_line(error)
    return False, ""


def _why_unavailable(torch: Any, root: Path, trouble: str) -> str:
    hidden = [f"{name}={value!r}" for name, value in facts.visible_devices().items() if value in ("", "-1")]
    if hidden:
        return f"{hidden[0]} hides every device"
    hip = bool(getattr(torch.version, "hip", None))
    node = root / ("dev/kfd" if hip else "dev/nvidiactl")
    if node.exists() and not os.access(node, os.R_OK | os.W_OK):
        return f"/{node.relative_to(root)} is there but this user may not open it (join its group)"
    drivers = ("hycu", "hydcu", "amdgpu") if hip else ("nvidia",)
    if not node.exists() and not any(name in facts.driver_versions(root) for name in drivers):
        return f"no driver is loaded (none of the kernel modules {', '.join(drivers)})"
    if not node.exists():
        return f"/{node.relative_to(root)} is not there (is it passed into the container?)"
    return trouble or "the driver reports no device"


def _checked_index(request: Request, kind: str, count: int) -> int:
    index = request.index or 0
    if index >= count:
        names = f"{kind}:0" if count == 1 else f"{kind}:0 to {kind}:{count - 1}"
        hiding = ", ".join(f"{name}={value}" for name, value in facts.visible_devices().items())
        raise DeviceUnavailable(
            f"{kind}:{index} was asked for, but torch sees {count} ({names}"
            + (f", with {hiding}" if hiding else "")
            + f"); set {VARIABLE} to one of them"
        )
    return index


def _select_accelerator(torch: Any, kind: str, request: Request, root: Path) -> Device:
    module = getattr(torch, "accelerator", None)
    if module is None:
        raise DeviceUnavailable(
            f"{kind} devices need torch >= 2.6, and this is torch {torch.__version__}; upgrade, or {_OR_CPU}"
        )
    present = _current_accelerator(torch)
    if present != kind:
        has = "none" if present is None else f"{present!r}"
        raise DeviceUnavailable(
            f"the device {kind!r} was asked for, but the accelerator of torch {torch.__version__} is {has}; "
            f"import the backend that provides it, set {VARIABLE} to what is there, or {_OR_CPU}"
        )
    try:
        count = int(module.device_count()) if module.is_available() else 0
    except Exception as error:
        raise DeviceUnavailable(
            f"{kind} devices cannot be listed ({first_line(error)}); {_OR_CPU}"
        ) from error
    if count == 0:
        raise DeviceUnavailable(
            f"torch {torch.__version__} was built for {kind} but finds no usable device: "
            f"check its driver, or {_OR_CPU}"
        )
    index = _checked_index(request, kind, count)
    from .torch_accelerator import TorchAccelerator

    return TorchAccelerator(torch, kind, index, root)
