"""A `HistoryReport` as text: what changed at which commit, newest first."""

from __future__ import annotations

import datetime
import itertools
import statistics
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..stats.verdicts import IMPROVEMENT, REGRESSION
from . import figures
from .history import FEWEST, Change, Event, HistoryReport, Timeline, series_of, short
from .model import SHARE
from .set_ups import SetUpChange
from .sparkline import BLOCKS, sparkline, squeeze, window

#: Orders: newest first, or largest change first.
DATE, SIZE = "date", "size"

#: Commits drawn around a change, one character each: as many as there is room for, between these.
_FEWEST_DRAWN, _MOST_DRAWN = 8, 40
_KIND = len(IMPROVEMENT)
#: How far a picture reaches beyond the two levels, as a share of the step.
_BEYOND = 0.3
#: Names told in a note about many benchmarks.
_NAMED = 3
#: The scale of a series without a change spans at least this share of its level: a flat one is drawn flat.
_LEAST_SPAN = 0.10
#: Median absolute deviation to standard deviation, for normal noise.
_MAD_TO_SD = 1.4826
_GAP = "  "
#: Stands in the place of a verdict in the lines below an event.
_MEMBER = "with it"
_COLOURS = {REGRESSION: "31", IMPROVEMENT: "32"}

Entry = Change | Event | SetUpChange
_Entry = TypeVar("_Entry", bound=Entry)


@dataclass(frozen=True)
class Style:
    """width: columns of the terminal. ramp: letters of the pictures. order: "date" or "size". limit: how many changes
    and events are shown, 0 for all. quiet: series without a change point are shown too."""

    width: int = 100
    ramp: str = BLOCKS
    order: str = DATE
    limit: int = 0
    quiet: bool = False
    colour: bool = False


def render(report: HistoryReport, style: Style) -> str:
    """The whole page, without a newline at its end."""
    entries = ordered(entries_of(report), style.order)
    shown = entries[: style.limit] if style.limit else entries
    page = _Page(report, style, list(_told(shown, report.chosen)))
    lines = [*_summary(report, style), ""]
    for _, group in itertools.groupby(shown, key=lambda one: one.place):
        lines += [*page.group(list(group)), ""]
    if len(shown) < len(entries):
        lines += [f"Not shown: {len(entries) - len(shown):,} more (--limit 0 shows all).", ""]
    if style.quiet:
        lines += [*page.quiet(), ""]
    lines += _restarts(report, style)
    return "\n".join(lines).rstrip("\n")


def entries_of(report: HistoryReport) -> list[Entry]:
    return [*report.changes, *report.events, *report.set_ups]


def ordered(entries: Sequence[_Entry], order: str) -> list[_Entry]:
    """Newest or largest first; at one commit the set-up first, then events, regressions and improvements, largest
    first."""

    def weight(one: Entry) -> tuple[float, ...]:
        if isinstance(one, SetUpChange):
            rank = 3
        else:
            rank = 2 if isinstance(one, Event) else int(one.kind == REGRESSION)
        return (one.size,) if order == SIZE else (one.place, rank, one.size)

    return sorted(entries, key=weight, reverse=True)


def _told(entries: Sequence[Entry], chosen: bool) -> Iterator[Change]:
    """Everything that has a line with figures."""
    for one in entries:
        if isinstance(one, Change):
            yield one
        elif chosen or isinstance(one, SetUpChange):
            yield from one.members


def _summary(report: HistoryReport, style: Style) -> Iterator[str]:
    since = f" since {report.since.short}" if report.since else ""
    yield from _wrapped(f"{report.branch}{since}: {_counts(report)}.", style)
    for machine, env in dict.fromkeys((one.machine, one.env) for one in report.timelines):
        mine = [one for one in report.timelines if (one.machine, one.env) == (machine, env)]
        places = sorted({place for one in mine for place in one.places})
        first, last = report.commits[places[0]], report.commits[places[-1]]
        few = short(mine)
        too_short = f", {few:,} of them too short to tell" if few else ""
        yield from _wrapped(
            f"{machine}, {env}: {figures.count(len(series_of(mine)), 'series', 'series')}{too_short}, "
            f"{figures.count(len(places), 'measured commit')} of {len(report.commits):,}, "
            f"{_day(first.date)} to {_day(last.date)}.",
            style,
        )
    for note in report.notes:
        yield from _wrapped(note, style)


def _counts(report: HistoryReport) -> str:
    if all(one.few for one in report.timelines):
        longest = max((len(one.values) for one in report.timelines), default=0)
        return (
            f"no series is long enough: a change point takes {FEWEST} values, and the longest has {longest}"
        )
    kinds = [one.kind for one in report.changes]
    told = [
        figures.count(kinds.count(REGRESSION), REGRESSION),
        figures.count(kinds.count(IMPROVEMENT), IMPROVEMENT),
        figures.count(len(report.events), "machine event"),
    ]
    if report.set_ups:
        told.append(figures.count(len(report.set_ups), "change of the set-up", "changes of the set-up"))
    pending = sum(one.pending for one in report.changes) + sum(one.pending for one in report.events)
    return f"{', '.join(told)}{f' ({pending} of them pending)' if pending else ''}"


