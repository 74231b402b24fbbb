"""Result sets that were made by hand, as a publish would find them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dcu_asv_ext.comparing.history import Commit
from dcu_asv_ext.comparing.identity import Identity, of_facts
from dcu_asv_ext.comparing.model import EVIDENCE, Key, ResultSet, Round, Series, Side
from dcu_asv_ext.pages.cache import Cache
from dcu_asv_ext.pages.extracts import Extracts
from dcu_asv_ext.pages.model import Branch, Entry, Place, Project, Work
from dcu_asv_ext.pages.writing import Out


def work(
    sets: Sequence[ResultSet],
    commits: Sequence[Commit],
    out: Path,
    *,
    branches: dict[str, Sequence[int]] | None = None,
    cache: Cache | None = None,
    benchmarks: dict[str, Any] | None = None,
) -> Work:
    """branches: name -> positions in `commits`; None: one that has them all."""
    places = sorted({Place(one.machine, one.env) for one in sets})
    numbers = {one.hash: number for number, one in enumerate(commits)}
    kept = cache or Cache(None)
    extracts = Extracts(kept)
    entries, made = {}, {}
    for number, one in enumerate(sets):
        where = places.index(Place(one.machine, one.env)), numbers[one.commit]
        name = f"{number:032x}"
        entries[where] = Entry(*where, name, "result.json", None)
        made[name] = extracts.make(bytes.fromhex(name), one)
    lines = {"main": range(len(commits))} if branches is None else branches
    return Work(
        Project("project", "https://example.org", "https://example.org/commit/"),
        list(commits),
        {
            name: Branch(name, [commits[at] for at in line], list(line), list(range(len(line))))
            for name, line in lines.items()
        },
        {},
        places,
        entries,
        benchmarks or {},
        lambda entry: made[entry.digest],
        lambda entry: sets[int(entry.digest, 16)],
        out,
        Out(out),
        kept,
    )


def side(
    rounds: Iterable[float],
    version: str | None = "1",
    protocol: int | None = 1,
    identity: Identity | None = None,
    **more: Any,
) -> Side:
    """rounds: the median of each."""
    found = tuple(Round((one,), number) for number, one in enumerate(rounds, 1))
    return Side(found, EVIDENCE, version=version, protocol=protocol, identity=identity, **more)


def set_up(**facts: str) -> Identity:
    return of_facts({f"device.{name}": value for name, value in facts.items()})


def result(
    commit: Commit, sides: dict[Key, Side], machine: str = "m", unit: str = "seconds", **more: Any
) -> ResultSet:
    names = {key: tuple("nmkl"[: len(key.params)]) for key in sides}
    series = {key: Series(f"{key.benchmark}.{key.metric}", names[key], unit) for key in sides}
    return ResultSet(machine, commit.hash, "e", sides, series, date=commit.date, **more)
