"""The set-ups behind the values of asv's graphs, from evidence beside its files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asv.graph import GraphSet
from asv.step_detect import detect_regressions

from dcu_asv_ext.asv_plugin import published_set_ups, steps
from dcu_asv_ext.asv_plugin.published_set_ups import graph_place, set_ups_of
from dcu_asv_ext.asv_plugin.regressing import find_regressions
from tests.asv_plugin.result_folder import ResultFolder
from tests.comparing.measured import record

NAME = "suite.matmul.latency"
PARAMS = {"machine": "box", "cpu": "EPYC", "python": "3.10"}
OLD, NEW = "hycu 6.3.8", "hycu 6.3.30"
NUMBER, UPDATE = 40, 20


def line(driver: str, session: str = "s", place: int | None = None, number: int = 1) -> dict[str, Any]:
    device = {"kind": "dcu", "driver": driver}
    return {
        **record(number, benchmark="suite.matmul", params={}, session=session, device=device),
        "param_index": place,
    }


@pytest.fixture
def folder(tmp_path: Path) -> ResultFolder:
    return ResultFolder(tmp_path, NUMBER)


def drivers(folder: ResultFolder) -> dict[int, str]:
    numbers = {commit: 100 + place for place, commit in enumerate(folder.commits)}
    found = set_ups_of(folder.results, lambda commits: {one: numbers[one] for one in commits})
    place = (graph_place({**PARAMS, "branch": "main", "env-X": None}), "suite.matmul", 0)
    return {revision: one.facts["device.driver"] for revision, one in found[place].items()}


def test_each_revision_has_that_of_its_newest_session(folder: ResultFolder) -> None:
    for place, lines in enumerate([[line(OLD)], [line(OLD, "first"), line(NEW, "second")]]):
        folder.save(folder.commits[place], {NAME: [1.0]})
        folder.evidence(folder.commits[place], *lines, torn='{"benchmark": "suite.matmul", ')
    assert drivers(folder) == {100: OLD, 101: NEW}


def test_one_line_of_a_session_is_parsed(folder: ResultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.save(folder.commits[0], {NAME: [1.0]})
    folder.evidence(folder.commits[0], *(line(OLD, number=number) for number in range(1, 6)))
    sound: list[Any] = []
    monkeypatch.setattr(published_set_ups, "is_sound", lambda given: sound.append(given) or True)
    assert drivers(folder) == {100: OLD} and len(sound) == 1


def test_environments_and_parameters_are_told_apart(folder: ResultFolder) -> None:
    folder.save(folder.commits[0], {NAME: [1.0]}, env="one", env_vars={"X": "1"})
    folder.evidence(
        folder.commits[0], line(OLD, place=0), {**line(NEW, "t", 1), "params": {"n": "2"}}, env="one"
    )
    found = set_ups_of(folder.results, lambda commits: dict.fromkeys(commits, 7))
    assert {(place[2], one[7].facts["device.driver"]) for place, one in found.items()} == {(0, OLD), (1, NEW)}
    assert {place[0] for place in found} == {graph_place({**PARAMS, "env-X": "1", "branch": "x"})}


def test_what_cannot_be_read_tells_nothing(folder: ResultFolder) -> None:
    folder.save(folder.commits[0], {NAME: [1.0]}).write_text("no JSON")
    folder.evidence(folder.commits[0], line(OLD))
    folder.save(folder.commits[1], {NAME: [1.0]})
    assert set_ups_of(folder.results, lambda commits: dict.fromkeys(commits, 1)) == {}
    assert set_ups_of(folder.results / "nowhere", lambda commits: {}) == {}


def published(folder: ResultFolder, update: bool, level: float = 1.3) -> Any:
    """Steps of a series whose level changes at commit 20, where the driver may have been updated."""
    random = np.random.default_rng(0)
    graphs = GraphSet()
    graph = graphs.get_graph(NAME, {**PARAMS, "branch": "main"})
    for place, commit in enumerate(folder.commits):
        value = (level if place >= UPDATE else 1.0) * math.exp(random.normal(0, 0.002))
        graph.add_data_point(100 + place, value)
        folder.save(commit, {NAME: [value]})
        folder.evidence(commit, line(NEW if update and place >= UPDATE else OLD))
    numbers = {commit: 100 + place for place, commit in enumerate(folder.commits)}
    with steps.publishing(folder.results, lambda commits: {one: numbers[one] for one in commits}):
        steps.detect_steps(None)(graphs)
    return graph.get_steps()


@pytest.mark.parametrize("update", [True, False])
def test_a_driver_s_update_is_no_regression_of_the_site(
    folder: ResultFolder, update: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(steps.log, "info", said.append)
    found = published(folder, update)
    assert [one[0] for one in found] == [100, 100 + UPDATE]
    assert [one.machine for one in found] == [False, update]
    assert (find_regressions(detect_regressions, found, 0.05)[2] is None) == update
    told = "1 steps begin where the machine or its set-up changed, and are no regressions"
    assert (told in said) == update


def test_an_update_away_from_the_change_excuses_nothing(folder: ResultFolder) -> None:
    random = np.random.default_rng(1)
    values = [
        (1.3 if place >= UPDATE else 1.0) * math.exp(random.normal(0, 0.002)) for place in range(NUMBER)
    ]
    graphs = GraphSet()
    graph = graphs.get_graph(NAME, {**PARAMS, "branch": "main"})
    for place, commit in enumerate(folder.commits):
        graph.add_data_point(100 + place, values[place])
        folder.save(commit, {NAME: [values[place]]})
        folder.evidence(commit, line(NEW if place >= 30 else OLD))
    numbers = {commit: 100 + place for place, commit in enumerate(folder.commits)}
    with steps.publishing(folder.results, lambda commits: numbers):
        steps.detect_steps(None)(graphs)
    assert [one.machine for one in graph.get_steps()] == [False, False]
