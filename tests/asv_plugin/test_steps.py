"""The steps that asv's publish is given: in its format, from its data, by its pool of processes."""

from __future__ import annotations

import json
import math
import multiprocessing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asv.graph import Graph, GraphSet, _compute_graph_steps
from asv.step_detect import detect_regressions

from dcu_asv_ext.asv_plugin import steps
from dcu_asv_ext.asv_plugin.regressing import Step, find_regressions
from dcu_asv_ext.asv_plugin.result_files import key_of
from dcu_asv_ext.comparing.events import split_events
from dcu_asv_ext.comparing.history import Timeline, changes_of
from dcu_asv_ext.metrics import METRICS, Metric
from dcu_asv_ext.pages import change_points
from dcu_asv_ext.pages.cache import Cache

PARAMS = {"machine": "box", "branch": "main"}


def series(*levels: float, each: int = 20, seed: int = 0, noise: float = 0.002) -> list[float]:
    random = np.random.default_rng(seed)
    return [float(level * math.exp(random.normal(0, noise))) for level in levels for _ in range(each)]


def graphs(data: dict[str, Sequence[Any]], first: int = 100, **params: str) -> GraphSet:
    """A graph for each name, with a value for every second revision from `first` on."""
    made = GraphSet()
    for name, values in data.items():
        graph = made.get_graph(name, {**PARAMS, **params})
        for place, value in enumerate(values):
            graph.add_data_point(first + 2 * place, value)
    return made


def filled(data: dict[str, Sequence[Any]], pool: Any = None, **about: dict[str, Any]) -> dict[str, Any]:
    made = graphs(data)
    steps.fill(made, pool, benchmarks=about)
    return {graph.benchmark_name: graph.get_steps() for _, graph in made}


class TestFormat:
    def test_left_right_level_smallest_error(self) -> None:
        values = series(1.0, 1.5)
        found = filled({"a": values})["a"]
        assert [one[:2] for one in found] == [(100, 139), (140, 179)]
        for (_, _, level, smallest, error), part in zip(found, (values[:20], values[20:]), strict=True):
            assert level == np.median(part)
            assert smallest == min(part)
            assert error == pytest.approx(np.mean(np.abs(np.array(part) - level)))

    def test_the_same_as_asvs_where_both_see_the_step(self) -> None:
        values = series(1.0, 1.5)
        data = [(100 + 2 * place, value, None) for place, value in enumerate(values)]
        ours = filled({"a": values})["a"]
        for one, other in zip(ours, _compute_graph_steps(data), strict=True):
            assert one[:2] == other[:2]
            assert one[2:] == pytest.approx(other[2:])

    def test_a_line_for_each_combination_of_parameters(self) -> None:
        both = list(zip(series(1.0, 1.5, seed=1), series(2.0, 2.0, seed=2), strict=True))
        first, second = filled({"a": both})["a"]
        assert [one[:2] for one in first] == [(100, 139), (140, 179)]
        assert [one[:2] for one in second] == [(100, 179)]

    def test_what_is_missing_belongs_to_no_step(self) -> None:
        values: list[float | None] = [None, *series(1.0), None, math.nan, math.inf, *series(1.5), None]
        found = filled({"a": values})["a"]
        assert [one[:2] for one in found] == [(102, 141), (148, 187)]

    def test_nothing_at_all(self) -> None:
        made = graphs({"a": [None, None]})
        steps.fill(made)
        ((_, graph),) = made
        assert graph.get_steps() == []

    def test_one_value(self) -> None:
        assert filled({"a": [2.0]})["a"] == [(100, 101, 2.0, 2.0, 0.0)]

    def test_negative_figures_are_asvs(self) -> None:
        values = [-one for one in series(1.0, 1.5)]
        data = [(100 + 2 * place, value, None) for place, value in enumerate(values)]
        both = list(zip(values, series(1.0, 1.0), strict=True))
        found = filled({"a": values, "b": both})
        assert found["a"] == found["b"][0] == _compute_graph_steps(data)
        assert not any(isinstance(one, Step) for one in found["a"])
        assert len(found["b"][1]) == 1

    def test_the_last_few_are_not_believed_yet(self) -> None:
        values = series(1.0, each=30) + series(1.5, each=3)
        assert len(filled({"a": values})["a"]) == 1


