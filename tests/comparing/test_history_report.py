from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dcu_asv_ext.comparing.history import Timeline
from dcu_asv_ext.comparing.history_report import history_report
from dcu_asv_ext.comparing.model import Key

from .histories import branch, timeline


def _line(benchmark: str, step: float, at: int = 20, seed: int = 0, **more: object) -> Timeline:
    noise = np.exp(np.random.default_rng(seed).normal(0, 0.003, 40))
    values = np.concatenate([np.ones(at), np.full(40 - at, step)]) * noise
    return timeline([float(value) for value in values], benchmark, **more)


LINES = [
    _line("a.slower", 1.2),
    _line("a.faster", 0.8, 30, 1),
    *(_line(f"b.{n}", 1.0, seed=2 + n) for n in range(8)),
]
EVENT = [_line(f"m.{number}", 1.1 + number / 50, 12, 20 + number) for number in range(6)]


def test_every_change_and_every_series() -> None:
    found = history_report("main", branch(40), LINES)
    assert [(one.timeline.key.benchmark, one.place, one.kind) for one in found.changes] == [
        ("a.slower", 20, "regression"),
        ("a.faster", 30, "improvement"),
    ]
    assert found.timelines == LINES and not found.chosen and found.notes == []


def test_a_choice_leaves_the_rest_out_but_not_of_the_vote() -> None:
    """Alone, one benchmark cannot show that it moved with all the others."""
    found = history_report("main", branch(40), [*LINES, *EVENT], match=lambda key: key.benchmark == "m.0")
    assert found.changes == [] and found.chosen and found.timelines == [EVENT[0]]
    (event,) = found.events
    assert event.moved == 6 and event.benchmarks == 16


def test_an_event_without_a_chosen_member_is_not_told() -> None:
    found = history_report(
        "main", branch(40), [*LINES, *EVENT], match=lambda key: key.benchmark == "a.slower"
    )
    assert found.events == [] and len(found.changes) == 1


@pytest.mark.parametrize(("since", "names"), [(19, ["a.slower", "a.faster"]), (20, ["a.faster"]), (39, [])])
def test_since_a_commit(since: int, names: list[str]) -> None:
    found = history_report("main", branch(40), LINES, since=since)
    assert [one.timeline.key.benchmark for one in found.changes] == names
    assert found.since == branch(40)[since]


def test_one_kind() -> None:
    lines = [*LINES, *EVENT]
    worse = history_report("main", branch(40), lines, kind="regression")
    assert [one.kind for one in worse.changes] == ["regression"] and len(worse.events) == 1
    better = history_report("main", branch(40), lines, kind="improvement")
    assert [one.kind for one in better.changes] == ["improvement"] and better.events == []


def test_what_cannot_be_looked_at_is_told() -> None:
    negative = timeline([-1.0] * 9, "task.score")
    fragment = dataclasses.replace(timeline([1.0], "a.slower"), version="2")
    found = history_report("main", branch(40), [*LINES, negative, fragment], notes=["First."])
    assert found.notes == [
        "First.",
        "Not looked at: 1 value of another version or protocol than most of their series have (1 series).",
        "1 series with negative values cannot be looked at, since levels are compared by their ratio: task.score.",
    ]


def test_nothing_at_all() -> None:
    found = history_report(
        "main", branch(1), [timeline([1.0])], match=lambda key: key == Key("none", "latency")
    )
    assert found.timelines == found.changes == found.events == []
