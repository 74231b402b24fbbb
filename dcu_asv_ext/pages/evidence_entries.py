"""The evidence of one commit at one place, as its pages show it: an entry for each benchmark and combination of
parameters. Pure: result sets and lines in, plain data out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..comparing import memory_json
from ..comparing.memory_model import memory_of
from ..comparing.model import EVIDENCE, OK, Key, ResultSet, Side
from ..comparing.reading import NO_ENTRY, is_sound
from ..comparing.sessions import sessions_of
from ..evidence.record import finite
from ..evidence.store import parse_line
from ..metrics import METRICS
from .evidence_derived import Record, of_asv, of_record, of_side

#: Letters of an entry's lines beyond which the rest goes into further entries: packed, a tenth to a third of it is
#: left.
MOST_LETTERS = 1_500_000
_NO_WORD = "a number of it is NaN or infinite, for which JSON has no word: it is null here"


@dataclass(frozen=True)
class FunctionEvidence:
    """names: of its parameters. entries: JSON texts, in the order of the evidence."""

    function: str
    names: tuple[str, ...]
    entries: tuple[str, ...]


@dataclass
class _Group:
    """One benchmark with one set of parameters."""

    function: str
    params: dict[str, str]
    lines: list[str] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)

    def sides(self, results: ResultSet) -> dict[str, Side]:
        keys = (Key(self.function, metric, tuple(self.params.values())) for metric in METRICS)
        return {key.metric: results.sides[key] for key in keys if key in results.sides}


def entries_of(results: ResultSet, lines: Iterable[str], file: str, recorded: bool) -> list[FunctionEvidence]:
    """Of each function that the evidence has. lines: of the whole evidence file; those that are torn, or of another
    commit, are left out, which the results' notes tell. file: its name below the results folder. recorded: asv has a
    file of these results too."""
    found: dict[str, tuple[tuple[str, ...], list[str]]] = {}
    for group in _groups(results, lines):
        own = found.setdefault(group.function, (tuple(group.params), []))
        own[1].extend(_text(entry) for entry in _split(_entry(results, group, file, recorded)))
    return [FunctionEvidence(name, names, tuple(texts)) for name, (names, texts) in found.items()]


def _text(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _groups(results: ResultSet, lines: Iterable[str]) -> list[_Group]:
    groups: dict[tuple[str, ...], _Group] = {}
    for line in lines:
        record = parse_line(line)
        if record is None or not is_sound(record) or record["commit"] not in (results.commit, None):
            continue
        params = {str(name): value for name, value in record["params"].items()}
        key = (record["benchmark"], *params.values())
        group = groups.setdefault(key, _Group(record["benchmark"], params))
        text = line.rstrip("\r\n")
        if not _is_strict(text):
            text = json.dumps(finite(record), separators=(",", ":"), allow_nan=False)
            group.notes[f"round {record['round']}: {_NO_WORD}"] = None
        group.lines.append(text)
        group.records.append(record)
    return list(groups.values())


def _is_strict(line: str) -> bool:
    """Whether a browser reads it too: Python reads NaN and Infinity besides."""
    if "NaN" not in line and "Infinity" not in line:
        return True
    try:
        json.loads(line, parse_constant=_refuse)
    except ValueError:
        return False
    return True


def _refuse(word: str) -> None:
    raise ValueError(word)


def _entry(results: ResultSet, group: _Group, file: str, recorded: bool) -> dict[str, Any]:
    sides = group.sides(results)
    sessions = sessions_of([dict(one) for one in group.records])
    numbers = {session[0]["session"]: number for number, session in enumerate(sessions)}
    used = _used(group, sides)
    counted = {record["session"] for record, metrics in zip(group.records, used, strict=True) if metrics}
    runs = [one for session in sessions if session[0]["session"] in counted for one in session]
    return {
        "commit": results.commit,
        "params": list(group.params.values()),
        "file": file,
        "lines": group.lines,
        "derived": [
            of_record(record, numbers[record["session"]], metrics)
            for record, metrics in zip(group.records, used, strict=True)
        ],
        "figures": {metric: of_side(side) for metric, side in sides.items()},
        "asv": {
            metric: of_asv(side, f"{group.function}.{metric}")
            for metric, side in sides.items()
            if recorded and NO_ENTRY not in side.notes
        },
        "memory": _memory(results, group),
        "status": _status(runs or sessions[-1]),
        "notes": [*group.notes, *results.notes],
    }


def _used(group: _Group, sides: Mapping[str, Side]) -> list[list[str]]:
    """For each record the metrics whose figure it is part of. Of a round that was measured twice in one session the
    last counts."""
    places = {
        (str(record["session"] or ""), record["round"]): place for place, record in enumerate(group.records)
    }
    found: list[list[str]] = [[] for _ in group.records]
    for metric, side in sides.items():
        if side.source == EVIDENCE and side.state == OK:
            for one in side.rounds:
                # Evidence without a file of asv is read with the lines of other commits that are in it.
                if (place := places.get((one.session, one.number))) is not None:
                    found[place].append(metric)
    return found


def _status(records: Sequence[Record]) -> str:
    """The one that all have, else each with its rounds. records: of the sessions that the figures are from."""
    counted: dict[str, int] = {}
    for record in records:
        counted[record["status"]] = counted.get(record["status"], 0) + 1
    if len(counted) == 1:
        return next(iter(counted))
    return "; ".join(f"{status} ({number} of {len(records)} rounds)" for status, number in counted.items())


def _memory(results: ResultSet, group: _Group) -> dict[str, Any] | None:
    """As `dcu-asv memory --json` tells it; of several variants the newest measurement's."""
    newest = group.records[-1].get("variant")
    found = [one for one in memory_of(group.records) if one.variant == newest]
    if not any(one.measured for one in found):
        return None
    told: dict[str, Any] = finite(memory_json.to_json(results, found)["functions"][0])
    return told


def _split(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The entry, and where its lines are long further ones of the same commit and parameters, which have nothing but
    the rest of the lines and what is derived of each."""
    lines, derived = entry["lines"], entry["derived"]
    start, letters = 0, 0
    for place, line in enumerate(lines):
        if letters and letters + len(line) > MOST_LETTERS:
            yield _part(entry, start, lines[start:place], derived[start:place])
            start, letters = place, 0
        letters += len(line)
    yield _part(entry, start, lines[start:], derived[start:])


def _part(entry: dict[str, Any], start: int, lines: list[str], derived: list[Any]) -> dict[str, Any]:
    if not start:
        return {**entry, "lines": lines, "derived": derived}
    same = {name: entry[name] for name in ("commit", "params", "file")}
    return {**same, "continued": True, "lines": lines, "derived": derived}
