"""One line that says why a latency changed, from the profiles of both sides, where it is sure."""

from __future__ import annotations

from .model import ResultSet, Row
from .profile_changes import ProfilesDiffer, compare_profiles
from .profile_explaining import CHANGED, why
from .profile_reading import profiled_records


def explanation(row: Row, before: ResultSet, after: ResultSet) -> str:
    """ "" where the latency did not surely change, a side has no profile, or the profiles do not surely tell why."""
    if row.key.metric != "latency" or row.verdict not in CHANGED or row.comparison is None:
        return ""
    place = row.key.benchmark, row.key.params
    try:
        return why(compare_profiles(profiled_records(before, place), profiled_records(after, place), row))
    except ProfilesDiffer:
        return ""
