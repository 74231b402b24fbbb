"""The benchmark type that asv's child process sees: one measurement answers every metric of a function."""

from __future__ import annotations

import contextlib
import cProfile
import ctypes
import importlib
import inspect
import itertools
import os
import re
import signal
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asv_runner.benchmarks._base import Benchmark

from .evidence.record import Measurement
from .evidence.store import append_line, replace_text
from .evidence.summary import asv_result, outcome
from .measure.spec import Spec
from .metrics import METRICS

if TYPE_CHECKING:
    # They import torch, which discovery and the fork server have no need of.
    from .measure.request import Request
    from .measure.session import Measured

_ASV_TYPES = {"seconds": "time", "bytes": "peakmemory"}


class DeviceBenchmark(Benchmark):  # type: ignore[misc]
    """`<module>.<function>.<metric>` for functions decorated with `@dcu.benchmark`.

    asv offers every function whose name matches; for one that is not ours the result is None, which asv drops.
    """

    # Nothing more than our own names: of a class with a matching method asv makes an instance to look at it.
    name_regex = re.compile("(?:" + "|".join(map(re.escape, METRICS)) + r")\Z")

    def __new__(cls, name: str, func: Any, attr_sources: list[Any]) -> Any:
        return super().__new__(cls) if hasattr(func, "_dcu_spec") else None

    def __init__(self, name: str, func: Any, attr_sources: list[Any]) -> None:
        super().__init__(name, func, attr_sources)
        spec: Spec = func._dcu_spec
        metric = METRICS[func._dcu_metric]
        # A module-level setup of the suite belongs to asv's own benchmarks, not to ours.
        self._setups: list[Any] = []
        self._teardowns: list[Any] = []
        self._setup_cache = None
        self.setup_cache_key = None
        self._spec = spec
        self._metric = metric.name
        self._index: int | None = None
        self.type = _ASV_TYPES.get(metric.unit, "track")
        self.unit = metric.unit
        self.rounds = spec.rounds
        self.code = _source(spec)
        self.family = spec.family
        self.kind = spec.kind

    def set_param_idx(self, param_idx: int) -> None:
        super().set_param_idx(param_idx)
        self._index = param_idx

    def check(self, root: Any) -> bool:
        """Signatures were checked when the function was decorated."""
        return True

    def run(self, *params: Any) -> Any:
        """Measure, keep the evidence, and return this metric's part of it in asv's form."""
        imports = _import_what_measures()
        from .measure.session import measure

        extra = _extra(self._attr_sources)
        info: dict[str, Any] = extra.get("dcu") or {}
        _die_with_asv(info)
        measured = measure(replace(self._request(params, extra, info), imports=imports))
        _keep(measured.record, info)
        value, failure = asv_result(outcome(measured.record.to_dict(), self._metric))
        if not info:
            _tell_missing(measured.record)
        _tell_fault(measured, failure)
        return value

    def _request(self, params: tuple[Any, ...], extra: dict[str, Any], info: dict[str, Any]) -> Request:
        from .measure.request import Options, Request

        labels: list[str] = []
        if self._index is not None:
            labels = list(next(itertools.islice(itertools.product(*self.params), self._index, None)))
        repeat = extra.get("repeat", self._spec.repeat)
        quick = extra.get("repeat") == 1 and extra.get("warmup_time") == 0 and extra.get("number") == 1
        root = info.get("cache_root")
        return Request(
            spec=self._spec,
            params=dict(zip(self._spec.params, params, strict=True)),
            labels=dict(zip(self._spec.params, labels, strict=True)),
            param_index=self._index,
            options=Options(
                repeat=tuple(repeat) if isinstance(repeat, list) else repeat,
                quick=quick,
                batch=info.get("batch") or {},
                **_about_traces(info),
            ),
            cache_root=Path(root) if root else None,
            user_caches=info.get("user_caches") or {},
            about={
                **(info.get("about") or {"commit": os.environ.get("ASV_COMMIT")}),
                "project": info.get("project") or {},
            },
        )

    def do_profile(self, filename: str | None = None) -> None:
        """cProfile of one steady call, synchronised, after one that warmed it up."""
        from .devices import select
        from .measure.arguments import make_arguments
        from .measure.calls import one_call, reset_of
        from .measure.judging import seed_everything

        spec = self._spec
        params = dict(zip(spec.params, self._current_params, strict=True))
        device = select()
        seed_everything(spec.seed(params), device)
        sets = make_arguments(spec, params, device.torch_device)
        call, reset = one_call(spec.function, sets), reset_of(spec, sets) or (lambda: None)
        reset()
        call()
        reset()
        device.synchronize()
        profiler = cProfile.Profile()
        profiler.enable()
        call()
        device.synchronize()
        profiler.disable()
        if filename is not None:
            profiler.dump_stats(filename)
        if spec.teardown is not None:
            for one in sets:
                one.call(spec.teardown)


