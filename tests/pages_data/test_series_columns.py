"""Columns hold what the extracts hold, and fall into the very timelines that a history of result sets has."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.comparing.history import Timeline, timelines
from dcu_asv_ext.comparing.model import FAILED, MISSING, Key, ResultSet, Side
from dcu_asv_ext.pages.changes import timelines_of
from dcu_asv_ext.pages.model import Entry, Extract, Unreadable
from dcu_asv_ext.pages.series_columns import read, split
from tests.comparing.histories import branch

from .histories import result, set_up, side, work

LATENCY, PEAK = Key("suite.step", "latency", ("1",)), Key("suite.step", "peak_reserved", ("1",))
COMMITS = branch(12)


def random_sets(seed: int) -> list[ResultSet]:
    """Versions, protocols and set-ups change now and then and come back; some are not known, some values neither."""
    random = np.random.default_rng(seed)
    drivers = [
        None,
        set_up(driver="1"),
        set_up(driver="2"),
        set_up(driver="1", governor="x"),
        set_up(cores="4"),
    ]
    keys = [
        Key("a.f", "latency"),
        Key("a.f", "latency", ("1",)),
        Key("a.g", "peak_reserved", ("x", "'/\"")),
        PEAK,
    ]
    state: dict[Key, list[Any]] = {key: ["1", 1, None] for key in keys}
    sets = []
    for commit in COMMITS:
        for machine in ("m", "n"):
            sides = {}
            for key in keys:
                if random.random() < 0.3:
                    state[key][random.integers(3)] = random.choice(["1", "2"])
                version, protocol, _ = state[key]
                kept = {
                    "version": version,
                    "protocol": None if random.random() < 0.3 else int(protocol),
                    "identity": drivers[random.integers(len(drivers))],
                }
                chance = random.random()
                if chance < 0.1:
                    continue
                if chance < 0.2:
                    sides[key] = side([], state=FAILED, reason="it raised", **kept)
                elif chance < 0.25:
                    sides[key] = side([math.inf, math.inf], **kept)
                elif chance < 0.5:
                    sides[key] = side([7.0] * 3, **kept)
                else:
                    sides[key] = side(random.uniform(1, 2, random.integers(1, 5)), **kept)
            sets.append(result(commit, sides, machine))
    return sets


def plain(line: Timeline) -> dict[str, Any]:
    return {one.name: getattr(line, one.name) for one in dataclasses.fields(line)}


@pytest.mark.parametrize("seed", range(8))
def test_timelines_are_those_of_the_result_sets(seed: int, tmp_path: Path) -> None:
    sets = random_sets(seed)
    lines = {"main": range(12), "other": [0, 1, 2, 5, 7, 8]}
    given = work(sets, COMMITS, tmp_path, branches=lines)
    columns = [read(given, place) for place in range(2)]
    for name, line in lines.items():
        numbers = {COMMITS[at].hash: number for number, at in enumerate(line)}
        wanted = [plain(one) for one in timelines(sets, numbers)]
        assert [plain(one) for one in timelines_of(given, given.branches[name], columns)] == wanted
    assert len({one["version"] for one in wanted}) > 1 and any(len(one["set_up"]) > 1 for one in wanted)


def test_a_column_has_the_rounds_of_each_point(tmp_path: Path) -> None:
    rounds: list[list[float]] = [[1.0, 2.0, 4.0], [5.0, 5.0], [3.0], [2.0, 1.0]]
    sets = [result(commit, {PEAK: side(one)}) for commit, one in zip(COMMITS, rounds, strict=False)]
    column = read(work(sets[::-1], COMMITS, tmp_path), 0).column(PEAK)
    assert column is not None
    assert column.commits.tolist() == [0, 1, 2, 3] and column.values.tolist() == [2.0, 5.0, 3.0, 1.5]
    assert column.counts.tolist() == [3, 2, 1, 2] and column.lengths.tolist() == [3, 0, 0, 2]
    assert column.medians.tolist() == [1.0, 2.0, 4.0, 2.0, 1.0]
    assert column.take(np.array([3, 1])).medians.tolist() == [2.0, 1.0]


def test_a_series_begins_anew_where_its_version_changes(tmp_path: Path) -> None:
    sets = [
        result(one, {LATENCY: side([1.0, 2.0], "1" if at < 2 else "2")}) for at, one in enumerate(COMMITS[:4])
    ]
    column = read(work(sets, COMMITS, tmp_path), 0).column(LATENCY)
    assert column is not None
    told = [
        (part.version, part.column.commits.tolist(), part.column.medians.tolist()) for part in split(column)
    ]
    assert told == [("1", [0, 1], [1.0, 2.0, 1.0, 2.0]), ("2", [2, 3], [1.0, 2.0, 1.0, 2.0])]


def test_gaps_have_their_reasons_and_a_changed_tree_has_no_history(tmp_path: Path) -> None:
    sides: list[dict[Key, Side]] = [
        {LATENCY: side([], state=FAILED, reason="it raised <b>")},
        {LATENCY: side([], state=MISSING, reason="no device")},
        {LATENCY: side([1.0])},
    ]
    sets = [
        result(commit, one, dirty=at == 2)
        for at, (commit, one) in enumerate(zip(COMMITS, sides, strict=False))
    ]
    found = read(work(sets, COMMITS, tmp_path), 0)
    assert found.failed == {LATENCY: [(0, "it raised <b>")]} and found.missing == {
        LATENCY: [(1, "no device")]
    }
    assert found.keys == [LATENCY] and found.column(LATENCY) is None and found.dirty == [2]


def test_a_file_that_cannot_be_read_is_passed_over_and_told(tmp_path: Path) -> None:
    sets = [result(commit, {LATENCY: side([1.0])}, notes=["odd"]) for commit in COMMITS[:3]]
    given = work(sets, COMMITS, tmp_path)
    whole = given.extract

    def extract(entry: Entry) -> Extract:
        if entry.commit == 1:
            raise Unreadable("x.json is no result file")
        return whole(entry)

    given.extract = extract
    found = read(given, 0)
    assert found.notes == ["odd", "passed over: x.json is no result file", "odd"]
    column = found.column(LATENCY)
    assert column is not None and column.commits.tolist() == [0, 2]
