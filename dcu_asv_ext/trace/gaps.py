"""Gaps between device rows, by cause."""

from __future__ import annotations

from collections.abc import Sequence

from .analysis import Analysis
from .waits import Gap


def gaps(analysis: Analysis) -> Sequence[Gap]:
    raise NotImplementedError
