"""All data of the pages, in the order in which their makers need each other."""

from __future__ import annotations

import datetime
from importlib.metadata import version

from . import comparisons, evidence_pages, index, overview, profiles, series
from .model import Work


def build(work: Work) -> None:
    """Writes every data file. Raises OSError where one cannot be written."""
    overview.build(work)
    # asv's part of the publish needs the change points too: who comes to them first finds them for both.
    series.build(work)
    work.cache.flush()
    evidence_pages.build(work, profiles.build(work))
    # The last that is made, since it goes on as long as nobody waits.
    comparisons.build(work)
    # It lists what there is.
    index.build(work, version("dcu-asv-ext"), datetime.datetime.now(datetime.timezone.utc))
