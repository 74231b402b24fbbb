"""What a publish remembers is what asv would have worked out again."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asv.graph import Graph
from asv.results import Results
from asv.util import UserError

from dcu_asv_ext.asv_plugin import site_speed
from tests.asv_plugin.result_folder import NAME, ResultFolder

# asv's own, whether or not the plugin is in place.
_plain_load = inspect.unwrap(Results.load.__func__)
_load = site_speed.load(_plain_load)
_path = site_speed.get_file_path(inspect.unwrap(Graph.get_file_path.__func__))
_data = site_speed.get_data(inspect.unwrap(Graph.get_data))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files that asv really read."""
    made: list[str] = []

    def load(cls: Any, path: str, machine_name: Any = None) -> Any:
        made.append(path)
        return _plain_load(cls, path, machine_name)

    monkeypatch.setattr("tests.asv_plugin.test_site_speed._load", site_speed.load(load))
    return made


@pytest.fixture
def at_work() -> Iterator[None]:
    with site_speed.publishing():
        yield


def _saved(root: Path) -> list[str]:
    folder = ResultFolder(root)
    return [str(folder.save(commit)) for commit in folder.commits]


def _told(results: Any) -> tuple[Any, ...]:
    """What the feed of regressions asks for."""
    known = {NAME: {"version": "v1"}}
    return results.commit_hash, results.date, dict(results.started_at), list(results.get_result_keys(known))


@pytest.mark.parametrize(("kept", "reads"), [(1 << 20, 1), (0, 2)])
def test_a_file_is_read_once_or_where_memory_is_short_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: list[str], at_work: None, kept: int, reads: int
) -> None:
    monkeypatch.setattr(site_speed, "KEPT_WHOLE", kept)
    paths = _saved(tmp_path)
    plain = [Results.load(path, "box") for path in paths]
    for turn in range(3):
        found = [_load(Results, path, "box") for path in paths]
        assert [_told(one) for one in found] == [_told(one) for one in plain]
        if turn < 2:
            for one, other in zip(found, plain, strict=True):
                assert one.get_result_value(NAME, []) == other.get_result_value(NAME, []) == [3.0]
                assert one.get_result_stats(NAME, []) == other.get_result_stats(NAME, [])
                assert (one.params, one.env_vars) == (other.params, other.env_vars)
    assert calls == paths * reads


def test_a_file_that_cannot_be_read_is_told_in_each_pass(tmp_path: Path, at_work: None) -> None:
    path = str(ResultFolder(tmp_path).save("ab" * 20))
    for _ in range(4):
        with pytest.raises(UserError, match="machine name is not 'other'"):
            _load(Results, path, "other")


def test_outside_a_publish_every_file_is_read_whole(tmp_path: Path, calls: list[str]) -> None:
    (path, *_) = _saved(tmp_path)
    for _ in range(2):
        assert _load(Results, path).get_result_samples(NAME, []) == [[1.0, 2.0, 3.0, 4.0]]
    assert calls == [path, path]


def test_a_file_that_changed_is_read_anew_by_the_next_publish(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path)
    path = str(folder.save(folder.commits[0]))
    for samples in ([1.0, 2.0], [5.0, 6.0]):
        folder.save(folder.commits[0], {NAME: samples})
        with site_speed.publishing():
            assert _load(Results, path).get_result_value(NAME, []) == [samples[1]]


def test_paths_are_asvs_own(at_work: None) -> None:
    asked = [
        ({"a": "1", "b": None}, "x"),
        ({"a": "1"}, "x"),
        ({"a": "", "b": "<1>"}, "y/z"),
        ({"b": None, "a": "1"}, "x"),
    ]
    for _ in range(2):
        assert [_path(Graph, *one) for one in asked] == [Graph.get_file_path(*one) for one in asked]


def test_data_is_worked_out_once_and_cannot_be_spoiled(at_work: None) -> None:
    graph = Graph("x", {})
    for revision, value in ((3, 2.0), (1, None), (2, 1.0)):
        graph.add_data_point(revision, value, None)
    first = _data(graph)
    assert first == graph.get_data() == [(2, 1.0, None), (3, 2.0, None)]
    first.clear()
    assert _data(graph) == graph.get_data()
