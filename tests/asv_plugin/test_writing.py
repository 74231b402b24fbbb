"""Names that asv's files have, and names that no file can have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asv import util
from asv.graph import Graph

from dcu_asv_ext.asv_plugin import writing


def _graph(name: str) -> Graph:
    graph = Graph(name, {"machine": "box"})
    graph.add_data_point(1, 2.0, None)
    return graph


def test_a_name_may_be_as_long_as_a_file_s(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250 + ".json")
    writing.write_json(util.write_json)(str(path), [1], compact=True)
    assert json.loads(path.read_text()) == [1] and [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["x" * 251, "\u77e9" * 84, "x" * 300, "half \ud800 letter"])
def test_a_name_that_no_file_can_have_costs_its_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    said: list[str] = []
    monkeypatch.setattr(writing.log, "warning", said.append)
    save = writing.save_graph(Graph.save)
    save(_graph(name), str(tmp_path))
    save(_graph("fits"), str(tmp_path))
    assert [one.name for one in tmp_path.rglob("*.json")] == ["fits.json"]
    assert len(said) == 1 and "no file can have such a name" in said[0] and said[0].isascii()
