"""The memory pass: peaks of one steady call."""

from __future__ import annotations

from .passes import Run


def memory(run: Run) -> None:
    """Peaks of one steady call, before anything is kept alive for later passes."""
    run.stage = "the memory pass"
    reset = run.reset()
    if reset is not None:
        reset()
    peaks = run.device.peak_memory(run.call())
    run.record.memory = {
        name: value
        for name, value in vars(peaks).items()
        if value is not None and name not in ("missing", "method")
    } | {"method": peaks.method}
    for metric in ("peak_allocated", "peak_reserved"):
        if run.wants(metric) and getattr(peaks, metric) is None:
            run.record.missing[metric] = peaks.missing.get(metric, "the device does not tell it")
