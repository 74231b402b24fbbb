"""From a file to a `Trace`."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .columns import Numbered, printable
from .errors import EmptyTrace, TraceError
from .linking import link
from .model import Calls, DeviceRows, Frames, Ints, MemoryRows, Operators, Spans, Trace
from .reading import EventReader
from .rows import RowBuilder

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
    tables = (
        builder.device,
        builder.calls,
        builder.operators,
        builder.frames,
        builder.spans,
        builder.memory,
    )
    starts = [table.columns["start"] for table in tables]
    begin = min((min(start) for start in starts if start), default=0)
    names = [printable(one) for one in builder.names.all]
    device = builder.device.sorted(
        begin, correlation=builder.arrows.complete(builder.device.array("correlation"))
    )
    calls = builder.calls.sorted(begin)
    memory = builder.memory.sorted(begin)
    spans = Spans(**builder.spans.sorted(begin))
    flavour, runtime = _flavour(reader.header, [names[one] for one in np.unique(calls["name"])])
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
        operators=_operators(builder.operators.sorted(begin)),
        frames=Frames(**builder.frames.sorted(begin)),
        spans=spans,
        memory=MemoryRows(**memory, end=memory["start"]),
        steps=np.array([row for row, one in enumerate(spans.name) if names[one].startswith(_STEP)], np.int64),
        begin=begin,
        events=reader.count,
        faults=[*reader.faults, *_left_out(builder)],
    )


def _processes(builder: RowBuilder) -> Ints:
    """Number of the process of each thread."""
    numbered: Numbered[Any] = Numbered()
    return np.array([numbered[process] for process, _ in builder.threads.all], np.int64)


def _operators(columns: dict[str, Ints]) -> Operators:
    return Operators(**columns, parent=_unknown(columns))


def _unknown(columns: dict[str, Ints]) -> Ints:
    return np.full(len(columns["start"]), -1, np.int64)


def _left_out(builder: RowBuilder) -> list[str]:
    found = []
    if builder.negative:
        found.append(f"{_rows(builder.negative)} with a negative duration: left out")
    if builder.unreadable:
        found.append(f"{_rows(builder.unreadable)} that cannot be read: left out")
    return found


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
