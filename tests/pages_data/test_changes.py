"""What the pages say of changes is what `dcu-asv history --json` says, and is found once."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.comparing import history
from dcu_asv_ext.comparing.history import Timeline, timelines
from dcu_asv_ext.comparing.history_json import to_json
from dcu_asv_ext.comparing.history_report import history_report
from dcu_asv_ext.comparing.model import Key, ResultSet
from dcu_asv_ext.pages import change_points, series
from dcu_asv_ext.pages.cache import Cache
from dcu_asv_ext.pages.change_points import ChangePoints
from dcu_asv_ext.pages.model import Work
from tests.comparing.histories import branch, timeline

from .histories import result, set_up, side, work
from .works import data

COMMITS = branch(40)
KEYS = [Key(f"a.f{number}", metric) for number in range(4) for metric in ("latency", "peak_reserved")]
OLD, NEW = set_up(driver="1"), set_up(driver="2")
SIDE_LINE = [*range(20), *range(21, 40, 2)]


def sets() -> list[ResultSet]:
    """One benchmark gets slower, all of them at once, another driver comes, another protocol."""
    random = np.random.default_rng(5)
    found = []
    for at, commit in enumerate(COMMITS):
        if at % 7 == 3:
            continue
        sides = {}
        for key in KEYS:
            if key.metric == "latency":
                slow = (
                    (1.3 if key == KEYS[0] and at >= 10 else 1)
                    * (1.2 if at >= 20 else 1)
                    * (1.1 if at >= 30 else 1)
                )
                rounds = slow * np.exp(0.005 * random.normal(size=3))
            else:
                rounds = np.full(3, 1024.0 * (2 if at >= 15 and key == KEYS[1] else 1))
            protocol = 2 if at >= 36 and key == KEYS[2] else 1
            sides[key] = side(rounds.tolist(), protocol=protocol, identity=NEW if at >= 30 else OLD)
        found.append(result(commit, sides, dirty=at == 12))
    return found


SETS = sets()


def made(out: Path, cache: Cache | None = None, results: Sequence[ResultSet] = SETS) -> Work:
    given = work(results, COMMITS, out, branches={"main": range(40), "side": SIDE_LINE}, cache=cache)
    series.build(given)
    return given


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return made(tmp_path_factory.mktemp("changes"))


@pytest.mark.parametrize(("name", "line"), [("main", range(40)), ("side", SIDE_LINE)])
def test_it_says_what_the_command_says(given: Work, name: str, line: list[int]) -> None:
    numbers = {COMMITS[at].hash: number for number, at in enumerate(line)}
    clean = [one for one in SETS if not one.dirty]
    notes = ["1 result file of changed working trees left out."]
    elsewhere = len(SETS) - sum(one.commit in numbers for one in SETS)
    if elsewhere:
        notes.insert(
            0, f"{elsewhere} result files of commits that are not on side (first parents only) left out."
        )
    report = history_report(name, [COMMITS[at] for at in line], timelines(clean, numbers), notes=notes)
    wanted = json.loads(json.dumps(to_json(report, "date")))
    (found,) = [one for one in data(given.out.folder, "changes")["branches"] if one["name"] == name]
    assert found == {"name": name, **{field: wanted[field] for field in found if field != "name"}}
    assert {"changes", "events", "set_ups", "restarts", "too_short", "notes"} <= found.keys()
    if name == "main":
        assert len(found["changes"]) == 2 and len(found["events"]) == 1
        assert len(found["set_ups"]) == 1 and len(found["set_ups"][0]["members"]) == 4
        assert [one["changed"] for one in found["restarts"]] == ["protocol"]


def test_it_leaves_the_two_sides_of_each_change(given: Work) -> None:
    """17 was not measured, 12 from a changed tree; the newest first."""
    assert (0, 9, 11) in given.change_pairs or (0, 9, 10) in given.change_pairs
    assert (0, 14, 15) in given.change_pairs and (0, 19, 20) in given.change_pairs
    assert given.change_pairs == sorted(given.change_pairs, key=lambda pair: -pair[2])
    measured = {commit for _, commit in given.entries}
    assert all({before, after} <= measured for _, before, after in given.change_pairs)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Timeline, int]]]:
    """The series whose change points were looked for, and how many of their values were taken at first."""
    found: list[tuple[Timeline, int]] = []

    def history_of(line: Timeline, values: Sequence[float]) -> Any:
        found.append((line, len(values)))
        return history.history_of(line, values)

    monkeypatch.setattr(change_points, "history_of", history_of)
    yield found


def test_a_series_is_searched_once_for_all_branches_and_publishes(
    given: Work, tmp_path: Path, searched: list[tuple[Timeline, int]]
) -> None:
    wanted = data(given.out.folder, "changes")
    first = Cache(tmp_path / "cache")
    made(tmp_path / "one", first)
    first.close()
    assert len({(line.key, line.values) for line, _ in searched}) == len(searched) > 0
    before = len(searched)
    made(tmp_path / "two", again := Cache(tmp_path / "cache"))
    again.close()
    assert len(searched) == before
    assert data(tmp_path / "one", "changes") == data(tmp_path / "two", "changes") == wanted


def test_a_series_that_has_grown_is_gone_on_with(
    given: Work, tmp_path: Path, searched: list[tuple[Timeline, int]]
) -> None:
    cache = Cache(tmp_path / "cache")
    made(tmp_path / "one", cache, SETS[:-2])
    before = len(searched)
    made(tmp_path / "two", cache)
    grown = searched[before:]
    assert data(tmp_path / "two", "changes") == data(given.out.folder, "changes")
    assert grown and {len(line.values) - first for line, first in grown if len(line.values) > 8} <= {1, 2}


def test_a_value_that_is_another_one_is_not_gone_on_from(
    tmp_path: Path, searched: list[tuple[Timeline, int]]
) -> None:
    cache = Cache(tmp_path / "cache")
    made(tmp_path / "one", cache, SETS[:-1])
    before = len(searched)
    made(tmp_path / "two", cache, SETS[1:])
    anew = [
        (line, first)
        for line, first in searched[before:]
        if line.set_up == OLD.facts and line.key.metric == "latency"
    ]
    assert anew and all(len(line.values) == first for line, first in anew)


def test_another_rule_finds_them_anew(
    tmp_path: Path, searched: list[tuple[Timeline, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "one", cache := Cache(tmp_path / "cache"))
    before = len(searched)
    monkeypatch.setattr(change_points, "_rule", lambda: b"another")
    made(tmp_path / "two", cache)
    assert len(searched) == 2 * before


@pytest.mark.parametrize("other", [{"better": "higher"}, {"unit": "share"}])
def test_equal_values_of_another_kind_have_changes_of_their_own(
    tmp_path: Path, other: dict[str, str]
) -> None:
    values = np.repeat([0.2, 0.4], 10) * np.exp(0.001 * np.random.default_rng(6).normal(size=20))
    line = timeline(values.tolist())
    twin = dataclasses.replace(line, series=dataclasses.replace(line.series, **other))  # type: ignore[arg-type]
    points = ChangePoints(Cache(tmp_path))
    for one in (line, twin):
        told = [repr(change.point) for change in points.changes_of(one)]
        assert told == [repr(change.point) for change in history.changes_of(one)] and len(told) == 1
