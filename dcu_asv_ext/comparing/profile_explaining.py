"""How much of a latency's change what changed in the profiles accounts for, and how much stays unexplained."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..stats.verdicts import IMPROVEMENT, REGRESSION
from . import figures
from .profile_model import (
    ADDED,
    COPY,
    FASTER,
    GONE,
    IDLE,
    KERNEL,
    LESS_OFTEN,
    MORE_OFTEN,
    OPERATOR,
    OTHER,
    REPLACED,
    SLOWER,
    Explanation,
    Figure,
    Part,
    ProfileChange,
    ProfiledSide,
    RowChange,
    RowSide,
)
from .profile_tables import Profiled

#: Parts smaller than this share of the change are told together.
_SMALL = 0.02
#: In one line: so many parts. Parts that leave more than this share of the change open do not explain it.
_IN_LINE, _MOST_OPEN = 3, 0.5
#: Idle time that goes beyond the latency by more than this share is not sure.
_OVERSHOOT = 0.1
#: Seconds below the resolution of any clock: rounding.
_NOTHING = 1e-10
_NAME = 60

LATENCY, PROFILED_CALL = "latency", "the profiled call"
#: Verdicts on a latency that there is something to explain of.
CHANGED = frozenset({REGRESSION, IMPROVEMENT})


def explain(
    before: ProfiledSide,
    after: ProfiledSide,
    rows: Mapping[str, Sequence[RowChange]],
    olds: Sequence[Profiled],
    news: Sequence[Profiled],
) -> tuple[Explanation | None, str]:
    """By the device's work and its idle time, which together are a call's time on the device; where neither side has
    rows of a device, by the host's own time in each operator. (None, reason) where nothing can be said.

    Idle time that the profiled calls gained beyond what the latency has room for is not counted: profiling slows the
    host, and a device waits for its host.
    """
    if before.busy is None and after.busy is None:
        return _of_host(before, after, rows["operators"])
    if before.busy is None or after.busy is None:
        return None, "one side's profiles have no rows of a device"
    busy = after.busy.value - before.busy.value
    idle = None if before.idle is None or after.idle is None else after.idle.value - before.idle.value
    latency = _latency(before, after)
    change, of = (busy + (idle or 0.0), PROFILED_CALL) if latency is None else (latency, LATENCY)
    parts = list(_of_device(rows, busy, change))
    counted = 0.0 if idle is None else _with_room(idle, change - busy)
    capped = _unless_nothing((idle or 0.0) - counted)
    if idle is not None and before.idle is not None and after.idle is not None:
        # What the latency has no room for was the profiler's, and nobody knows how much of the rest was too.
        sure = _apart(before.idle, after.idle) and abs(capped) <= _OVERSHOOT * abs(counted)
        causes = [] if capped else list(_by_cause(olds, news, counted, sure))
        if counted:
            parts += causes or [Part(counted, _idle_text(counted, rows["syncs"]), IDLE, sure)]
    notes = [*_overheads(before, after)]
    if idle is None:
        notes.append("the profiles do not tell how long the device was idle")
    return _finished(change, of, parts, capped, notes), ""


def _of_host(
    before: ProfiledSide, after: ProfiledSide, operators: Sequence[RowChange]
) -> tuple[Explanation | None, str]:
    if not operators:
        return None, "the profiles have neither rows of a device nor operators"
    change = _latency(before, after)
    if change is None:
        return None, "there are no latency samples, and no rows of a device"
    parts = list(_of_rows(operators, OPERATOR, "operators", change))
    notes = ["there are no rows of a device: the parts are the host's own time in each operator"]
    return _finished(change, LATENCY, parts, 0.0, [*notes, *_overheads(before, after)]), ""


def _latency(before: ProfiledSide, after: ProfiledSide) -> float | None:
    """Seconds that a call takes longer; None where there are no samples."""
    if before.latency is None or after.latency is None:
        return None
    return after.latency.value - before.latency.value


def _with_room(idle: float, room: float) -> float:
    """As much of the change of idle time as there is room for, where both go the same way."""
    if idle * room < 0:
        return idle
    return math.copysign(min(abs(idle), abs(room)), idle)


def _unless_nothing(seconds: float) -> float:
    return seconds if abs(seconds) > _NOTHING else 0.0


def _apart(before: Figure, after: Figure) -> bool:
    """Whether several profiles a side agree that it changed."""
    several = min(len(before.rounds), len(after.rounds)) > 1
    return several and (before.high < after.low or after.high < before.low)


def _overheads(before: ProfiledSide, after: ProfiledSide) -> Iterator[str]:
    told = [
        f"x{one.overhead:.3g} {name}"
        for one, name in ((before, "before"), (after, "after"))
        if one.overhead is not None
    ]
    if before.doubtful or after.doubtful:
        yield "profiled times carry the profiler's cost, which could not be determined (the machine was busy)"
    elif told:
        yield f"profiled times carry the profiler's cost: a profiled call takes {', '.join(told)} of its latency"
    else:
        yield "profiled times carry the profiler's cost, which is not known here"


# ---- the parts


def _of_device(rows: Mapping[str, Sequence[RowChange]], busy: float, change: float) -> Iterator[Part]:
    """Kernels and copies that changed each by itself, then what is left of the device's busy time."""
    for name, what in (("kernels", KERNEL), ("copies", COPY)):
        yield from _of_rows(rows[name], what, name, change)
    rest = _unless_nothing(busy - sum(row.seconds for name in ("kernels", "copies") for row in rows[name]))
    if rest:
        text = "fills, rows that were not kept, and streams at work at once"
        yield Part(rest, text, OTHER, sure=False, rest=True)


