"""From the events of a file to the columns of a `Trace`."""

from __future__ import annotations

import gc
import math
import os
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from . import kinds
from .columns import Columns, Numbered
from .errors import TraceError
from .linking import link
from .model import Calls, DeviceRows, Frames, Lane, MemoryRows, Operators, Spans, Trace
from .reading import Event, EventReader

_RUNTIMES = (
    "cuda_runtime",
    "cuda_driver",
    "hip_runtime",
    "runtime",
    "privateuse1_runtime",
    "privateuse1_driver",
)
_STEP = "ProfilerStep#"
_CPU = 0


def load(path: str | os.PathLike[str]) -> Trace:
    """Read a Chrome trace of torch's profiler, `.json` or `.json.gz`. Raises TraceError.

    What is damaged in a readable file is told in `Trace.faults`, and the rest of it is used.
    """
    reader = EventReader(Path(path))
    builder = _Builder()
    with _no_garbage_collection():
        for events in reader:
            builder.add(events)
    if not reader.count:
        raise TraceError(f"{path} has no events")
    return builder.finish(reader)


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


def _nanoseconds(microseconds: Any) -> int | None:
    if type(microseconds) is float or type(microseconds) is int:
        return round(microseconds * 1000) if math.isfinite(microseconds) else None
    try:
        number = float(microseconds)
    except (TypeError, ValueError):
        return None
    return round(number * 1000) if math.isfinite(number) else None


def _number(value: Any) -> int:
    if type(value) is int:
        return value if -(1 << 62) < value < 1 << 62 else hash(value)
    found = kinds.whole(value)
    return -1 if found is None else found


