"""Whose evidence is published: the newest commits', and of older ones those that somebody will look for."""

from __future__ import annotations

from typing import NamedTuple

from .model import Work

#: So many older commits at most for each of the newest, so that a long history's site does not grow with it.
OLDER = 4


class Choice(NamedTuple):
    """Positions in `Work.places` and `Work.commits`. needed: it is waited for."""

    place: int
    commit: int
    needed: bool


def chosen(work: Work) -> list[Choice]:
    """The newest `published_evidence` commits of each place that have evidence, and the newest of each branch; then
    both sides of each change point and the tags, the newest first. By place, the newest commit first."""
    if not work.published_evidence:
        return []
    found = []
    for place in range(len(work.places)):
        has = _with_evidence(work, place)
        newest = {*has[-work.published_evidence :], *_heads(work, has)}
        wanted = _sides(work, place) | {*work.tags.values()}
        older = sorted(wanted & {*has} - newest)[-OLDER * work.published_evidence :]
        found += [Choice(place, one, one in newest) for one in sorted({*newest, *older}, reverse=True)]
    return found


def _heads(work: Work, has: list[int], count: int = 1) -> set[int]:
    """The newest commits of each branch that have evidence, so many of each."""
    known = {*has}
    lines = ([one for one in line.commits if one in known] for line in work.branches.values())
    return {one for line in lines for one in line[-count:]}


def with_timelines(work: Work, place: int) -> list[Choice]:
    """Commits whose kept traces get a page: the newest two of each branch that have evidence, the newest two of all,
    and both sides of change points; the newest first. The heads of branches are waited for."""
    has = _with_evidence(work, place)
    heads = _heads(work, has)
    wanted = {*has[-2:], *_heads(work, has, 2), *(_sides(work, place) & {*has})}
    return [Choice(place, one, one in heads) for one in sorted(wanted, reverse=True)]


def _with_evidence(work: Work, place: int) -> list[int]:
    """The oldest first."""
    return [one for one in work.measured(place) if work.entries[place, one].evidence is not None]


def _sides(work: Work, place: int) -> set[int]:
    return {one for where, *pair in work.change_pairs if where == place for one in pair}
