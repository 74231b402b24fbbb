"""Versions, and the torch that will be imported."""

from __future__ import annotations

import importlib.metadata
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..devices import TorchBuild
from ..devices.facts import driver_versions
from ..devices.request import VARIABLE
from .check import Check, Group, Host

GROUP = Group("software")

#: Distribution -> (first supported, first unsupported or None).
SUPPORTED: dict[str, tuple[tuple[int, ...], tuple[int, ...] | None]] = {
    "asv": ((0, 6, 5), (0, 7)),
    "asv_runner": ((0, 3), (0, 4)),
    "torch": ((2, 1), None),
}


def check_versions(versions: Mapping[str, str]) -> Iterator[Check]:
    """versions: distribution -> version text, absent where it is not installed."""
    for name, (low, high) in SUPPORTED.items():
        wanted = f">={_text(low)}" + (f",<{_text(high)}" if high else "")
        remedy = (
            f"Install the vendor's torch {wanted} (a plain pip install would replace its device support)."
            if name == "torch"
            else f"Run pip install '{name}{wanted}'."
        )
        version = versions.get(name)
        if not version:
            yield GROUP.problem(f"version-{name}", f"{name} is not installed for this interpreter.", remedy)
            continue
        parts = _numbers(version)
        if parts < low or (high is not None and parts >= high):
            yield GROUP.problem(f"version-{name}", f"{name} {version} is not in {wanted}.", remedy)
        else:
            yield GROUP.ok(f"version-{name}", f"{name} {version} is supported.")


def _text(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)


def _numbers(version: str) -> tuple[int, ...]:
    """The release; whatever else a vendor's version carries (several `+`, dates) is left out."""
    found = re.match(r"\d+(?:\.\d+)*", version.strip())
    return tuple(int(part) for part in found.group(0).split(".")) if found else ()


def torch_places(search: Iterable[str]) -> list[tuple[str, str]]:
    """(folder, version) of every torch on a search path, the one that is imported first."""
    found: list[tuple[str, str]] = []
    for folder in dict.fromkeys(os.path.realpath(entry or ".") for entry in search):
        if not os.path.isdir(folder):
            continue
        named = [
            one.version
            for one in importlib.metadata.distributions(path=[folder])
            if (one.metadata["Name"] or "").lower() == "torch"
        ]
        if not named and (Path(folder) / "torch" / "version.py").is_file():
            named = ["of unknown version"]
        found += [(folder, version) for version in named]
    return found


def check_single_torch(search: Iterable[str]) -> Check:
    places = torch_places(search)
    if len(places) < 2:
        return GROUP.ok("torch-once", "torch is installed at most once on the import path.")
    listed = ", ".join(f"{version} in {folder}" for folder, version in places)
    return GROUP.warning(
        "torch-once",
        f"torch is installed {len(places)} times ({listed}); the first folder wins.",
        "Uninstall all but the build for your device.",
    )


def check_build_fits_driver(build: TorchBuild, host: Host) -> Check:
    """A CPU build of torch beside a card's driver measures the wrong thing in silence."""
    drivers = driver_versions(host.root)
    if build.kind != "cpu" or not drivers:
        return GROUP.ok("torch-build", "The torch build does not contradict the drivers that are loaded.")
    if host.environ.get(VARIABLE, "").strip().lower() in ("cpu", "cpu:0"):
        return GROUP.ok("torch-build", f"torch is a CPU build, and {VARIABLE}=cpu says that this is meant.")
    finding = f"torch {build.version} is a CPU build, but the driver {', '.join(drivers)} is loaded"
    remedy = f"Install the torch build for that card, or set {VARIABLE}=cpu to measure the CPU on purpose."
    if any((host.root / node).exists() for node in ("dev/kfd", "dev/nvidiactl")):
        return GROUP.problem("torch-build", f"{finding} and its device node is there.", remedy)
    return GROUP.warning("torch-build", f"{finding} (no device node is visible here).", remedy)
