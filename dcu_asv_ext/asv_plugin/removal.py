"""What `asv rm` removes goes from the evidence too, so that nothing brings it back; so do traces without a figure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..evidence import traces
from ..evidence.store import is_there, iter_lines, parse_line, remove, replace_text, unpack
from ..metrics import GROUPS, PROFILE
from .session import marker_of


def remove_metrics(evidence: Path, names: Iterable[str]) -> None:
    """Drop the series `<module>.<function>.<metric>`; a measurement without any series left goes whole.

    Lines that are no evidence stay as they are.
    """
    if not is_there(evidence):
        return
    gone: dict[str, set[str]] = {}
    for name in names:
        family, _, metric = name.rpartition(".")
        gone.setdefault(family, set()).add(metric)
    before = list(iter_lines(evidence))
    after = [left for line in before if (left := _without(line, gone)) is not None]
    if after == before:
        return
    if after:
        unpack(evidence)
        replace_text(evidence, "".join(after))
    else:
        remove(evidence)
    records = (parse_line(line) for line in after)
    profiled = {record["benchmark"] for record in records if record is not None and record.get("profile")}
    traces.remove(evidence, {family for family in gone if family not in profiled})
    _forget_session(evidence)


def _without(line: str, gone: dict[str, set[str]]) -> str | None:
    """The line without the metrics that go; None where nothing is left of it."""
    record = parse_line(line)
    metrics = gone.get(record["benchmark"]) if record is not None else None
    if record is None or not metrics or not metrics & set(record["metrics"]):
        return line
    profiled = _has_profile(record)
    record["metrics"] = [one for one in record["metrics"] if one not in metrics]
    if profiled and not _has_profile(record):
        record.pop("profile", None)
    return json.dumps(record, separators=(",", ":")) + "\n" if record["metrics"] else None


def _has_profile(record: dict[str, Any]) -> bool:
    return not set(GROUPS[PROFILE]).isdisjoint(record["metrics"])


def remove_all(evidence: Path) -> None:
    """The whole result file was removed."""
    remove(evidence)
    traces.remove(evidence)
    _forget_session(evidence)


def _forget_session(evidence: Path) -> None:
    with suppress(FileNotFoundError):
        marker_of(evidence).unlink()
