"""The files of series: which there are, and how large ones are cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dcu_asv_ext.comparing.model import FAILED, Key
from dcu_asv_ext.pages import series
from dcu_asv_ext.pages.model import Work
from dcu_asv_ext.pages.writing import slug
from tests.comparing.histories import branch

from .histories import result, side, work
from .works import data, keys

COMMITS = branch(8)
LONG = "'" + 300 * "x" + "'"
NAMES = ["suite.step", "plain.time_<script>\"'/\\", "套件.测试", "x" * 300]


def lines_of(given: Work, function: str, place: int = 0) -> list[dict[str, Any]]:
    parts = [data(given.out.folder, key) for key in given.parts[function, place]]
    assert all(part["function"] == function and part["place"] == place for part in parts)
    return [line for part in parts for line in part["lines"]]


def test_each_benchmark_has_a_file_at_each_place(tmp_path: Path) -> None:
    sides = {Key(name, "latency", (LONG, "1/2")): side([1.0, 1.5]) for name in NAMES}
    sets = [result(COMMITS[0], sides), result(COMMITS[1], dict(list(sides.items())[:1]), machine="n")]
    given = work(sets, COMMITS, tmp_path)
    series.build(given)
    told = [f"b/{slug(name)}/0" for name in NAMES] + [f"b/{slug(NAMES[0])}/1"]
    assert keys(tmp_path) == sorted([*told, "changes"])
    assert {where: key for where, (key,) in given.parts.items()} == {
        **{(name, 0): f"b/{slug(name)}/0" for name in NAMES},
        (NAMES[0], 1): f"b/{slug(NAMES[0])}/1",
    }
    for name in NAMES:
        assert given.combos[name, 0] == [[(LONG, "1/2")]]
        (line,) = lines_of(given, name)
        assert line["params"] == [LONG, "1/2"] and line["timelines"][0]["rounds"] == [[1, 1.5]]


def test_lines_stand_by_parameters_then_as_the_metrics_do(tmp_path: Path) -> None:
    sides = {
        Key("a.f", metric, params): side([1.0])
        for metric in ("peak_reserved", "zebra", "latency")
        for params in (("1", "2"), ("1",))
    }
    given = work([result(COMMITS[0], sides)], COMMITS, tmp_path)
    series.build(given)
    told = [(one["params"], one["metric"]) for one in lines_of(given, "a.f")]
    metrics = ["latency", "peak_reserved", "zebra"]
    assert told == [(params, metric) for params in (["1"], ["1", "2"]) for metric in metrics]
    assert given.combos["a.f", 0] == [[("1",), ("1", "2")]]


def test_a_large_benchmark_is_cut_between_combinations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(1)
    params = [(str(number),) for number in range(7)]

    def sides() -> dict[Key, Any]:
        return {
            Key("a.f", metric, one): side(random.uniform(1, 2, 5))
            for one in params
            for metric in ("latency", "host_time")
        }

    given = work([result(commit, sides()) for commit in COMMITS], COMMITS, tmp_path / "whole")
    series.build(given)
    whole = lines_of(given, "a.f")
    (one,) = (tmp_path / "whole" / "b").rglob("*.js")
    most = one.stat().st_size // 3
    monkeypatch.setattr(series, "_MOST", most)
    again = work([given.results(entry) for entry in given.entries.values()], COMMITS, tmp_path / "cut")
    series.build(again)
    stem = f"b/{slug('a.f')}/0"
    assert len(again.parts["a.f", 0]) > 2 and again.parts["a.f", 0][:2] == [stem, f"{stem}-2"]
    assert lines_of(again, "a.f") == whole
    assert [one for part in again.combos["a.f", 0] for one in part] == params
    for key, combos in zip(again.parts["a.f", 0], again.combos["a.f", 0], strict=True):
        assert (tmp_path / "cut" / f"{key}.js").stat().st_size < most + 100
        assert (
            list(dict.fromkeys(tuple(line["params"]) for line in data(tmp_path / "cut", key)["lines"]))
            == combos
        )
    monkeypatch.setattr(series, "_MOST", 10)
    series.build(
        least := work([given.results(one) for one in given.entries.values()], COMMITS, tmp_path / "least")
    )
    assert [len(part) for part in least.combos["a.f", 0]] == [1] * 7 and lines_of(least, "a.f") == whole


def test_what_never_had_a_number_is_there_with_its_reasons(tmp_path: Path) -> None:
    given = work(
        [result(COMMITS[3], {Key("a.f", "latency"): side([], state=FAILED, reason="out of memory")})],
        COMMITS,
        tmp_path,
    )
    series.build(given)
    assert lines_of(given, "a.f") == [
        {"metric": "latency", "params": [], "timelines": [], "failed": [[3, "out of memory"]], "missing": []}
    ]


def test_notes_of_many_files_are_told_in_few(tmp_path: Path) -> None:
    commits = branch(30)
    sets = [
        result(one, {Key("a.f", "latency"): side([1.0])}, notes=[f"{one.short} is odd", "same"])
        for one in commits
    ]
    given = work(sets, commits, tmp_path)
    series.build(given)
    assert len(given.notes) == 21 and given.notes[1] == "same"
    assert given.notes[-1] == "11 more notes on single result files"


def test_without_results_there_are_no_files(tmp_path: Path) -> None:
    given = work([], COMMITS, tmp_path)
    series.build(given)
    assert keys(tmp_path) == ["changes"] and data(tmp_path, "changes")["branches"][0]["changes"] == []
