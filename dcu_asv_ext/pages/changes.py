"""Where the series of each branch changed: what `dcu-asv history --json` says, of all places together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..comparing.history import Change, HistoryReport, Timeline
from ..comparing.history_json import to_json
from ..comparing.history_report import files_left_out, history_report
from ..comparing.history_text import DATE
from .change_points import ChangePoints
from .model import Branch, Work
from .series_columns import Columns, Ints, split

#: Of what history_json tells.
_TOLD = ("changes", "events", "set_ups", "restarts", "too_short", "series", "notes")


def build(work: Work, columns: Sequence[Columns]) -> None:
    """columns: of each place. Writes "changes"; leaves `work.change_pairs`."""
    points = ChangePoints(work.cache)
    told = []
    pairs: dict[tuple[int, int, int], None] = {}
    for name, branch in work.branches.items():
        lines = list(timelines_of(work, branch, columns))
        notes = files_left_out(name, *_left_out(work, branch, columns))
        report = history_report(name, branch.line, lines, notes=notes, find=points.changes_of)
        told.append({"name": name, **_told(to_json(report, DATE))})
        pairs |= dict.fromkeys(_pairs(work, branch, report))
    work.change_pairs = sorted(pairs, key=lambda pair: (-pair[2], -pair[1], pair[0]))
    work.out.put("changes", {"branches": told})


def _told(report: Mapping[str, Any]) -> dict[str, Any]:
    return {name: report[name] for name in _TOLD}


def timelines_of(work: Work, branch: Branch, columns: Sequence[Columns]) -> Iterator[Timeline]:
    """As `comparing.history.timelines` makes them of the result sets themselves."""
    numbers = np.full(len(work.commits), -1)
    numbers[list(branch.commits)] = branch.numbers
    shared: dict[bytes, tuple[int, ...]] = {}
    for place, found in zip(work.places, columns, strict=True):
        for key in found.keys:
            column = found.column(key)
            if column is None:
                continue
            on_branch = np.flatnonzero(numbers[column.commits] >= 0)
            if not len(on_branch):
                continue
            column = column.take(on_branch[np.argsort(numbers[column.commits[on_branch]], kind="stable")])
            for part in split(column):
                yield Timeline(
                    place.machine,
                    place.env,
                    key,
                    part.series,
                    _shared(numbers[part.column.commits], shared),
                    tuple(part.column.values.tolist()),
                    part.version,
                    part.protocol,
                    part.set_up,
                )


def _shared(places: Ints, shared: dict[bytes, tuple[int, ...]]) -> tuple[int, ...]:
    """Most series are measured at the same commits: one tuple for all of them."""
    return shared.setdefault(places.tobytes(), tuple(places.tolist()))


def _left_out(work: Work, branch: Branch, columns: Sequence[Columns]) -> tuple[int, int]:
    """Result files of commits elsewhere, and of changed working trees."""
    mine = set(branch.commits)
    elsewhere = sum(commit not in mine for _, commit in work.entries)
    return elsewhere, sum(commit in mine for one in columns for commit in one.dirty)


def _pairs(work: Work, branch: Branch, report: HistoryReport) -> Iterator[tuple[int, int, int]]:
    """The measured commits on both sides of each change."""
    at = dict(zip(branch.numbers, branch.commits, strict=True))
    places = {(one.machine, one.env): number for number, one in enumerate(work.places)}
    for change in _changes(report):
        line = change.timeline
        before, after = line.places[change.index - 1], line.places[change.index]
        yield places[line.machine, line.env], at[before], at[after]


def _changes(report: HistoryReport) -> Iterator[Change]:
    yield from report.changes
    for event in report.events:
        yield from event.members