class TestMetrics:
    def test_exact_ones_have_a_step_at_each_change(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(METRICS, "launches", Metric("launches", "count", "", "", exact=True))
        values = [10] * 9 + [11] * 2 + [10] * 9
        assert [one[0] for one in filled({"s.f.launches": values})["s.f.launches"]] == [100, 118, 122]
        assert len(filled({"s.f.latency": values})["s.f.latency"]) == 1

    def test_where_more_is_better_the_steps_say_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(METRICS, "rate", Metric("rate", "", "", "", better="higher"))
        found = filled({"s.f.rate": series(1.0), "s.f.latency": series(1.0), "s.track_rate": series(1.0)})
        assert {name: one[0].higher for name, one in found.items()} == {
            "s.f.rate": True,
            "s.f.latency": False,
            "s.track_rate": False,
        }


class TestMachineEvents:
    def suite(self, **more: Sequence[float]) -> dict[str, Sequence[float]]:
        """Nine benchmarks, four of which get 20 % slower at one commit: more than a third."""
        moved = {f"moved{i}": series(1.0, 1.2 + i / 100, seed=i) for i in range(4)}
        return {**moved, **{f"still{i}": series(1.0, 1.0, seed=9 + i) for i in range(5)}, **more}

    def test_their_steps_are_the_machines(self) -> None:
        found = filled(self.suite())
        assert [[one.machine for one in found[f"moved{i}"]] for i in range(4)] == [[False, True]] * 4
        assert [len(found[f"still{i}"]) for i in range(5)] == [1] * 5

    def test_less_than_a_third_is_no_event(self) -> None:
        still = {f"more{i}": series(1.0, 1.0, seed=20 + i) for i in range(6)}
        found = filled(self.suite(**still))
        assert not any(one.machine for of_one in found.values() for one in of_one)

    def test_a_change_far_larger_than_the_others_is_more_than_the_machine(self) -> None:
        found = filled(self.suite(broken=series(1.0, 10.0, seed=30), better=series(1.0, 0.5, seed=31)))
        assert [one.machine for one in found["broken"]] == [False, False]
        assert [one.machine for one in found["better"]] == [False, False]
        assert [one.machine for one in found["moved0"]] == [False, True]

    def test_machines_do_not_share_events(self) -> None:
        """Four of nine moved on the one, none of nine on the other."""
        made = graphs(self.suite())
        for name, values in {f"x{i}": series(1.0, 1.0, seed=40 + i) for i in range(9)}.items():
            graph = made.get_graph(name, {**PARAMS, "machine": "other"})
            for place, value in enumerate(values):
                graph.add_data_point(100 + 2 * place, value)
        steps.fill(made)
        assert sum(one.machine for _, graph in made for one in graph.get_steps()) == 4

    def test_pending_changes_vote_but_begin_no_step(self, monkeypatch: pytest.MonkeyPatch) -> None:
        said: list[str] = []
        monkeypatch.setattr(steps.log, "info", said.append)
        late = {f"late{i}": series(1.0, each=31) + series(1.5, each=4, seed=9 + i) for i in range(2)}
        moved = {f"moved{i}": series(1.0, each=30) + series(1.5, each=5, seed=i) for i in range(2)}
        found = filled({**moved, **late})
        assert [one.machine for one in found["moved0"]] == [False, True]
        assert [len(found[f"late{i}"]) for i in range(2)] == [1, 1]
        assert said[-1].startswith("2 steps")


TIMES = ("latency", "device_time", "cold_start", "host_time", "process_wall")


def functions(**levels: float) -> dict[str, list[float]]:
    """Five metrics of each function, which changes to its level at the middle."""
    return {
        f"suite.{name}.{metric}": series(1.0, level, seed=10 * at + one)
        for at, (name, level) in enumerate(levels.items())
        for one, metric in enumerate(TIMES)
    }


def page(found: dict[str, Any]) -> set[str]:
    """What asv's regressions page lists."""
    return {
        name
        for name, each in found.items()
        if find_regressions(detect_regressions, each, 0.05)[2] is not None
    }


class TestBenchmarksVote:
    def test_one_function_of_three_is_no_machine(self) -> None:
        """A third of the lines are its metrics."""
        found = filled(functions(slow=1.3, other=1.0, third=1.0))
        assert page(found) == {f"suite.slow.{metric}" for metric in TIMES}

    def test_nor_are_its_parameters(self) -> None:
        rows = [series(1.0, 1.3, seed=one) for one in range(30)]
        many = [list(row) for row in zip(*rows, strict=True)]
        found = filled({"suite.slow.latency": many, **functions(other=1.0, third=1.0)})
        assert [one.machine for line in found["suite.slow.latency"] for one in line] == [False, False] * 30

    def test_three_functions_are(self) -> None:
        assert page(filled(functions(slow=1.3, other=1.28, third=1.32))) == set()

    def test_memory_does_not_vote(self) -> None:
        memory = {f"suite.f{i}.peak_allocated": [1000] * 20 + [1500] * 20 for i in range(5)}
        assert page(filled({**memory, **functions(f0=1.0, f1=1.0, f2=1.0)})) == set(memory)
        still = {name: [1000] * 40 for name in memory}
        assert page(filled({**still, **functions(slow=1.3, other=1.28, third=1.32)})) == set()

    def test_of_other_suites_each_benchmark(self) -> None:
        data = {f"suite.time_{i}": series(1.0, 1.3, seed=i) for i in range(3)}
        assert page(filled(data)) == set()
        units = {name: {"type": "track", "unit": name} for name in data}
        assert page(filled(data, **units)) == set(data), "three units"

    def test_history_agrees(self) -> None:
        """On a suite with an event, a function that is worse than it, and one that changes elsewhere."""
        data = functions(a=1.2, b=1.25, c=1.18, worse=4.0, still=1.0, quiet=1.0)
        data |= {"suite.own.latency": series(1.0, 1.2, each=10) + series(1.2, each=20, seed=3)}
        found = filled(data)
        machine = {(name, one[0]) for name, each in found.items() for one in each if one.machine}
        assert len(machine) == 15
        lines = [
            Timeline("box", "e", *key_of(name, {}), tuple(range(100, 180, 2)), tuple(values))
            for name, values in data.items()
        ]
        alone, events = split_events(lines, [one for line in lines for one in changes_of(line)])
        assert machine == {
            (one.timeline.series.asv_name, one.place) for event in events for one in event.members
        }
        assert {(one.timeline.series.asv_name, one.place) for one in alone} == {
            (name, one[0]) for name, each in found.items() for one in each[1:] if not one.machine
        }


class TestInAsv:
    def test_what_was_found_before_is_not_looked_for_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        long, short = series(1.0, 1.5, 1.0), series(2.0, 2.2, seed=1)
        alone = filled({"a": long, "b": short})
        looked: list[int] = []
        original = change_points.found

        def found(line: Timeline) -> bytes:
            looked.append(len(line.values))
            return original(line)

        monkeypatch.setattr(change_points, "found", found)

        def again(a: Sequence[float], b: Sequence[float]) -> dict[str, Any]:
            made, cache = graphs({"a": a, "b": b}), Cache(tmp_path)
            steps.fill(made, cache=cache)
            cache.close()
            return {graph.benchmark_name: graph.get_steps() for _, graph in made}

        # The second has grown since the first time.
        again(long, short[:-2])
        assert again(long, short) == alone == again(long, short)
        assert looked == [60, 38]

    @pytest.mark.parametrize("start", ["fork", "spawn"])
    def test_asvs_pool(self, start: str) -> None:
        data = {"a": series(1.0, 1.5), "b": series(2.0, 2.0)}
        alone = filled(data)
        with multiprocessing.get_context(start).Pool(1) as pool:
            assert filled(data, pool) == alone

    def test_only_while_ours_are_wanted(self, tmp_path: Path) -> None:
        calls: list[tuple[Any, ...]] = []
        detect = steps.detect_steps(lambda *given: calls.append(given))
        made = graphs({"a": series(1.0, 1.5)})
        detect(made, None, None)
        with steps.publishing(None):
            detect(made)
        assert calls == [(made, None, None)] * 2
        dots: list[int] = []
        with steps.publishing(tmp_path):
            detect(made, dots=lambda: dots.append(1))
        assert len(calls) == 2
        assert len(dots) == 1
        ((_, graph),) = made
        assert isinstance(graph, Graph)
        assert len(graph.get_steps()) == 2

    def test_benchmarks_are_described_beside_the_results(self, tmp_path: Path) -> None:
        """Of three units, these are no suite."""
        names = [f"suite.track_{i}" for i in range(3)]
        about = {name: {"name": name, "type": "track", "unit": name} for name in names}
        made = graphs({name: series(1.0, 1.3, seed=i) for i, name in enumerate(names)})
        detect = steps.detect_steps(None)
        for described, machine in ((False, 3), (True, 0)):
            if described:
                (tmp_path / "benchmarks.json").write_text(json.dumps({**about, "version": 2}))
            with steps.publishing(tmp_path):
                detect(made)
            assert sum(one.machine for _, graph in made for one in graph.get_steps()) == machine


class TestSharesAndCounts:
    def about(self, name: str, metric: str) -> dict[str, Any]:
        one = METRICS[metric]
        return {name: {"family": name.rpartition(".")[0], "unit": one.unit, "type": "track"}}

    def test_a_share_takes_two_points(self) -> None:
        name = "suite.step.idle_share"
        little, much = [0.001] * 10 + [0.018] * 10, [0.001] * 10 + [0.050] * 10
        assert len(filled({name: little}, **self.about(name, "idle_share"))[name]) == 1
        found = filled({name: much}, **self.about(name, "idle_share"))[name]
        assert [one[2] for one in found] == [0.001, 0.050] and all(one.points for one in found)

    def test_a_count_from_nothing_is_a_step_at_once(self) -> None:
        name = "suite.step.sync_count"
        found = filled({name: [0.0] * 4 + [2.0]}, **self.about(name, "sync_count"))[name]
        assert [one[:3] for one in found] == [(100, 107, 0.0), (108, 109, 2.0)]
        assert filled({name: [0.0] * 5}, **self.about(name, "sync_count"))[name][0][2] == 0.0

    def test_a_mean_of_counts_takes_several_values(self) -> None:
        name = "suite.step.kernel_count"
        assert len(filled({name: [2.5] * 10 + [3.5]}, **self.about(name, "kernel_count"))[name]) == 1
        assert len(filled({name: [2.5] * 10 + [3.5] * 8}, **self.about(name, "kernel_count"))[name]) == 2

    def test_shares_vote_by_their_difference(self) -> None:
        names = [f"suite.b{number}.idle_share" for number in range(4)]
        about = {key: one for name in names for key, one in self.about(name, "idle_share").items()}
        found = filled({name: [0.0] * 10 + [0.2] * 10 for name in names}, **about)
        assert all(found[name][1].machine for name in names), "a third of the benchmarks: the machine's"
