"""How far the host is ahead of the device."""

from __future__ import annotations

from .analysis import Analysis
from .waits import Launches


def launches(analysis: Analysis) -> Launches:
    raise NotImplementedError
