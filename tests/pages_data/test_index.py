"""The index: commits, branches, places, benchmarks, metrics."""

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.comparing.model import Key, Series, Side
from dcu_asv_ext.metrics import METRICS
from dcu_asv_ext.pages import functions, index, series
from dcu_asv_ext.pages.model import Work
from dcu_asv_ext.pages.writing import slug
from tests.comparing.histories import branch

from .histories import result, side, work
from .works import data

NOON = datetime.datetime(2026, 1, 2, 12, 0, 0, 5, tzinfo=datetime.timezone.utc)
COMMITS = branch(6)


def built(given: Work) -> dict[str, Any]:
    series.build(given)
    index.build(given, "1.2.3", NOON)
    found: dict[str, Any] = data(given.out.folder, "index")
    return found


def test_it_tells_what_there_is(tmp_path: Path) -> None:
    sides = {Key("a.f", "latency"): side([1.0])}
    facts = {"device.kind": "hip", "device.product": "K100"}
    sets = [
        result(COMMITS[1], sides),
        result(COMMITS[4], sides, facts=facts),
        result(COMMITS[2], sides, machine="n"),
    ]
    given = work(sets, COMMITS, tmp_path, branches={"main": [0, 1, 4, 5], "<b>": [0, 2]})
    given.tags = {"v2": 4, "v1": 1, "v1.0": 1}
    given.comparisons, given.matrices, given.evidence = [(0, 1, 4)], [(0, 4)], {0: [4]}
    given.evidence_files = {("a.f", 0): [[4]]}
    found = built(given)
    assert (found["format"], found["version"], found["made_at"]) == (1, "1.2.3", "2026-01-02T12:00:00+00:00")
    assert found["commits"][4] == [COMMITS[4].hash, COMMITS[4].date, "Change 4"]
    assert found["branches"] == [
        {"name": "main", "commits": [0, 1, 4, 5], "numbers": [0, 1, 2, 3], "length": 4, "head": 5},
        {"name": "<b>", "commits": [0, 2], "numbers": [0, 1], "length": 2, "head": 2},
    ]
    assert found["tags"] == [["v1", 1], ["v1.0", 1], ["v2", 4]]
    assert [(one["key"], one["device"], one["product"]) for one in found["places"]] == [
        ("m~e", "hip", "K100"),
        ("n~e", None, None),
    ]
    assert found["places"][0]["facts"] == facts
    assert (found["comparisons"], found["matrices"], found["evidence"]) == ([[0, 1, 4]], [[0, 4]], {"0": [4]})
    (function,) = found["functions"]
    assert function["places"]["0"]["evidence"] == [[4]] and function["places"]["1"]["evidence"] == []


def test_a_benchmark_of_ours_has_its_metrics_together(tmp_path: Path) -> None:
    sides = {Key("a.f", metric, ("1", "'x'")): side([1.0]) for metric in ("peak_reserved", "latency")}
    about = {
        "a.f.latency": {"params": [["2", "1"], ["'x'"]], "param_names": ["n", "m"], "pretty_name": "F, fast"}
    }
    (found,) = built(work([result(COMMITS[0], sides)], COMMITS, tmp_path, benchmarks=about))["functions"]
    assert found == {
        "name": "a.f",
        "slug": slug("a.f"),
        "label": "F, fast",
        "kind": "workload",
        "ours": True,
        "params": [{"name": "n", "values": ["1"]}, {"name": "m", "values": ["'x'"]}],
        "metrics": ["latency", "peak_reserved"],
        "asv": {"latency": "a.f.latency", "peak_reserved": "a.f.peak_reserved"},
        "gone": ["peak_reserved"],
        "units": {"latency": "seconds", "peak_reserved": "seconds"},
        "places": {"0": {"parts": [f"b/{slug('a.f')}/0"], "combos": [["1", "'x'"]], "evidence": []}},
    }


def test_another_suites_benchmark_is_one_of_its_own(tmp_path: Path) -> None:
    given = result(COMMITS[0], {Key("plain.track_x", "track"): side([1.0], protocol=None)})
    given.series = {Key("plain.track_x", "track"): Series("plain.track_x", unit="widgets")}
    found = built(work([given], COMMITS, tmp_path))
    (one,) = found["functions"]
    assert (one["ours"], one["metrics"], one["asv"]) == (False, ["track"], {"track": "plain.track_x"})
    assert (
        one["label"] == "plain.track_x" and one["gone"] == ["track"] and one["units"] == {"track": "widgets"}
    )
    assert found["metrics"] == {
        "track": {"label": "track", "unit": "widgets", "better": "lower", "exact": False, "source": "asv"}
    }


