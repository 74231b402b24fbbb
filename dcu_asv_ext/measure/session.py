"""One measurement from start to record: select the device, set up, run every pass, tear down, whatever happens."""

from __future__ import annotations

import datetime
import os
import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..devices.base import Device, DeviceUnavailable
from ..devices.host import describe_host
from ..devices.places import short_path
from ..evidence import caches
from ..evidence.record import OK, SKIPPED, Measurement
from ..evidence.software import environment_variables, package_versions
from .arguments import CallArguments, make_arguments
from .calls import one_call
from .card_watch import CardWatch
from .cold_parts import ColdStart, timed
from .passes import Run
from .request import Request
from .spec import BenchmarkError
from .whole_card import settle


@dataclass
class Measured:
    """The record, and the exception that ended the measurement early (None: none did)."""

    record: Measurement
    error: BaseException | None = None


def measure(request: Request, device: Device | None = None) -> Measured:
    """Run every pass that the benchmark's metrics need. Never raises for a fault of the benchmark or the device:
    the fault is in the record's status, with its traceback. KeyboardInterrupt passes through.
    """
    spec = request.spec
    record = _new_record(request)
    if request.imports is not None:
        record.parts["imports"] = request.imports
    watch = CardWatch(record, request.options.quick)
    cache = caches.prepare(spec.cache, request.cache_root, request.user_caches, os.environ)
    run = Run(spec, device, request.options, record, ()) if device is not None else None
    error: BaseException | None = None
    try:
        asked = request.options.profile
        if "process_wall" in spec.metrics and not (asked is not None and asked.only):
            _whole_process(request, record)
            # It may have filled the user's caches: whether they were empty is asked after it.
            cache.look_again()
        if run is None:
            from ..devices import select

            with timed(record, "device_init"):
                run = Run(spec, select(), request.options, record, ())
        run.cold_start = ColdStart(run.device.clock, cache)
        record.device = run.device.describe()
        watch.start(run.device)
        _measure_on(run, request, watch)
    except (Exception, SystemExit) as fault:
        error = fault
        _record_fault(record, run, fault)
    finally:
        watch.finish()
        if run is not None:
            settle(run)
            error = _teardown(run, error)
            if run.cold_start is not None:
                run.cold_start.finish(record)
        _finish(record, cache)
    return Measured(record, error)


def _new_record(request: Request) -> Measurement:
    spec = request.spec
    return Measurement(
        benchmark=spec.family,
        params=dict(request.labels),
        param_index=request.param_index,
        kind=spec.kind,
        metrics=list(spec.metrics),
        versions=dict(spec.versions),
        started_at=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds"),
        seed=spec.seed(request.params),
        host=describe_host(),
        software={
            "packages": package_versions(),
            "environment": environment_variables(),
            "load_1min": round(os.getloadavg()[0], 2),
        },
        **{"variant": spec.variant, **request.about},
    )


def _measure_on(run: Run, request: Request, watch: CardWatch) -> None:
    from . import alive, facts, growth, judging, memory, passes, profiling
    from .checksum import checksum

    spec, record, device = run.spec, run.record, run.device
    try:
        record.work = facts.work_of(spec.work, {"device": device.torch_device, **request.params})
    except Exception as fault:
        # Rates are an extra: what the function takes is measured all the same.
        record.notes.append(f"work could not be told: {type(fault).__name__}: {fault}")
    run.stage = "setup"
    with timed(record, "device_init"):
        device.synchronize()
    if run.cold_start is not None:
        run.cold_start.begin()
    with timed(record, "setup"):
        judging.seed_everything(record.seed or 0, device)
        run.sets = make_arguments(spec, request.params, device.torch_device)
        device.synchronize()
    record.input = facts.describe_inputs(run.sets)
    record.switches = facts.switches() | {"quick": run.options.quick}
    watched = not spec.mutates and spec.reset is None
    before = checksum(_values(run.sets)) if watched else ()
    profiling.first_call(run)
    watch.during("cold", passes.cold, run)
    # Right after the first call too: a second one may undo what it did.
    modified = watched and checksum(_values(run.sets)) != before
    watch.during("warm_up", passes.warm, run)
    if run.options.profile is not None and run.options.profile.only:
        _profile_alone(run)
        return
    watch.during("memory", memory.memory, run)
    watch.during("alive", alive.alive, run)
    watch.during("latency", passes.latency, run)
    watch.during("device_time", passes.device_time, run)
    watch.during("host_time", passes.host_time, run)
    watch.during("growth", growth.memory_growth, run)
    if modified or (watched and checksum(_values(run.sets)) != before):
        judging.inputs_modified(run)
    elif spec.reference is not None or spec.check is not None:
        judging.correctness(run, request.params)
    watch.during("profile", profiling.profile, run)


