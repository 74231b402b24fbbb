"""What the labels of hy-smi and rocm-smi mean: which fact, in which unit, and which values can be believed.

A label is known word for word or not at all: `Average GFX Core Power (W)` is not the card's power, and
`GPU Memory Allocated (VRAM%)` is no number of bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

Value = int | float | str

#: "(°C)", "Mhz": what one unit of a kind is worth. MB and GB are absent: tools mean both 2^20 and 10^6 by them.
UNITS: dict[str, dict[str, int]] = {
    "bytes": {"b": 1, "bytes": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40},
    "celsius": {"c": 1, "°c": 1},
    "watts": {"w": 1},
    "percent": {"%": 1},
    "clock": {"mhz": 1},
}

#: Least and greatest value that can be true. 0 W, 0 °C and 0 MHz are what tools print where a sensor gives nothing.
_BELIEVABLE: dict[str, tuple[float, float]] = {
    "total_bytes": (2**20, 2**42),
    "used_bytes": (0, 2**42),
    "available_bytes": (0, 2**42),
    "temperature_c": (0.1, 150),
    "power_w": (0.1, 3000),
    "power_cap_w": (0.1, 3000),
    "utilization": (0, 100),
    "core_clock_mhz": (1, 10_000),
    "memory_clock_mhz": (1, 10_000),
    "numa_node": (0, 1023),
}


class Fact(NamedTuple):
    """What a label tells.

    key: of a card's mapping; None: the label is known, and tells nothing that is wanted.
    rank: of several labels of one key, the lowest rank wins.
    kind: how the value is read.
    """

    key: str | None
    rank: int = 0
    kind: str = "words"


class Told(NamedTuple):
    """One value that a text tells, under its label. table: the label is a column of the default table."""

    card: int
    label: str
    value: str
    table: bool = False


_LABELS = {
    "vram total memory": Fact("total_bytes", 0, "bytes"),
    "vram total used memory": Fact("used_bytes", 0, "bytes"),
    "available memory size": Fact("available_bytes", 0, "bytes"),
    # One sensor for every source: hwmon's temp1 is the edge.
    "temperature (sensor edge)": Fact("temperature_c", 0, "celsius"),
    "temperature (sensor junction)": Fact("temperature_c", 1, "celsius"),
    "temperature (sensor core)": Fact("temperature_c", 2, "celsius"),
    "temperature (sensor mem)": Fact(None),
    "temperature (sensor memory)": Fact(None),
    "average graphics package power": Fact("power_w", 0, "watts"),
    "current socket graphics package power": Fact("power_w", 1, "watts"),
    "max graphics package power": Fact("power_cap_w", 0, "watts"),
    "card use": Fact("utilization", 0, "percent"),
    "card util in last second": Fact("utilization", 1, "percent"),
    "card memory use": Fact(None),
    "card memory allocated": Fact(None),
    "sclk clock level": Fact("core_clock_mhz", 0, "clock"),
    "sclk clock speed": Fact("core_clock_mhz", 0, "clock"),
    "mclk clock level": Fact("memory_clock_mhz", 0, "clock"),
    "mclk clock speed": Fact("memory_clock_mhz", 0, "clock"),
    "performance level": Fact("performance_level", 0, "level"),
    "card series": Fact("product", 0, "product"),
    "device name": Fact("product", 1, "product"),
    "card model": Fact("product", 2, "product"),
    "pci bus": Fact("bus", 0, "address"),
    "bus id": Fact("bus", 0, "address"),
    "(topology) numa node": Fact("numa_node", 0, "integer"),
    "driver version": Fact("driver", 0, "version"),
}

# A label of its own says more exactly what it means than a column does.
_COLUMNS = {
    "temp": Fact("temperature_c", 9, "celsius"),
    "avgpwr": Fact("power_w", 9, "watts"),
    "power": Fact("power_w", 9, "watts"),
    "pwrcap": Fact("power_cap_w", 9, "watts"),
    "sclk": Fact("core_clock_mhz", 9, "clock"),
    "mclk": Fact("memory_clock_mhz", 9, "clock"),
    "perf": Fact("performance_level", 9, "level"),
    "card%": Fact("utilization", 9, "percent"),
    # Steps of one percent are 0.64 GB of a 64 GB card: too coarse to be a number of bytes.
    "vram%": Fact(None),
    "fan": Fact(None),
    "mode": Fact(None),
    "dec%": Fact(None),
    "enc%": Fact(None),
}

_NOTHING = frozenset(
    ("", "n/a", "na", "nan", "inf", "-inf", "none", "null", "unknown", "unsupported", "not supported", "-")
)
_LEVELS = frozenset(
    ("auto", "low", "high", "manual", "determinism", "perf_determinism")
    + ("profile_standard", "profile_min_sclk", "profile_min_mclk", "profile_peak", "profile_exit")
    + ("stable_std", "stable_peak", "stable_min_mclk", "stable_min_sclk")
)

_CARD_WORD = re.compile(r"\b(?:gpu|dcu|hcu)\b")
_LABEL_WITH_UNIT = re.compile(r"(.{1,80}?) ?\(([^()]{1,6})\)")
_QUANTITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([a-z%°]{0,6})")
# "600Mhz", "(1200.Mhz)", "1 (600Mhz)", "S: (137Mhz)". The level is told from the number only by the bracket.
_CLOCK = re.compile(r"(?:(?:[0-9a-z]{1,2} ?:? ?)?\()?([0-9]{1,6}(?:\.[0-9]{0,6})?) ?mhz\)?")
_CLOCK_LEVEL = re.compile(r"[0-9a-z]{1,2}")
_ADDRESS = re.compile(r"([0-9a-f]{8}|[0-9a-f]{4}):([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?![0-9a-f])")
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){1,5}[A-Za-z0-9._+-]{0,40}")
_INTEGER = re.compile(r"[0-9]{1,9}")

LONGEST_LABEL = 100


def column_fact(word: str) -> Fact | None:
    """What a column of the default table tells, by its heading."""
    return _COLUMNS.get(_plain(word))


def fact_of(told: Told) -> tuple[Fact, str] | None:
    """The fact that a label tells and the unit that it names ("" where none); None: a label not known."""
    if len(told.label) > LONGEST_LABEL:
        return None
    label = _plain(told.label)
    if told.table:
        # Cells carry their units themselves, so that one which has slipped into another column is seen.
        return (_COLUMNS[label], "") if label in _COLUMNS else None
    if label in _LABELS:
        return _LABELS[label], ""
    split = _LABEL_WITH_UNIT.fullmatch(label)
    if split is None or split.group(1) not in _LABELS:
        return None
    return _LABELS[split.group(1)], split.group(2)


def _plain(label: str) -> str:
    return " ".join(_CARD_WORD.sub("card", label.lower()).split()).rstrip(" :")


def read_value(fact: Fact, unit: str, text: str) -> tuple[Value | None, str | None]:
    """The value, or None; with None, why it is not taken, or None where the text itself says that there is none."""
    text = " ".join(text.split())
    if fact.key is None or text.lower() in _NOTHING or text.lower().startswith("n/a"):
        return None, None
    if fact.kind == "clock" and _CLOCK_LEVEL.fullmatch(text.lower()):
        return None, None
    value = (
        _READERS[fact.kind](text, unit.strip()) if fact.kind in _READERS else _quantity(fact.kind, text, unit)
    )
    if value is None:
        return None, "its value or unit is not one that this version knows"
    low, high = _BELIEVABLE.get(fact.key, (0, 0))
    if isinstance(value, int | float) and not low <= value <= high:
        return None, f"{value:g} cannot be true"
    return value, None


def _quantity(kind: str, text: str, unit: str) -> int | float | None:
    """A number with its unit in the label, behind the number, or in both places and then the same."""
    found = _QUANTITY.fullmatch(text.lower())
    if found is None:
        return None
    scales = {UNITS[kind].get(name.strip()) for name in (unit, found.group(2)) if name.strip()}
    if len(scales) != 1 or (scale := scales.pop()) is None:
        return None
    if kind != "bytes":
        return float(found.group(1)) * scale
    amount = float(found.group(1)) * scale if "." in found.group(1) else int(found.group(1)) * scale
    # Not whole bytes: the tool has rounded, so this is not the number that it read.
    return int(amount) if amount == int(amount) else None


def _clock(text: str, unit: str) -> float | None:
    found = _CLOCK.fullmatch(text.lower())
    return float(found.group(1)) if found else None


def _level(text: str, unit: str) -> str | None:
    return text.lower() if text.lower() in _LEVELS else None


def _product(text: str, unit: str) -> str | None:
    named = text.isascii() and text.isprintable() and 2 <= len(text) <= 80 and ":" not in text
    return text if named and not text.lower().startswith("0x") else None


def _address(text: str, unit: str) -> str | None:
    """The PCI address as sysfs spells it; what follows it (serial number, health) is left out."""
    found = _ADDRESS.match(text.lower())
    if found is None:
        return None
    domain, rest = found.groups()
    return f"{domain[-4:]}:{rest}" if not domain[:-4].strip("0") else f"{domain}:{rest}"


def _version(text: str, unit: str) -> str | None:
    return text if _VERSION.fullmatch(text) else None


def _integer(text: str, unit: str) -> int | None:
    return int(text) if _INTEGER.fullmatch(text) else None


_READERS: dict[str, Callable[[str, str], Value | None]] = {
    "clock": _clock,
    "level": _level,
    "product": _product,
    "address": _address,
    "version": _version,
    "integer": _integer,
}
