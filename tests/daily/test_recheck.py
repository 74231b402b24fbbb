"""What was measured afresh takes the place of earlier results, of the same benchmarks and of no others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dcu_asv_ext.comparing.model import Key
from dcu_asv_ext.daily import recheck
from dcu_asv_ext.daily.experiment import ExperimentError
from tests.gates.asking import side
from tests.gates.candidates import measured

STEP, OTHER = Key("suite.step", "latency"), Key("suite.other", "latency")


def test_only_what_was_measured_again_is_replaced() -> None:
    old = side("a", [*measured(), *measured("suite.other")])
    fresh = side("a", measured(latency=0.02, session="fresh"))
    (found,) = recheck.renewed([old], [fresh])
    assert found.sides[STEP].value == fresh.sides[STEP].value
    assert found.sides[OTHER].value == old.sides[OTHER].value
    assert set(found.sides) == set(old.sides)
    sessions = {(one["benchmark"], one["session"]) for one in found.records}
    assert sessions == {("suite.step", "fresh"), ("suite.other", "a")}


def test_a_metric_that_is_no_longer_there_does_not_stay_behind() -> None:
    old, fresh = side("a", measured()), side("a", measured(error=None))
    (found,) = recheck.renewed([old], [fresh])
    assert Key("suite.step", "max_error") not in found.sides


def test_other_parameters_stay() -> None:
    old = side("a", [*measured(params={"n": "8"}), *measured(params={"n": "16"})])
    fresh = side("a", measured(params={"n": "8"}, session="fresh"))
    (found,) = recheck.renewed([old], [fresh])
    assert {one.session for one in found.sides[Key("suite.step", "latency", ("16",))].rounds} == {"a"}
    assert {one.session for one in found.sides[Key("suite.step", "latency", ("8",))].rounds} == {"fresh"}


def test_several_environments_go_by_name() -> None:
    old = [side("a", measured(), env) for env in ("one", "two")]
    fresh = [side("a", measured(latency=0.02, session="fresh"), "two")]
    one, two = recheck.renewed(old, fresh)
    assert one is old[0]
    assert two.sides[STEP].value == fresh[0].sides[STEP].value


class TestRefused:
    def wanted(self) -> recheck.Wanted:
        return recheck.Wanted("a" * 40, "b" * 40, ("main", "HEAD"), ["suite.step"], "box", 5, 60.0)

    def bench(self, monkeypatch: pytest.MonkeyPatch, **facts: Any) -> None:
        made = SimpleNamespace(**{"machine": {"machine": "box"}, "existing": False, **facts})
        monkeypatch.setattr(recheck.Bench, "open", lambda config: made)

    def test_results_of_another_machine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bench(monkeypatch, machine={"machine": "here"})
        with pytest.raises(ExperimentError, match="the results are of the machine box, and this one is here"):
            recheck.recheck(self.wanted(), print)

    def test_an_existing_environment_holds_one_install(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        self.bench(monkeypatch, existing=True)
        with pytest.raises(ExperimentError):
            recheck.recheck(self.wanted(), print)
        assert not list(tmp_path.iterdir())
