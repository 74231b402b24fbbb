"""From the events of a file to growing columns, a category at a time."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from . import kinds
from .arrows import Arrows
from .columns import Cached, Columns, Numbered, microseconds, printable, whole_numbers
from .model import Lane
from .reading import Event

#: What a value of an unexpected type makes of the code that expects another.
_UNREADABLE = (KeyError, TypeError, AttributeError, ValueError, OverflowError)
_NOTHING: dict[str, Any] = {}
_TIMES = ("start", "duration")
_NAME, _PLACE = itemgetter("name"), itemgetter("pid", "tid")
_CPU = 0


class Lanes(dict[tuple[Any, Any], int]):
    """Numbers of lanes, by device and stream as a row writes them."""

    def __init__(self) -> None:
        super().__init__()
        self.numbered: Numbered[Lane] = Numbered()

    def __missing__(self, written: tuple[Any, Any]) -> int:
        device, stream = written
        queue = kinds.whole(stream)
        number = self[written] = self.numbered[
            Lane(_device_number(device), printable(stream) if queue is None else queue)
        ]
        return number


def _device_number(written: Any) -> int:
    found = kinds.whole(written)
    if found is None:  # such as "GPU 0"
        digits = re.search(r"\d+", str(written))
        found = int(digits[0]) if digits else -1
    return found


class RowBuilder:
    """unreadable: how many rows cannot be read. Whether their times can be is not looked at here."""

    def __init__(self) -> None:
        self.names: Numbered[Any] = Numbered()
        self.lanes = Lanes()
        self.threads: Numbered[tuple[Any, Any]] = Numbered()
        self.device = Columns(
            _TIMES,
            ("name", "kind", "lane", "correlation", "external", "bytes", "direction", "shape", "track"),
        )
        self.calls = Columns(
            _TIMES, ("name", "kind", "thread", "correlation", "external", "bytes", "direction")
        )
        self.operators = Columns(
            _TIMES,
            ("name", "thread", "external", "shapes", "types", "sequence", "forward_thread", "stack"),
        )
        self.frames = Columns(_TIMES, ("name", "thread", "called_from"))
        self.spans = Columns(_TIMES, ("name", "thread"))
        self.memory = Columns(
            _TIMES, ("thread", "bytes", "address", "on_cpu", "device", "allocated", "reserved")
        )
        self.arrows = Arrows()
        self.thread_names: dict[tuple[Any, Any], str] = {}
        self.unreadable = 0
        self._call_kinds = Cached(kinds.call_kind)
        self._put = Cached(self._putter)
        self._grids: Cached[tuple[str, str], int] = Cached(self._grid)

    def add(self, events: list[Event]) -> None:
        by_category: defaultdict[Any, list[Event]] = defaultdict(list)
        try:
            for event in events:
                by_category[event.get("cat")].append(event)
        except TypeError:  # a category that is a list
            by_category.clear()
            for event in events:
                by_category[str(event.get("cat", ""))].append(event)
        for category, rows in by_category.items():
            put = self._put[category]
            if put is not None:
                self._all_that_can_be_read(put, rows)

    def _all_that_can_be_read(self, put: Callable[[list[Event]], None], rows: list[Event]) -> None:
        """At once; where that fails, in halves, until what cannot be read stands alone."""
        try:
            put(rows)
        except _UNREADABLE:
            if len(rows) == 1:
                self.unreadable += 1
                return
            half = len(rows) // 2
            self._all_that_can_be_read(put, rows[:half])
            self._all_that_can_be_read(put, rows[half:])

    def _putter(self, category: Any) -> Callable[[list[Event]], None] | None:
        name = str(category).lower()
        if name in kinds.DEVICE_KINDS:
            return lambda rows: self._put_device(rows, kinds.DEVICE_KINDS[name])
        if name == "runtime" or name.endswith(("_runtime", "_driver")):
            return self._put_calls
        return {
            "cpu_op": self._put_operators,
            "operator": self._put_operators,
            "python_function": self._put_frames,
            "user_annotation": self._put_spans,
            "cpu_instant_event": self._put_memory,
            "ac2g": self.arrows.add,
            "async_cpu_to_gpu": self.arrows.add,
            "none": self._put_thread_names,
            "": self._put_thread_names,
        }.get(name)

    def _put_device(self, rows: list[Event], kind: int) -> None:
        args = _arguments(rows)
        correlation = whole_numbers([one.get("correlation", -1) for one in args])
        nothing = [-1] * len(rows)
        self.device.extend(
            *_times(rows),
            self._names(rows),
            [kind] * len(rows),
            [
                self.lanes[one.get("device", row["pid"]), one.get("stream", row["tid"])]
                for one, row in zip(args, rows, strict=True)
            ],
            correlation,
            _external(args),
            nothing if kind == kinds.KERNEL else _bytes(args),
            nothing
            if kind != kinds.COPY
            else [
                kinds.direction(str(row["name"]), one.get("kind"))
                for one, row in zip(args, rows, strict=True)
            ],
            [self._grids[str(one["grid"]), str(one.get("block"))] if "grid" in one else -1 for one in args],
            self.arrows.tracks(rows, correlation),
        )

    def _put_calls(self, rows: list[Event]) -> None:
        args = _arguments(rows)
        call_kinds = [self._call_kinds[row["name"]] for row in rows]
        bytes_ = direction = [-1] * len(rows)
        if kinds.COPY_CALL in call_kinds or kinds.FILL_CALL in call_kinds:
            moving = (kinds.COPY_CALL, kinds.FILL_CALL)
            bytes_ = [
                size if kind in moving else -1 for size, kind in zip(_bytes(args), call_kinds, strict=True)
            ]
            direction = [
                kinds.api_direction(one.get("kind")) if kind == kinds.COPY_CALL else -1
                for one, kind in zip(args, call_kinds, strict=True)
            ]
        self.calls.extend(
            *_times(rows),
            self._names(rows),
            call_kinds,
            self._threads(rows),
            whole_numbers([one.get("correlation", -1) for one in args]),
            _external(args),
            bytes_,
            direction,
        )

    def _put_operators(self, rows: list[Event]) -> None:
        args, names = _arguments(rows), self.names
        shapes = [one.get("Input Dims", one.get("Input dims")) for one in args]
        types = [one.get("Input type") for one in args]
        self.operators.extend(
            *_times(rows),
            self._names(rows),
            self._threads(rows),
            _external(args),
            [-1 if one is None else names[str(one)] for one in shapes],
            [-1 if one is None else names[", ".join(map(str, one))] for one in types],
            whole_numbers([one.get("Sequence number", -1) for one in args]),
            whole_numbers([one.get("Fwd thread id", 0) for one in args]),
            [-1 if one is None else names[one] for one in [one.get("Call stack") for one in args]],
        )

    def _put_frames(self, rows: list[Event]) -> None:
        # Not torch's own argument: whoever profiled may add it (`measure.frame_lines`).
        lines = whole_numbers([one.get("Caller line", -1) for one in _arguments(rows)])
        self.frames.extend(*_times(rows), self._names(rows), self._threads(rows), lines)

    def _put_spans(self, rows: list[Event]) -> None:
        self.spans.extend(*_times(rows), self._names(rows), self._threads(rows))

    def _put_memory(self, rows: list[Event]) -> None:
        rows = [row for row in rows if row["name"] == "[memory]"]
        args = [row["args"] for row in rows]
        self.memory.extend(
            microseconds([row["ts"] for row in rows]),
            array("d", bytes(8 * len(rows))),
            self._threads(rows),
            whole_numbers([one["Bytes"] for one in args]),
            whole_numbers([one.get("Addr", -1) for one in args]),
            [int(one.get("Device Type") == _CPU) for one in args],
            whole_numbers([one.get("Device Id", -1) for one in args]),
            whole_numbers([one.get("Total Allocated", -1) for one in args]),
            whole_numbers([one.get("Total Reserved", -1) for one in args]),
        )

    def _put_thread_names(self, rows: list[Event]) -> None:
        for row in rows:
            if row.get("ph") == "M" and row.get("name") == "thread_name":
                self.thread_names[row.get("pid"), row.get("tid")] = str(row["args"]["name"]).strip()

    def _names(self, rows: list[Event]) -> list[int]:
        return list(map(self.names.__getitem__, map(_NAME, rows)))

    def _threads(self, rows: list[Event]) -> list[int]:
        return list(map(self.threads.__getitem__, map(_PLACE, rows)))

    def _grid(self, sizes: tuple[str, str]) -> int:
        grid, block = (one.strip("[]()").replace(", ", "x") for one in sizes)
        return self.names[f"grid {grid} block {block}"]


def _times(rows: list[Event]) -> tuple[array[float], array[float]]:
    if {row["ph"] for row in rows} - {"X"}:
        raise ValueError("not a complete event")
    return microseconds([row["ts"] for row in rows]), microseconds([row["dur"] for row in rows])


def _arguments(rows: list[Event]) -> list[dict[str, Any]]:
    return [one if type(one) is dict else _NOTHING for one in [row.get("args") for row in rows]]


def _external(args: list[dict[str, Any]]) -> array[int]:
    return whole_numbers(
        [one["External id"] if "External id" in one else one.get("external id", -1) for one in args]
    )


def _bytes(args: list[dict[str, Any]]) -> array[int]:
    return whole_numbers([one.get("bytes", one.get("size", -1)) for one in args])
