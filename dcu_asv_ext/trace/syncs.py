"""Synchronisations by kind and by the line that made them."""

from __future__ import annotations

from collections.abc import Sequence

from .analysis import Analysis
from .waits import SyncGroup


def syncs(analysis: Analysis) -> Sequence[SyncGroup]:
    raise NotImplementedError
