"""Copies by direction and by the line that made them."""

from __future__ import annotations

from collections.abc import Sequence

from .analysis import Analysis
from .waits import CopyGroup


def copies(analysis: Analysis) -> Sequence[CopyGroup]:
    raise NotImplementedError
