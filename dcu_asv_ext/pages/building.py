"""All data of the pages, in the order in which their makers need each other."""

from __future__ import annotations

from . import comparisons, overview
from .model import Work


def build(work: Work) -> None:
    """Writes every data file. Raises OSError where one cannot be written."""
    overview.build(work)
    # Last, since it goes on as long as nobody waits.
    comparisons.build(work)
