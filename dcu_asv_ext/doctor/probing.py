"""Runs the probe under a time limit, and judges what came of it."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from ..metrics import METRICS, NEEDS_CHECK, NEEDS_REFERENCE
from .check import Check, Group
from .device import split
from .probe import STAGES

GROUP = Group("device")
PROBE = (sys.executable, "-m", "dcu_asv_ext.doctor.probe")
LIMIT = 120.0

#: An asynchronous device shows a launch as less than this share of the work.
_CLEARLY = 0.5
#: Medians of the same work on the CPU, this far apart, are no two readings of one thing.
_AGREE = 1.5
_BLOCKING = ("HIP_LAUNCH_BLOCKING", "CUDA_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL")


@dataclass(frozen=True)
class Probe:
    """stages: what the child told, by stage. failure: why it told no more, None where it told all.

    during: what it was doing then. words: the end of its stderr.
    """

    stages: dict[str, dict[str, Any]] = field(default_factory=dict)
    failure: str | None = None
    during: str = ""
    words: str = ""


def run_probe(
    environ: Mapping[str, str], timing: bool = True, limit: float = LIMIT, command: Sequence[str] = PROBE
) -> Probe:
    """Never raises for what the child does: raising, crashing and hanging are findings."""
    out, err, code = run_child([*command, *([] if timing else ["--no-timing"])], environ, limit)
    return _understood(out, err, code, limit)


def run_child(
    arguments: Sequence[str], environ: Mapping[str, str], limit: float
) -> tuple[str, str, int | None]:
    """stdout, stderr and the exit code of a process; None where it did not end within `limit` seconds, and was
    killed with all that it had started."""
    # Files, not pipes: a child that cannot be killed (a wedged driver) must not hold its reader.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(
            arguments,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            code: int | None = child.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(child)
        return _text(out), _text(err), code


def _end(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        child.wait(5)


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")


def _understood(out: str, err: str, code: int | None, limit: float) -> Probe:
    stages: dict[str, dict[str, Any]] = {}
    for line in out.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            told = json.loads(line)
            stages[told["stage"]] = told["content"]
    if code == 0:
        return Probe(stages)
    during = next((text for stage, text in STAGES.items() if stage not in stages), "ending")
    error = stages.pop("error", None)
    words = "\n".join(err.strip().splitlines()[-12:])
    failure = ended(code, limit)
    if code is not None and code > 0 and error is not None:
        failure = (
            error["text"] if error["kind"] == "DeviceUnavailable" else f"{error['kind']}: {error['text']}"
        )
    return Probe(stages, failure, during, words)


def ended(code: int | None, limit: float) -> str:
    """How a process ended that did not tell all."""
    if code is None:
        return f"it did not end within {limit:g} s"
    return f"it was ended by {_signal_name(-code)}" if code < 0 else f"it ended with exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def check_device(probe: Probe) -> Check:
    """The device can be opened and asked, whatever its times say."""
    told = probe.stages.get("device")
    if told is None or "metrics" not in probe.stages:
        return _failed("device", probe)
    name = " ".join(str(told[key]) for key in ("product", "architecture") if told.get(key))
    kind = f"simulated {told['kind']}" if told.get("simulated") else str(told["kind"])
    finding = f"The device is {told['name']} ({kind}{', ' if name else ''}{name})."
    if told.get("simulated"):
        return GROUP.warning("device", finding, "Do not publish its figures: they are no measurements.")
    return GROUP.ok("device", finding)


def _failed(id: str, probe: Probe) -> Check:
    failure = probe.failure or "it told nothing"
    if failure.startswith("it "):
        failure = f"The process that asks the device failed while {probe.during}: {failure}"
    otherwise = (
        "Repair the driver or the device (a management tool tells its health), or set DCU_ASV_DEVICE=cpu."
    )
    return GROUP.problem(id, *split(failure.replace("\n", " "), otherwise))


def check_timing(probe: Probe, environ: Mapping[str, str], skipped: str | None = None) -> Check:
    """Times with and without a synchronise differ where they should. skipped: why it was not tried."""
    if skipped is not None:
        return GROUP.warning(
            "synchronise", f"Not tried, because {skipped}.", "Call doctor again when the card is free."
        )
    timing, told = probe.stages.get("timing"), probe.stages.get("device")
    if timing is None or told is None:
        return _failed("synchronise", probe)
    return judge_timing(
        statistics.median(timing["unsynchronised"]),
        statistics.median(timing["synchronised"]),
        bool(told["asynchronous"]),
        environ,
    )


def judge_timing(
    without: float, synchronised: float, asynchronous: bool, environ: Mapping[str, str]
) -> Check:
    """without, synchronised: medians of the same work, in seconds."""
    figures = f"{without * 1e3:.3g} ms without and {synchronised * 1e3:.3g} ms with a synchronise"
    if not asynchronous:
        if max(without, synchronised) <= _AGREE * min(without, synchronised):
            return GROUP.ok(
                "synchronise",
                f"The same work takes {figures}: they agree, as they must on the CPU, "
                "where a call returns with its work done.",
            )
        return GROUP.warning(
            "synchronise",
            f"The same work takes {figures}, which should agree on the CPU: other work disturbs this machine.",
            "Measure when the machine is idle.",
        )
    if without <= _CLEARLY * synchronised:
        return GROUP.ok(
            "synchronise",
            f"The same work takes {figures}: launching is not doing, and only the second is the time of the work.",
        )
    blocking = [name for name in _BLOCKING if environ.get(name, "0") not in ("", "0")]
    cause = (
        f"{blocking[0]} makes every launch wait"
        if blocking
        else "launches wait for the device, or synchronising does not"
    )
    return GROUP.problem(
        "synchronise",
        f"The same work takes {figures}, which should differ clearly on this device: {cause}.",
        f"Unset {blocking[0]}."
        if blocking
        else "Do not trust times from this set-up; check its torch and driver.",
    )


def metric_rows(probe: Probe, skipped: str | None = None) -> list[dict[str, Any]]:
    """Each metric with `measured` (true, false, or null where that is not known) and, if not true, `reason`."""
    support = probe.stages.get("metrics")
    rows = []
    for metric in METRICS.values():
        measured: bool | None = True
        reason, condition = None, None
        if support is None:
            measured, reason = None, skipped or "the device could not be asked"
        elif (unmeasured := support.get(metric.name) or support.get(metric.source)) is not None:
            measured, reason = False, unmeasured
        elif metric.name in NEEDS_REFERENCE:
            condition = "where a benchmark has a reference"
        elif metric.name in NEEDS_CHECK:
            condition = "where a benchmark has a check"
        elif not metric.default:
            condition = "where a benchmark asks for it"
        rows.append(
            {
                "name": metric.name,
                "unit": metric.unit,
                "label": metric.label,
                "measured": measured,
                "reason": reason,
                "condition": condition,
            }
        )
    return rows
