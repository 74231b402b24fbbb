"""What the machine around the device is, told from its system files: no torch, and nothing is run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .facts import cpu_model, read_line

_CPUS = "sys/devices/system/cpu"
#: Marks in a control group's path -> kind of container.
_GROUPS = {
    "kubepods": "kubernetes",
    "docker": "docker",
    "libpod": "podman",
    "containerd": "containerd",
    "lxc": "lxc",
}
_FILES = {".dockerenv": "docker", "run/.containerenv": "podman"}


def describe_host(root: Path = Path("/"), environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """JSON-able facts that stay as they are from run to run; one that cannot be told is absent.

    cores: logical processors that this process may use, cores_total: that are online; memory_total: bytes;
    governor: all that are set, joined; container: its kind, true where that is not known, else false.
    """
    told = {
        "cpu": cpu_model(root),
        "cores": usable_cores(),
        "cores_total": _online(root),
        "sockets": _sockets(root),
        "threads_per_core": _members(read_line(root / _CPUS / "cpu0/topology/thread_siblings_list")),
        "numa_nodes": len(list((root / "sys/devices/system/node").glob("node[0-9]*"))) or None,
        "governor": ", ".join(governors(root)) or None,
        "kernel": read_line(root / "proc/sys/kernel/osrelease") or None,
        "container": container(root, environ),
        "memory_total": _memory(root),
    }
    return {name: value for name, value in told.items() if value is not None}


def usable_cores() -> int | None:
    """What the affinity mask of a container or a batch system leaves to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def governors(root: Path = Path("/")) -> list[str]:
    """The CPU frequency governors that are set, each once; [] where the machine tells none."""
    found = {read_line(path) for path in (root / _CPUS).glob("cpu[0-9]*/cpufreq/scaling_governor")}
    return sorted(found - {""})


def container(root: Path = Path("/"), environ: Mapping[str, str] | None = None) -> str | bool:
    """The kind of container that this process runs in, True where only that it is one is known."""
    environ = os.environ if environ is None else environ
    for process in ("1", "self"):
        groups = _text(root / "proc" / process / "cgroup")
        for mark, kind in _GROUPS.items():
            if mark in groups:
                return kind
    for file, kind in _FILES.items():
        if (root / file).exists():
            return kind
    # Podman, LXC and systemd-nspawn set it.
    given = environ.get("container", "")
    return given if given in _GROUPS.values() else bool(given)


def _online(root: Path) -> int | None:
    return _members(read_line(root / _CPUS / "online")) or os.cpu_count()


def _members(listed: str) -> int | None:
    """How many numbers a list such as "0-3,8" has, None where it is no such list."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", listed):
        return None
    ends = [list(map(int, part.split("-"))) for part in listed.split(",")]
    return sum(part[-1] - part[0] + 1 for part in ends)


def _sockets(root: Path) -> int | None:
    packages = {read_line(path) for path in (root / _CPUS).glob("cpu[0-9]*/topology/physical_package_id")}
    # Some ARM machines and virtual ones answer -1.
    return len([one for one in packages if one.isdigit()]) or None


def _memory(root: Path) -> int | None:
    found = re.search(r"^MemTotal:\s*(\d+) kB", _text(root / "proc/meminfo"), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else None


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
