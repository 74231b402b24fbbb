"""Output of hy-smi and rocm-smi, of every known generation, to plain facts of each card.

Nothing is guessed: a label, a unit or a form that is not known gives no value, and a value that cannot be true
(511 °C, more used than there is) gives none either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .smi_json import read_pairs
from .smi_labels import Fact, Told, Value, fact_of, read_value
from .smi_lines import card_number, lines_of, read_csv, read_queries, read_table

#: Every query of 64 cards at once prints a tenth of this.
LONGEST_TEXT = 2**20

_NO_DEVICE = ("open mkfd failed", "no device available", "driver not initialized")
_MOST_NOTES = 20
_MOST_OVER_CAP = 2.0
_SIZES = ("total_bytes", "used_bytes", "available_bytes")


@dataclass(frozen=True)
class SmiText:
    """What a text tells.

    cards: a mapping per card, by card number; keys as in `parse_smi`.
    notes: what in the text was not understood or not believed; with no cards, why.
    driver: the driver's version, where the text tells it once for all cards.
    """

    cards: tuple[dict[str, Value], ...]
    notes: tuple[str, ...]
    driver: str | None = None


def parse_smi(text: str) -> list[dict[str, Value]]:
    """One mapping per card that the text tells of, by card number as the tool counts; [] for a text not known.

    Keys, each only where told: card, total_bytes, used_bytes, available_bytes, temperature_c (the edge sensor, else
    junction, else core), power_w, power_cap_w, utilization (percent), core_clock_mhz, memory_clock_mhz,
    performance_level, product, bus (PCI address as in sysfs), numa_node, driver.
    Takes any text and never raises. `read_smi` says in addition what was not understood.
    """
    return list(read_smi(text).cards)


def read_smi(text: str) -> SmiText:
    """The same with notes."""
    if not text.strip():
        return SmiText((), ("the tool printed nothing",))
    if len(text) > LONGEST_TEXT:
        return SmiText((), ("the tool printed more than any known release does",))
    notes: list[str] = []
    told, driver = _everything_told(text, notes)
    values: dict[int, list[tuple[Fact, Value]]] = {}
    doubted: set[tuple[int, str | None]] = set()
    for one in told:
        known = fact_of(one)
        if known is None:
            continue
        fact, unit = known
        values.setdefault(one.card, [])
        value, fault = read_value(fact, unit, one.value)
        if value is not None:
            values[one.card].append((fact, value))
        elif fault is not None:
            doubted.add((one.card, fact.key))
            notes.append(f"card {one.card}: {fact.key}: {fault}")
    settled: list[dict[str, Value]] = []
    for card in sorted(values):
        facts = _settle(card, values[card], notes)
        if (card, "total_bytes") in doubted:
            # The other sizes stand in the same unit, which was not understood either.
            facts = {key: value for key, value in facts.items() if key not in _SIZES}
        _drop_contradictions(card, facts, notes)
        settled.append({"card": card, **({"driver": driver} if driver else {}), **facts})
    if not settled and driver is None:
        notes.append(_why_unknown(text))
    return SmiText(tuple(settled), tuple(dict.fromkeys(notes))[:_MOST_NOTES], driver)


def _everything_told(text: str, notes: list[str]) -> tuple[list[Told], str | None]:
    """All forms are looked for in every text, since several queries may stand in one."""
    lines = lines_of(text)
    told = [*read_queries(lines), *read_table(lines, notes), *read_csv(lines, notes)]
    general = [Told(0, label, value) for label, _, value in (line.partition(":") for line in lines)]
    for name, label, value in read_pairs(text):
        card = None if name.isdecimal() else card_number(name)
        if card is None:
            general.append(Told(0, label, value))
        else:
            told.append(Told(card, label, value))
    return told, _driver(general)


def _driver(general: Iterable[Told]) -> str | None:
    """The one fact that is told of no card but of all."""
    versions: set[Value | None] = set()
    for told in general:
        known = fact_of(told)
        if known and known[0].key == "driver":
            versions.add(read_value(*known, told.value)[0])
    version = versions.pop() if len(versions) == 1 else None
    return version if isinstance(version, str) else None


def _settle(card: int, values: list[tuple[Fact, Value]], notes: list[str]) -> dict[str, Value]:
    """Of several labels of one key the most exact; a label that is told twice and differently tells nothing."""
    told: dict[str, Value] = {}
    for key in sorted({fact.key for fact, _ in values if fact.key is not None}):
        best = min(fact.rank for fact, _ in values if fact.key == key)
        said = {value for fact, value in values if (fact.key, fact.rank) == (key, best)}
        if len(said) == 1:
            told[key] = said.pop()
        else:
            notes.append(f"card {card}: {key}: told more than once, and differently")
    return told


def _drop_contradictions(card: int, told: dict[str, Value], notes: list[str]) -> None:
    def number(key: str) -> float | None:
        value = told.get(key)
        return None if value is None or isinstance(value, str) else value

    total, power, cap = number("total_bytes"), number("power_w"), number("power_cap_w")
    parts = [key for key in ("used_bytes", "available_bytes") if (number(key) or 0) > (total or float("inf"))]
    if parts:
        for key in ("total_bytes", *parts):
            del told[key]
        notes.append(f"card {card}: {' and '.join(parts)} above total_bytes: none of them is taken")
    if power is not None and cap is not None and power > _MOST_OVER_CAP * cap:
        del told["power_w"]
        notes.append(f"card {card}: power_w: {power:g} cannot be true under a cap of {cap:g}")


def _why_unknown(text: str) -> str:
    lowered = text.lower()
    for message in _NO_DEVICE:
        if message in lowered:
            return f'no card: the tool says "{message}"'
    return "unknown: the tool printed something that this version does not know"
