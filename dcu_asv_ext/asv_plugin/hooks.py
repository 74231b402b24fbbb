"""The one module that touches asv's internals. Each name is checked when it loads; an asv that lacks one, or whose
functions take other arguments, is refused in one sentence.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import asv
from asv import graph, util
from asv.benchmarks import Benchmarks
from asv.commands import asv_profiling, compare, continuous, find, publish, run
from asv.environment import ExistingEnvironment, get_environments
from asv.plugins import regressions
from asv.results import Results
from asv.runner import ForkServer, Spawner

from ..evidence.store import evidence_path
from . import device_profile, publishing, removal, session, sharing, site_speed, steps, verdicts
from .locks import Held, result_lock
from .running import Runs
from .settings import Settings, SettingsError, settings_of
from .watchdog import Watchdog
from .writing import finite, save_graph, write_json

#: (object, name, parameters it must take)
_NAMES: tuple[tuple[Any, str, tuple[str, ...]], ...] = (
    (
        run,
        "run_benchmarks",
        (
            *("benchmarks", "env", "results", "quick", "profile", "extra_params", "run_rounds"),
            *("record_samples", "append_samples", "launch_method"),
        ),
    ),
    (find, "run_benchmarks", ("benchmarks", "env", "results")),
    (asv_profiling, "run_benchmarks", ("benchmarks", "env", "profile")),
    (asv_profiling.Profile, "run", ("conf", "benchmark", "gui", "force")),
    (Spawner, "run", ("name", "params_str", "profile_path", "result_file_name", "timeout", "cwd")),
    (ForkServer, "run", ("name", "params_str", "profile_path", "result_file_name", "timeout", "cwd")),
    (Results, "load", ("path", "machine_name")),
    (Results, "load_data", ("result_dir",)),
    (Results, "save", ("result_dir",)),
    (Results, "rm", ("result_dir",)),
    (Results, "remove_result", ("key",)),
    (Results, "add_result", ("benchmark", "result", "record_samples")),
    (ExistingEnvironment, "can_install_project", ()),
    (find.Find, "run", ("conf", "range_spec", "env_spec")),
    (publish.Publish, "run", ("conf", "range_spec", "pull")),
    (
        compare.Compare,
        "print_table",
        (
            *("conf", "hash_1", "hash_2", "factor", "resultset_1", "resultset_2"),
            *("machine", "use_stats", "env_names"),
        ),
    ),
    (compare, "_is_result_better", ("a", "b", "a_ss", "b_ss", "factor", "use_stats")),
    (continuous.Continuous, "run", ("conf",)),
    (graph.GraphSet, "detect_steps", ("pool", "dots")),
    (graph.Graph, "get_data", ()),
    (graph.Graph, "get_file_path", ("params", "benchmark_name")),
    (graph.Graph, "save", ("html_dir",)),
    (graph, "_compute_graph_steps", ("data",)),
    (regressions, "detect_regressions", ("steps", "threshold")),
    (Benchmarks, "filter_out", ("skip",)),
    (Benchmarks, "discover", ("conf", "repo", "environments", "commit_hash")),
    (util, "write_json", ("path", "data", "api_version", "compact")),
)

EXISTING_RANGE = (
    "dcu-asv: an existing environment holds one install, so measuring it under several commits would file one "
    'program under many hashes. Use "environment_type": "overlay" in asv.conf.json, which installs each commit, '
    "or measure one commit with -E existing --set-commit-hash HASH."
)


def install() -> None:
    """Put the hooks in place, once. Raises asv's UserError on an asv that is not known."""
    if getattr(Spawner.run, "_dcu", False):
        return
    _check_asv()
    from . import overlay  # noqa: F401  (asv finds environment types among Environment's subclasses)

    _replace(util, "write_json", write_json)
    for module in (run, find, asv_profiling):
        _replace(module, "run_benchmarks", _run_benchmarks)
    for spawner in (Spawner, ForkServer):
        _replace(spawner, "run", _spawner_run)
    for name, made in (
        ("load", site_speed.load),
        ("load_data", _load_data),
        ("save", _save),
        ("rm", _rm),
        ("remove_result", _remove_result),
        ("add_result", _add_result),
    ):
        _replace(Results, name, made)
    _replace(ExistingEnvironment, "can_install_project", _can_install_project)
    _replace(find.Find, "run", _find_run)
    _replace(asv_profiling.Profile, "run", device_profile.profile_run)
    _replace(publish.Publish, "run", partial(publishing.publish_run, _settings))
    _replace(compare.Compare, "print_table", partial(verdicts.print_table, _settings))
    _replace(compare, "_is_result_better", verdicts.is_result_better)
    _replace(continuous.Continuous, "run", verdicts.continuous_run)
    _replace(graph.GraphSet, "detect_steps", steps.detect_steps)
    _replace(graph.Graph, "get_data", site_speed.get_data)
    _replace(graph.Graph, "get_file_path", site_speed.get_file_path)
    _replace(graph.Graph, "save", save_graph)
    _replace(regressions, "detect_regressions", steps.detect_regressions)


