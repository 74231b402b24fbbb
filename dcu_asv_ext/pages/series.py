"""The series of every benchmark, in files that a page of one benchmark loads; and where they changed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

from ..comparing.model import Key
from . import changes
from .functions import metric_order
from .model import Work
from .series_columns import Columns, read
from .series_lines import line
from .writing import packed, slug

#: Letters of a packed file beyond which it is cut, and how full the pieces are to be.
_MOST, _FULL = 1_000_000, 0.8
#: Notes on result files that are told, of each kind of trouble; of more the number.
_TOLD = 20

#: Lines of a file, by combination of parameters.
_Groups = list[tuple[tuple[str, ...], list[dict[str, Any]]]]


def build(work: Work) -> None:
    """Writes "b/..." and "changes"; leaves `work.parts`, `work.combos` and `work.change_pairs`."""
    columns = [read(work, place) for place in range(len(work.places))]
    notes = list(dict.fromkeys(note for one in columns for note in one.notes))
    work.notes += notes[:_TOLD]
    if len(notes) > _TOLD:
        work.notes.append(f"{len(notes) - _TOLD:,} more notes on single result files")
    shown = set(_shown(work, {key.benchmark for one in columns for key in one.keys}))
    for place, found in enumerate(columns):
        for function, keys in itertools.groupby(found.keys, key=lambda key: key.benchmark):
            if function in shown:
                _write(work, place, function, _lines(found, keys))
    changes.build(work, columns)


def _shown(work: Work, functions: Iterable[str]) -> Iterator[str]:
    """Of two whose file names are the same, which takes two names of a kind in four billion, the first."""
    slugs: dict[str, str] = {}
    for name in sorted(functions):
        first = slugs.setdefault(slug(name), name)
        if first == name:
            yield name
        else:
            work.notes.append(
                f"{name} is not shown, since its files would have the names of those of {first}"
            )


def _lines(columns: Columns, keys: Iterator[Key]) -> _Groups:
    ordered = sorted(keys, key=lambda key: (key.params, metric_order(key.metric)))
    return [
        (params, [line(columns, key) for key in mine])
        for params, mine in itertools.groupby(ordered, key=lambda key: key.params)
    ]


def _write(work: Work, place: int, function: str, groups: _Groups) -> None:
    stem = f"b/{slug(function)}/{place}"
    parts, combos = [], []
    for number, (text, mine) in enumerate(_files(function, place, groups), 1):
        key = stem if number == 1 else f"{stem}-{number}"
        work.out.put_packed(key, text)
        parts.append(key)
        combos.append([params for params, _ in mine])
    work.parts[function, place] = parts
    work.combos[function, place] = combos


def _files(function: str, place: int, groups: _Groups) -> Iterator[tuple[str, _Groups]]:
    """Packed files, and what lies in each. One combination of parameters is never cut."""
    lines = [one for _, mine in groups for one in mine]
    text = packed({"function": function, "place": place, "lines": lines})
    if len(text) <= _MOST or len(groups) == 1:
        yield text, groups
        return
    for piece in _cut(groups, math.ceil(len(text) / (_FULL * _MOST))):
        yield from _files(function, place, piece)


def _cut(groups: _Groups, pieces: int) -> Iterator[_Groups]:
    """Neighbours together, in so many pieces of about as many points."""
    weights = [
        1 + sum(len(one["commits"]) for line in mine for one in line["timelines"]) for _, mine in groups
    ]
    whole = sum(weights)
    before = itertools.accumulate(weights, initial=0)
    numbered = [
        (min(pieces * at // whole, pieces - 1), group) for at, group in zip(before, groups, strict=False)
    ]
    for _, mine in itertools.groupby(numbered, key=lambda one: one[0]):
        yield [group for _, group in mine]
