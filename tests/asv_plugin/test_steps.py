"""The steps that asv's publish is given: in its format, from its data, by its pool of processes."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from asv.graph import Graph, GraphSet, _compute_graph_steps

from dcu_asv_ext.asv_plugin import steps
from dcu_asv_ext.asv_plugin.regressing import Step
from dcu_asv_ext.metrics import METRICS, Metric

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


def filled(data: dict[str, Sequence[Any]], pool: Any = None) -> dict[str, Any]:
    made = graphs(data)
    steps.fill(made, pool)
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


class TestInAsv:
    @pytest.mark.parametrize("start", ["fork", "spawn"])
    def test_asvs_pool(self, start: str) -> None:
        data = {"a": series(1.0, 1.5), "b": series(2.0, 2.0)}
        alone = filled(data)
        with multiprocessing.get_context(start).Pool(1) as pool:
            assert filled(data, pool) == alone

    def test_only_while_ours_are_wanted(self) -> None:
        calls: list[tuple[Any, ...]] = []
        detect = steps.detect_steps(lambda *given: calls.append(given))
        made = graphs({"a": series(1.0, 1.5)})
        detect(made, None, None)
        with steps.publishing(ours=False):
            detect(made)
        assert calls == [(made, None, None)] * 2
        dots: list[int] = []
        with steps.publishing(ours=True):
            detect(made, dots=lambda: dots.append(1))
        assert len(calls) == 2
        assert len(dots) == 1
        ((_, graph),) = made
        assert isinstance(graph, Graph)
        assert len(graph.get_steps()) == 2