class _Page:
    """The widths that all lines of a page share."""

    def __init__(self, report: HistoryReport, style: Style, changes: Sequence[Change]) -> None:
        self.report, self.style = report, style
        self.several = len({(one.machine, one.env) for one in report.timelines}) > 1
        ratios = max((len(_ratio(one)) for one in changes), default=0)
        pairs = max((figures.columns(_pair(one)) for one in changes), default=0)
        names = max((figures.columns(self._name(one.timeline)) for one in changes), default=0)
        self.ratios, self.pairs = ratios, pairs
        used = len(_GAP) + _KIND + len(_GAP) + ratios + len(_GAP) + pairs + len(_GAP)
        room = style.width - used - names - len(_GAP)
        #: Whether a change takes one line, its name behind the figures.
        self.wide = room > _MOST_DRAWN // 2
        if not self.wide:
            room = style.width - used - len(_GAP)
        self.drawn = min(max(room - 1, _FEWEST_DRAWN), _MOST_DRAWN)

    def group(self, entries: Sequence[Entry]) -> Iterator[str]:
        """Everything at one commit, below the commit's own line."""
        commit = self.report.commits[entries[0].place]
        line = f"{_day(commit.date)}  {commit.short}  {figures.printable(commit.subject)}"
        yield _clipped(line.rstrip(), self.style.width)
        ranges = {(one.after, one.upto) for one in entries}
        shared = len(ranges) == 1
        if shared and self._range(entries[0]):
            yield from _wrapped(self._range(entries[0]), self.style, _GAP)
        for one in entries:
            notes = [] if shared else [self._range(one)]
            if not isinstance(one, SetUpChange) and one.pending:
                notes.append(f"pending: {_pending(one)}")
            if isinstance(one, Event):
                yield from self._event(one)
            elif isinstance(one, SetUpChange):
                yield from self._set_up(one)
            else:
                yield from self._change(one, one.kind)
            told = "; ".join(note for note in notes if note)
            if told:
                yield from _wrapped(told, self.style, _GAP * 2)

    def _range(self, one: Entry) -> str:
        number = one.upto - one.after
        if number <= 1:
            return ""
        first, last = self.report.commits[one.after], self.report.commits[one.upto]
        how = "git log " if isinstance(one, Change) else ""
        return f"can be any of {number:,} commits: {how}{first.short}..{last.short}"

    def _change(self, one: Change, kind: str) -> Iterator[str]:
        shown = _GAP.join(
            (
                self._kind(kind),
                f"{_ratio(one):<{self.ratios}}",
                figures.left(_pair(one), self.pairs),
                f"{self._picture(one):<{self.drawn + 1}}",
            )
        )
        name = self._name(one.timeline)
        if self.wide:
            yield f"{_GAP}{shown}{_GAP}{name}"
        else:
            yield f"{_GAP}{name}"
            yield f"{_GAP * 2}{shown}".rstrip()

    def _event(self, one: Event) -> Iterator[str]:
        where = f" on {one.machine}, {one.env}" if self.several else ""
        moved = f"{one.moved:,} of {figures.count(one.benchmarks, 'benchmark')}"
        by = _by(one)
        both = f"{one.worse:,} series worse, {len(one.members) - one.worse:,} better"
        yield from _wrapped(
            f"machine event{where}: {moved} moved together, by {by} ({both}); the machine changed, or something that "
            "all of them use",
            self.style,
            _GAP,
        )
        if self.report.chosen:
            mine = set(self.report.timelines)
            yield from self._members([each for each in one.members if each.timeline in mine])

    def _set_up(self, one: SetUpChange) -> Iterator[str]:
        where = f" on {one.machine}, {one.env}" if self.several else ""
        lines = figures.count(len(one.lines), "series", "series")
        if one.beside:
            what = f"{lines} of it, beside those of the set-up before"
        else:
            what = f"{lines} {'begins' if len(one.lines) == 1 else 'begin'} anew"
        if one.ratio is not None:
            ratios = one.ratios
            what += f"; {len(ratios):,} moved with it, by {figures.ratio(one.ratio)}"
            if len(ratios) > 1:
                what += f" in the middle, {figures.ratio(min(ratios))} to {figures.ratio(max(ratios))}"
        yield from _wrapped(f"{one.sentence}{where}; {what}", self.style, _GAP)
        yield from self._members(one.members)

    def _members(self, members: Sequence[Change]) -> Iterator[str]:
        for member in ordered(members, SIZE)[:_NAMED]:
            yield from self._change(member, _MEMBER)

    def _kind(self, kind: str) -> str:
        text = f"{kind:<{_KIND}}"
        return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m" if self.style.colour and kind in _COLOURS else text

    def _name(self, one: Timeline) -> str:
        where = f"  ({one.machine}, {one.env})" if self.several else ""
        return f"{figures.name(one.key, one.series)} {one.key.metric}{where}"

    def _picture(self, one: Change) -> str:
        """The neighbours of the change; its two levels lie in the second block from below and from above."""
        values = one.timeline.values
        start, stop = window(len(values), one.index, self.drawn)
        low, high = sorted((one.point.before, one.point.after))
        edge = _BEYOND * (high - low)
        return sparkline(values[start:stop], low - edge, high + edge, {one.index - start}, self.style.ramp)

    def quiet(self) -> Iterator[str]:
        """One line for each series without a change point."""
        members = itertools.chain(*(one.members for one in self.report.events))
        changed = {one.timeline for one in itertools.chain(self.report.changes, members)}
        mine = [
            one
            for parts in series_of(self.report.timelines).values()
            for one in parts
            if one not in changed and (not one.few or all(part.few for part in parts))
        ]
        yield f"{figures.count(len(mine), 'series', 'series')} without a change point"
        levels = [figures.quantity(statistics.median(one.values), one.series.unit) for one in mine]
        widest = max((figures.columns(one) for one in levels), default=0)
        for one, level in zip(mine, levels, strict=True):
            yield (
                f"{_GAP}{self._whole(one):<{self.drawn}}{_GAP}{figures.right(level, widest)}{_GAP}"
                f"{'too short' if one.few else _spread(one.values):>9}{_GAP}{self._name(one)}"
            )

    def _whole(self, one: Timeline) -> str:
        values = squeeze(one.values, self.drawn)
        middle = statistics.median(values)
        half = max(_LEAST_SPAN / 2 * abs(middle), *(abs(value - middle) for value in values))
        return sparkline(values, middle - half, middle + half, (), self.style.ramp)


