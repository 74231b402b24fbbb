"""What is told of one profile: the trace, how it was made, and what it is called."""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..trace.analysis import Analysis
from ..trace.loading import load
from ..trace.model import Trace
from ..trace.profile_pass import idle
from ..trace.profiler_cost import doubtful, told_cost
from ..trace.steps import within_steps
from ..trace.syncs import OWN_SPAN
from . import figures

_NS = 1e-9


@dataclass(frozen=True)
class Page:
    """name: as the user knows it. code: of what commit or tree it is. first: of a first call. trace: where the file
    lies, as it is shown.

    overhead: median of a profiled call over `latency`, the median without the profiler (seconds); None where the
    trace alone is known, or it could not be determined (`Analysis.doubtful`). device: what it was measured on, where
    the trace does not tell. notes: sentences.
    """

    name: str
    analysis: Analysis
    trace: str = ""
    first: bool = False
    overhead: float | None = None
    latency: float | None = None
    device: str = ""
    code: str = ""
    notes: Sequence[str] = ()
    params: Mapping[str, str] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """Profiled calls: the steps of the trace, where it has some."""
        return len(self.analysis.trace.steps)

    @property
    def step(self) -> float | None:
        """Median seconds of a profiled call."""
        trace = self.analysis.trace
        durations = trace.spans.duration[trace.steps]
        return statistics.median(durations.tolist()) * _NS if len(durations) else None

    @property
    def calls(self) -> Mapping[str, Any] | None:
        """See `Analysis.calls`."""
        return self.analysis.calls

    @property
    def idle(self) -> tuple[float | None, dict[str, float]]:
        """See `trace.profile_pass.idle`."""
        return idle(self.analysis)

    @property
    def nothing(self) -> str:
        """Why there is nothing to be told, as a sentence; "" where there is."""
        trace = self.analysis.trace
        tables = (trace.device, trace.calls, trace.operators, trace.frames, trace.memory)
        if any(len(table) for table in tables):
            return ""
        return f"{self.name}: the profiler recorded nothing: no operator, no call and no row of a device"

    @property
    def rank(self) -> tuple[int, int | None] | None:
        """(rank, world size) of a distributed run's process; None where the trace is of none."""
        told = self.analysis.trace.header.get("distributedInfo")
        if not isinstance(told, dict) or not isinstance(told.get("rank"), int):
            return None
        size = told.get("world_size")
        return told["rank"], size if isinstance(size, int) else None

    @property
    def devices(self) -> list[str]:
        """`device 0 (AMD Instinct MI210)` of each device that rows ran on."""
        names = _names(self.analysis.trace.header.get("deviceProperties"))
        # HIP numbers a chosen card by its place in the machine in one of the two, and from 0 in the other.
        only = next(iter(names.values())) if len(set(names.values())) == 1 else None
        shown = {one: names.get(one, only) for one in self.analysis.trace.devices}
        return [f"device {one} ({name})" if name else f"device {one}" for one, name in shown.items()]


def _names(properties: Any) -> dict[int, str]:
    """Index -> product name, as the trace's header has them."""
    return {
        one["id"]: one["name"]
        for one in (properties if isinstance(properties, list) else ())
        if isinstance(one, dict) and isinstance(one.get("id"), int) and isinstance(one.get("name"), str)
    }


def page_of_file(path: str | os.PathLike[str]) -> Page:
    """Of a trace that somebody made; one that a profile pass left tells what the profiler cost. Raises TraceError."""
    trace = _loaded(path)
    cost = told_cost(trace.header)
    if cost is None:
        return Page(os.fspath(path), Analysis(trace), os.fspath(path))
    overhead = None if cost["doubtful"] else cost["overhead"]
    analysis = Analysis(trace, overhead, cost["doubtful"])
    return Page(os.fspath(path), analysis, os.fspath(path), overhead=overhead, latency=cost["latency"])


def _loaded(path: str | os.PathLike[str]) -> Trace:
    """Of the profile pass of a measurement the profiled calls alone: around them it does what no call does."""
    trace = load(path)
    return within_steps(trace) if OWN_SPAN in trace.names else trace


def page_of_record(record: Mapping[str, Any], place: Path, first: bool = False) -> Page:
    """Of a trace that a measurement has made just now. Raises TraceError."""
    profile = record.get("profile") or {}
    params = {str(name): str(value) for name, value in (record.get("params") or {}).items()}
    shown = ", ".join(f"{name}={value}" for name, value in params.items())
    samples = (record.get("times") or {}).get("latency") or []
    missing = profile.get("missing") or {}
    overhead = None if first else profile.get("overhead")
    doubts = doubtful(overhead, profile.get("seconds") or [], samples)
    overhead = None if doubts else overhead
    return Page(
        figures.printable(f"{record['benchmark']}({shown})" if shown else str(record["benchmark"])),
        Analysis(_loaded(place), overhead, doubts),
        os.fspath(place),
        first,
        overhead,
        statistics.median(samples) if samples and not first else None,
        _device(record.get("device") or {}),
        notes=tuple(str(reason) for name, reason in missing.items() if name == "trace"),
        params=params,
    )


def _device(facts: Mapping[str, Any]) -> str:
    name = facts.get("product") or facts.get("name")
    kind = str(facts.get("kind") or "")
    simulated = ", simulated" if facts.get("simulated") else ""
    return figures.printable(f"{name} ({kind}{simulated})" if name else f"{kind}{simulated}")
