"""Which of the sessions in an evidence file asv's result file is made of.

asv's file holds the current result, the evidence every measurement there was: a later run replaces asv's samples or,
with --append-samples, adds to them; one with --quick, or one that was stopped, may leave them as they are.
"""

from __future__ import annotations

import datetime
import math
import statistics
from collections.abc import Sequence
from typing import Any

from ..evidence.summary import outcome
from .model import OK

Record = dict[str, Any]

#: A measurement with a metric's samples.
Kept = tuple[Record, tuple[float, ...]]

#: Two files hold the same number if it differs by less (relative): asv's samples were taken from the evidence.
_ROUNDING = 1e-6


def sessions_of(records: Sequence[Record]) -> list[list[Record]]:
    """Sessions in the order of their last measurement; each has one record a round (the last), by number."""
    found: dict[Any, dict[int, Record]] = {}
    for record in records:
        rounds = found.pop(record["session"], {})
        rounds[record["round"]] = record
        found[record["session"]] = rounds
    return [[rounds[number] for number in sorted(rounds)] for rounds in found.values()]


def kept_rounds(session: Sequence[Record], metric: str) -> list[Kept]:
    """The rounds whose samples asv keeps: one without a number makes it forget those before."""
    kept: list[Kept] = []
    for record in session:
        found = outcome(record, metric)
        if found.state == OK:
            kept.append((record, found.samples))
        else:
            kept.clear()
    return kept


def moment(started_at: str) -> datetime.datetime | None:
    """When a measurement began; a time without a zone is UTC's. None for what is no time."""
    try:
        found = datetime.datetime.fromisoformat(started_at)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=datetime.timezone.utc)


def by_samples(sessions: Sequence[Sequence[Kept]], samples: Sequence[float]) -> list[Kept]:
    """The rounds that asv's samples are those of, oldest first; [] where no sessions together have them.

    Walks back from the newest session, and takes each whose samples end what is left of asv's. A session that asv has
    not is passed over; of one that asv saved while it went on the first rounds are taken.
    """
    left = list(samples)
    used: list[Kept] = []
    for session in reversed(sessions):
        for stop in range(len(session), 0, -1):
            own = _samples(session[:stop])
            if len(own) <= len(left) and _same(own, left[-len(own) :]):
                used = [*session[:stop], *used]
                del left[-len(own) :]
                break
        if not left:
            return used
    return []


def by_value(sessions: Sequence[Sequence[Kept]], value: float) -> list[Kept]:
    """The same where asv kept no samples: the newest sessions whose median is its value."""
    used: list[Kept] = []
    for session in reversed(sessions):
        used = [*session, *used]
        own = _samples(used)
        if own and _same([statistics.median(own)], [value]):
            return used
    return []


def _samples(kept: Sequence[Kept]) -> list[float]:
    return [one for _, samples in kept for one in samples]


def _same(own: Sequence[float], others: Sequence[float]) -> bool:
    if list(own) == list(others):
        return True
    pairs = zip(sorted(own), sorted(others), strict=True)
    return all(math.isclose(one, other, rel_tol=_ROUNDING) for one, other in pairs)
