"""Small traces as Kineto writes them, with times that a test chooses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dcu_asv_ext.trace.analysis import Analysis
from dcu_asv_ext.trace.loading import load

MAIN = 100


class Building:
    """All times in microseconds; a span of no length stands at 0, so that a `Trace` has them times 1000."""

    def __init__(self, **header: Any) -> None:
        self.header = {"hip_runtime_version": 60443483, **header}
        self.events: list[dict[str, Any]] = []
        self._correlation = 0
        self.span("start", 0, 0)

    def _add(self, category: str, name: str, begin: float, end: float, **more: Any) -> None:
        row = {"ph": "X", "cat": category, "name": name, "ts": begin, "dur": round(end - begin, 3), "pid": 1}
        self.events.append({**row, **more})

    def operator(self, name: str, begin: float, end: float, thread: int = MAIN, **args: Any) -> None:
        self._add("cpu_op", name, begin, end, tid=thread, args=args)

    def frame(self, name: str, begin: float, end: float, thread: int = MAIN, **args: Any) -> None:
        self._add("python_function", name, begin, end, tid=thread, args=args)

    def span(self, name: str, begin: float, end: float, thread: int = MAIN) -> None:
        self._add("user_annotation", name, begin, end, tid=thread)

    def call(self, name: str, begin: float, end: float, thread: int = MAIN, **args: Any) -> None:
        self._add("cuda_runtime", name, begin, end, tid=thread, args=args)

    def kernel(self, begin: float, end: float, stream: int = 0, device: int = 0, **args: Any) -> None:
        args = {"device": device, "stream": stream, **args}
        self._add("kernel", "work", begin, end, pid=device, tid=stream, args=args)

    def copy(
        self, name: str, begin: float, end: float, stream: int = 0, device: int = 0, **args: Any
    ) -> None:
        args = {"device": device, "stream": stream, **args}
        self._add("gpu_memcpy", name, begin, end, pid=device, tid=stream, args=args)

    def launch(
        self,
        called: float,
        begin: float,
        end: float,
        *,
        took: float = 5,
        thread: int = MAIN,
        stream: int = 0,
        device: int = 0,
    ) -> None:
        """A kernel with the call that launched it."""
        number = self.correlation()
        self.call("hipLaunchKernel", called, called + took, thread, correlation=number)
        self.kernel(begin, end, stream, device, correlation=number)

    def copies(
        self,
        name: str,
        called: tuple[float, float],
        ran: tuple[float, float],
        *,
        call: str = "hipMemcpyWithStream",
        size: int | None = None,
        asked: str | None = None,
        stream: int = 0,
    ) -> None:
        """A copy with the call that asked for it."""
        number = self.correlation()
        told = {} if asked is None else {"kind": asked}
        self.call(call, *called, correlation=number, **told)
        self.copy(name, *ran, stream, correlation=number, **({} if size is None else {"bytes": size}))

    def correlation(self) -> int:
        self._correlation += 1
        return self._correlation

    def analysis(self, folder: Path) -> Analysis:
        path = folder / "trace.json"
        path.write_text(json.dumps({**self.header, "traceEvents": self.events}))
        return Analysis(load(path))
