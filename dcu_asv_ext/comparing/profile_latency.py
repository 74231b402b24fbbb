"""The latencies beside two sides' profiles, and what is known of their difference."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import figures
from .model import Row, Side
from .profile_explaining import CHANGED
from .profile_model import Figure
from .profile_tables import latency_of

#: The profiled measurements must show the same change as the compared rounds, within this share of it.
_AGREE = 0.25

Both = tuple["Figure | None", "Figure | None"]


@dataclass(frozen=True)
class Latencies:
    """sides: seconds a call before and after, a figure a round. verdict: of stats.verdicts, "" where nothing can be
    said. not_profiled: why the profiles are not those of the change, "" where they are."""

    sides: Both
    verdict: str
    not_profiled: str = ""


def latencies(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], row: Row | None
) -> Latencies:
    """row: the latency's in the comparison of the whole suite, which decides; None: the records of both sides are
    judged alone."""
    own = _of_records(before), _of_records(after)
    if row is None:
        return Latencies(own, _verdict(*own))
    compared = _of_row(row)
    if None in compared:
        return Latencies(own, row.verdict)
    return Latencies(compared, row.verdict, _other(own, compared) if row.verdict in CHANGED else "")


def _of_records(records: Sequence[Mapping[str, Any]]) -> Figure | None:
    found = [value for value in map(latency_of, records) if value is not None]
    return Figure(tuple(found)) if found else None


def _of_row(row: Row) -> Both:
    found = row.comparison
    told = (None, None) if found is None else (found.before, found.after)
    return _level(row.before, told[0]), _level(row.after, told[1])


def _level(side: Side | None, told: float | None) -> Figure | None:
    if side is None or not side.rounds:
        return None
    return Figure(
        tuple(statistics.median(one.samples) for one in side.rounds), side.value if told is None else told
    )


def _verdict(before: Figure | None, after: Figure | None) -> str:
    if before is None or after is None:
        return ""
    from ..stats import compare

    found: str = compare([[one] for one in before.rounds], [[one] for one in after.rounds]).verdict
    return found


def _other(own: Both, compared: Both) -> str:
    """That the profiled measurements changed otherwise; "" where they did not, or have no latency."""
    changes = [
        after.value - before.value
        for before, after in (own, compared)
        if before is not None and after is not None
    ]
    if len(changes) < 2 or abs(changes[0] - changes[1]) <= _AGREE * abs(changes[1]):
        return ""
    mine, whole = (figures.change(one, "seconds") for one in changes)
    return f"the latency of the measurements that were profiled changed by {mine}, that of those compared by {whole}"
