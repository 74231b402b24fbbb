"""From a file to a `Trace`."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .columns import Columns, Numbered, can_be, nanoseconds, printable
from .errors import EmptyTrace, TraceError
from .linking import link
from .model import Calls, DeviceRows, Frames, Ints, MemoryRows, Operators, Spans, Trace
from .reading import EventReader
from .rows import RowBuilder
from .steps import outermost

_STEP = "ProfilerStep#"
_VERSION = re.compile(r"[\w.+-]{1,40}")


def load(path: str | os.PathLike[str]) -> Trace:
    """Read a Chrome trace of torch's profiler, `.json` or `.json.gz`. Raises TraceError.

    What is damaged in a readable file is told in `Trace.faults`, and the rest of it is used.
    """
    reader, builder = EventReader(Path(path)), RowBuilder()
    with _no_garbage_collection():
        for events in reader:
            builder.add(events)
    if not reader.count:
        kind = TraceError if reader.faults else EmptyTrace
        raise kind("; ".join([f"{path} has no events", *reader.faults]))
    trace = _trace(reader, builder)
    link(trace, _processes(builder))
    return trace


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Millions of short-lived dictionaries without cycles: looking for cycles among them doubles the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _trace(reader: EventReader, builder: RowBuilder) -> Trace:
    names = [printable(one) for one in builder.names.all]
    completed = builder.arrows.complete(
        builder.device.number("correlation"), builder.device.number("track"), builder.device.time("start")
    )
    left = _LeftOut(unreadable=builder.unreadable)
    device = left.fitting(builder.device, correlation=completed)
    del device["track"]
    calls, operators = left.fitting(builder.calls), left.fitting(builder.operators)
    frames, spans, memory = (left.fitting(one) for one in (builder.frames, builder.spans, builder.memory))
    tables = (device, calls, operators, frames, spans, memory)
    begin = min((int(table["start"][0]) for table in tables if len(table["start"])), default=0)
    for table in tables:
        table["start"] -= begin
        table["end"] -= begin
    flavour, runtime = _flavour(reader.header, [names[one] for one in np.unique(calls["name"])])
    named = [row for row, one in enumerate(spans["name"].tolist()) if names[one].startswith(_STEP)]
    steps = np.array(named, np.int64)
    return Trace(
        path=reader.path,
        flavour=flavour,
        runtime=runtime,
        header=reader.header,
        names=names,
        lanes=builder.lanes.numbered.all,
        threads=[printable(builder.thread_names.get(one, f"thread {one[1]}")) for one in builder.threads.all],
        device=DeviceRows(**device, call=_unknown(device), operator=_unknown(device)),
        calls=Calls(**calls, operator=_unknown(calls)),
        operators=Operators(**operators, parent=_unknown(operators)),
        frames=Frames(**frames),
        spans=Spans(**spans),
        memory=MemoryRows(**memory),
        steps=steps[outermost(spans["start"][steps], spans["end"][steps])],
        begin=begin,
        events=reader.count,
        faults=[*reader.faults, *left.faults],
    )


@dataclass
class _LeftOut:
    """How many rows are."""

    negative: int = 0
    unreadable: int = 0

    def fitting(self, rows: Columns, **instead: Ints) -> dict[str, Ints]:
        """The columns of the rows whose times can be, in nanoseconds and in the order of `start`; instead: columns
        in the place of those that were read."""
        start, duration = rows.time("start"), rows.time("duration")
        fit = can_be(start) & can_be(duration)
        self.unreadable += int((~fit).sum())
        kept = np.flatnonzero(fit & (duration >= 0))
        self.negative += int(fit.sum()) - len(kept)
        begin, took = nanoseconds(start[kept]), nanoseconds(duration[kept])
        order = np.argsort(begin, kind="stable")
        begin, took, kept = begin[order], took[order], kept[order]
        others = {
            name: (instead[name] if name in instead else rows.number(name))[kept] for name in rows.numbers
        }
        return {"start": begin, "end": begin + took, **others}

    @property
    def faults(self) -> list[str]:
        found = []
        if self.negative:
            found.append(f"{_rows(self.negative)} with a negative duration: left out")
        if self.unreadable:
            found.append(f"{_rows(self.unreadable)} that cannot be read: left out")
        return found


def _processes(builder: RowBuilder) -> Ints:
    """Number of the process of each thread."""
    numbered: Numbered[Any] = Numbered()
    return np.array([numbered[process] for process, _ in builder.threads.all], np.int64)


def _unknown(columns: dict[str, Ints]) -> Ints:
    return np.full(len(columns["start"]), -1, np.int64)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _flavour(header: dict[str, Any], called: list[str]) -> tuple[str, str]:
    """The runtime that wrote the device rows, and what says so. Builds for HIP call much of it "cuda"."""
    for key in ("hip_runtime_version", "roctracer_version", "rocprofiler-sdk_version", "hip_driver_version"):
        if key in header:
            return "hip", _version(key, header[key])
    if any(name.startswith("hip") for name in called):
        return "hip", "names of its calls"
    for key in ("cuda_runtime_version", "cupti_version", "cuda_driver_version"):
        if key in header:
            return "cuda", _version(key, header[key])
    if any(name.startswith(("cuda", "cuLaunch")) for name in called):
        return "cuda", "names of its calls"
    return "unknown", "nothing in the file"


def _version(key: str, told: Any) -> str:
    """With its entry of the header, which may hold anything."""
    version = str(told)
    return f"{key} {version}" if _VERSION.fullmatch(version) else key