def test_parameters_that_changed_in_number_are_all_there(tmp_path: Path) -> None:
    """Values stand as asv declares them; those that it does not know any more come last."""
    sides: list[dict[Key, Side]] = [
        {Key("a.f", "latency", ("64",)): side([1.0])},
        {Key("a.f", "latency", (n, "'fp16'")): side([1.0]) for n in ("256", "128", "32")},
    ]
    sets = [result(commit, one) for commit, one in zip(COMMITS, sides, strict=False)]
    about = {"a.f.latency": {"params": [["512", "256", "128"], ["'fp16'"]], "param_names": ["n", "m"]}}
    (one,) = built(work(sets[::-1], COMMITS, tmp_path, benchmarks=about))["functions"]
    assert one["params"] == [
        {"name": "n", "values": ["256", "128", "64", "32"]},
        {"name": "m", "values": ["'fp16'"]},
    ]
    assert one["places"]["0"]["combos"] == [["128", "'fp16'"], ["256", "'fp16'"], ["32", "'fp16'"], ["64"]]


def test_the_newest_result_tells_unit_and_kind(tmp_path: Path) -> None:
    sets = [
        result(COMMITS[at], {Key("a.f", "latency"): side([1.0])}, unit=unit)
        for at, unit in ((4, "s"), (1, "ms"))
    ]
    key = Key("a.f", "latency")
    sets[0].series = {key: dataclasses.replace(sets[0].series[key], kind="micro")}
    (one,) = built(work(sets, COMMITS, tmp_path))["functions"]
    assert (one["units"], one["kind"]) == ({"latency": "s"}, "micro")


def test_of_files_in_parts_it_tells_where_each_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series, "_MOST", 10)
    sides = {Key("a.f", "latency", (str(number),)): side([1.0]) for number in range(3)}
    (one,) = built(work([result(COMMITS[0], sides)], COMMITS, tmp_path))["functions"]
    stem = f"b/{slug('a.f')}/0"
    assert one["places"]["0"]["parts"] == [stem, f"{stem}-2", f"{stem}-3"]
    assert one["places"]["0"]["starts"] == [0, 1, 2] and one["places"]["0"]["combos"] == [["0"], ["1"], ["2"]]


def test_of_two_benchmarks_with_one_file_name_one_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (functions, series):
        monkeypatch.setattr(module, "slug", lambda name: "same")
    sides = {Key(name, "latency"): side([value]) for name, value in (("a.f", 1.0), ("b.g", 2.0))}
    given = work([result(COMMITS[0], sides)], COMMITS, tmp_path)
    found = built(given)
    assert [one["name"] for one in found["functions"]] == ["a.f"]
    assert found["notes"] == ["b.g is not shown, since its files would have the names of those of a.f"]
    assert data(tmp_path, "b/same/0")["function"] == "a.f"


def test_the_metrics_are_those_of_the_table(tmp_path: Path) -> None:
    sides = {Key("a.f", metric): side([1.0]) for metric in METRICS}
    found = built(work([result(COMMITS[0], sides)], COMMITS, tmp_path))["metrics"]
    assert list(found) == list(METRICS)
    assert all(
        found[name][field] == getattr(one, field) for name, one in METRICS.items() for field in found[name]
    )


def test_without_results_it_is_an_index_all_the_same(tmp_path: Path) -> None:
    found = built(work([], COMMITS, tmp_path))
    assert (found["functions"], found["places"], found["metrics"], found["notes"]) == ([], [], {}, [])
    assert json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("name", "metric", "pretty", "label"),
    [
        ("norms.normalise", "latency", "normalise: end-to-end latency, synchronised", "norms.normalise"),
        ("norms.normalise", "latency", "Normalise rows: end-to-end latency, synchronised", "Normalise rows"),
        ("norms.normalise", "latency", "norms.normalise", "norms.normalise"),
        ("plain.time_sort", "time", "Sorting", "Sorting"),
    ],
)
def test_a_function_is_called_by_its_name_unless_its_author_calls_it_otherwise(
    name: str, metric: str, pretty: str, label: str
) -> None:
    assert functions._label(name, metric, pretty) == label
