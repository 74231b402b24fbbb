"""Does a text really say this of that card? Asked of every fact that is read from a mutated text.

Written apart from the reader and by another road: from the claim back to a place in the text, with white space
squeezed out, instead of from the text to facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

GIB = 2**30
_BYTES = {"b": 1, "bytes": 1, "kib": 2**10, "mib": 2**20, "gib": GIB, "tib": 2**40}
_LABELS = {
    "total_bytes": ("vramtotalmemory",),
    "used_bytes": ("vramtotalusedmemory",),
    "available_bytes": ("availablememorysize",),
    "temperature_c": ("temperature(sensoredge)", "temperature(sensorjunction)", "temperature(sensorcore)"),
    "power_w": ("averagegraphicspackagepower", "currentsocketgraphicspackagepower"),
    "power_cap_w": ("maxgraphicspackagepower",),
    "utilization": tuple(
        f"{card}{use}" for card in ("gpu", "dcu", "hcu", "card") for use in ("use", "utilinlastsecond")
    ),
    "core_clock_mhz": ("sclkclocklevel", "sclkclockspeed"),
    "memory_clock_mhz": ("mclkclocklevel", "mclkclockspeed"),
    "performance_level": ("performancelevel",),
    "product": ("cardseries", "gpuseries", "dcuseries", "hcuseries", "devicename", "cardmodel"),
    "bus": ("pcibus", "busid"),
    "numa_node": ("(topology)numanode",),
    "driver": ("driverversion",),
}
_COLUMNS = {
    "temp": "temperature_c",
    "avgpwr": "power_w",
    "power": "power_w",
    "pwrcap": "power_cap_w",
    "sclk": "core_clock_mhz",
    "mclk": "memory_clock_mhz",
    "perf": "performance_level",
    "gpu%": "utilization",
    "dcu%": "utilization",
    "hcu%": "utilization",
    "card%": "utilization",
}
_UNIT = {
    "temperature_c": ("c", "°c"),
    "power_w": ("w",),
    "power_cap_w": ("w",),
    "utilization": ("%",),
    "core_clock_mhz": ("mhz",),
    "memory_clock_mhz": ("mhz",),
}


def says(text: str, card: int, key: str, value: Any) -> bool:
    """Whether the text says so anywhere: under a label that means the key, in the label's or the value's unit."""
    lines = text.replace("\r", "\n").split("\n")
    places = [*_query_lines(lines, card), *_json(text, card), *_csv(lines, card)]
    if key == "driver":
        places += [(_squeeze(name), said) for line in lines for name, _, said in [line.partition(":")]]
        places += re.findall(r'"(driverversion):?":+"([^"]*)"', _squeeze(text))
    if any(_label_says(label, said, key, value) for label, said in places):
        return True
    return any(_same(cell, "", key, value) for cell in _cells(lines, card, key))


def _squeeze(text: str) -> str:
    return "".join(text.split()).lower()


def _query_lines(lines: list[str], card: int) -> Iterator[tuple[str, str]]:
    for line in lines:
        start = re.match(rf"(gpu|dcu|hcu)\[0*{card}\]:", _squeeze(line))
        if start:
            rest = _squeeze(line)[start.end() :]
            for colon in re.finditer(":", rest):
                yield rest[: colon.start()], rest[colon.end() :]


def _json(text: str, card: int) -> Iterator[tuple[str, str]]:
    """Pairs from the card's name up to the next name of an object."""
    squeezed = _squeeze(text)
    for start in re.finditer(rf'"(?:card|gpu|dcu|hcu)[_-]?0*{card}":', squeezed):
        end = re.compile(r'"[^":{}]*":\{').search(squeezed, start.end())
        piece = squeezed[start.end() : end.start() if end else len(squeezed)]
        for pair in re.finditer(r'"([^"]+)":+(?=("[^"]*"|[^",{}\[\]]+))', piece):
            yield pair.group(1), pair.group(2).strip('"')


def _csv(lines: list[str], card: int) -> Iterator[tuple[str, str]]:
    headings = [line.split(",") for line in lines if _squeeze(line).startswith("device,")]
    for line in lines:
        cells = [_squeeze(cell) for cell in line.split(",")]
        if re.fullmatch(rf"(card|gpu|dcu|hcu)?[_-]?0*{card}", cells[0]):
            for heading in headings:
                yield from ((_squeeze(name), cell) for name, cell in zip(heading, cells, strict=False))


def _cells(lines: list[str], card: int, key: str) -> Iterator[str]:
    """Cells in a row of the card, in the place where some heading has a column of the key."""

    def words(line: str) -> list[str]:
        return re.sub(r"\[.*?\]", "[]", line).split()

    headings = [words(re.sub(r"\(.*?\)", " ", line)) for line in lines]
    places = {
        i
        for heading in headings
        for i, word in enumerate(heading)
        if _COLUMNS.get(word.lower().rstrip(":")) == key
    }
    for row in (words(re.sub(r",\s+", ",", line)) for line in lines):
        if row and re.fullmatch(rf"0*{card}", row[0]):
            yield from (row[i] for i in places if i < len(row))


def _label_says(label: str, said: str, key: str, value: Any) -> bool:
    found = re.fullmatch(r"(.*?)(?:\(([^()]*)\))?:?", label)
    assert found is not None
    for name, unit in ((found.group(1), found.group(2) or ""), (label.rstrip(":"), "")):
        if name in _LABELS[key] and _same(said, unit, key, value):
            return True
    return False


def _same(said: str, unit: str, key: str, value: Any) -> bool:
    said = _squeeze(said)
    if isinstance(value, str):
        return said.startswith(_squeeze(value))
    if key == "numa_node":
        return said.isdecimal() and int(said) == value
    if key in ("core_clock_mhz", "memory_clock_mhz"):
        return re.search(r"(?<![0-9.])([0-9.]+)mhz", said) is not None and value in {
            float(number) for number in re.findall(r"(?<![0-9.])([0-9]+\.?[0-9]*)mhz", said)
        }
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([a-z%°]*)", said)
    if found is None:
        return False
    units = {one for one in (unit, found.group(2)) if one}
    if key.endswith("_bytes"):
        scales = {_BYTES.get(one) for one in units}
        return len(scales) == 1 and None not in scales and float(found.group(1)) * scales.pop() == value  # type: ignore[operator]
    return bool(units) and units <= set(_UNIT[key]) and float(found.group(1)) == value
