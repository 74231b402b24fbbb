"""The card as it looks from outside torch: what its readings come from, who else is on it, how its clock is set."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from .check import Check, Group, Host
from .probing import ended, run_child

GROUP = Group("device")
PROBE = (sys.executable, "-m", "dcu_asv_ext.doctor.card_probe")
LIMIT = 30.0

#: Performance levels under which the driver, or nobody, keeps the clock down.
_FREE = ("auto", "high")
_UNITS = {"core_clock_mhz": "MHz", "power_w": "W", "temperature_c": "C"}


def look(
    device: Mapping[str, Any] | None, where: Host, limit: float = LIMIT, command: Sequence[str] = PROBE
) -> dict[str, Any] | None:
    """What a child process tells of the device's card: source, refused, reading, others; or `failure`.

    device: as the probe described it. None where there is no card to look at: no device, the CPU, a simulated one, a
    torch that does not tell the card's PCI address. Never raises for what the child does.
    """
    if device is None or device.get("kind") not in ("dcu", "hip", "cuda") or device.get("simulated"):
        return None
    address = device.get("pci_bus_id")
    if address is None:
        return None
    arguments = [*command, str(device["kind"]), str(address), str(where.root)]
    out, _, code = run_child(arguments, where.environ, limit)
    trying, card = "", None
    for line in out.splitlines():
        with suppress(ValueError, TypeError, AttributeError):
            told = json.loads(line)
            trying, card = told.get("trying", trying), told.get("card", card)
    if isinstance(card, dict):
        return card
    doing = f" while it asked {trying}" if trying else ""
    return {"failure": f"{ended(code, limit)}{doing}"}


def check_card(device: Mapping[str, Any] | None, card: Mapping[str, Any] | None) -> Iterator[Check]:
    """device: as the probe described it. card: of `look`."""
    if card is not None:
        yield _readings(card)
        yield _others(card)
    level = (device or {}).get("performance_level") or _reading(card).get("performance_level")
    if level is not None:
        yield _level(str(level))


def _reading(card: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return (card or {}).get("reading") or {}


def _readings(card: Mapping[str, Any]) -> Check:
    remedy = (
        "Make the driver's files (/sys) visible here, or install its management tool; "
        "until then peak_card is what torch tells, and clocks are not known."
    )
    if "failure" in card:
        return GROUP.warning(
            "card-readings", f"The process that looks at the card failed: {card['failure']}.", remedy
        )
    tried = "; ".join(f"{name}: {why}" for name, why in card["refused"].items())
    if card["source"] is None:
        return GROUP.warning("card-readings", f"Nothing but torch tells of the card ({tried}).", remedy)
    reading = _reading(card)
    figures = []
    if reading.get("used_bytes") is not None and reading.get("total_bytes"):
        gib = [reading[name] / 2**30 for name in ("used_bytes", "total_bytes")]
        figures.append(f"{gib[0]:.1f} of {gib[1]:.1f} GiB in use")
    figures += [f"{reading[name]:g} {unit}" for name, unit in _UNITS.items() if reading.get(name) is not None]
    before = f" (before it, {tried})" if tried else ""
    return GROUP.ok(
        "card-readings", f"The card is read through {card['source']}{before}: {', '.join(figures)}."
    )


def _others(card: Mapping[str, Any]) -> Check:
    others = card.get("others")
    if others is None:
        return GROUP.ok("card-shared", "Whether others use the card is not told here.")
    if not others["count"]:
        return GROUP.ok("card-shared", "No process is seen on the card.")
    held = f", holding {others['mib']:,} MiB" if "mib" in others else ""
    processes = "1 process uses" if others["count"] == 1 else f"{others['count']} processes use"
    return GROUP.warning(
        "card-shared",
        f"{processes} the card{held}: times and whole-card memory would be theirs too.",
        "Wait until they are done, or choose another card with HIP_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES.",
    )


def _level(level: str) -> Check:
    if level in _FREE:
        why = "the clock follows load and temperature" if level == "auto" else "the clock is kept up"
        return GROUP.ok("performance-level", f"The card's performance level is {level}: {why}.")
    return GROUP.warning(
        "performance-level",
        f"The card's performance level is {level}: somebody set its clock, which may be far below the card's own, "
        "and results of another level are another series.",
        "Ask whoever set it whether that is meant; a card's own level is auto.",
    )
