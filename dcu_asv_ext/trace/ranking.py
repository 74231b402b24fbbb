"""Findings of a trace, ranked by the time that they could give back."""

from __future__ import annotations

import os
from collections.abc import Sequence

from .analysis import Analysis
from .finding import Finding
from .loading import load


def findings(path: str | os.PathLike[str]) -> Sequence[Finding]:
    """What a trace file shows that costs time, the most first. Raises TraceError."""
    return ranked(Analysis(load(path)))


def ranked(analysis: Analysis) -> Sequence[Finding]:
    raise NotImplementedError
