"""What `asv rm` removed from a result file goes from the evidence too, so that nothing brings it back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..evidence.store import is_there, iter_lines, parse_line, remove, replace_text, unpack
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
    _forget_session(evidence)


def _without(line: str, gone: dict[str, set[str]]) -> str | None:
    """The line without the metrics that go; None where nothing is left of it."""
    record = parse_line(line)
    metrics = gone.get(record["benchmark"]) if record is not None else None
    if record is None or not metrics or not metrics & set(record["metrics"]):
        return line
    record["metrics"] = [one for one in record["metrics"] if one not in metrics]
    return json.dumps(record, separators=(",", ":")) + "\n" if record["metrics"] else None


def remove_all(evidence: Path) -> None:
    """The whole result file was removed."""
    remove(evidence)
    _forget_session(evidence)


def _forget_session(evidence: Path) -> None:
    with suppress(FileNotFoundError):
        marker_of(evidence).unlink()
