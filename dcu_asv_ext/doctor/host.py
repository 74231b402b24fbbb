"""The machine as a place to measure on: processor limits and governor."""

from __future__ import annotations

from pathlib import PurePosixPath

from ..devices.host import governors, usable_cores
from .check import Check, Group, Host

GROUP = Group("machine")

#: Load for each core from which a machine is called busy.
BUSY = 0.3


def check_cpu_limit(host: Host) -> Check:
    """A CPU quota stops a process in the middle of a sample until the next period."""
    limit = cpu_limit(host)
    if limit is None:
        return GROUP.ok("cpu-limit", "No CPU quota is set for this process.")
    return GROUP.warning(
        "cpu-limit",
        f"A control group limits this process to {limit:.2g} CPUs by quota, which halts it in the middle of samples.",
        "Give the container whole cores instead (docker run --cpuset-cpus, not --cpus).",
    )


def cpu_limit(host: Host) -> float | None:
    """CPUs that the tightest control group above this process allows, None where none limits it."""
    found = []
    for line in host.read("proc/self/cgroup").splitlines() or ["0::/"]:
        _, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        for own in _with_parents(path):
            if not controllers:
                found.append(_quota(*_pair(host.read(f"sys/fs/cgroup{own}/cpu.max"))))
            elif "cpu" in controllers.split(","):
                for mount in ("cpu", "cpu,cpuacct"):
                    folder = f"sys/fs/cgroup/{mount}{own}"
                    quota = host.read(f"{folder}/cpu.cfs_quota_us")
                    found.append(_quota(quota, host.read(f"{folder}/cpu.cfs_period_us")))
    limits = [one for one in found if one is not None]
    return min(limits) if limits else None


def _with_parents(path: str) -> list[str]:
    """ "/a/b" as "/a/b", "/a" and "". A path outside this container's view ("/../x") has only the last."""
    whole = PurePosixPath(path or "/")
    if ".." in whole.parts:
        return [""]
    return [str(one) if str(one) != "/" else "" for one in (whole, *whole.parents)]


def _pair(text: str) -> tuple[str, str]:
    parts = text.split()
    return (parts[0], parts[1]) if len(parts) == 2 else ("", "")


def _quota(quota: str, period: str) -> float | None:
    # "max" (version 2) and -1 (version 1) mean no limit.
    if not quota.isdigit() or not period.isdigit() or int(period) == 0:
        return None
    return int(quota) / int(period)


def check_governor(host: Host) -> Check:
    found = governors(host.root)
    others = [one for one in found if one != "performance"]
    if not found:
        return GROUP.ok("cpu-governor", "This machine does not tell its CPU frequency governor.")
    if not others:
        return GROUP.ok("cpu-governor", "The CPU frequency governor is performance.")
    return GROUP.warning(
        "cpu-governor",
        f"The CPU frequency governor is {', '.join(others)}, so the clock follows the load and short times vary.",
        "As root, run cpupower frequency-set -g performance while measuring.",
    )


def check_load(host: Host) -> Check:
    """Work beside the measuring makes its times longer, and those of several threads most."""
    text = host.read("proc/loadavg").split()
    cores = usable_cores() or 1
    try:
        load = float(text[0])
    except (IndexError, ValueError):
        return GROUP.ok("load", "This machine does not tell its load.")
    if load < max(0.5, BUSY * cores):
        return GROUP.ok("load", f"The load of the last minute is {load:g}, on {cores} cores.")
    return GROUP.warning(
        "load",
        f"The load of the last minute is {load:g} on {cores} cores, so other work runs beside what is measured.",
        "Measure when the machine is idle, or expect wide intervals and use more rounds.",
    )
