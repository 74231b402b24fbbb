"""Kept traces in a merge: they come with the results that they are of."""

from __future__ import annotations

import filecmp
from pathlib import Path
from typing import TYPE_CHECKING

from ..evidence import traces
from .result_files import ResultFile, ResultsError

if TYPE_CHECKING:
    from .merging import Plan


def take_traces(target: Path, file: ResultFile, name: str, made: Plan) -> None:
    """Plan to copy those of one result; where both folders have one, that which is here stays, and that is told."""
    assert file.evidence is not None
    stay = 0
    try:
        for one in traces.kept(file.evidence):
            path = f"{name}/{one.path.parent.name}/{one.path.name}"
            known = made.copies.get(path) or target / path
            if not known.exists():
                made.copies[path] = one.path
            elif not filecmp.cmp(known, one.path, shallow=False):
                stay += 1
    except OSError as fault:
        raise ResultsError(f"a trace cannot be read: {fault}") from None
    if stay:
        what = "1 trace" if stay == 1 else f"{stay} traces"
        made.notes.append(f"{what} of {file.evidence.parent.name}/{file.stem} stayed behind: another is here")
