"""The set-up behind each value of the graphs of `asv publish`: asv's files do not tell it, the evidence does."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..comparing.identity import Identities, Identity
from ..comparing.reading import is_sound
from ..evidence.store import read
from .result_files import ResultFile, list_files

#: Commits' hashes -> asv's numbers of them.
Revisions = Callable[[set[str]], Mapping[str, int]]
#: Of a line of a graph: the graph's parameters, `module.function`, the place among its combinations of parameters.
Place = tuple[Hashable, str, int]

_SAME_SET_UP = re.compile(r'\{"benchmark":\s*"[^"\\]*",\s*"params":\s*\{[^{}]*\}')
_SESSION = re.compile(r'"session":\s*("[^"\\]*"|null)')


def set_ups_of(results: Path, revisions: Revisions) -> dict[Place, dict[int, Identity]]:
    """Line -> revision -> set-up, as far as there is evidence. A file that cannot be read tells nothing: asv, which
    reads it too, says so."""
    told: list[tuple[str, Place, Identity]] = []
    for folder in sorted(one for one in results.iterdir() if one.is_dir()) if results.is_dir() else ():
        for file in list_files(folder):
            told += _told(file)
    numbers = revisions({commit for commit, _, _ in told}) if told else {}
    found: dict[Place, dict[int, Identity]] = defaultdict(dict)
    for commit, place, identity in told:
        if commit in numbers:
            found[place][numbers[commit]] = identity
    return dict(found)


def graph_place(params: Mapping[str, Any]) -> Hashable:
    """Graphs of one machine and environment, whatever the branch. asv writes what it does not know as None or ""."""
    return frozenset(
        (name, value) for name, value in params.items() if name != "branch" and value not in (None, "")
    )


def _told(file: ResultFile) -> Iterator[tuple[str, Place, Identity]]:
    """(commit, line, set-up) of each benchmark with its parameters; the newest session's is the last."""
    if file.result is None or file.evidence is None:
        return
    try:
        about = json.loads(file.result.read_text(encoding="utf-8"))
        commit, environment = about["commit_hash"], about.get("env_vars") or {}
        params = {**about["params"], **{f"env-{name}": value for name, value in environment.items()}}
        records = read(file.evidence, _first_of_each_session()).records
        where = graph_place(params)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return
    make = Identities()
    for record in records:
        if is_sound(record) and record["commit"] in (commit, None):
            place = (where, record["benchmark"], record["param_index"] or 0)
            yield commit, place, make.of(record)


def _first_of_each_session() -> Callable[[str], bool]:
    """Passes one line of each session of a benchmark with its parameters: rounds of a session share their set-up, and
    parsing the others takes long."""
    seen: set[tuple[str, str]] = set()

    def wanted(line: str) -> bool:
        start, session = _SAME_SET_UP.match(line), _SESSION.search(line)
        if start is None or session is None:
            return True
        key = (start.group(), session.group())
        if key in seen:
            return False
        seen.add(key)
        return True

    return wanted