def _restarts(report: HistoryReport, style: Style) -> Iterator[str]:
    if report.restarts:
        yield "Series that begin anew, since nothing may be compared across:"
    for one in report.restarts:
        commit = report.commits[one.place]
        names = ", ".join(one.benchmarks[:_NAMED])
        rest = len(one.benchmarks) - _NAMED
        more = f" and {rest:,} more" if rest > 0 else ""
        yield from _wrapped(
            f"{_day(commit.date)}  {commit.short}  another {one.what} of {names}{more} ({one.machine}, {one.env})",
            style,
            _GAP,
        )


def _pending(one: Change | Event) -> str:
    if isinstance(one, Change) and one.point.reason:
        return one.point.reason
    return "too few commits follow to be sure that it stays"


def _ratio(one: Change) -> str:
    """`1.125 [1.120, 1.130]`; of a share `+3.1 points [+1.1, +5.0]`."""
    point = one.point
    if point.points:
        span = figures.interval_of_points(point.difference_low, point.difference_high)
        return f"{figures.change(one.difference, SHARE)} {span}".rstrip()
    return f"{figures.ratio(point.ratio)} {figures.interval(point.ci_low, point.ci_high)}".rstrip()


def _by(event: Event) -> str:
    """How far an event's members moved: in the middle, and from the least to the most."""
    if event.points:
        moved = sorted(one.difference for one in event.members)
        middle, least, most = (figures.change(x, SHARE) for x in (event.difference, moved[0], moved[-1]))
    else:
        ratios = [one.point.ratio for one in event.members]
        middle, least, most = map(figures.ratio, (event.ratio, min(ratios), max(ratios)))
    return f"{middle} in the middle, {least} to {most}"


def _pair(one: Change) -> str:
    """`1.20 -> 1.35 ms`: the unit once where both sides have the same."""
    before, now = figures.pair(one.point.before, one.point.after, one.timeline.series.unit)
    number, _, unit = before.rpartition(" ")
    return f"{number if unit and unit == now.rpartition(' ')[2] else before} -> {now}"


def _spread(values: Sequence[float]) -> str:
    """Robust standard deviation relative to the median."""
    middle = statistics.median(values)
    if not middle:
        return ""
    spread = _MAD_TO_SD * statistics.median(abs(value - middle) for value in values)
    return f"+-{figures.percent(spread / abs(middle))}"


def _day(milliseconds: int) -> str:
    if not milliseconds:  # a repository that is not git's does not tell it
        return "????-??-??"
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%d")


def _clipped(text: str, width: int) -> str:
    if figures.columns(text) <= width:
        return text
    while figures.columns(text) > width - 3:
        text = text[:-1]
    return f"{text}..."


def _wrapped(text: str, style: Style, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        style.width,
        initial_indent=indent,
        subsequent_indent=indent + _GAP,
        break_long_words=False,
        break_on_hyphens=False,
    )