def _check_asv() -> None:
    version = getattr(asv, "__version__", "unknown")
    for owner, name, wanted in _NAMES:
        found = getattr(owner, name, None)
        parameters = inspect.signature(found).parameters if callable(found) else {}
        missing = [one for one in wanted if one not in parameters]
        if not callable(found) or missing:
            where = f"{getattr(owner, '__name__', owner)}.{name}"
            raise util.UserError(
                f"dcu-asv does not know asv {version} ({where} is not as expected); "
                "install an asv that it does: pip install 'asv>=0.6.5,<0.7'"
            )


def _replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Wrap `owner.name`; class methods stay class methods."""
    plain = inspect.getattr_static(owner, name)
    original = plain.__func__ if isinstance(plain, classmethod) else plain
    made = make(original)
    made._dcu, made.__wrapped__ = True, original
    setattr(owner, name, classmethod(made) if isinstance(plain, classmethod) else made)


# ---- running


_RUNS = Runs()


def _run_benchmarks(original: Any) -> Any:
    def run_benchmarks(benchmarks: Any, env: Any, *args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(original).bind(benchmarks, env, *args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        results = given["results"]
        # `asv profile` keeps no result, so its measurement is none.
        only_profile = given["profile"] and not hasattr(results, "_dcu_folder")
        if only_profile:
            device_profile.begin(benchmarks)
        if only_profile or not _has_ours(benchmarks):
            return original(benchmarks, env, *args, **kwargs)
        attributes = dict(given["extra_params"] or {}, quick=bool(given["quick"]))
        if given["append_samples"] and given["run_rounds"] is None:
            attributes["append_samples"] = True
        with _RUNS.entered(_begin(benchmarks, env, results, attributes, given["run_rounds"]), attributes):
            done = original(benchmarks, env, *args, **kwargs)
            last_round = given["run_rounds"] is None or 1 in given["run_rounds"]
            _RUNS.current().report(last_round)
        if results is not None:
            results._dcu_finished = last_round
        return done

    return run_benchmarks


def _has_ours(benchmarks: Any) -> bool:
    return any(one.get("family") for one in benchmarks.values())


def _begin(
    benchmarks: Any, env: Any, results: Any, attributes: dict[str, Any], rounds: Any
) -> sharing.Sharing:
    settings = _settings(benchmarks._conf)
    target = None
    folder = getattr(results, "_dcu_folder", None)
    if folder is not None and results._filename is not None:
        target = evidence_path(Path(folder).resolve() / results._filename)
    commit = getattr(results, "commit_hash", None)
    machine = results.params.get("machine") if results is not None else None
    try:
        found = _RUNS.sharing(target, commit, env, machine, attributes, dict(benchmarks), settings)
        # Only now: a file that another run holds is not to be touched.
        if target is not None:
            _writable(target)
    except Held as held:
        raise util.UserError(
            f"dcu-asv: {held} is writing {target}; wait for it to end, or measure another commit or environment"
        ) from None
    except OSError as fault:
        raise util.UserError(
            f"dcu-asv: the results folder or the folder of temporary files cannot be written ({fault}); "
            "nothing was measured"
        ) from None
    if rounds is None and found.session.rounds:
        found.session.restart()
    if results is not None:
        results._dcu_session = found.session
        found.marks = getattr(results, "_dcu_marks", {})
        found.profile = getattr(results, "_dcu_profile", {})
    return found


def _writable(target: Path) -> None:
    with open(target, "ab"):
        pass
    if target.stat().st_size == 0:
        target.unlink()


def _settings(conf: Any) -> Settings:
    try:
        return settings_of(conf)
    except SettingsError as fault:
        raise util.UserError(f"dcu-asv: {fault}") from None


def _spawner_run(original: Any) -> Any:
    def run(
        self: Any,
        name: str,
        params_str: str,
        profile_path: str,
        result_file_name: str,
        timeout: float,
        cwd: str,
    ) -> Any:
        def launch(parameters: str, seconds: float) -> Any:
            return original(self, name, parameters, profile_path, result_file_name, seconds, cwd)

        if not _RUNS.active or not _RUNS.current().is_ours(name):
            if profile_path != "None":
                params_str = device_profile.asked(name, params_str)
            with Watchdog(result_file_name, timeout) as watchdog:
                output, code = launch(params_str, timeout)
            return output, sharing.TIMEOUT_CODE if watchdog.fired else code
        wanted = None if profile_path == "None" else profile_path
        request = sharing.Request(name, params_str, result_file_name, timeout, wanted)
        try:
            return _RUNS.current().answer(request, launch)
        except sharing.StorageFault as fault:
            raise util.UserError(f"dcu-asv: {fault}") from None

    return run


# ---- results


def _load_data(original: Any) -> Any:
    def load_data(self: Any, result_dir: str) -> Any:
        # asv calls this only where it is going to save: the sign that evidence is wanted too.
        self._dcu_folder = os.path.abspath(result_dir)
        return original(self, result_dir)

    return load_data


def _save(original: Any) -> Any:
    def save(self: Any, result_dir: str) -> Any:
        removed = getattr(self, "_dcu_removed", None)
        if removed:
            with _alone(self, result_dir) as evidence:
                done = original(self, result_dir)
                removal.remove_metrics(evidence, removed)
            removed.clear()
            return done
        done = original(self, result_dir)
        owner: session.Session | None = getattr(self, "_dcu_session", None)
        if owner is not None and getattr(self, "_dcu_finished", False):
            _RUNS.finish(owner)
        return done

    return save


def _rm(original: Any) -> Any:
    def rm(self: Any, result_dir: str) -> Any:
        with _alone(self, result_dir) as evidence:
            done = original(self, result_dir)
            removal.remove_all(evidence)
        return done

    return rm


@contextmanager
def _alone(results: Any, result_dir: str) -> Iterator[Path]:
    """The evidence of a result file from which something is removed, while no run writes it."""
    evidence = evidence_path(Path(result_dir).resolve() / results._filename)
    lock = result_lock(evidence)
    try:
        lock.acquire()
    except Held as held:
        raise util.UserError(
            f"dcu-asv: {held} is writing {evidence}; wait for it to end before removing from it"
        ) from None
    try:
        yield evidence
    finally:
        lock.release()


def _remove_result(original: Any) -> Any:
    def remove_result(self: Any, key: str) -> Any:
        done = original(self, key)
        self.__dict__.setdefault("_dcu_removed", set()).add(key)
        return done

    return remove_result


def _add_result(original: Any) -> Any:
    signature = inspect.signature(original)

    def add_result(self: Any, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(self, *args, **kwargs)
        benchmark, result = bound.arguments["benchmark"], bound.arguments["result"]
        if benchmark.get("family"):
            bound.arguments["record_samples"] = True
        name = benchmark["name"]
        if _RUNS.active and _RUNS.quick and self._benchmark_version.get(name) == benchmark["version"]:
            counts = [None if one is None else {"repeat": len(one)} for one in result.samples]
            if sharing.fuller(self._stats.get(name), counts):
                _RUNS.current().kept.add(name)
                self._stderr[name], self._errcode[name] = result.stderr, result.errcode
                return None
        done = original(*bound.args, **bound.kwargs)
        if benchmark.get("family"):
            finite(self._stats.get(name))
        return done

    return add_result


# ---- commands


def _can_install_project(original: Any) -> Any:
    def can_install_project(self: Any) -> bool:
        raise util.UserError(EXISTING_RANGE)

    return can_install_project


def _find_run(original: Any) -> Any:
    def run(cls: Any, conf: Any, *args: Any, **kwargs: Any) -> Any:
        env_spec = kwargs.get("env_spec")
        if any(isinstance(one, ExistingEnvironment) for one in get_environments(conf, env_spec)):
            raise util.UserError(EXISTING_RANGE)
        return original(cls, conf, *args, **kwargs)

    return run
