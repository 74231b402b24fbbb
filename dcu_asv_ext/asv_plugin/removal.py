"""What `asv rm` removed from a result file goes from the evidence too, so that nothing brings it back."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..evidence.store import SUFFIX, read, rewrite


def remove_metrics(evidence: Path, names: Iterable[str]) -> None:
    """Drop the series `<module>.<function>.<metric>`; a measurement without any series left goes whole."""
    if not evidence.exists():
        return
    gone: dict[str, set[str]] = {}
    for name in names:
        family, _, metric = name.rpartition(".")
        gone.setdefault(family, set()).add(metric)
    kept: list[dict[str, Any]] = []
    changed = False
    for record in read(evidence).records:
        metrics = gone.get(record["benchmark"])
        if metrics:
            changed = True
            record["metrics"] = [one for one in record["metrics"] if one not in metrics]
            if not record["metrics"]:
                continue
        kept.append(record)
    if changed:
        rewrite(evidence, kept)
        _forget_session(evidence)


def remove_all(evidence: Path) -> None:
    """The whole result file was removed."""
    with suppress(FileNotFoundError):
        evidence.unlink()
    _forget_session(evidence)


def _forget_session(evidence: Path) -> None:
    with suppress(FileNotFoundError):
        evidence.with_name(evidence.name[: -len(SUFFIX)] + ".session").unlink()
