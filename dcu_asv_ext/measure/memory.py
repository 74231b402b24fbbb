"""The memory pass: peaks of one steady call."""

from __future__ import annotations

from .first_call import figures
from .passes import Run


def memory(run: Run) -> None:
    """Peaks of one steady call, before anything is kept alive for later passes."""
    run.stage = "the memory pass"
    reset = run.reset()
    if reset is not None:
        reset()
    peaks = run.device.peak_memory(run.call())
    run.record.memory |= figures(peaks) | {"method": peaks.method}
    if peaks.missing:
        run.record.memory["missing"] = dict(peaks.missing)
    if peaks.peak_allocated is None:
        _forget_first(run, peaks.missing)
    for metric in ("peak_allocated", "peak_reserved"):
        if run.wants(metric) and getattr(peaks, metric) is None:
            run.record.missing[metric] = peaks.missing.get(metric, "the device does not tell it")


def _forget_first(run: Run, reasons: dict[str, str]) -> None:
    """What the first call read from counters that have proved to count nothing is no measurement either."""
    first = run.record.memory.get("first", {})
    for name in reasons.keys() & first.keys():
        del first[name]
        first.setdefault("missing", {})[name] = reasons[name]
