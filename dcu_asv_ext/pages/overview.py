""" "overview": the newest measured commit of each branch and place, against each base that somebody may ask for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..comparing import as_json
from ..comparing.deciding import MISSING
from ..comparing.model import FAILED as SIDE_FAILED
from ..comparing.model import Key, ResultSet, Series
from ..evidence.record import WRONG
from ..gates.checked import checked
from ..gates.model import PASSED, TOLD
from ..stats.verdicts import NO_CHANGE
from .cache import READERS, code_of, digest
from .comparisons import PREDECESSOR, Base, Comparer, Pair, bases, heads
from .model import Branch, Entry, Unreadable, Work

#: Raised where `faults` tells something else of the same result.
FORM = 1
#: Rows of a comparison that are told, and findings of a gate.
ROWS, FINDINGS = 30, 30


def build(work: Work) -> None:
    """Makes the comparisons of the heads, and writes what they say."""
    comparer = Comparer(work)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in work.branches}
    for branch, place, commit in heads(work):
        found[branch.name].append(_head(work, comparer, branch, place, commit))
    work.out.put("overview", {"branches": [{"name": name, "heads": told} for name, told in found.items()]})


def _head(work: Work, comparer: Comparer, branch: Branch, place: int, commit: int) -> dict[str, Any]:
    told = [
        _base(comparer, Pair(place, base.commit, commit), base) for base in bases(work, branch, place, commit)
    ]
    if not any(one["kind"] == PREDECESSOR for one in told):
        where = work.places[place]
        reason = f"no commit of {branch.name} before it was measured on {where.machine} in {where.env}"
        told.insert(0, {**_without(Base(PREDECESSOR, "", -1), reason), "commit": None})
    number = branch.numbers[branch.commits.index(commit)]
    return {
        "place": place,
        "commit": commit,
        "age": len(branch.line) - 1 - number,
        "bases": told,
        **_faults(work, work.entries[place, commit]),
    }


# ---- a head against a base


def _base(comparer: Comparer, pair: Pair, base: Base) -> dict[str, Any]:
    found = comparer.told(pair)
    if isinstance(found, str):
        return _without(base, found)
    rows = [row for row in found["rows"] if row["verdict"] != NO_CHANGE]
    # What a device never tells must not take the room of what happened.
    rows.sort(key=lambda row: row["verdict"] == MISSING)
    gates = found["gates"]
    return {
        **base._asdict(),
        "comparison": True,
        "reason": None,
        "refused": found["refused"],
        "counts": found["counts"],
        "gate": None if "error" in gates else gate(gates),
        "gate_error": gates.get("error"),
        "rows": rows[:ROWS],
    }


def _without(base: Base, reason: str) -> dict[str, Any]:
    return {
        **base._asdict(),
        "comparison": False,
        "reason": reason,
        "refused": None,
        "counts": {},
        "gate": None,
        "gate_error": None,
        "rows": [],
    }


def gate(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What the gates said in short. answer: as `gates.as_json` gives it. failed: the findings that closed a gate,
    those that failed first."""
    findings = [(name, one) for name, told in answer["gates"].items() for one in told["findings"]]
    closing = [(name, one) for name, one in findings if one["outcome"] not in (PASSED, TOLD)]
    order = list(dict.fromkeys([answer["outcome"], *(one["outcome"] for _, one in closing)]))
    closing.sort(key=lambda item: order.index(item[1]["outcome"]))
    return {
        "outcome": answer["outcome"],
        "conclusion": answer["conclusion"],
        "gates": {name: told["outcome"] for name, told in answer["gates"].items()},
        "failed": [_finding(name, one) for name, one in closing[:FINDINGS]],
        "more": max(0, len(closing) - FINDINGS),
    }


def _finding(name: str, one: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: one[key] for key in ("outcome", "benchmark", "metric", "params", "reason")}
    return {"gate": name, "word": one["finding"], **shown}


# ---- a head by itself


def _faults(work: Work, entry: Entry) -> dict[str, Any]:
    key = digest("faults", FORM, code_of(*READERS, "pages/overview.py"), entry.digest)
    try:
        found: dict[str, Any] = json.loads(
            work.cache.made(key, lambda: json.dumps(faults(work.results(entry))).encode())
        )
    except Unreadable as fault:
        return {"wrong": [], "failed": [], "reason": str(fault)}
    return {**found, "reason": None}


def faults(found: ResultSet) -> dict[str, list[dict[str, Any]]]:
    """wrong: results that a reference or a check refused, as `dcu-asv gate` tells; failed: what raised, crashed, or
    ran out of memory or time; each benchmark once with each of its parameters."""
    wrong = {(key.benchmark, key.params): (key, reason) for key, reason in _wrong(found)}
    failed = {
        (key.benchmark, key.params): (key, side.reason)
        for key, side in reversed(list(found.sides.items()))
        if side.state == SIDE_FAILED
    }
    left = {name: one for name, one in failed.items() if name not in wrong}
    return {"wrong": _told(found, wrong.values()), "failed": _told(found, sorted(left.values()))}


def _wrong(found: ResultSet) -> Iterator[tuple[Key, str]]:
    records: dict[tuple[str, tuple[str, ...]], list[Mapping[str, Any]]] = {}
    for record in found.records:
        records.setdefault((record["benchmark"], tuple(record["params"].values())), []).append(record)
    sessions: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    first: dict[tuple[str, tuple[str, ...]], Key] = {}
    for key, side in found.sides.items():
        name = key.benchmark, key.params
        first.setdefault(name, key)
        sessions.setdefault(name, set()).update(one.session for one in side.rounds)
        if side.state == SIDE_FAILED and side.reason.startswith(WRONG) and name not in records:
            yield key, side.reason.removeprefix(f"{WRONG}: ")
    for name, mine in records.items():
        told = checked(mine, sessions.get(name, set()))
        if told.wrong and name in first:
            yield first[name], told.wrong.removeprefix(f"{WRONG}: ")


def _told(found: ResultSet, faulty: Iterable[tuple[Key, str]]) -> list[dict[str, Any]]:
    return [
        {
            "function": key.benchmark,
            "params": as_json.params(key, found.series.get(key, Series(key.benchmark))),
            "reason": reason,
        }
        for key, reason in faulty
    ]