class _Builder:
    def __init__(self) -> None:
        self.names: Numbered[str] = Numbered()
        self.lanes: Numbered[tuple[int, int | str]] = Numbered()
        self.threads: Numbered[tuple[Any, Any]] = Numbered()
        self.device = Columns(
            ["start", "end", "name", "kind", "lane", "correlation", "external", "bytes", "direction", "shape"]
        )
        self.calls = Columns(
            ["start", "end", "name", "kind", "thread", "correlation", "external", "bytes", "direction"]
        )
        self.operators = Columns(["start", "end", "name", "thread", "external", "shapes", "types"])
        self.frames = Columns(["start", "end", "name", "thread"])
        self.spans = Columns(["start", "end", "name", "thread"])
        self.memory = Columns(
            ["start", "thread", "bytes", "address", "on_cpu", "device", "allocated", "reserved"]
        )
        self.bare: dict[tuple[Any, Any, Any], int] = {}
        self.negative = self.unreadable = 0
        self.thread_names: dict[tuple[Any, Any], str] = {}
        self.handlers: dict[Any, Callable[[Event], None] | None] = {
            **dict.fromkeys(kinds.DEVICE_KINDS, self._device),
            **dict.fromkeys(_RUNTIMES, self._call),
            **dict.fromkeys(("cpu_op", "operator"), self._operator),
            "python_function": self._frame,
            "user_annotation": self._span,
            "cpu_instant_event": self._memory,
            "ac2g": self._flow,
            "async_cpu_to_gpu": self._flow,
            None: self._other,
        }

    def add(self, events: list[Event]) -> None:
        handlers = self.handlers
        for event in events:
            category = event.get("cat")
            try:
                handler = handlers[category]
            except (KeyError, TypeError):
                handler = self._handler(category)
            if handler is not None:
                try:
                    handler(event)
                except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
                    self.unreadable += 1

    def _handler(self, category: Any) -> Callable[[Event], None] | None:
        """Of a category that was not met before: by its lower-case name."""
        found = self.handlers.get(str(category).lower())
        if isinstance(category, str):
            self.handlers[category] = found
        return found

    def _times(self, event: Event) -> tuple[int, int] | None:
        """Start and end; None for a row whose times cannot be (which is counted)."""
        if event["ph"] != "X":
            return None
        start, duration = _nanoseconds(event["ts"]), _nanoseconds(event.get("dur", 0))
        if start is None or duration is None:
            self.unreadable += 1
            return None
        if duration < 0:
            self.negative += 1
            return None
        return start, start + duration

    def _device(self, event: Event) -> None:
        times = self._times(event)
        if times is None:
            return
        args = event.get("args") or {}
        name, kind = event["name"], kinds.DEVICE_KINDS[event["cat"].lower()]
        stream, device = args.get("stream", event["tid"]), args.get("device", event["pid"])
        correlation = _number(args.get("correlation", -1))
        shape = -1
        if "grid" in args:
            shape = self.names.number(f"grid {_sizes(args['grid'])} block {_sizes(args.get('block'))}")
        if kind != kinds.COPY:
            direction = -1
        else:
            direction = kinds.direction(name, args.get("kind"))
        row = self.device.append(
            *times,
            self.names.number(name),
            kind,
            self.lanes.number((_number(device), stream if type(stream) is int else str(stream))),
            correlation,
            _number(args.get("External id", args.get("external id", -1))),
            _number(args.get("bytes", args.get("size", -1))) if kind != kinds.KERNEL else -1,
            direction,
            shape,
        )
        if correlation < 0:
            self.bare[event["pid"], event["tid"], times[0]] = row

    def _call(self, event: Event) -> None:
        times = self._times(event)
        if times is None:
            return
        args = event.get("args") or {}
        name = event["name"]
        kind = kinds.call_kind(name)
        copies = kind == kinds.COPY_CALL or kind == kinds.FILL_CALL
        self.calls.append(
            *times,
            self.names.number(name),
            kind,
            self.threads.number((event["pid"], event["tid"])),
            _number(args.get("correlation", -1)),
            _number(args.get("External id", args.get("external id", -1))),
            _number(args.get("bytes", args.get("size", -1))) if copies else -1,
            kinds.api_direction(args.get("kind")) if kind == kinds.COPY_CALL else -1,
        )

    def _operator(self, event: Event) -> None:
        times = self._times(event)
        if times is None:
            return
        args = event.get("args") or {}
        shapes = args.get("Input Dims", args.get("Input dims"))
        types = args.get("Input type", args.get("Input types"))
        self.operators.append(
            *times,
            self.names.number(event["name"]),
            self.threads.number((event["pid"], event["tid"])),
            _number(args.get("External id", args.get("external id", -1))),
            -1 if shapes is None else self.names.number(str(shapes)),
            -1 if types is None else self.names.number(", ".join(map(str, types))),
        )

    def _frame(self, event: Event) -> None:
        self._named(event, self.frames)

    def _span(self, event: Event) -> None:
        self._named(event, self.spans)

    def _named(self, event: Event, table: Columns) -> None:
        times = self._times(event)
        if times is not None:
            thread = self.threads.number((event["pid"], event["tid"]))
            table.append(*times, self.names.number(event["name"]), thread)

    def _memory(self, event: Event) -> None:
        if event["name"] != "[memory]":
            return
        args = event["args"]
        self.memory.append(
            round(event["ts"] * 1000),
            self.threads.number((event["pid"], event["tid"])),
            _number(args.get("Bytes", 0)),
            _number(args.get("Addr", -1)),
            int(args.get("Device Type") == _CPU),
            _number(args.get("Device Id", -1)),
            _number(args.get("Total Allocated", -1)),
            _number(args.get("Total Reserved", -1)),
        )

    def _flow(self, event: Event) -> None:
        """The end of an arrow from a call to its device row: older tracers tell the correlation nowhere else."""
        if self.bare and event["ph"] == "f":
            row = self.bare.pop((event["pid"], event["tid"], _nanoseconds(event["ts"])), None)
            if row is not None:
                self.device.put("correlation", row, _number(event.get("id", -1)))

    def _other(self, event: Event) -> None:
        if event.get("ph") == "M" and event.get("name") == "thread_name":
            self.thread_names[event.get("pid"), event.get("tid")] = str(event["args"]["name"]).strip()

    def finish(self, reader: EventReader) -> Trace:
        faults = list(reader.faults)
        if self.negative:
            faults.append(f"{_rows(self.negative)} with a negative duration: left out")
        if self.unreadable:
            faults.append(f"{_rows(self.unreadable)} that cannot be read: left out")
        tables = (self.device, self.calls, self.operators, self.frames, self.spans, self.memory)
        starts = [table.columns["start"] for table in tables]
        begin = min((min(start) for start in starts if len(start)), default=0)
        flavour, runtime = _flavour(reader.header, self.names.all, self.calls.columns["name"])
        lanes = [Lane(*one) for one in self.lanes.all]
        no_parent = {"parent": None}
        spans = Spans(**self.spans.sorted(begin))
        is_step = np.array([name.startswith(_STEP) for name in self.names.all] or [False])
        trace = Trace(
            path=reader.path,
            flavour=flavour,
            runtime=runtime,
            header=reader.header,
            names=self.names.all,
            lanes=lanes,
            threads=[self.thread_names.get(one, f"thread {one[1]}") for one in self.threads.all],
            device=DeviceRows(**self.device.sorted(begin, call=None, operator=None)),
            calls=Calls(**self.calls.sorted(begin, operator=None)),
            operators=Operators(**self.operators.sorted(begin, **no_parent)),
            frames=Frames(**self.frames.sorted(begin)),
            spans=spans,
            memory=MemoryRows(**_with_ends(self.memory.sorted(begin))),
            steps=np.flatnonzero(is_step[spans.name]) if len(spans) else np.zeros(0, np.int64),
            begin=begin,
            events=reader.count,
            faults=faults,
        )
        link(trace)
        return trace


def _sizes(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _with_ends(columns: dict[str, Any]) -> dict[str, Any]:
    return {**columns, "end": columns["start"]}


def _flavour(header: dict[str, Any], names: list[str], called: array[int]) -> tuple[str, str]:
    """The runtime that wrote the device rows, and what says so. Builds for HIP call much of it "cuda"."""
    for key in ("hip_runtime_version", "roctracer_version", "rocprofiler-sdk_version", "hip_driver_version"):
        if key in header:
            return "hip", f"{key} {header[key]}"
    seen = [names[number] for number in set(called)]
    if any(name.startswith("hip") for name in seen):
        return "hip", "names of its calls"
    for key in ("cuda_runtime_version", "cupti_version", "cuda_driver_version"):
        if key in header:
            return "cuda", f"{key} {header[key]}"
    if any(name.startswith(("cuda", "cuLaunch")) for name in seen):
        return "cuda", "names of its calls"
    return "unknown", "nothing in the file"
