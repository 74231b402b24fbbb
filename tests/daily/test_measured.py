"""From the files of both sides to the result sets of a report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.interleaving import Function, Side
from dcu_asv_ext.comparing import model
from dcu_asv_ext.comparing.model import Key, ResultSet, Round
from dcu_asv_ext.daily import measured
from dcu_asv_ext.daily.experiment import Arm, Experiment
from dcu_asv_ext.daily.measured import Rule, caused, compare, result_sets

FUNCTIONS = {
    "m.f": Function("m.f", ("m.f.latency",), ("n",), (("1",), ("2",)), ours=True),
    "m.g": Function("m.g", ("m.g.latency",), ("n",), (("2",),), ours=True),
    "m.time_p": Function("m.time_p", ("m.time_p",), (), ((),), ours=False),
}


def rounds(*levels: float) -> tuple[Round, ...]:
    return tuple(
        Round((level, level), number, "s", f"2030-01-01T00:00:{number:02}+00:00")
        for number, level in enumerate(levels, 1)
    )


def side(*levels: float, version: str = "1", **facts: str) -> model.Side:
    return model.Side(rounds(*levels), value=levels[0], version=version, protocol=1, facts=facts)


WHOLE = ResultSet(
    "box",
    "abc",
    "env-X1",
    sides={
        Key("m.f", "latency", ("1",)): side(1.0, 1.0),
        Key("m.f", "latency", ("2",)): side(2.0, 2.0, version="f"),
        Key("m.g", "latency", ("2",)): side(4.0, 4.0, version="g"),
        Key("m.time_p", "time"): replace(side(3.0), source=model.SAMPLES, notes=("no round boundaries",)),
    },
)


class Files(Side):
    """A side whose one result file holds WHOLE."""

    path: Path

    @property
    def files(self) -> list[tuple[str, Path]]:
        return [("env", self.path)]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    made = Files(SimpleNamespace(), [], "abc", {"dirty": True})  # type: ignore[arg-type]
    made.path = tmp_path / "abc-env.json"
    made.path.write_text(json.dumps({}))
    made.rounds["env-X1", "m.time_p", 0] = list(rounds(3.0, 3.1))
    monkeypatch.setattr(measured, "load_file", lambda path: WHOLE)
    return made


def arm(files: Files, selection: dict[str, Sequence[int]], **more: Any) -> Arm:
    return Arm(files, selection, "working tree", "head", **more)


def same(name: str) -> str:
    return name


def test_only_what_was_chosen_is_in_it(files: Files) -> None:
    (found,) = result_sets(arm(files, {"m.f": [1]}), FUNCTIONS, same)
    assert set(found.sides) == {Key("m.f", "latency", ("2",))}
    assert (found.env, found.commit, found.label, found.dirty) == ("env", "head", "working tree", True)


def test_a_plain_benchmark_has_the_rounds_that_were_measured(files: Files) -> None:
    (found,) = result_sets(arm(files, {"m.time_p": [0]}), FUNCTIONS, same)
    one = found.sides[Key("m.time_p", "time")]
    assert [each.samples for each in one.rounds] == [(3.0, 3.0), (3.1, 3.1)]
    assert one.notes == () and one.source == model.SAMPLES


def test_a_file_that_asv_has_not_saved_yet_is_none(files: Files) -> None:
    files.path.unlink()
    assert result_sets(arm(files, {"m.f": [0]}), FUNCTIONS, same) == []


def test_two_functions_meet_under_one_name_whatever_their_versions(files: Files) -> None:
    experiment = Experiment(
        arm(files, {"m.g": [0]}), arm(files, {"m.f": [1]}), FUNCTIONS, {"m.f": "m.g"}, one_tree=True, title=""
    )
    report = compare(experiment, Rule(), 1.0)
    (row,) = report.rows
    assert row.key == Key("m.f", "latency", ("2",))
    assert row.comparison is not None
    assert row.comparison.ratio == pytest.approx(0.5)
    assert row.verdict == "improvement"
    assert report.settings["level"] == 0.025


def test_what_differs_in_one_tree_is_the_experiment() -> None:
    key = Key("m.f", "latency", ("1",))
    before = replace(WHOLE, sides={key: side(1.0, 1.0, **{"switches.threads": "1", "host.load_1min": "1"})})
    after = replace(WHOLE, sides={key: side(2.0, 2.0, **{"switches.threads": "8", "host.load_1min": "2"})})
    assert caused([before], [after]) == {"switches.threads"}
