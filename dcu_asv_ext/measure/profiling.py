"""The profile pass: torch.profiler on steady calls, last of a measurement and never on a call that is timed.

What reads a trace is imported by who wants a profile: every measurement loads this module.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..devices.base import NotMeasured
from ..devices.errors import DEVICE_ERROR
from ..evidence import traces
from ..metrics import GROUPS, PROFILE
from .passes import Run
from .request import ProfileRequest

if TYPE_CHECKING:
    from .tracing import Recording

#: Reason for what a measurement of nothing but a profile leaves out.
_ONLY = "only the profile was asked for"


def is_wanted(run: Run) -> bool:
    return run.options.profile is not None or any(map(run.wants, GROUPS[PROFILE]))


def profile(run: Run) -> None:
    """`profile` of the record, where a metric of it is wanted.

    A call that raises here has been measured without a profiler before: its fault makes the profile's figures missing
    and is noted, and what was measured stays; so it does where the trace stops its reader. A device error is that of
    the whole measurement, and so is every fault where nothing but the profile was asked for.
    """
    if not is_wanted(run):
        return
    from .tracing import UnreadTrace

    run.stage = "the profile pass"
    asked = run.options.profile or ProfileRequest()
    try:
        run.record.profile |= _profiled(run, asked, asked.trace if asked.only else _beside_evidence(run))
    except NotMeasured as missing:
        _missing(run, missing.reason)
        return
    except (Exception, SystemExit) as fault:
        if asked.only or run.device.error_kind(fault) == DEVICE_ERROR:
            raise
        text = (str(fault).strip().splitlines() or [""])[0]
        if isinstance(fault, UnreadTrace):
            reason = more = text
        else:
            reason = f"the call raised under the profiler ({type(fault).__name__}: {text})"
            more = f"{reason}; it did not without it"
        _missing(run, reason)
        run.record.notes.append(more)
        return
    _tell_missing(run)
    for metric, (least, most) in run.record.profile["varies"].items():
        run.record.notes.append(
            f"{metric} is not the same in every profiled call ({least} to {most}): it is their mean"
        )


def first_call(run: Run) -> None:
    """`profile.first_call`: the digest of the first call of this process, where that was asked for."""
    asked = run.options.profile
    if asked is None or not asked.first:
        return
    run.stage = "the first call"
    try:
        found = _profiled(run, asked, asked.first_trace, first=True)
    except NotMeasured as missing:
        run.record.profile["missing"] = {"first_call": missing.reason}
        return
    run.record.profile["first_call"] = found


def leave_out(run: Run) -> None:
    """Say of every metric that such a measurement does not fill that only the profile was asked for."""
    filled = {"latency", *GROUPS[PROFILE]}
    run.record.missing |= {metric: _ONLY for metric in run.spec.metrics if metric not in filled}
    if run.options.profile is not None and run.options.profile.first:
        # What came next is no first call any more.
        run.record.times.pop("cold", None)


def _tell_missing(run: Run) -> None:
    """To the record's own `missing`. Where nothing of the device is known, its one reason stays in the profile."""
    missing = run.record.profile["missing"]
    reasons = {metric: missing.pop(metric) for metric in GROUPS[PROFILE] if metric in missing}
    run.record.missing |= {metric: reason for metric, reason in reasons.items() if run.wants(metric)}
    if len(reasons) == len(GROUPS[PROFILE]) and len(set(reasons.values())) == 1:
        missing["device"] = next(iter(reasons.values()))
    else:
        missing |= reasons


def _missing(run: Run, reason: str) -> None:
    run.record.missing |= {metric: reason for metric in GROUPS[PROFILE] if run.wants(metric)}
    run.record.profile["missing"] = {**run.record.profile.get("missing", {}), "rows": reason}


def _profiled(run: Run, asked: ProfileRequest, target: Path | None, first: bool = False) -> dict[str, Any]:
    """The record's part. target: where the trace is to lie besides, None: nowhere. Raises what the call raises."""
    from .tracing import record_trace

    with _folder() as place:
        # The name of a benchmark may be too long for a file.
        plain = target is not None and not target.name.endswith(".gz")
        made = Path(place) / ("trace.json" if plain else f"trace{traces.ENDING}")
        steps = 1 if first or run.options.quick else None
        recording = record_trace(
            run.device,
            run.call(),
            run.reset(),
            made,
            steps=steps,
            turn=len(run.sets),
            stacks=asked.stacks,
            first=first,
            cost=lambda seconds: None if first else _cost(run, seconds),
        )
        told = _told(run, recording, made, asked.stacks, first)
        told["trace"] = None if target is None else target.name
        try:
            if target is not None:
                traces.keep(made, target, None if asked.only else run.options.trace_limit)
        except (traces.TooLarge, OSError) as fault:
            why = f"it cannot be written: {fault.strerror}" if isinstance(fault, OSError) else str(fault)
            told["trace"] = None
            told["missing"]["trace"] = why
            run.record.notes.append(f"the trace of the profiled calls is not kept: {why}")
    return told


def _folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="dcu-asv-trace-")
    except OSError as fault:
        raise NotMeasured(f"there is no room for its trace ({fault.strerror or fault})") from fault


def _told(run: Run, recording: Recording, made: Path, stacks: bool, first: bool) -> dict[str, Any]:
    from ..trace import TraceError, load
    from ..trace.analysis import Analysis
    from ..trace.digest import digest
    from .tracing import reading

    overhead = None if first else _overhead(run, recording.seconds)
    try:
        with reading():
            steps = len(recording.seconds)
            found = digest(Analysis(load(made), overhead), steps, recording.device_seen)
    except TraceError as fault:
        raise NotMeasured("torch's profiler recorded nothing that can be read") from fault
    if not recording.device_seen and "kernel_count" in found["missing"]:
        reason = _no_rows(run)
        found["missing"] = {
            metric: reason if metric in GROUPS[PROFILE] else told for metric, told in found["missing"].items()
        }
    return {
        "steps": steps,
        "seconds": recording.seconds,
        "overhead": overhead,
        "stacks": stacks,
        "first": first,
        **found,
    }


def _no_rows(run: Run) -> str:
    try:
        kind = run.device.profiled_as()
    except NotMeasured as missing:
        return missing.reason
    return (
        f"torch's profiler recorded no work of {kind}, not even its own: is tracing allowed on this card, and "
        "was torch built with its tracer?"
    )


def _cost(run: Run, seconds: list[float]) -> dict[str, Any] | None:
    from ..trace.profiler_cost import cost_of

    return cost_of(seconds, [one for one in run.record.times.get("latency", ()) if one])


def _overhead(run: Run, seconds: list[float]) -> float | None:
    """How many times as long a profiled call takes as one that is not (medians); None without latency samples."""
    samples = [one for one in run.record.times.get("latency", ()) if one]
    return statistics.median(seconds) / statistics.median(samples) if samples else None


def _beside_evidence(run: Run) -> Path | None:
    evidence = run.options.evidence
    return None if evidence is None else traces.trace_path(evidence, run.spec.family, run.record.param_index)