def _import_what_measures() -> float | None:
    """Seconds of importing torch and the passes; None where the suite has imported torch itself."""
    if "torch" in sys.modules:
        return None
    begin = time.perf_counter()
    importlib.import_module("dcu_asv_ext.measure.session")
    return time.perf_counter() - begin


def _extra(sources: list[Any]) -> dict[str, Any]:
    """What asv (and the plugin) passes to this process beside the benchmark's own attributes."""
    first = sources[0] if sources else None
    if isinstance(first, type) and first.__name__ == "ExtraBenchmarkAttrs":
        return {name: value for name, value in vars(first).items() if not name.startswith("_")}
    return {}


def _about_traces(info: dict[str, Any]) -> dict[str, Any]:
    """Where traces are kept, and the profile that the parent wants by itself."""
    from .measure.request import ProfileRequest

    found: dict[str, Any] = {}
    if info.get("evidence") and info.get("trace_limit"):
        found |= {"evidence": Path(info["evidence"]), "trace_limit": int(info["trace_limit"])}
    asked = info.get("profile")
    if asked:
        given: dict[str, Any] = {name: bool(asked.get(name)) for name in ("only", "stacks", "first")}
        given |= {name: Path(asked[name]) for name in ("trace", "first_trace") if asked.get(name)}
        found["profile"] = ProfileRequest(**given)
    return found


def _keep(record: Measurement, info: dict[str, Any]) -> None:
    """Evidence first, then the copy for the waiting parent. A figure without evidence is not offered."""
    line = record.to_line()
    target = info.get("evidence")
    if target:
        try:
            append_line(target, line)
        except OSError as fault:
            print(f"dcu-asv: the evidence could not be written ({fault}); free the disk or make it writable")
            sys.exit(1)
    if info.get("record"):
        replace_text(info["record"], line)


def _tell_missing(record: Measurement) -> None:
    """Without the plugin, which reports at the end of a run, this process says why a metric is missing."""
    for metric, reason in record.missing.items():
        print(f"dcu-asv: {metric} not measured, because {reason}")


def _tell_fault(measured: Measured, failure: str | None) -> None:
    """What asv shows of this process: the traceback of a fault and its one sentence; then a failing exit."""
    record = measured.record
    if failure is None:
        return
    if measured.error is not None:
        # With whole paths, for whoever has to open the file; the evidence has short ones.
        print("".join(traceback.format_exception(measured.error)))
    where = ", ".join(f"{name}={value}" for name, value in record.params.items())
    print(f"dcu-asv: {record.benchmark}({where}): {failure}")
    sys.stdout.flush()
    sys.exit(1)


def _source(spec: Spec) -> str:
    try:
        return inspect.getsource(inspect.unwrap(spec.function))
    except (OSError, TypeError):
        return f"# {spec.function!r}"


def _die_with_asv(info: dict[str, Any]) -> None:
    """Let the kernel end this process when its parent dies (Linux), and write down the process group of all that it
    will start, so that no orphan keeps a device busy."""
    asv_pid = info.get("asv_pid")
    if asv_pid is None:
        return
    arm_parent_death()
    try:
        ours = os.getpgid(asv_pid) != os.getpgrp()
    except ProcessLookupError:
        os._exit(137)  # asv died before this process could ask to be told
    if ours:
        Path(info["record"]).with_name("group").write_text(str(os.getpgrp()), encoding="utf-8")


def arm_parent_death() -> None:
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError):
            ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL, 0, 0, 0)


def guard_server() -> None:
    """asv's fork server dies with asv too. Its forked children arm themselves, since a fork clears it."""
    if "run_server" in sys.argv:
        arm_parent_death()