def _profile_alone(run: Run) -> None:
    """Latency samples without anything in them but the call, to say what the profiler adds; then the profile."""
    from . import passes, profiling

    passes.latency(run)
    profiling.profile(run)
    profiling.leave_out(run)


def _values(sets: Sequence[CallArguments]) -> list[Any]:
    return [[one.args, dict(one.kwargs)] for one in sets]


def _record_fault(record: Measurement, run: Run | None, fault: BaseException) -> None:
    stage = (run.stage if run is not None else "") or "device selection"
    if isinstance(fault, NotImplementedError) and stage == "setup":
        record.status = f"{SKIPPED}: {fault}" if str(fault) else f"{SKIPPED} by setup"
        return
    kind = run.device.error_kind(fault) if run is not None else None
    text = str(fault).strip().splitlines()
    first = text[0] if text else type(fault).__name__
    if isinstance(fault, (DeviceUnavailable, BenchmarkError)):
        record.status = f"failed: {first}"
    elif kind is not None:
        record.status = f"{kind} in {stage}: {first}"
    else:
        record.status = f"failed in {stage}: {type(fault).__name__}: {first}"
    record.error = {
        "stage": stage,
        "kind": kind or "exception",
        "type": type(fault).__name__,
        "traceback": _traceback(fault)[-8000:],
    }
    if kind == "out of memory" and run is not None:
        record.error["allocator"] = run.device.memory_summary()


def _traceback(fault: BaseException) -> str:
    """With files named below their package: the evidence travels, and names no folder of a machine."""
    whole = "".join(traceback.format_exception(fault))
    return re.sub(
        r'^([\s|]*File ")([^"<]+)', lambda one: one[1] + short_path(one[2]), whole, flags=re.MULTILINE
    )


def _teardown(run: Run, error: BaseException | None) -> BaseException | None:
    """Teardown gets the function's arguments, and runs after a fault too; its own fault does not hide that one."""
    if run.spec.teardown is None or not run.sets:
        return error
    run.stage = "teardown"
    for arguments in run.sets:
        try:
            one_call(run.spec.teardown, [arguments])()
        except (Exception, SystemExit) as fault:
            if run.record.status != OK:
                run.record.notes.append(f"teardown raised too: {type(fault).__name__}: {fault}")
                continue
            _record_fault(run.record, run, fault)
            error = fault
    return error


def _finish(record: Measurement, cache: caches.CacheState) -> None:
    state = cache.record()
    record.switches["cache"] = state
    if record.status == OK and "cold_start" in record.metrics and not state["was_empty"]:
        record.missing["cold_start"] = (
            "the on-disk caches were not empty, so this first call was not a cold one"
        )


def _whole_process(request: Request, record: Measurement) -> None:
    from .process_wall import ProcessFailed, time_process

    try:
        taken = time_process(request)
    except (ProcessFailed, OSError, LookupError, ValueError) as fault:
        record.missing["process_wall"] = str(fault) or f"{type(fault).__name__} while it was measured"
        return
    record.times["process_wall"] = [taken.seconds]
    record.batch["process_wall"] = 1
    record.parts |= {f"process_{name}": seconds for name, seconds in taken.parts.items()}
