"""Traces of small made-up programs: a host and a device with exact times, written as Kineto writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dcu_asv_ext.trace.analysis import Analysis
from dcu_asv_ext.trace.finding import Finding
from tests.trace.building import MAIN, Building

#: us. An operator takes the host so long; so long after its begin it launches; an idle device starts so long later.
OPERATOR, LAUNCH, START = 10.0, 4.0, 4.0
Detector = Callable[[Analysis], Iterable[Finding]]


class Program(Building):
    """now: the host's time, us. free: when each stream will have done what it has. after: what it waits for."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 10.0
        self.free: dict[int, float] = {}
        self.after: dict[int, float] = {}
        self.steps = 0

    @contextmanager
    def step(self) -> Iterator[None]:
        begin = self.now
        yield
        self.span(f"ProfilerStep#{self.steps}", begin, self.now)
        self.steps += 1

    @contextmanager
    def function(self, name: str) -> Iterator[None]:
        begin = self.now
        yield
        self.frame(name, begin, self.now)

    def host(self, length: float) -> None:
        """Work outside operators."""
        self.now += length

    def run(
        self,
        length: float,
        name: str = "aten::mm",
        shapes: list[list[int]] | None = None,
        types: list[str] | None = None,
        stream: int = 0,
        device: int = 0,
        kernel: str = "work",
        around: str = "",
    ) -> None:
        """One operator that launches one kernel."""
        begin, number = self.now, self.correlation()
        told = {"Input Dims": shapes, "Input type": types or ["float"] * len(shapes or ())} if shapes else {}
        if around:
            self.operator(around, begin, begin + OPERATOR)
        self.operator(name, begin, begin + OPERATOR, **told)
        self.call("hipLaunchKernel", begin + LAUNCH, begin + LAUNCH + 1, correlation=number)
        start, end = self._on_device(begin + LAUNCH, length, stream)
        self.kernel(start, end, stream, device, correlation=number)
        self.events[-1]["name"] = kernel
        self.now += OPERATOR

    def _on_device(self, called: float, length: float, stream: int) -> tuple[float, float]:
        start = max(called + START, self.free.get(stream, 0.0), self.after.pop(stream, 0.0))
        self.free[stream] = start + length
        return start, start + length

    def stream_waits(self, stream: int, other: int, traced: bool = False) -> None:
        """For all that the other has been given."""
        self.after[stream] = self.free.get(other, 0.0)
        if traced:
            self.call("hipStreamWaitEvent", self.now, self.now + 1)
        self.now += 2

    def wait(self, name: str = "", call: str = "hipStreamSynchronize", own: bool = False) -> None:
        """Of the host, for all streams. name: of an operator around it. own: the harness's."""
        begin, end = self.now, max([self.now + 1, *(free + 1 for free in self.free.values())])
        self.call(call, begin, end)
        if name:
            self.operator(name, begin, end)
        if own:
            self.span("dcu_asv_ext.wait", begin, end)
        self.now = end

    def copy_in(
        self,
        length: float,
        size: int = 1 << 20,
        name: str = "Memcpy HtoD (Pageable -> Device)",
        blocking: bool = True,
        stream: int = 0,
        operator: str = "aten::to",
    ) -> None:
        begin, number = self.now, self.correlation()
        call = "hipMemcpyWithStream" if blocking else "hipMemcpyAsync"
        start, end = self._on_device(begin + LAUNCH, length, stream)
        done = end + 1 if blocking else begin + LAUNCH + 1
        self.call(call, begin + LAUNCH, done, correlation=number)
        self.copy(name, start, end, stream, correlation=number, bytes=size)
        self.now = done + 5
        self.operator(operator, begin, self.now)

    def allocate(self, call: str, length: float) -> None:
        self.call(call, self.now, self.now + length)
        self.now += length

    def memory(self, size: int, address: int) -> None:
        """A block that torch's allocator gives (size > 0) or takes back (< 0)."""
        told = {"Bytes": size, "Addr": address, "Device Type": 1, "Device Id": 0}
        row = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "ts": self.now, "s": "t"}
        self.events.append({**row, "pid": 1, "tid": MAIN, "args": told})

    def found(self, folder: Path, detect: Detector) -> list[Finding]:
        return list(detect(self.analysis(folder)))


def us(finding: Finding) -> float:
    """What it could give back, in us."""
    return round(finding.seconds * 1e6, 3)


def taken(finding: Finding) -> float:
    """What it is about takes, in us."""
    return round(finding.data["seconds_taken"] * 1e6, 3)
