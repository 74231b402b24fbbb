"""Rounds of two sides in turn, by asv's own machinery, into a results folder of their own.

asv's `run --interleave-rounds` decides how many rounds there are before the first one; here a round is asked for
when the ones before it have been looked at. What installs, discovers, measures and keeps is asv's (and our hooks in
it), called as asv's own `run` calls it.
"""

from __future__ import annotations

import copy
import datetime
import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from asv import util
from asv.benchmarks import Benchmarks
from asv.commands import run as asv_run
from asv.console import log
from asv.environment import EnvironmentUnavailable, ExistingEnvironment, get_environments
from asv.machine import Machine, MachineCollection
from asv.plugin_manager import plugin_manager
from asv.repo import NoSuchNameError, get_repo
from asv.results import Results

from ..comparing.model import Round
from .results import load_config
from .run_folders import run_folders

#: asv keeps quiet about each benchmark's figure in every round but number 1, which it takes for the last.
_ROUND = 2


class MeasuringError(Exception):
    """The project cannot be opened, installed or measured; the text is one sentence."""


@dataclass(frozen=True)
class Function:
    """A function of the suite. name: `module.function`, or asv's own name for a benchmark that is not ours.

    benchmarks: asv's names of its series. combinations: its parameters as asv's strings; one empty tuple without.
    """

    name: str
    benchmarks: tuple[str, ...]
    param_names: tuple[str, ...]
    combinations: tuple[tuple[str, ...], ...]
    ours: bool


#: Function's name -> indices into its combinations.
Selection = Mapping[str, Sequence[int]]


@contextmanager
def _asv_faults() -> Iterator[None]:
    try:
        yield
    except util.UserError as fault:
        if str(fault) == "Interrupted.":  # what asv makes of Ctrl-C
            raise KeyboardInterrupt from None
        # Our own hooks name themselves among asv's lines.
        raise MeasuringError(str(fault).removeprefix("dcu-asv: ")) from fault
    except (util.ProcessError, EnvironmentUnavailable) as fault:
        raise MeasuringError(str(fault)) from fault


