"""The hooks on asv: refused on an asv that is not known, put in place once, and harmless where they do nothing."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from asv import util
from asv.commands import find, run
from asv.environment import ExistingEnvironment
from asv.results import Results
from asv.runner import BenchmarkResult, Spawner

import dcu_asv_ext.asv_plugin as plugin
from dcu_asv_ext.asv_plugin import hooks
from dcu_asv_ext.asv_plugin.locks import result_lock

from .fakes import record


@pytest.fixture
def installed() -> Iterator[None]:
    """The hooks in place for one test; asv's own functions afterwards."""
    kept = [(owner, name, vars(owner)[name]) for owner, name, _ in hooks._NAMES if name in vars(owner)]
    kept.append((run, "run_benchmarks", run.run_benchmarks))
    plugin.setup()
    yield
    for owner, name, value in kept:
        setattr(owner, name, value)


def results(commit: str = "12345678" * 5) -> Results:
    return Results({"machine": "box"}, {}, commit, 0, "3.11", "env", {})


class TestKnowingAsv:
    def test_loading_twice_changes_nothing_more(self, installed: None) -> None:
        once = Spawner.run, run.run_benchmarks, Results.save, util.write_json, find.Find.run
        plugin.setup()
        assert once == (Spawner.run, run.run_benchmarks, Results.save, util.write_json, find.Find.run)

    @pytest.fixture
    def not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever other tests of this process have loaded."""
        monkeypatch.setattr(Spawner, "run", inspect.unwrap(Spawner.run))

    def test_a_missing_name_is_one_sentence(
        self, not_installed: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delattr(Results, "load_data")
        self.refused(r"Results\.load_data")
        assert not hasattr(Spawner.run, "_dcu"), "nothing was put in place"

    def test_other_arguments_are_one_sentence(
        self, not_installed: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(run, "run_benchmarks", lambda benchmarks, env: None)
        self.refused(r"run\.run_benchmarks")

    def test_a_missing_module_is_one_sentence(self) -> None:
        """In a process of its own: this one has imported the module long ago."""
        code = (
            "import sys\n"
            "sys.modules['asv.commands.asv_profiling'] = None\n"
            "import asv.commands, asv.util\n"
            "del asv.commands.asv_profiling\n"
            "import dcu_asv_ext.asv_plugin as plugin\n"
            "try:\n"
            "    plugin.setup()\n"
            "except asv.util.UserError as error:\n"
            "    print(error)\n"
        )
        # asv itself imports the module, so it is taken away after that.
        code = "import asv.plugin_manager\n" + code
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "does not know asv" in done.stdout, done.stderr
        assert done.stdout.count("\n") == 1

    def refused(self, where: str) -> None:
        with pytest.raises(
            util.UserError, match=rf"does not know asv \S+ \(.*{where}.*asv>=0\.6\.5,<0\.7"
        ) as said:
            plugin.setup()
        assert "\n" not in str(said.value)


class TestWritingJson:
    def test_a_file_is_replaced_whole(self, installed: None, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        util.write_json(str(path), {"a": 1}, 2)
        assert json.loads(path.read_text()) == {"a": 1, "version": 2}
        assert os.listdir(tmp_path) == ["a.json"]

    def test_a_fault_in_the_middle_leaves_the_old_file(self, installed: None, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        util.write_json(str(path), {"a": 1})
        before = path.read_text()
        with pytest.raises(TypeError):
            util.write_json(str(path), {"a": 2, "b": object()})
        assert path.read_text() == before
        assert os.listdir(tmp_path) == ["a.json"]

    def test_a_full_disk_is_one_sentence(
        self, installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        path = tmp_path / "a.json"
        util.write_json(str(path), {"a": 1})
        monkeypatch.setattr(os, "replace", full)
        with pytest.raises(util.UserError, match=r"a\.json cannot be written .*No space left.*free the disk"):
            util.write_json(str(path), {"a": 2})
        assert json.loads(path.read_text()) == {"a": 1}
        assert os.listdir(tmp_path) == ["a.json"]

    def test_a_file_in_the_folders_place_is_one_sentence(self, installed: None, tmp_path: Path) -> None:
        (tmp_path / "results").write_text("")
        with pytest.raises(util.UserError, match="cannot be written"):
            util.write_json(str(tmp_path / "results" / "box" / "machine.json"), {})


@pytest.mark.usefixtures("own_locks", "installed")
class TestResults:
    def saved(self, folder: Path) -> tuple[Results, Path]:
        made = results()
        ours = {"name": "suite.step.latency", "version": "1", "params": [], "family": "suite.step"}
        plain = {"name": "suite.time_plain", "version": "1", "params": []}
        for benchmark in (ours, plain):
            got = BenchmarkResult([True], [[0.5, 0.25]], [1], 0, "", None)
            made.add_result(benchmark, got, record_samples=False)
        made.save(str(folder))
        evidence = folder / "box" / "12345678-env.evidence.jsonl"
        evidence.write_text(json.dumps(record(metrics=["latency"])) + "\n")
        return made, evidence

    def test_samples_are_kept_for_ours_and_as_asv_does_for_others(self, tmp_path: Path) -> None:
        made, _ = self.saved(tmp_path)
        assert made.get_result_samples("suite.step.latency", []) == [[0.5, 0.25]]
        assert made._samples["suite.time_plain"] is None

    def test_no_infinity_enters_the_file(self, tmp_path: Path) -> None:
        """asv gives one sample, and a few, an endless confidence interval."""
        made = results()
        for name, samples in (("one", [0.5]), ("two", [0.5, 0.25])):
            ours = {"name": f"suite.{name}.latency", "version": "1", "params": [], "family": f"suite.{name}"}
            made.add_result(ours, BenchmarkResult([True], [samples], [1], 0, "", None))
        made.save(str(tmp_path))
        (path,) = tmp_path.glob("box/*.json")

        def refuse(name: str) -> None:
            raise AssertionError(f"{name} in asv's file")

        json.loads(path.read_text(), parse_constant=refuse)
        loaded = Results.load(str(path))
        assert loaded.get_result_value("suite.one.latency", []) == [0.5]

    def test_a_removed_series_goes_from_the_evidence(self, tmp_path: Path) -> None:
        made, evidence = self.saved(tmp_path)
        made.remove_result("suite.step.latency")
        assert evidence.exists(), "asv asks before it does anything"
        made.save(str(tmp_path))
        assert not evidence.exists()

    def test_a_removed_file_takes_the_evidence_along(self, tmp_path: Path) -> None:
        made, evidence = self.saved(tmp_path)
        made.rm(str(tmp_path))
        assert not evidence.exists()

    def test_nothing_is_removed_under_the_hands_of_a_run(self, tmp_path: Path) -> None:
        made, evidence = self.saved(tmp_path)
        file = tmp_path / "box" / "12345678-env.json"
        before = file.read_text(), evidence.read_text()
        lock = result_lock(evidence)
        lock.acquire()
        with pytest.raises(util.UserError, match=rf"process {os.getpid()} is writing .* before removing"):
            made.rm(str(tmp_path))
        made.remove_result("suite.step.latency")
        with pytest.raises(util.UserError, match="before removing"):
            made.save(str(tmp_path))
        assert (file.read_text(), evidence.read_text()) == before
        lock.release()


@pytest.mark.usefixtures("own_locks", "installed")
class TestBeginning:
    """`_begin`, before anything is measured."""

    def begin(self, made: Results, **attributes: Any) -> Any:
        benchmarks = type("Benchmarks", (dict,), {})()
        benchmarks._conf = SimpleNamespace()
        env = SimpleNamespace(name="env", requirements={"device": "cpu"})
        return hooks._begin(benchmarks, env, made, attributes, None)

    def test_a_run_beside_another_touches_nothing(self, tmp_path: Path) -> None:
        made = results()
        made.load_data(str(tmp_path))
        evidence = tmp_path / "box" / "12345678-env.evidence.jsonl"
        evidence.parent.mkdir()
        evidence.write_text("")  # just opened by the other run's child
        lock = result_lock(evidence)
        lock.acquire()
        with pytest.raises(util.UserError, match=rf"process {os.getpid()} is writing .*; wait"):
            self.begin(made)
        assert evidence.exists()
        assert not list(tmp_path.rglob("*.session"))
        lock.release()

    def test_a_folder_that_cannot_be_written_is_one_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "box").write_text("a file in the folder's place")
        made = results("87654321" * 5)
        made._dcu_folder = str(tmp_path)
        with pytest.raises(util.UserError, match=r"cannot be written .*nothing was measured"):
            self.begin(made)

    def test_a_commit_asked_for_twice_is_two_sessions(self, tmp_path: Path) -> None:
        made = results("abcdefab" * 5)
        made.load_data(str(tmp_path))
        first = self.begin(made)
        identity = first.session.identity
        first.session.next_round("suite.step", None, "latency")
        second = self.begin(made)
        assert second.session.identity != identity
        assert second.session.next_round("suite.step", None, "latency") == 1
        first.session.lock.release()


@pytest.mark.usefixtures("installed")
class TestExistingEnvironment:
    def test_a_range_is_refused_with_the_way_out(self) -> None:
        env = ExistingEnvironment.__new__(ExistingEnvironment)
        with pytest.raises(util.UserError, match=r"under several commits .*overlay.*--set-commit-hash"):
            env.can_install_project()
