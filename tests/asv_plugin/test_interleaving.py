"""Environments of two sides, and the rounds of benchmarks that are not ours, without measuring anything."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from asv import util
from asv.config import Config
from asv.results import Results
from asv.runner import BenchmarkResult

from dcu_asv_ext.asv_plugin import interleaving
from dcu_asv_ext.asv_plugin.hooks import install
from dcu_asv_ext.asv_plugin.interleaving import Bench, Function, MeasuringError, Side
from dcu_asv_ext.asv_plugin.results import ResultsError

from .overlay_project import Project, valued

pytestmark = pytest.mark.usefixtures("own_locks")

CONF = {"project": "tiny", "environment_type": "overlay", "branches": ["main"]}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path / "project")
    made.commit(valued(1))
    made.configure()
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("DCU_ASV_DEVICE", "cpu")
    monkeypatch.chdir(made.suite)
    return made


def bench(**conf: Any) -> Bench:
    install()
    return Bench(Config.from_json({"repo": ".", **CONF, **conf}), None, {"machine": "box"})


def variables(environments: list[Any]) -> list[dict[str, str]]:
    return [one.env_vars for one in environments]


class TestEnvironments:
    pytestmark = pytest.mark.usefixtures("project")

    def test_no_type_of_environment_is_said(self) -> None:
        with pytest.raises(MeasuringError, match='no "environment_type"'):
            bench(environment_type="").environments()

    def test_each_side_sets_the_variable_as_it_needs_it(self) -> None:
        found = bench()
        assert variables(found.environments(("X", "1"))) == [{"X": "1"}]
        assert variables(found.environments(("X", None))) == [{}]
        assert variables(found.environments()) == [{}]

    def test_the_configurations_own_variables_stay_but_for_the_one_that_varies(self) -> None:
        found = bench(matrix={"env_nobuild": {"X": ["a", "b"], "Y": ["c"]}, "env": {"Z": ["d"]}})
        assert variables(found.environments(("X", "1"))) == [{"X": "1", "Y": "c", "Z": "d"}]
        assert variables(found.environments(("Z", None))) == [{"X": "a", "Y": "c"}, {"X": "b", "Y": "c"}]
        assert len(variables(found.environments())) == 2, "the configuration itself is not changed"

    def test_both_values_share_one_install(self) -> None:
        found = bench()
        folders = {one.dir_name for value in ("1", "2") for one in found.environments(("X", value))}
        assert len(folders) == 1

    def test_an_existing_environment_takes_the_variable_too(self) -> None:
        found = bench(environment_type="existing")
        assert found.existing
        assert variables(found.environments(("X", "1"))) == [{"X": "1"}]
        assert variables(found.environments(("X", None))) == [{}]

    def test_no_environment_that_can_be_made_is_told(self) -> None:
        with pytest.raises(MeasuringError, match="gives no environment"):
            bench(pythons=["2.7"]).environments()


class TestOpening:
    def test_a_project(self, project: Project) -> None:
        found = Bench.open()
        assert found.working_tree == project.repo.resolve()
        assert found.resolve("main") == project.git("rev-parse", "HEAD")
        assert found.resolve("no-such") is None
        assert found.machine["machine"] == "box" and not found.existing

    def test_a_machine_that_asv_was_not_told_of_is_measured_all_the_same(self, project: Project) -> None:
        (project.home / ".asv-machine.json").unlink()
        assert Bench.open().machine["machine"]
        assert not (project.home / ".asv-machine.json").exists()

    def test_a_configuration_elsewhere(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(project.root)
        assert Bench.open("suite/asv.conf.json").conf.project == "tiny"
        assert Path.cwd() == project.suite

    def test_no_configuration(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(MeasuringError, match=r"there is no nowhere/asv.conf.json"):
            Bench.open("nowhere/asv.conf.json")
        monkeypatch.chdir(project.home)
        with pytest.raises(ResultsError, match=r"No `asv\.conf` file found"):
            Bench.open()

    def test_the_projects_own_results_are_no_change_of_it(self, project: Project, tmp_path: Path) -> None:
        bench = Bench.open()
        own = Path(bench.conf.results_dir)
        (tmp_path / "elsewhere").mkdir()
        bench.settle(tmp_path / "elsewhere")
        assert own in bench.made_by_asv

    def test_an_address_has_no_working_tree(self) -> None:
        with pytest.raises(MeasuringError, match="is the address"):
            _ = bench(repo="https://example.org/x.git").working_tree


PLAIN = {"name": "m.time_p", "params": [["1", "2"]], "version": "v", "type": "time"}


class TestPlainRounds:
    """asv's file joins all samples; a side remembers which of them a round brought."""

    @pytest.fixture
    def side(self) -> Side:
        return Side(SimpleNamespace(), [], "abc")  # type: ignore[arg-type]

    def add(self, side: Side, results: Any, samples: list[Any], number: int = 3) -> None:
        before = interleaving._counts(results, PLAIN)
        values = [None if one is None else True for one in samples]
        result = BenchmarkResult(values, samples, [number] * len(samples), 0, "", None)
        results.add_result(PLAIN, result, record_samples=True, append_samples=True)
        side._keep_rounds("env", PLAIN, results, before)

    def test_each_round_has_its_own_samples(self, side: Side) -> None:
        results = Results.unnamed()
        self.add(side, results, [[1.0, 1.1], [2.0]])
        self.add(side, results, [[1.2], [2.1, 2.2]])
        kept = {index: [one.samples for one in side.rounds["env", "m.time_p", index]] for index in (0, 1)}
        assert kept == {0: [(1.0, 1.1), (1.2,)], 1: [(2.0,), (2.1, 2.2)]}
        numbers = [one.number for one in side.rounds["env", "m.time_p", 0]]
        times = [one.started_at for one in side.rounds["env", "m.time_p", 0]]
        assert numbers == [1, 2] and times == sorted(times) and all(times)

    def test_a_round_that_failed_brings_none(self, side: Side) -> None:
        results = Results.unnamed()
        self.add(side, results, [[1.0], None])
        assert ("env", "m.time_p", 1) not in side.rounds

    def test_a_figure_without_samples_is_a_round_of_one(self, side: Side) -> None:
        results = Results.unnamed()
        track = {**PLAIN, "type": "track"}
        for value in (5.0, 6.0):
            before = interleaving._counts(results, track)
            result = BenchmarkResult([value, value], [None, None], [None, None], 0, "", None)
            results.add_result(track, result, record_samples=True, append_samples=True)
            side._keep_rounds("env", track, results, before)
        assert [one.samples for one in side.rounds["env", "m.time_p", 0]] == [(5.0,), (6.0,)]


def test_functions_are_told_from_their_series() -> None:
    ours = [
        {"name": f"m.f.{metric}", "family": "m.f", "params": [["1", "2"], ["'a'"]], "param_names": ["n", "d"]}
        for metric in ("latency", "peak_allocated")
    ]
    assert interleaving._function("m.f", ours) == Function(
        "m.f", ("m.f.latency", "m.f.peak_allocated"), ("n", "d"), (("1", "'a'"), ("2", "'a'")), True
    )
    plain = {"name": "m.time_p", "params": [], "param_names": []}
    assert interleaving._function("m.time_p", [plain]).combinations == ((),)


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise util.UserError("dcu-asv: machine.json cannot be written (No space left on device)")

    monkeypatch.setattr(interleaving.Machine, "save", full)
    with pytest.raises(MeasuringError, match=r"^machine\.json cannot be written"):
        bench().settle(tmp_path)


def test_a_configuration_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "asv.conf.json").write_text("{")
    with pytest.raises(ResultsError, match=r"^asv's configuration cannot be read"):
        Bench.open(str(tmp_path / "asv.conf.json"))
