"""A trace in columns: what its rows are, without what nobody asks for.

All times are whole nanoseconds since the trace's first row, all columns of a table are equally long numpy arrays,
and every table is sorted by `start`. Texts are numbers into `Trace.names`; -1 stands for what a row does not tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
T = TypeVar("T", bound="Table")


@dataclass
class Table:
    """Equally long columns."""

    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.start)

    @property
    def duration(self) -> Ints:
        return self.end - self.start

    def take(self: T, chosen: npt.NDArray[Any]) -> T:
        """The rows of a mask, or of row numbers."""
        return type(self)(**{one.name: getattr(self, one.name)[chosen] for one in fields(self)})


@dataclass
class DeviceRows(Table):
    """What ran on devices. kind: KERNEL, COPY or FILL of `kinds`. lane: into `Trace.lanes`.

    correlation: the number that the launching call carries too. external: that of the operator.
    bytes: of a copy or fill, also where only its call told it. direction: into `kinds.DIRECTIONS`, for copies.
    shape: into `Trace.names`, a kernel's grid and block as text.
    call: row of `Trace.calls` that launched it. operator: row of `Trace.operators` that it belongs to.
    """

    name: Ints
    kind: Ints
    lane: Ints
    correlation: Ints
    external: Ints
    bytes: Ints
    direction: Ints
    shape: Ints
    call: Ints
    operator: Ints


@dataclass
class Calls(Table):
    """Calls of the device's runtime on host threads. kind: LAUNCH, SYNC, ... of `kinds`. thread: into
    `Trace.threads`. bytes, direction: as the call was told, for copies. operator: row of `Trace.operators` around it.
    """

    name: Ints
    kind: Ints
    thread: Ints
    correlation: Ints
    external: Ints
    bytes: Ints
    direction: Ints
    operator: Ints


@dataclass
class Operators(Table):
    """torch's operators, and the autograd functions around them. shapes, types: into `Trace.names`.
    parent: row of the operator around it. sequence: autograd's number, the same for a node's forward operator and for
    its backward one. forward_thread: 0 for forward operators, else autograd's own number of the forward thread.
    stack: into `Trace.names`, Python's frames in one text, as torch before 1.12 wrote them."""

    name: Ints
    thread: Ints
    external: Ints
    shapes: Ints
    types: Ints
    sequence: Ints
    forward_thread: Ints
    stack: Ints
    parent: Ints


@dataclass
class Frames(Table):
    """Python functions, `file(line): name`, where stacks were recorded. called_from: the line of its caller."""

    name: Ints
    thread: Ints
    called_from: Ints


@dataclass
class Spans(Table):
    """Stretches that the program named itself (record_function)."""

    name: Ints
    thread: Ints


@dataclass
class MemoryRows(Table):
    """Allocations (bytes > 0) and frees (< 0); end is start. on_cpu: 1 for host memory. device: its index.
    allocated, reserved: the allocator's totals after it."""

    thread: Ints
    bytes: Ints
    address: Ints
    on_cpu: Ints
    device: Ints
    allocated: Ints
    reserved: Ints


@dataclass(frozen=True)
class Lane:
    """One queue of a device. stream: its number, or as it is written where it is none."""

    device: int
    stream: int | str

    @property
    def label(self) -> str:
        return f"device {self.device} stream {self.stream}"


@dataclass
class Trace:
    """path: where it was read. flavour: "hip", "cuda" or "unknown"; `runtime` says how it was told.
    header: the file's other entries (may hold anything: never print it whole).
    threads: label of each host thread. begin: of the first row, on the file's own clock, in ns.
    steps: row numbers of `spans` that are steps of a profiler's schedule.
    faults: what is wrong with the file, a sentence each. events: how many rows the file has.
    """

    path: Path
    flavour: str
    runtime: str
    header: dict[str, Any]
    names: list[str]
    lanes: list[Lane]
    threads: list[str]
    device: DeviceRows
    calls: Calls
    operators: Operators
    frames: Frames
    spans: Spans
    memory: MemoryRows
    steps: Ints
    begin: int = 0
    events: int = 0
    faults: list[str] = field(default_factory=list)

    def name(self, number: int) -> str:
        return self.names[number] if number >= 0 else ""

    @property
    def rank(self) -> int | None:
        """Of the process in a distributed run."""
        return self._distributed("rank")

    @property
    def world_size(self) -> int | None:
        return self._distributed("world_size")

    def _distributed(self, entry: str) -> int | None:
        told = self.header.get("distributedInfo")
        value = told.get(entry) if isinstance(told, dict) else None
        return value if type(value) is int else None

    @property
    def devices(self) -> list[int]:
        """The devices that rows ran on."""
        return sorted({self.lanes[lane].device for lane in np.unique(self.device.lane)})

    def on(self, device: int) -> npt.NDArray[np.bool_]:
        """Mask of the device rows of one device."""
        lanes = [number for number, lane in enumerate(self.lanes) if lane.device == device]
        return np.isin(self.device.lane, lanes)


def named(holds: Callable[[str], bool], names: list[str], numbers: Ints) -> Bools:
    """Mask of the numbers whose name is such; each name is asked once."""
    seen, at = np.unique(numbers, return_inverse=True)
    return np.array([holds(names[one]) for one in seen.tolist()], np.bool_)[at.reshape(-1)]
