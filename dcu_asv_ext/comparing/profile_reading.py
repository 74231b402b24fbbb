"""Which measurements of result sets have profiles that can be held against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..metrics import METRICS
from .model import EVIDENCE, OK, Key, ResultSet, Row
from .profile_changes import ProfilesDiffer, Record, compare_profiles
from .profile_model import ProfileChange
from .profile_tables import profiled
from .sessions import sessions_of

#: A benchmark and its parameters, as asv has them.
Place = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Profiles:
    """changes: of the benchmarks that have profiles on both sides. left_out: the others, with the reason."""

    changes: Sequence[ProfileChange] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


def compared_profiles(
    before: Sequence[ResultSet],
    after: Sequence[ResultSet],
    match: Callable[[Key], bool] | None = None,
    rows: Sequence[Row] = (),
) -> Profiles:
    """Of every benchmark and parameters that both sides measured, and that `match` wants (any of its metrics); of
    several environments the first in which both did. rows: of the comparison of these sides, whose latencies and
    verdicts are told."""
    told = {(row.key, row.env): row for row in rows if row.key.metric == "latency"}
    several = len(before) > 1 or len(after) > 1
    sides = [_by_env(one, several) for one in (before, after)]
    changes: list[ProfileChange] = []
    left_out: dict[str, str] = {}
    for place in dict.fromkeys([*sides[0], *sides[1]]):
        if match is not None and not any(match(Key(place[0], metric, place[1])) for metric in METRICS):
            continue
        name = place[0] + (f"({', '.join(place[1])})" if place[1] else "")
        olds, news = (side.get(place, {}) for side in sides)
        env = next((env for env in olds if env in news), None)
        if env is None:
            left_out[name] = f"it was measured {'after' if not olds else 'before'} the change alone"
            continue
        try:
            key = Key(place[0], "latency", place[1])
            row = told.get((key, env)) or told.get((key, ""))
            changes.append(compare_profiles(olds[env], news[env], row))
        except ProfilesDiffer as fault:
            left_out[name] = str(fault)
    return Profiles(changes, left_out)


def profiled_records(found: ResultSet, place: Place) -> list[Record]:
    """The measurements that the results are made of, oldest round first; of those of several sessions the newest
    session that has a profile."""
    mine = [one for one in found.records if (one["benchmark"], tuple(one["params"].values())) == place]
    used = _used(found, place)
    chosen = [one for one in mine if (str(one["session"] or ""), one["round"]) in used] or mine
    if not any(profiled(one) is not None for one in chosen):
        chosen = mine
    sessions = sessions_of([dict(one) for one in chosen])
    for session in reversed(sessions):
        if any(profiled(one) is not None for one in session):
            return list(session)
    return list(sessions[-1]) if sessions else []


def _used(found: ResultSet, place: Place) -> set[tuple[str, int]]:
    """(session, round) of the rounds that the latency's figure is made of."""
    side = found.sides.get(Key(place[0], "latency", place[1]))
    if side is None or side.state != OK or side.source != EVIDENCE:
        return set()
    return {(one.session, one.number) for one in side.rounds}


def _by_env(sets: Sequence[ResultSet], several: bool) -> dict[Place, dict[str, list[Record]]]:
    """The measurements by environment; one on each side goes with the other whatever their names."""
    found: dict[Place, dict[str, list[Record]]] = {}
    for one in sets:
        for record in one.records:
            place = (record["benchmark"], tuple(record["params"].values()))
            envs = found.setdefault(place, {})
            env = one.env if several else ""
            if env not in envs:
                envs[env] = profiled_records(one, place)
    return found


def as_record(digest: Mapping[str, Any], steps: int, name: str = "") -> dict[str, Any]:
    """What was read from a trace file (trace/digest.py) as `compare_profiles` takes a measurement: there are no
    latency samples. steps: calls that the digest is of."""
    profile = {"steps": steps, **digest}
    return {"benchmark": name, "params": {}, "metrics": [], "profile": profile}
