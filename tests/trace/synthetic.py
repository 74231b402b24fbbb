"""Traces of a made-up run as the profilers of HIP and CUDA write them, with what really happened.

The run is simulated in whole nanoseconds; `Run.truth` is computed from it with plain loops, and a trace is what a
profiler of some flavour, with some faults, tells of it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

#: Host threads and the process.
PROCESS, MAIN = 4242, 4242

FLAVOURS = ("rocprofiler", "roctracer", "cuda", "old", "dtk")
QUIRKS = (
    "h2d_stream0",  # every copy to the device is written to stream 0
    "drop_runtime",  # some launching calls are lost
    "dup_corr",  # kernels take over the correlation of what was launched before
    "wide_streams",  # ids of 64 bits
    "several_devices",
    "kernel_copies",  # copies within the device are kernels of the runtime
    "skewed",  # the device has a clock of its own
    "blocking",  # copies to the host are waited for
    "nameless",  # `Memcpy ? (? -> ?)`
)
_RECORD_TYPES = {"DtoH": 0x11F3, "HtoD": 0x11F4, "DtoD": 0x11F5}
_MEMORY = {"H": "Host", "D": "Device"}
_API_KINDS = {"HtoD": "1", "DtoH": "2", "DtoD": "3"}


@dataclass
class Work:
    """A kernel ("kernel"), a copy ("HtoD", ...) or a fill ("fill"), and the call that launched it."""

    what: str
    name: str
    device: int
    stream: int
    begin: int
    end: int
    size: int
    call_begin: int
    call_end: int
    correlation: int
    operator: int
    lost: bool = False
    waited: bool = False


@dataclass
class Truth:
    """Nanoseconds and bytes. copies: direction -> (count, bytes, time). launched: (device, begin) of each row -> when
    its call began."""

    kernels: int
    kernel_time: int
    copies: dict[str, tuple[int, int, int]]
    busy: int
    span: int
    syncs: int
    launched: dict[tuple[int, int], int]


@dataclass
class Run:
    flavour: str = "rocprofiler"
    quirks: tuple[str, ...] = ()
    steps: int = 3
    kernels: int = 4
    streams: tuple[int, ...] = (0, 7)
    seed: int = 0
    work: list[Work] = field(default_factory=list)
    syncs: list[tuple[str, int, int]] = field(default_factory=list)
    operators: list[tuple[str, int, int, int]] = field(default_factory=list)
    marks: list[tuple[str, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._host = 1_000_000_123
        self._correlation = 1000
        self._ready: dict[tuple[int, int], int] = {}
        if "wide_streams" in self.quirks:
            self.streams = tuple(2**63 + 4096 * one for one in self.streams)
        devices = (0, 1) if "several_devices" in self.quirks else (0,)
        for step in range(self.steps):
            begin = self._host
            for device in devices:
                self._step(device)
            self._wait("DeviceSynchronize", max(self._ready.values()))
            self.marks.append((f"ProfilerStep#{step}", begin - 2_000, self._host + 1_000))
            self._host += 40_000
        if "dup_corr" in self.quirks:
            self._share_correlations()
        if "drop_runtime" in self.quirks:
            for one in self.work:
                one.lost = self._chance.random() < 0.3

    def _step(self, device: int) -> None:
        first, last = self.streams[0], self.streams[-1]
        self._submit("HtoD", "", device, last, 52_400, 1 << 20)
        for number in range(self.kernels):
            begin = self._host
            self._submit("kernel", f"Cijk_Ailk_Bljk_SB_MT64x64x16_{number}", device, first, 0)
            self.operators.append(("aten::mm", begin - 1_000, self._host + 1_000, self.work[-1].operator))
            self._host += 6_000
        self._submit("fill", "", device, first, 2_000, 512)
        self._submit("kernel", "elementwise_kernel", device, last, 0)
        self._submit("DtoD", "", device, first, 9_000, 4096)
        self._submit("DtoH", "", device, first, 7_000, 4)
        if "blocking" in self.quirks:
            self.work[-1].waited = True
            if self._hip:
                self._host = self.work[-1].call_end = self.work[-1].end + 1_500
            else:
                self._wait("StreamSynchronize", self.work[-1].end)

    @property
    def _hip(self) -> bool:
        return self.flavour != "cuda"

    def _submit(self, what: str, name: str, device: int, stream: int, took: int, size: int = 0) -> None:
        took = took or self._chance.randrange(20_000, 120_000)
        self._correlation += 1
        call = self._chance.randrange(4_000, 9_000)
        begin = max(self._host + 2_000, self._ready.get((device, stream), 0))
        self._ready[device, stream] = begin + took
        self.work.append(
            Work(what, name, device, stream, begin, begin + took, size, self._host, self._host + call,
                 self._correlation, self._correlation)
        )  # fmt: skip
        self._host += call + 2_000

    def _wait(self, name: str, until: int) -> None:
        end = max(self._host, until) + 3_000
        self.syncs.append((name, self._host, end))
        self._host = end + 1_000

    def _share_correlations(self) -> None:
        for before, one in zip(self.work, self.work[1:], strict=False):
            if one.what == "kernel" and self._chance.random() < 0.5:
                one.correlation = before.correlation

    def _on_file(self, device_time: int) -> int:
        return device_time + (7_000_000_000 if "skewed" in self.quirks else 0)

    @property
    def truth(self) -> Truth:
        kernels = [one for one in self.work if one.what == "kernel" or self._as_kernel(one)]
        copies: dict[str, tuple[int, int, int]] = {}
        for one in self.work:
            if one.what in _API_KINDS and not self._as_kernel(one):
                count, size, time = copies.get(one.what, (0, 0, 0))
                copies[one.what] = count + 1, size + one.size, time + one.end - one.begin
        busy = span = 0
        for device in {one.device for one in self.work}:
            mine = sorted((one.begin, one.end) for one in self.work if one.device == device)
            span += max(end for _, end in mine) - mine[0][0]
            reached = 0
            for begin, end in mine:
                busy += max(0, end - max(begin, reached))
                reached = max(reached, end)
        waits = len(self.syncs) + sum(one.waited and self._hip for one in self.work)
        origin = min(begin for _, begin, _ in self.marks)
        return Truth(
            len(kernels),
            sum(one.end - one.begin for one in kernels),
            copies,
            busy,
            span,
            waits,
            {(one.device, self._on_file(one.begin) - origin): one.call_begin - origin for one in self.work},
        )

    def _as_kernel(self, one: Work) -> bool:
        return "kernel_copies" in self.quirks and self._hip and one.what == "DtoD"

    # What the profiler writes

    def document(self) -> dict[str, Any]:
        """The header's entries first, the events last, as Kineto does."""
        header: dict[str, Any] = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "synthetic"}]}
        if self.flavour == "cuda":
            header |= {"cuda_runtime_version": 12040, "cupti_version": 22}
        elif self.flavour != "old":
            header |= {"hip_runtime_version": 60443483}
        return {**header, "displayTimeUnit": "ms", "baseTimeNanoseconds": 1759300074000000000,
                "traceEvents": self.events(), "traceName": "synthetic.json"}  # fmt: skip

    def events(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [
            {"ph": "M", "name": "process_name", "ts": 0, "pid": PROCESS, "tid": 0, "args": {"name": "python"}},
            {"ph": "M", "name": "thread_name", "ts": 0, "pid": PROCESS, "tid": MAIN, "args": {"name": "main"}},
        ]  # fmt: skip
        for name, begin, end, number in self.operators:
            found.append(
                self._host_row(
                    "cpu_op", name, begin, end, {**self._external(number), "Input Dims": [[64, 64], []]}
                )
            )
        for name, begin, end in self.marks:
            found.append(self._host_row("user_annotation", name, begin, end, {}))
        for number, (name, begin, end) in enumerate(self.syncs):
            found.append(
                self._host_row("cuda_runtime", self._api(name), begin, end, {"correlation": 500_000 + number})
            )
        for one in self.work:
            if not one.lost:
                found += [self._call(one), self._arrow("s", one, PROCESS, MAIN, one.call_begin)]
            row = self._row(one)
            found += [row, self._arrow("f", one, row["pid"], row["tid"], self._on_file(one.begin))]
        return found

    def _call(self, one: Work) -> dict[str, Any]:
        args: dict[str, Any] = {**self._external(one.operator), "cid": 27, "correlation": one.correlation}
        if one.what == "kernel":
            name = "LaunchKernel"
            args |= {"grid": [64, 1, 1], "block": [256, 1, 1]}
        else:
            name = "MemsetAsync" if one.what == "fill" else "MemcpyAsync"
            name = "MemcpyWithStream" if one.waited and self._hip else name
            if self._hip:
                args |= {"size" if self.flavour == "roctracer" and self.seed % 2 else "bytes": str(one.size)}
                args |= {"kind": _API_KINDS[one.what]} if one.what in _API_KINDS else {}
        return self._host_row("cuda_runtime", self._api(name), one.call_begin, one.call_end, args)

    def _row(self, one: Work) -> dict[str, Any]:
        stream = 0 if "h2d_stream0" in self.quirks and one.what == "HtoD" else one.stream
        args: dict[str, Any] = {
            **self._external(one.operator), "device": one.device, "stream": stream, "correlation": one.correlation,
        }  # fmt: skip
        category, name = "kernel", one.name
        if one.what == "kernel":
            args |= {"grid": [64, 1, 1], "block": [256, 1, 1]}
            args |= {"kind": "Dispatch Kernel"} if self.flavour == "rocprofiler" else {}
        elif self._as_kernel(one):
            name = "__amd_rocclr_copyBuffer"
        elif one.what == "fill":
            category, name = "gpu_memset", "Memset (Device)"
            args |= {"bytes": one.size}
        else:
            category = "gpu_memcpy"
            source, target = (_MEMORY[one.what[place]] for place in (0, -1))
            name = f"Memcpy {one.what} ({source} -> {target})"
            args |= {"bytes": one.size, "memory bandwidth (GB/s)": 1.5}
            if self.flavour in ("rocprofiler", "dtk"):
                args["kind"] = one.what if self.flavour == "rocprofiler" else _RECORD_TYPES[one.what]
            if "nameless" in self.quirks or self.flavour == "dtk":
                name = "Memcpy ? (? -> ?)"
                args |= {} if self.flavour == "dtk" else {"kind": "?"}
        old = {"kernel": "Kernel", "gpu_memcpy": "Memcpy", "gpu_memset": "Memset"}
        row = {
            "ph": "X", "cat": old[category] if self.flavour == "old" else category, "name": name, "pid": one.device,
            "tid": f"stream {stream}" if self.flavour == "old" else stream,
            "ts": self._on_file(one.begin) / 1000, "dur": (one.end - one.begin) / 1000,
        }  # fmt: skip
        return row if self.flavour == "roctracer" else {**row, "args": args}

    def _host_row(
        self, category: str, name: str, begin: int, end: int, args: dict[str, Any]
    ) -> dict[str, Any]:
        old = {"cuda_runtime": "Runtime", "cpu_op": "Operator"}
        category = old.get(category, category) if self.flavour == "old" else category
        return {"ph": "X", "cat": category, "name": name, "pid": PROCESS, "tid": MAIN,
                "ts": begin / 1000, "dur": (end - begin) / 1000, "args": args}  # fmt: skip

    def _arrow(self, phase: str, one: Work, pid: int, tid: Any, time: int) -> dict[str, Any]:
        # With more digits than a row's, as a writer that rounds only some of them has it.
        return {"ph": phase, "id": one.correlation, "pid": pid, "tid": tid, "ts": time / 1000 + 1e-4, "cat": "ac2g",
                "name": "ac2g", **({"bp": "e"} if phase == "f" else {})}  # fmt: skip

    def _external(self, number: int) -> dict[str, int]:
        return {"external id" if self.flavour == "old" else "External id": number}

    def _api(self, name: str) -> str:
        return ("hip" if self._hip else "cuda") + name
