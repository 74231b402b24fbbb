"""Which variables differ between the rows of a matrix: only where one does, a difference in speed is explained."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..evidence.matrix import MatrixRow
from .differences import UNSET, differences, undeclared

COMMIT, FUNCTION, VARIANT, VERSION, PROTOCOL = (
    "commit",
    "function",
    "variant",
    "benchmark.version",
    "protocol",
)

#: So many values of a variable are told.
_VALUES = 5


@dataclass(frozen=True)
class Experiment:
    """Rows of one benchmark (or of the functions that were declared to be variants) with the same parameters.

    rows: places in the matrix. variables: name -> the values in the rows' order, each once. also: facts that differ
    and are not held to change a result. single: whether just one variable differs. part: some rows of a larger
    group, which among themselves differ in one thing.
    """

    benchmark: str
    params: Mapping[str, str]
    rows: Sequence[int]
    variables: Mapping[str, Sequence[str]]
    also: Sequence[str] = ()
    part: bool = False

    @property
    def single(self) -> bool:
        return len(self.variables) == 1

    @property
    def sentence(self) -> str:
        if not self.variables:
            return "nothing that was recorded differs: measured again"
        if not self.single:
            return f"not a single-variable experiment: {listed(self.variables)} differ"
        ((name, values),) = self.variables.items()
        return f"single-variable: {name} {_told(values)}"

    def as_object(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark,
            "params": dict(self.params),
            "rows": list(self.rows),
            "variables": {name: list(values) for name, values in self.variables.items()},
            "single": self.single,
            "part": self.part,
            "sentence": self.sentence,
            "also": list(self.also),
        }


def listed(names: Iterable[str]) -> str:
    """`a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _told(values: Sequence[str]) -> str:
    if len(values) == 2:
        return f"was {values[0]}, is {values[1]}"
    if len(values) > _VALUES:
        return f"has {len(values)} values, from {values[0]} to {values[-1]}"
    return f"is {listed(values)}"


def experiments(rows: Sequence[MatrixRow], functions: str | None = None) -> list[Experiment]:
    """Of each group of two rows and more: the whole group, then the parts of it that differ in one variable alone.

    functions: a regular expression; functions in whose name it is found are variants of one another.
    Raises re.error for what is none.
    """
    pattern = None if functions is None else re.compile(functions)
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(rows):
        together = pattern is not None and pattern.search(row.benchmark)
        name = functions if together and functions is not None else row.benchmark
        groups.setdefault((name, *(f"{k}={v}" for k, v in row.params.items())), []).append(place)
    found = []
    for (name, *_), places in groups.items():
        if len(places) > 1:
            found += _of_group(name, rows, places)
    return found


def _of_group(name: str, rows: Sequence[MatrixRow], places: Sequence[int]) -> list[Experiment]:
    whole = _experiment(name, rows, places)
    if len(whole.variables) < 2 or len(places) < 3:
        return [whole]
    parts = [
        one
        for variable in whole.variables
        for chosen in _slices(rows, places, [other for other in whole.variables if other != variable])
        if (one := _experiment(name, rows, chosen, part=True)).single
    ]
    return [whole, *parts]


def _slices(rows: Sequence[MatrixRow], places: Sequence[int], fixed: Sequence[str]) -> list[list[int]]:
    """The places of rows that agree in all the fixed variables, two and more."""
    found: dict[tuple[str, ...], list[int]] = {}
    for place in places:
        known = _facts(rows[place])
        found.setdefault(tuple(known.get(name, UNSET) for name in fixed), []).append(place)
    return [one for one in found.values() if len(one) > 1]


def _experiment(
    name: str, rows: Sequence[MatrixRow], places: Sequence[int], part: bool = False
) -> Experiment:
    chosen = [rows[place] for place in places]
    facts = [_facts(row) for row in chosen]
    varied = [*_own(chosen), *_of_facts(facts)]
    if not varied and len({row.label for row in chosen}) > 1:
        varied = [VARIANT]  # a label is a variable only where nothing tells what it stands for
    values = {one: list(dict.fromkeys(each.get(one, UNSET) for each in facts)) for one in varied}
    return Experiment(name, chosen[0].params, list(places), values, _shown(facts), part)


def _facts(row: MatrixRow) -> dict[str, str]:
    """With what is no fact of the evidence's."""
    commit = (row.commit or "")[:8]
    return {
        **row.facts,
        COMMIT: f"{commit} with uncommitted changes" if row.dirty else commit,
        FUNCTION: row.benchmark,
        VARIANT: row.label or "(none)",
        VERSION: next((version[:8] for _, version in sorted(row.versions.items())), UNSET),
        PROTOCOL: str(row.protocol) if row.protocol is not None else UNSET,
    }


def _own(rows: Sequence[MatrixRow]) -> list[str]:
    """Of what a row is: its code, its function, the benchmark's version, the protocol."""
    functions = len({row.benchmark for row in rows}) > 1
    found = [COMMIT] if len({(row.commit, row.dirty) for row in rows}) > 1 else []
    found += [FUNCTION] if functions else []
    if not functions and _versions_differ(rows):
        found.append(VERSION)
    if len({row.protocol for row in rows if row.protocol is not None}) > 1:
        found.append(PROTOCOL)
    return found


def _versions_differ(rows: Sequence[MatrixRow]) -> bool:
    """Each metric has a version of its own, and rows need not have the same metrics."""
    known: dict[str, str] = {}
    return any(
        known.setdefault(name, version) != version for row in rows for name, version in row.versions.items()
    )


def _base(facts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Of each fact the value of the first row that tells it: a fact that differs at all differs from this."""
    base: dict[str, str] = {}
    for one in facts:
        for name, value in one.items():
            base.setdefault(name, value)
    return base


def _of_facts(facts: Sequence[Mapping[str, str]]) -> list[str]:
    """The fewest facts which, being declared, would explain all others that differ and matter."""
    base = _base(facts)
    left = {
        (place, one.name) for place, each in enumerate(facts) for one in undeclared(differences(base, each))
    }
    chosen: list[str] = []
    while left:
        names = sorted({name for _, name in left})
        open_after = {name: left & _open(base, facts, [*chosen, name]) for name in names}
        best = min(names, key=lambda name: len(open_after[name]))
        chosen.append(best)
        left = open_after[best]
    return sorted(chosen)


def _open(
    base: Mapping[str, str], facts: Sequence[Mapping[str, str]], declared: Sequence[str]
) -> set[tuple[int, str]]:
    return {
        (place, one.name)
        for place, each in enumerate(facts)
        for one in undeclared(differences(base, each, declared))
    }


def _shown(facts: Sequence[Mapping[str, str]]) -> list[str]:
    base = _base(facts)
    names = {one.name for each in facts for one in differences(base, each) if not one.matters}
    return sorted(names - {COMMIT, FUNCTION, VARIANT, VERSION, PROTOCOL})