def _of_rows(rows: Sequence[RowChange], what: str, name: str, change: float) -> Iterator[Part]:
    """What changed each by itself, the others together."""
    others = 0.0
    for row in rows:
        if row.words and row.seconds and abs(row.seconds) >= _SMALL * abs(change):
            yield Part(row.seconds, _text(row), what, _sure(row), row.source)
        else:
            others += row.seconds
    if others:
        yield Part(others, f"the other {name} together", what, sure=False, rest=True)


def _sure(row: RowChange) -> bool:
    """Whether the row's time surely changed. What was counted tells it where the time goes the same way; several
    profiles' times must lie apart besides."""
    if not row.sure or row.before is None or row.after is None:
        return row.sure
    before, after = row.before.seconds, row.after.seconds
    if row.seconds * row.count < 0 or before is None or after is None:
        return False
    if min(len(before.rounds), len(after.rounds)) > 1:
        return SLOWER in row.words or FASTER in row.words or _apart(before, after)
    return row.words != (REPLACED,)


def _by_cause(olds: Sequence[Profiled], news: Sequence[Profiled], idle: float, sure: bool) -> Iterator[Part]:
    """The change of idle time by its causes, where the profiles tell them; with what they leave out."""
    sides = [[_causes(one) for one in side] for side in (olds, news)]
    if not all(one for side in sides for one in side):
        return
    left = idle
    for cause in dict.fromkeys(cause for side in sides for one in side for cause in one):
        old, new = (Figure(tuple(sum(one.get(cause, {}).values()) for one in side)) for side in sides)
        seconds = new.value - old.value
        if abs(seconds) >= _SMALL * abs(idle) and seconds:
            left -= seconds
            source = _source(cause, *sides)
            at = f", {source}" if source else ""
            yield Part(seconds, f"the device idle, {cause}{at}", IDLE, _apart(old, new), source)
    if _unless_nothing(left):
        yield Part(left, "the device idle, for other causes", IDLE, sure=False, rest=True)


def _causes(one: Profiled) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for key, row in one.gaps.items():
        found[key.name][key.source] = found[key.name].get(key.source, 0.0) + (row.seconds or 0.0)
    return dict(found)


def _source(
    cause: str, olds: Sequence[dict[str, dict[str, float]]], news: Sequence[dict[str, dict[str, float]]]
) -> str:
    """The line that most of the change of a cause comes from; "" where no line has half of it."""
    change: dict[str, float] = defaultdict(float)
    for side, sign in ((olds, -1 / len(olds)), (news, 1 / len(news))):
        for one in side:
            for source, seconds in one.get(cause, {}).items():
                change[source] += sign * seconds
    whole = sum(change.values())
    source = max(change, key=lambda name: change[name] * math.copysign(1, whole), default="")
    return source if change and abs(change[source]) >= 0.5 * abs(whole) else ""