class Bench:
    """A project as its asv.conf.json describes it, measured into `results` instead of its own results folder."""

    def __init__(self, conf: Any, repo: Any, machine: Mapping[str, Any]) -> None:
        self.conf = conf
        self.repo = repo
        self.machine = dict(machine)
        #: The folders that asv writes, wherever they lie; the project's own results stay one after `settle`.
        self.made_by_asv = [Path(folder) for folder in (conf.env_dir, conf.results_dir, conf.html_dir)]
        self._benchmarks: Any = None

    @classmethod
    def open(cls, config: str | None = None) -> Bench:
        """Goes to the configuration's folder, as asv does. Raises MeasuringError, and ResultsError for a
        configuration that cannot be read."""
        from . import setup

        with _asv_faults():
            if config is not None:
                if not os.path.isfile(config):
                    raise MeasuringError(f"there is no {config}; name an asv.conf.json with --config")
                os.chdir(os.path.dirname(os.path.abspath(config)))
                config = os.path.basename(config)
            conf = load_config(config)
            for plugin in conf.plugins:
                plugin_manager.import_plugin(plugin)
            setup()
            return cls(conf, get_repo(conf), _machine())

    @property
    def working_tree(self) -> Path:
        """Raises MeasuringError where the repository is not a local one."""
        path = Path(str(self.conf.repo))
        if not path.is_dir():
            raise MeasuringError(
                f'dcu-asv run measures a working tree, and "repo" in asv.conf.json is the address {path}; '
                "clone it and set repo to the folder"
            )
        return path.resolve()

    @property
    def settles_in(self) -> Path:
        """Where the results of daily runs lie."""
        return run_folders(self.conf.env_dir)

    @property
    def existing(self) -> bool:
        """Whether what is installed beside asv is measured, and nothing else can be."""
        return bool(self.conf.environment_type == "existing" or self._environments_are_existing())

    def _environments_are_existing(self) -> bool:
        return not self.conf.environment_type and list(self.conf.pythons) == ["same"]

    def resolve(self, revision: str) -> str | None:
        """The full hash of a commit, branch or tag; None where there is none of that name."""
        with _asv_faults():
            try:
                return str(self.repo.get_hash_from_name(revision))
            except (NoSuchNameError, util.ProcessError):
                return None

    def environments(self, variable: tuple[str, str | None] | None = None) -> list[Any]:
        """asv's environments of the configuration; with an environment variable set, or (None) not set, in each."""
        with _asv_faults():
            if variable is not None and self.existing:
                tagged = {} if variable[1] is None else {("nobuild", variable[0]): variable[1]}
                return [ExistingEnvironment(self.conf, "same", {}, tagged)]
            if not self.conf.environment_type and not self.existing:
                raise MeasuringError(
                    'asv.conf.json has no "environment_type"; "overlay" installs each commit'
                )
            conf = self.conf if variable is None else _with_variable(self.conf, *variable)
            found = list(get_environments(conf, None))
            if not found:
                raise MeasuringError("asv.conf.json gives no environment that can be made here")
            return found

    def settle(self, results: Path) -> None:
        """Measure into this folder from now on. Raises MeasuringError."""
        self.conf = copy.copy(self.conf)
        self.conf.results_dir = str(results)
        facts = Machine()
        facts.__dict__.update(self.machine)
        with _asv_faults():
            facts.save(str(results))

    def install(self, environments: Sequence[Any], commit: str) -> None:
        """Raises MeasuringError where the commit cannot be installed."""
        with _asv_faults():
            for env in environments:
                env.create()
                env.install_project(self.conf, self.repo, commit)

    def discover(self, environments: Sequence[Any], commit: str) -> list[Function]:
        """The functions of the working tree's suite, imported over this commit. Raises MeasuringError."""
        # asv would go on with the branches' own commits where this one cannot be imported.
        conf = copy.copy(self.conf)
        conf.branches = []
        with _asv_faults():
            self._benchmarks = Benchmarks.discover(conf, self.repo, environments, [commit])
            self._benchmarks.save()
        members: dict[str, list[Any]] = {}
        for one in self._benchmarks.values():
            members.setdefault(_function_of(one), []).append(one)
        return [_function(name, ones) for name, ones in members.items()]

    def chosen(self, selection: Selection) -> Any:
        """asv's benchmarks of these functions and combinations."""
        unwanted = {name for name, one in self._benchmarks.items() if _function_of(one) not in selection}
        chosen = self._benchmarks.filter_out(unwanted)
        for name, one in chosen.items():
            if one["params"]:
                chosen.benchmark_selection[name] = list(selection[_function_of(one)])
        return chosen


def _machine() -> Mapping[str, Any]:
    """What asv knows of this machine; its defaults where `asv machine` was never run, without asking or keeping."""
    try:
        found: Mapping[str, Any] = MachineCollection.load(Machine.get_unique_machine_name())
        return found
    except util.UserError:
        return dict(Machine.get_defaults())


def _with_variable(conf: Any, name: str, value: str | None) -> Any:
    changed = copy.copy(conf)
    matrix = dict(conf.matrix)
    if matrix and not set(matrix) & {"req", "env", "env_nobuild"}:
        matrix = {"req": matrix}  # asv's old form
    for kind in ("env", "env_nobuild"):
        matrix[kind] = {key: one for key, one in dict(matrix.get(kind) or {}).items() if key != name}
    if value is not None:
        matrix["env_nobuild"][name] = [value]
    changed.matrix = matrix
    return changed


def _function_of(benchmark: Mapping[str, Any]) -> str:
    return str(benchmark.get("family") or benchmark["name"])


def _function(name: str, members: Sequence[Mapping[str, Any]]) -> Function:
    first = members[0]
    return Function(
        name=name,
        benchmarks=tuple(one["name"] for one in members),
        param_names=tuple(first["param_names"]),
        combinations=tuple(itertools.product(*first["params"])),
        ours=bool(first.get("family")),
    )


