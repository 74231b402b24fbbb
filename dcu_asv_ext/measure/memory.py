"""The memory pass: one steady call, its peaks by the allocator's counters and on the whole card."""

from __future__ import annotations

from ..devices.base import NotMeasured
from .first_call import figures, reasons
from .passes import Run
from .whole_card import CardLook


def memory(run: Run) -> None:
    """Before anything is kept alive for later passes."""
    run.stage = "the memory pass"
    reset = run.reset()
    if reset is not None:
        reset()
    missing: dict[str, str] = {}
    look = _card_look(run, missing)
    peaks = run.device.peak_memory(run.call() if look is None else look.around(run.call()))
    found = run.record.memory
    found |= figures(peaks) | {"method": peaks.method}
    missing |= peaks.missing
    if look is not None:
        try:
            found["card"] = look.record()
            found["peak_card"] = found["card"]["peak"]
        except NotMeasured as reason:
            missing["card"] = reason.reason
    if missing:
        found["missing"] = reasons(missing)
    if peaks.peak_allocated is None:
        _forget_first(run, peaks.missing)
    for metric in ("peak_allocated", "peak_reserved", "peak_card"):
        if run.wants(metric) and metric not in found:
            reason_told = missing.get("card" if metric == "peak_card" else metric)
            run.record.missing[metric] = reason_told or "the device does not tell it"


def _card_look(run: Run, missing: dict[str, str]) -> CardLook | None:
    try:
        return CardLook(run.device.card_source(), run.device)
    except NotMeasured as reason:
        missing["card"] = reason.reason
        return None


def _forget_first(run: Run, missing: dict[str, str]) -> None:
    """What the first call read from counters that have proved to count nothing is no measurement either."""
    first = run.record.memory.get("first")
    if first is None:
        return
    told = {name: reason for name, reason in missing.items() if name in first}
    for name in told:
        del first[name]
    first["missing"] = reasons(first.get("missing", {}) | told)
