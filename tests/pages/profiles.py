"""Pages of made-up profiles with exact times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcu_asv_ext.trace.finding import Finding
from dcu_asv_ext.trace.report_html import write_html
from tests.trace.building import Building

STEP = 1000.0  # us
KERNELS = ("matmul_kernel", "add_kernel", "relu_kernel")


def training(steps: int = 3) -> Building:
    """Each step of 1 ms: three operators with a kernel each on two streams, a copy back that the host waits for."""
    found = Building()
    found.events.clear()  # only what is told here
    for step in range(steps):
        at = step * STEP
        found.span(f"ProfilerStep#{step}", at, at + STEP - 10)
        for number, name in enumerate(("aten::mm", "aten::add", "aten::relu")):
            begin = at + 100 + 100 * number
            found.operator(name, begin, begin + 60, **{"Input Dims": [[64, 64], [64, 64]]})
            launch(
                found, KERNELS[number], begin + 10, begin + 40, begin + 100 + 10 * number, stream=number % 2
            )
        found.copies("Memcpy DtoH", (at + 500, at + 700), (at + 520, at + 690), size=4096, asked="2")
    return found


def launch(found: Building, name: str, called: float, begin: float, end: float, **place: Any) -> None:
    found.launch(called, begin, end, **place)
    found.events[-1]["name"] = name


def finding(begin: float, end: float, **more: Any) -> Finding:
    """A finding over these microseconds."""
    told: dict[str, Any] = {
        "kind": "unexpected synchronisation",
        "seconds": 2e-4,
        "text": "The host waits for the device in `aten::item`.",
        "next_step": "Keep the value on the device.",
        "share": 0.2,
        "events": 3,
        "source": "train.py:12 step",
    }
    return Finding(**{**told, "begin": round(begin * 1000), "end": round(end * 1000), **more})


def written(folder: Path, built: Building, findings: list[Finding] | None = None, **more: Any) -> Path:
    """The page of a trace. findings: instead of those that its trace has."""
    analysis = built.analysis(folder)
    if findings is not None:
        analysis.__dict__["findings"] = findings
    path = folder / "page.html"
    write_html(path, analysis, **{"title": "train.step", "overhead": 1.25, **more})
    return path