def _idle_text(idle: float, syncs: Sequence[RowChange]) -> str:
    text = "the device idle for longer" if idle > 0 else "the device idle for less"
    wanted = ADDED if idle > 0 else GONE
    named = [row for row in syncs if wanted in row.words]
    if not named:
        return text
    word = "new" if idle > 0 else "gone"
    told = ", ".join(
        row.name
        + (f" by {row.operator}" if row.operator else "")
        + (f" at {row.source}" if row.source else "")
        for row in named[:2]
    )
    return f"{text} ({word}: {told}{', ...' if named[2:] else ''})"


def _finished(
    change: float, of: str, parts: Iterable[Part], capped: float, notes: Sequence[str]
) -> Explanation:
    """Small parts are told together."""
    large = list(parts)
    kept = [part for part in large if abs(part.seconds) >= _SMALL * abs(change)]
    small = sum(part.seconds for part in large) - sum(part.seconds for part in kept)
    if _unless_nothing(small):
        kept.append(Part(small, "small parts together", OTHER, sure=False, rest=True))
    kept.sort(key=lambda part: (not part.sure, -abs(part.seconds), part.text))
    unexplained = _unless_nothing(change - sum(part.seconds for part in kept))
    shown = abs(unexplained) <= _MOST_OPEN * abs(change)
    return Explanation(change, of, tuple(kept), unexplained, capped, tuple(notes), shown)


# ---- words


def _text(row: RowChange) -> str:
    """`new kernel gemm, called 4 times a call`."""
    name = called(row)
    if ADDED in row.words:
        text = f"new {name}, {_times(row.after)}"
    elif GONE in row.words:
        text = f"{name} {'are' if row.what == COPY else 'is'} gone"
    elif REPLACED in row.words:
        text = f"{name} in place of {clipped(row.was)}"
    elif MORE_OFTEN in row.words or LESS_OFTEN in row.words:
        text = f"{name} {_times(row.after)}, was {_number(row.before)}"
    elif SLOWER in row.words or FASTER in row.words:
        word = SLOWER if SLOWER in row.words else FASTER
        text = f"{name} {word}: {_each(row.after)} each, was {_each(row.before)}"
    else:
        text = name
    return f"{text}, at {row.source}" if row.source else text


def called(row: RowChange) -> str:
    """`kernel gemm`; `HtoD copies`."""
    if row.what == COPY:
        return f"{row.name} copies"
    return f"{row.what} {clipped(row.name)}"


def clipped(name: str) -> str:
    name = figures.printable(name)
    return name if len(name) <= _NAME else f"{name[: _NAME - 3]}..."


def _number(side: RowSide | None) -> str:
    return figures.quantity(0.0 if side is None else side.count.value, "count")


def _times(side: RowSide | None) -> str:
    count = 0.0 if side is None else side.count.value
    return "called once" if count == 1 else f"called {figures.quantity(count, 'count')} times"


def _each(side: RowSide | None) -> str:
    """Of one of its calls."""
    if side is None or side.seconds is None or not side.count.value:
        return figures.NOTHING
    return figures.quantity(side.seconds.value / side.count.value, "seconds")


def why(found: ProfileChange) -> str:
    """One line for beside a changed latency; "" unless it is sure: the latency did change, the traces are whole, what
    is named was counted exactly or lies beyond the spread of several profiles, and explains half of the change."""
    told = found.explanation
    if told is None or told.of != LATENCY or found.verdict not in CHANGED:
        return ""
    if found.before.faults or found.after.faults or not told.change:
        return ""
    named = [part for part in told.parts if part.sure and part.what != OTHER][:_IN_LINE]
    rest = _unless_nothing(told.change - sum(part.seconds for part in named))
    if not named or abs(rest) > _MOST_OPEN * abs(told.change):
        return ""
    lines = [f"{figures.part(part.seconds, told.change, 'seconds')} {part.text}" for part in named]
    left = "" if not rest else f"; {figures.part(rest, told.change, 'seconds')} "
    if left:
        left += "unexplained" if len(named) == len(told.parts) else "smaller parts and unexplained"
    return f"of {figures.change(told.change, 'seconds')} a call: {', '.join(lines)}{left}"
