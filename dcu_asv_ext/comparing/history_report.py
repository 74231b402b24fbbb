"""From the series of a branch to what is told of them: changes, events, what was chosen, what was left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from . import figures
from .events import split_events
from .history import Change, Commit, Event, HistoryReport, Timeline, changes_of, restarts, series_of
from .model import Key
from .set_ups import set_up_changes


def history_report(
    branch: str,
    commits: Sequence[Commit],
    lines: Sequence[Timeline],
    *,
    match: Callable[[Key], bool] | None = None,
    since: int | None = None,
    kind: str | None = None,
    notes: Sequence[str] = (),
    find: Callable[[Timeline], list[Change]] = changes_of,
) -> HistoryReport:
    """lines: all series there are; events take the whole suite to be seen. Of these are told those that `match`.

    since: only what can have changed after this place of the branch. kind: "regression" or "improvement"; of an event
    what most of its members are. notes: go first. find: finds the changes of a series, as `changes_of` does.
    """
    alone, events = split_events(lines, [one for line in lines for one in find(line)])
    chosen = [line for line in lines if match is None or match(line.key)]
    within = set(chosen)
    set_ups = set_up_changes(chosen, find)

    def wanted(one: Change | Event) -> bool:
        return (since is None or one.upto > since) and (kind is None or one.kind == kind)

    return HistoryReport(
        branch,
        commits,
        chosen,
        [one for one in alone if one.timeline in within and wanted(one)],
        [
            one
            for one in events
            if wanted(one) and not within.isdisjoint(each.timeline for each in one.members)
        ],
        [one for one in restarts(chosen) if since is None or one.place > since],
        [
            one
            for one in set_ups
            if (since is None or one.place > since)
            and (kind is None or any(member.kind == kind for member in one.members))
        ],
        match is not None,
        None if since is None else commits[since],
        [*notes, *_left_out(chosen, bool(set_ups))],
    )


def files_left_out(branch: str, elsewhere: int, dirty: int) -> list[str]:
    """Sentences on result files of other commits than the branch's, and of changed working trees."""
    told = []
    if elsewhere:
        told.append(
            f"{figures.count(elsewhere, 'result file')} of commits that are not on {branch} (first parents "
            "only) left out."
        )
    if dirty:
        told.append(f"{figures.count(dirty, 'result file')} of changed working trees left out.")
    return told


def _left_out(lines: Sequence[Timeline], several: bool) -> Iterator[str]:
    """several: there are series of more than one set-up."""
    odd = [
        line
        for mine in series_of(lines).values()
        if not all(line.few for line in mine)
        for line in mine
        if line.few
    ]
    if odd:
        values = figures.count(sum(len(line.values) for line in odd), "value")
        series = figures.count(len(odd), "series", "series")
        what = "version, protocol or set-up" if several else "version or protocol"
        yield f"Not looked at: {values} of another {what} than most of their series have ({series})."
    negative = [line for line in lines if line.negative]
    if negative:
        names = ", ".join(dict.fromkeys(line.series.asv_name or line.key.benchmark for line in negative[:3]))
        yield (
            f"{figures.count(len(negative), 'series', 'series')} with negative values cannot be looked at, since "
            f"levels are compared by their ratio: {names}{', ...' if len(negative) > 3 else ''}."
        )