@dataclass
class Side:
    """One of the two things that are compared, and what was measured of it.

    marks: fields of the evidence that asv knows nothing of. names: of the environments without what the experiment
    adds to them (none: as they are). rounds: of benchmarks that are not ours, by (environment, asv's name,
    combination): asv's file keeps their samples without telling where a round ends. profile: what is asked of the
    profiler, see `sharing.Sharing`.
    """

    bench: Bench
    environments: Sequence[Any]
    commit: str
    marks: Mapping[str, Any] = field(default_factory=dict)
    names: Sequence[str] = ()
    rounds: dict[tuple[str, str, int], list[Round]] = field(default_factory=dict)
    profile: Mapping[str, Any] = field(default_factory=dict)
    _results: dict[str, Any] = field(default_factory=dict)

    def measure(self, selection: Selection) -> set[str]:
        """One more round of these functions; the names of those of which nothing could be measured.

        Raises MeasuringError, and KeyboardInterrupt with what was measured so far kept.
        """
        benchmarks = self.bench.chosen(selection)
        failed: set[str] = set(selection)
        for env in self.environments:
            with _asv_faults():
                env.install_project(self.bench.conf, self.bench.repo, self.commit)
            results = self._result(env)
            before = {name: _counts(results, one) for name, one in benchmarks.items()}
            with _asv_faults():
                asv_run.run_benchmarks(
                    benchmarks,
                    env,
                    results=results,
                    extra_params={"rounds": _ROUND},
                    record_samples=True,
                    append_samples=True,
                    run_rounds=[_ROUND],
                    launch_method=self.bench.conf.launch_method or "auto",
                )
            for name, one in benchmarks.items():
                if not one.get("family"):
                    self._keep_rounds(env.name, one, results, before[name])
            with _asv_faults():
                results.save(self.bench.conf.results_dir)
            _tell_faults(benchmarks, results)
            for name, one in benchmarks.items():
                values = results.get_result_value(name, one["params"])
                if any(values[index] is not None for index in selection[_function_of(one)]):
                    failed.discard(_function_of(one))
        return failed

    def _result(self, env: Any) -> Any:
        """asv's results of an environment, which grow from round to round."""
        found = self._results.get(env.name)
        if found is None:
            params = {**self.bench.machine, "python": env.python, **env.requirements}
            with _asv_faults():
                date = self.bench.repo.get_date(self.commit)
            found = Results(params, env.requirements, self.commit, date, env.python, env.name, env.env_vars)
            found.load_data(self.bench.conf.results_dir)
            found._dcu_marks = dict(self.marks)
            found._dcu_profile = dict(self.profile)
            self._results[env.name] = found
        return found

    def _keep_rounds(
        self, env: str, benchmark: Mapping[str, Any], results: Any, before: Sequence[int]
    ) -> None:
        name, params = benchmark["name"], benchmark["params"]
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        values = results.get_result_value(name, params)
        samples = results.get_result_samples(name, params)
        for index, (value, all_samples, earlier) in enumerate(zip(values, samples, before, strict=True)):
            if not isinstance(value, (int, float)) or math.isnan(value):
                continue
            new = tuple(all_samples[earlier:]) if all_samples else (float(value),)
            kept = self.rounds.setdefault((env, name, index), [])
            if new:
                kept.append(Round(new, number=len(kept) + 1, started_at=now))

    @property
    def files(self) -> list[tuple[str, Path]]:
        """asv's result file of each environment, with its name without what the experiment adds to it."""
        folder = Path(self.bench.conf.results_dir)
        own = [env.name for env in self.environments]
        names = dict(zip(own, self.names or own, strict=True))
        return [(names[env], folder / one._filename) for env, one in self._results.items()]


def _tell_faults(benchmarks: Any, results: Any) -> None:
    """What asv's own `run` prints of a benchmark that failed; of ours the hooks tell themselves."""
    for name, one in benchmarks.items():
        if not one.get("family") and results.errcode.get(name):
            words = (results.stderr.get(name) or "").strip() or f"exit status {results.errcode[name]}"
            log.warning(f"{name} failed:\n{words}")


def _counts(results: Any, benchmark: Mapping[str, Any]) -> list[int]:
    """How many samples each combination has."""
    number = math.prod(len(values) for values in benchmark["params"])
    if benchmark["name"] not in results.get_all_result_keys():
        return [0] * number
    return [len(one or ()) for one in results.get_result_samples(benchmark["name"], benchmark["params"])]
