"""What a measurement hung on besides the code, as flat name -> text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

#: Facts of the device that are told elsewhere, or that are no property of it.
_DEVICE_ELSEWHERE = frozenset(
    {"torch", "torch_git", "dtk", "runtime", "toolkits", "visible", "threads", "interop_threads"}
)

#: Switches that tell of one measurement, not of how it was set up.
_OF_ONE_MEASUREMENT = frozenset({"quick", "cache.was_empty", "cache.wrote"})

#: Figures that are never twice the same. Many become a range.
_FIGURE = re.compile(r"(device|host)\..*(load|clock|temperature|power|utili[sz]ation|used)", re.IGNORECASE)
_RANGE = re.compile(r"[-+.\de]+( to [-+.\de]+)?")


def is_figure(name: str) -> bool:
    """Whether a fact is a reading (load, clock, temperature, power) rather than a property."""
    return _FIGURE.match(name) is not None


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
    _flatten("host", {k: v for k, v in software.items() if k not in ("packages", "environment")}, found)
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
    if is_figure(name) and all(map(_RANGE.fullmatch, values)):
        numbers = sorted(float(part) for one in values for part in one.split(" to "))
        return f"{numbers[0]:g} to {numbers[-1]:g}"
    parts = dict.fromkeys(part for one in values for part in one.removeprefix("mixed: ").split("; "))
    return "mixed: " + "; ".join(sorted(parts))


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
