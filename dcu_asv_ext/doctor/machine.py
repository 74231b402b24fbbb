"""What is on this machine, told without importing torch and without running anything."""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

from ..devices import torch_build
from ..devices.facts import cpu_model, driver_versions, toolkit_versions, visible_devices
from ..devices.host import describe_host, usable_cores
from ..evidence.software import package_versions
from .check import Host

#: Management tools, and where their vendors put them when they are not on the PATH.
TOOLS = {
    "hy-smi": ("opt/hyhal/bin", "usr/local/hyhal/bin", "opt/dtk/bin"),
    "rocm-smi": ("opt/rocm/bin", "opt/dtk/bin"),
    "amd-smi": ("opt/rocm/bin",),
    "nvidia-smi": (),
}


def find_tools(host: Host) -> dict[str, str | None]:
    """Path of each management tool, None where it is not found. None of them is run."""
    return {name: _find_tool(name, folders, host) for name, folders in TOOLS.items()}


def _find_tool(name: str, folders: tuple[str, ...], host: Host) -> str | None:
    found = shutil.which(name, path=host.environ.get("PATH", os.defpath))
    if found is not None:
        return found
    for folder in folders:
        path: Path = host.root / folder / name
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    return None


def describe(host: Host) -> dict[str, Any]:
    """JSON-able facts; a fact that cannot be told is null or absent."""
    return {
        "hostname": host.hostname,
        "container": host.in_container,
        "system": f"{platform.system()} {platform.release()}",
        "cpu": cpu_model(host.root),
        "cores": usable_cores(),
        "host": describe_host(host.root, host.environ),
        "python": {"version": platform.python_version(), "executable": sys.executable},
        "packages": package_versions(),
        "torch": dataclasses.asdict(torch_build()),
        "drivers": driver_versions(host.root),
        "toolkits": toolkit_versions(host.root, host.environ),
        "visible_devices": visible_devices(host.environ),
        "tools": find_tools(host),
    }
