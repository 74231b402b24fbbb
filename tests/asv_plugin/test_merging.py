"""What a merge would do: sweeps measured in parts, names of machines, files that are none of asv's."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.merging import Names, plan
from dcu_asv_ext.asv_plugin.result_files import ResultsError
from tests.asv_plugin.result_folder import ENV, NAME, ResultFolder
from tests.commands.test_merge import Node, measured

NAN = math.nan


@pytest.fixture
def home(tmp_path: Path) -> ResultFolder:
    return ResultFolder(tmp_path, 2)


def change(node: Node, **changes: Any) -> Path:
    (path,) = (node.results / node.machine).glob(f"*-{ENV}.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return path


def sweep(
    home: ResultFolder, name: str, values: list[float | None], started: int, version: str = "v1"
) -> Path:
    """Of a benchmark with two parameters, in the order of asv's columns."""
    node = Node(home, name, "box")
    node.save(home.commits[0])
    samples = [None if value is None or math.isnan(value) else [value, value] for value in values]
    low = [value if held else None for value, held in zip(values, samples, strict=True)]
    row = [values, [["1", "2"]], version, started, 3, low, *[None] * 5, samples]
    change(node, results={NAME: row})
    return node.results


def united(home: ResultFolder, *folders: Path) -> list[Any]:
    made = plan(home.root / "results", folders, Names())
    return list(json.loads(made.files[f"box/{home.commits[0][:8]}-{ENV}.json"])["results"][NAME])


@pytest.mark.parametrize("turned", [False, True])
def test_a_sweep_that_was_measured_in_parts_is_put_together(home: ResultFolder, turned: bool) -> None:
    parts = [sweep(home, "n1", [1.0, NAN], 100), sweep(home, "n2", [NAN, 2.0], 200)]
    row = united(home, *(reversed(parts) if turned else parts))
    assert row[0] == [1.0, 2.0] and row[3] == 200
    assert row[5] == [1.0, 2.0]
    assert row[11] == [[1.0, 1.0], [2.0, 2.0]]


@pytest.mark.parametrize(("later", "version"), [([None, 2.0], "v1"), ([3.0, 2.0], "v1"), ([NAN, 2.0], "v2")])
def test_what_failed_was_measured_anew_or_is_another_version_is_not_filled(
    home: ResultFolder, later: list[float | None], version: str
) -> None:
    row = united(home, sweep(home, "n1", [1.0, 1.0], 100), sweep(home, "n2", later, 200, version))
    assert repr(row[0]) == repr(later)


def test_a_name_stays_its_machine_s_when_its_results_are_gone(home: ResultFolder) -> None:
    place = home.root / "results" / "box"
    place.mkdir(parents=True)
    (place / "machine.json").write_text(json.dumps({"machine": "box", "version": 1, "cpu": "Zen"}))
    node = Node(home, "n1", "box")
    node.save(home.commits[0], measured(1))
    with pytest.raises(ResultsError, match="two machines are called box: its cpu is 'Zen' and 'EPYC'"):
        plan(home.root / "results", [node.results], Names())


def test_two_clash_though_a_third_is_not_known(home: ResultFolder) -> None:
    nodes = [Node(home, f"n{place}", "box", cpu=cpu) for place, cpu in enumerate(("?", "EPYC", "Zen"))]
    for node in nodes:
        node.save(home.commits[0], measured(1))
    (nodes[0].results / "box" / "machine.json").unlink()
    with pytest.raises(ResultsError, match="two machines are called box: its cpu is 'EPYC' and 'Zen'"):
        plan(home.root / "results", [node.results for node in nodes], Names())


@pytest.mark.parametrize("changes", [{"durations": None}, {"results": {NAME: 5}}, {"results": {NAME: None}}])
def test_a_result_file_that_is_none(home: ResultFolder, changes: dict[str, Any]) -> None:
    node = Node(home, "n1", "box")
    node.save(home.commits[0], measured(1))
    path = change(node, **changes)
    with pytest.raises(ResultsError, match=f"{path.name} is no result file of asv"):
        plan(home.root / "results", [node.results], Names())


def test_descriptions_that_are_none(home: ResultFolder) -> None:
    node = Node(home, "n1", "box")
    node.save(home.commits[0], measured(1))
    node.describe(**{NAME: 5})
    with pytest.raises(ResultsError, match=r"benchmarks\.json is none of asv's files"):
        plan(home.root / "results", [node.results], Names())
