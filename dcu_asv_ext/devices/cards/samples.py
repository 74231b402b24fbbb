"""Readings of a card over a stretch of time, bounded in number, and their way from one process to another."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from .processes import Company
from .source import Reading

#: 100 s of readings every 50 ms; beyond, they are kept more sparsely.
MOST_READINGS = 2048


@dataclass
class Samples:
    """What was seen of a card.

    source: where from, "" where nothing answered. interval: seconds between two looks, as asked for.
    times: of the kept readings, on `time.perf_counter`'s clock, which Linux shares among processes.
    taken: how many readings there were, kept or not.
    before, after: who was on the card at the first and at the last look, where the source lists processes.
    reason: why there are no readings, or what ended them early ("" where nothing did).
    """

    source: str = ""
    interval: float = 0.0
    times: list[float] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    taken: int = 0
    before: Company | None = None
    after: Company | None = None
    reason: str = ""

    @property
    def peak_bytes(self) -> int | None:
        """The largest reading of the card's memory, exact however many were dropped."""
        return max((one.used_bytes for one in self.readings if one.used_bytes is not None), default=None)

    def to_plain(self) -> dict[str, Any]:
        plain = dict(vars(self))
        plain["readings"] = [told(one) for one in self.readings]
        for name in ("before", "after"):
            plain[name] = None if plain[name] is None else asdict(plain[name])
        return plain

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Samples:
        """Raises KeyError and TypeError for anything else than what `to_plain` gives."""
        made = cls(**plain)
        made.readings = [_reading(one) for one in plain["readings"]]
        made.before, made.after = (
            None if plain[name] is None else Company(**plain[name]) for name in ("before", "after")
        )
        return made


class Kept:
    """Readings in order, never more than `most`: when that is reached, each two become one.

    Of two, the one with more memory in use stays, in its own place and time, so that the peak of any stretch is
    exact; the reasons for a lowered clock of both stay with it.
    """

    def __init__(self, most: int = MOST_READINGS) -> None:
        self.most = most
        self.taken = 0
        self._rows: list[tuple[float, Reading]] = []
        self._each = 1
        self._open = 0

    def add(self, time: float, reading: Reading) -> None:
        self.taken += 1
        if self._open:
            self._rows[-1] = _one_of(self._rows[-1], (time, reading))
        else:
            if len(self._rows) == self.most:
                self._halve()
            self._rows.append((time, reading))
        self._open = (self._open + 1) % self._each

    def _halve(self) -> None:
        rows = self._rows
        self._rows = [_one_of(rows[at], rows[min(at + 1, len(rows) - 1)]) for at in range(0, len(rows), 2)]
        self._each *= 2

    def into(self, samples: Samples) -> Samples:
        rows = list(self._rows)
        samples.times = [time for time, _ in rows]
        samples.readings = [reading for _, reading in rows]
        samples.taken = self.taken
        return samples


def _one_of(first: tuple[float, Reading], second: tuple[float, Reading]) -> tuple[float, Reading]:
    """The time and values of the one with more memory in use."""
    more, less = (second, first) if _used(second[1]) > _used(first[1]) else (first, second)
    reasons = (*(more[1].throttle or ()), *(less[1].throttle or ()))
    if not reasons:
        return more
    return more[0], replace(more[1], throttle=tuple(dict.fromkeys(reasons)))


def _used(reading: Reading) -> int:
    return -1 if reading.used_bytes is None else reading.used_bytes


def told(reading: Reading) -> dict[str, Any]:
    """The reading's values that are told, by name."""
    return {name: value for name, value in vars(reading).items() if value is not None}


def _reading(plain: dict[str, Any]) -> Reading:
    reasons = plain.get("throttle")
    return Reading(**{**plain, "throttle": None if reasons is None else tuple(reasons)})
