"""One line that says why a latency changed, from the profiles of both sides, where it is sure."""

from __future__ import annotations

from ..stats.verdicts import IMPROVEMENT, REGRESSION
from .model import ResultSet, Row
from .profile_changes import ProfilesDiffer, compare_profiles
from .profile_explaining import why
from .profile_reading import profiled_records

#: The measurements that were profiled must show the same change as the compared rounds, within this share of it.
_AGREE = 0.25


def explanation(row: Row, before: ResultSet, after: ResultSet) -> str:
    """ "" where the latency did not surely change, a side has no profile, or the profiles do not surely tell why."""
    found = row.comparison
    if row.key.metric != "latency" or row.verdict not in (REGRESSION, IMPROVEMENT) or found is None:
        return ""
    place = row.key.benchmark, row.key.params
    try:
        change = compare_profiles(profiled_records(before, place), profiled_records(after, place))
    except ProfilesDiffer:
        return ""
    told, moved = change.explanation, found.after - found.before
    if told is None or abs(told.change - moved) > _AGREE * abs(moved):
        return ""
    return why(change, row.verdict)
