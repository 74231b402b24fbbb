"""What a measurement hung on besides the code, as flat name -> text."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..evidence.record import SAMPLED
from .fields import group_of

#: Facts of the device that are told elsewhere, or that are no property of it.
_DEVICE_ELSEWHERE = frozenset(
    {"torch", "torch_git", "dtk", "runtime", "toolkits", "visible", "threads", "interop_threads"}
    | {"visible_addresses"}
)

#: Of the run's state: what may explain a difference.
_STATE = ("contended", "others")

#: Switches that tell of one measurement, not of how it was set up.
_OF_ONE_MEASUREMENT = frozenset({"quick", "cache.was_empty", "cache.wrote"})

#: What a fact is to a comparison. MATTERS: results differ by it although the code is the same, so that a series hangs
#: on it, and a difference forbids the comparison unless it was declared. SHOWN: told beside it. VOLATILE: it
#: describes a run; it is told where it may explain something.
MATTERS, SHOWN, VOLATILE = "matters", "shown", "volatile"

#: Name -> role; a name that ends in "." stands for all below it, the longest that fits counts. What no name here
#: fits is volatile if it reads like a figure of the moment, else shown.
_ROLES: dict[str, str] = {
    **dict.fromkeys(
        ("machine.machine", "machine.arch", "machine.cpu", "machine.num_cpu", "requirement.", "environment."),
        MATTERS,
    ),
    **dict.fromkeys(
        (
            "software.python", "software.implementation", "software.torch", "software.torch_git", "software.dtk",
            "software.hip", "software.cuda", "software.runtime", "software.toolkit.", "software.triton",
        ),
        MATTERS,
    ),
    **dict.fromkeys(
        (
            "device.kind", "device.simulated", "device.product", "device.architecture", "device.driver",
            "device.cores", "device.multiprocessors", "device.devices_in_use", "device.performance_level",
            "device.power_cap_w",
        ),
        MATTERS,
    ),
    **dict.fromkeys(
        ("host.cpu", "host.sockets", "host.threads_per_core", "host.numa_nodes", "host.governor"), MATTERS
    ),
    **dict.fromkeys(("switches.", "input.", "boundary."), MATTERS),
    # Which card of several is no property of the result; that it is another product shows by itself.
    **dict.fromkeys(
        (
            "environment.DCU_ASV_DEVICE", "environment.HIP_VISIBLE_DEVICES", "environment.CUDA_VISIBLE_DEVICES",
            "environment.ROCR_VISIBLE_DEVICES", "environment.HCU_VISIBLE_DEVICES", "environment.GPU_DEVICE_ORDINAL",
        ),
        SHOWN,
    ),
    "state.": VOLATILE,
    "sampled.": VOLATILE,
}  # fmt: skip

_FIGURE = re.compile(r"(device|host)\..*(load|clock|temperature|power|utili[sz]ation|used)", re.IGNORECASE)
_RANGE = re.compile(r"[-+.\de]+( to [-+.\de]+)?")


@functools.lru_cache(maxsize=4096)
def role(name: str) -> str:
    """MATTERS, SHOWN or VOLATILE."""
    found = [one for one in _ROLES if (name.startswith(one) if one.endswith(".") else name == one)]
    if found:
        return _ROLES[max(found, key=len)]
    return VOLATILE if _FIGURE.match(name) else SHOWN


def is_figure(name: str) -> bool:
    """Whether a fact is a reading (load, clock, temperature, power) rather than a property."""
    return role(name) == VOLATILE


def span(value: str) -> tuple[float, float] | None:
    """The ends of a figure, or of a range of figures; None for other text."""
    if not _RANGE.fullmatch(value):
        return None
    try:
        ends = [float(part) for part in value.split(" to ")]
    except ValueError:
        return None
    return min(ends), max(ends)


def record_facts(record: Mapping[str, Any]) -> dict[str, str]:
    """The facts of one evidence record: "device.product", "software.torch", "environment.OMP_NUM_THREADS",
    "switches.threads", "input.tensors", "host.load_1min", ..."""
    device, software = record["device"], record["software"]
    found: dict[str, Any] = {}
    _flatten("device", {k: v for k, v in device.items() if k not in _DEVICE_ELSEWHERE}, found)
    _flatten("software", software.get("packages"), found)
    # torch tells more of itself than its package's version does: the vendor's build, its commit.
    _flatten("software", {k: device.get(k) for k in ("torch", "torch_git", "dtk")}, found)
    _flatten("software", {_runtime_name(device): device.get("runtime")}, found)
    _flatten("software.toolkit", device.get("toolkits"), found)
    _flatten("environment", device.get("visible"), found)
    _flatten("environment", software.get("environment"), found)
    switches: dict[str, Any] = {}
    _flatten("switches", record["switches"], switches)
    found.update({k: v for k, v in switches.items() if k.partition(".")[2] not in _OF_ONE_MEASUREMENT})
    _flatten("input", {"tensors": record["input"].get("tensors"), "sets": record["input"].get("sets")}, found)
    _flatten("boundary", {"inputs_on": record["boundary"].get("inputs_on")}, found)
    _flatten("host", record.get("host"), found)
    _flatten("host", {k: v for k, v in software.items() if k not in ("packages", "environment")}, found)
    _flatten("state", _told_of(record.get("state"), _STATE), found)
    _flatten("sampled.passes.latency", _told_of(of_pass(record, "latency"), SAMPLED), found)
    return {name: _text(value) for name, value in found.items()}


def asv_facts(
    params: Mapping[str, Any], requirements: Mapping[str, Any], env_vars: Mapping[str, Any], python: Any
) -> dict[str, str]:
    """The facts that asv keeps in a result file: of the machine, and what the environment was made of."""
    environment = {"python": python, **requirements}
    found: dict[str, Any] = {}
    _flatten("machine", {k: v for k, v in params.items() if k not in environment and k != "version"}, found)
    _flatten("requirement", environment, found)
    _flatten("environment", env_vars, found)
    return {name: _text(value) for name, value in found.items()}


def all_facts(of_file: Mapping[str, str], of_rounds: Mapping[str, str]) -> dict[str, str]:
    """Both together. What the evidence tells more exactly (torch, Python, the kind of device) is told once."""
    if not of_rounds:
        return dict(of_file)
    kept = {name: value for name, value in of_file.items() if not _told_again(name, of_rounds)}
    return {**kept, **of_rounds}


def _told_again(name: str, of_rounds: Mapping[str, str]) -> bool:
    group, _, last = name.partition(".")
    return group == "requirement" and (last == "device" or f"software.{last}" in of_rounds)


def merged(many: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """One text a fact: the value that all have, the range of a figure, or "mixed: ..." with the values."""
    values: dict[str, dict[str, None]] = {}
    for facts in many:
        for name, value in facts.items():
            values.setdefault(name, {})[value] = None
    return {name: _one(name, list(found)) for name, found in values.items()}


def _one(name: str, values: list[str]) -> str:
    if len(values) == 1:
        return values[0]
    spans = [span(one) for one in values] if is_figure(name) else [None]
    known = [one for one in spans if one is not None]
    if len(known) == len(spans):
        return f"{min(low for low, _ in known):g} to {max(high for _, high in known):g}"
    parts = dict.fromkeys(part for one in values for part in one.removeprefix("mixed: ").split("; "))
    return "mixed: " + "; ".join(sorted(parts))


def of_pass(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """What was sampled of the card during one pass of a record; empty where nothing was."""
    return group_of(record, "sampled", "passes", name)


def _told_of(given: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: given.get(name) for name in names} if isinstance(given, Mapping) else {}


def _flatten(prefix: str, given: Any, found: dict[str, Any]) -> None:
    """None is a fact that could not be told, which is none."""
    if isinstance(given, Mapping):
        for name, value in given.items():
            _flatten(f"{prefix}.{name}", value, found)
    elif given is not None:
        found[prefix] = given


def _runtime_name(device: Mapping[str, Any]) -> str:
    return {"dcu": "hip", "hip": "hip", "cuda": "cuda"}.get(str(device.get("kind")), "runtime")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(one) for one in value)
    return str(value)
