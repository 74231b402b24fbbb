"""What the evidence of one side says of a benchmark's results: right, wrong, unchecked, failed, and how far off."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..comparing.fields import is_number
from ..evidence.record import OK, SKIPPED, WRONG
from ..metrics import METRICS

#: A growing error is none of interest up to so many units of rounding, nor up to this share of the tolerance.
ULPS, OF_TOLERANCE = 10, 0.1

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Checked:
    """checked: a reference or a check judged it; why_not: why none did. wrong, failed: the status of a measurement
    that was so, "" where none was. not_finite: NaN or infinity. error: the largest of all rounds.
    floor: up to this an error counts as rounding, or as far inside the tolerance.
    """

    checked: bool = False
    why_not: str = ""
    wrong: str = ""
    not_finite: bool = False
    failed: str = ""
    error: float | None = None
    floor: float = 0.0


def checked(records: Sequence[Record], sessions: Collection[str]) -> Checked:
    """records: of one benchmark and its parameters, oldest first, at least one. sessions: those that the compared
    figures come from.

    Every measurement of those counts, and of the newest session too: a result that was wrong once is wrong.
    Those judged by another reference, check or tolerance than the newest one do not.
    """
    newest = records[-1]
    wanted = {*sessions, str(newest["session"] or "")}
    judged_by = _judge_version(newest)
    used = [
        one
        for one in records
        if str(one["session"] or "") in wanted and _judge_version(one) == judged_by and not _skipped(one)
    ]
    verdicts = [_wrong(one) for one in used]
    wrong = [text for text in verdicts if text]
    failed = [
        str(one["status"])
        for one, text in zip(used, verdicts, strict=True)
        if one["status"] != OK and not text
    ]
    errors = [_number(one["correctness"].get("max_error")) for one in used]
    judged = any("correct" in one["correctness"] for one in used)
    return Checked(
        checked=judged,
        why_not="" if judged else _why_not(newest),
        wrong=wrong[-1] if wrong else "",
        not_finite=any(_not_finite(one) for one, text in zip(used, verdicts, strict=True) if text),
        failed=failed[-1] if failed else "",
        error=max((one for one in errors if one is not None), default=None),
        floor=max((_floor(one["correctness"]) for one in used), default=0.0),
    )


def _wrong(record: Record) -> str:
    """The status of a wrong result; also where only the figures beside it say so."""
    status = str(record["status"])
    if status.startswith(WRONG):
        return status
    found = record["correctness"]
    if status == OK and (found.get("correct") is False or _not_finite(record)):
        return f"{WRONG}: its status is ok, but its figures are wrong or not finite"
    return ""


def _floor(found: Mapping[str, Any]) -> float:
    """Relative to the largest value of the reference, as `max_error` is."""
    largest, relative = _number(found.get("max_absolute")), _number(found.get("max_error"))
    scale = largest / relative if largest and relative else math.inf
    tolerance = (_number(found.get("rtol")) or 0.0) + (_number(found.get("atol")) or 0.0) / scale
    return max(OF_TOLERANCE * tolerance, ULPS * (_number(found.get("epsilon")) or 0.0))


def _not_finite(record: Record) -> bool:
    found = record["correctness"]
    task = (record.get("missing") or {}).get("task_metric", "")
    return bool(found.get("non_finite")) or "no finite number" in f"{task}{record['status']}"


def _judge_version(record: Record) -> dict[str, str]:
    versions = record["versions"].items()
    return {
        name: str(one) for name, one in versions if name in METRICS and METRICS[name].source == "correctness"
    }


def _skipped(record: Record) -> bool:
    return str(record["status"]).startswith(SKIPPED)


def _why_not(record: Record) -> str:
    return str(record["correctness"].get("unchecked") or "neither a reference nor a check")


def _number(value: Any) -> float | None:
    return float(value) if is_number(value) and math.isfinite(value) else None
