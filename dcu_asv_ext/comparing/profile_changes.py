"""What changed between two sides of one benchmark's profiles. Pure: evidence records in, a `ProfileChange` out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..stats.verdicts import IMPROVEMENT, REGRESSION
from ..trace.kinds import api
from .model import Row
from .profile_explaining import explain
from .profile_latency import latencies
from .profile_model import (
    ADDED,
    COPY,
    FASTER,
    FEWER_BYTES,
    GONE,
    KERNEL,
    LESS_OFTEN,
    MORE_BYTES,
    MORE_OFTEN,
    OPERATOR,
    REPLACED,
    SLOWER,
    SYNC,
    Figure,
    ProfileChange,
    ProfiledSide,
    RowChange,
    RowSide,
)
from .profile_tables import REST, Profiled, RowKey, Table, place, profiled, stem

Record = Mapping[str, Any]

#: Of one profile nobody knows the spread: a row's time must have changed by this share to be told, as not sure.
UNSURE = 0.1
#: A time must change by this share of a profiled call for its row to be told.
LEAST = 0.002
#: Factors of the profiler's cost that lie further apart than this were not the profiler's.
WILD = 3.0


class ProfilesDiffer(ValueError):
    """The two sides' profiles are not of the same thing; the text says what, in a sentence."""


def compare_profiles(
    before: Sequence[Record], after: Sequence[Record], row: Row | None = None
) -> ProfileChange:
    """before, after: evidence records of one benchmark with one set of parameters, a record a round; at least one of
    each side with a profile. row: the latency's, of the comparison of the whole suite: its levels and its verdict are
    told, else what these records alone say. Raises ProfilesDiffer where a side has none, or one is of first calls."""
    sides = [_read(records, name) for records, name in ((before, "before"), (after, "after"))]
    if sides[0][0].first != sides[1][0].first:
        raise ProfilesDiffer("one side's profiles are of the first call, the other's of steady calls")
    latency = latencies(before, after, row)
    doubtful = _doubtful(one.overhead for side in sides for one in side)
    old, new = (
        _side(records, found, one, doubtful)
        for records, found, one in zip((before, after), sides, latency.sides, strict=True)
    )
    every = {name: _changes(name, *sides) for name in ("kernels", "copies", "syncs", "operators")}
    explanation, why_not = explain(old, new, every, *sides)
    if latency.not_profiled:
        explanation, why_not = None, latency.not_profiled
    least = LEAST * max(_length(old), _length(new))
    shown = {name: _shown(rows, least) for name, rows in every.items()}
    record = after[-1]
    return ProfileChange(
        str(record.get("benchmark") or ""),
        {str(name): str(value) for name, value in (record.get("params") or {}).items()},
        old,
        new,
        **shown,
        verdict=latency.verdict,
        explanation=explanation,
        why_not=why_not,
        notes=tuple(_notes([*sides[0], *sides[1]], old, new)),
    )


def _read(records: Sequence[Record], name: str) -> list[Profiled]:
    found = [one for one in map(profiled, records) if one is not None]
    steady = [one for one in found if not one.first] or found
    if not steady:
        raise ProfilesDiffer(f"there is no profile on the side {name} the change")
    return steady


def _doubtful(overheads: Iterable[float | None]) -> bool:
    """Whether the factors that were measured cannot all be the profiler's cost."""
    found = [one for one in overheads if one is not None]
    return bool(found) and (min(found) < 1 or max(found) > WILD * min(found))


def _side(
    records: Sequence[Record], profiles: Sequence[Profiled], latency: Figure | None, doubtful: bool
) -> ProfiledSide:
    names = dict.fromkeys(name for one in profiles for name in one.figures)
    return ProfiledSide(
        len(profiles),
        len(records),
        tuple(one.steps for one in profiles),
        None if doubtful else _median(one.overhead for one in profiles),
        doubtful,
        latency,
        _figure(one.busy for one in profiles),
        _figure(one.idle for one in profiles),
        {
            name: found
            for name in names
            if (found := _figure(one.figures.get(name) for one in profiles)) is not None
        },
        tuple(dict.fromkeys(fault for one in profiles for fault in one.faults)),
    )


def _figure(values: Iterable[float | None]) -> Figure | None:
    """None unless every profile has it."""
    found = list(values)
    return Figure(tuple(one for one in found if one is not None)) if found and None not in found else None


def _median(values: Iterable[float | None]) -> float | None:
    found = [one for one in values if one is not None]
    return Figure(tuple(found)).value if found else None


def _length(side: ProfiledSide) -> float:
    """Of a call, in seconds."""
    if side.latency is not None:
        return side.latency.value
    return sum(one.value for one in (side.busy, side.idle) if one is not None)


def _notes(profiles: Sequence[Profiled], old: ProfiledSide, new: ProfiledSide) -> Iterable[str]:
    for side, name in ((old, "before"), (new, "after")):
        if side.profiles < side.rounds:
            yield f"{name}: {side.rounds - side.profiles} of {side.rounds} measurements have no profile"
        yield from (f"{name}: {fault}" for fault in side.faults)
    for name in sorted({name for one in profiles for name in one.capped}):
        yield f"of the {name} only the longest are kept one by one; one that is missing may just be short"
    if old.profiles < 2 or new.profiles < 2:
        yield (
            f"a side has one profile, so the spread of its times is not known: those that changed by "
            f"{100 * UNSURE:.0f} % or more are told, and not sure"
        )


# ---- rows of both sides


@dataclass(frozen=True)
class _Both:
    """The keys under which a row is found on both sides, None where it is on one alone."""

    before: RowKey | None
    after: RowKey | None
    replaced: bool = False


_WHAT = {"kernels": KERNEL, "operators": OPERATOR, "copies": COPY, "syncs": SYNC}


def _changes(name: str, before: Sequence[Profiled], after: Sequence[Profiled]) -> list[RowChange]:
    """Every row of a table, changed or not."""
    olds, news = ([getattr(one, name) for one in side] for side in (before, after))
    pairs = _pairs(name, olds, news)
    sides = [(_of(olds, pair.before), _of(news, pair.after)) for pair in pairs]
    verdicts = _judged(sides)
    capped = [any(name in one.capped for one in side) for side in (before, after)]
    return [
        replace(
            _row(_WHAT[name], pair, old, new, verdict, capped), operator=_operator(name, pair, olds, news)
        )
        for pair, (old, new), verdict in zip(pairs, sides, verdicts, strict=True)
    ]


def _operator(name: str, pair: _Both, olds: Sequence[Table], news: Sequence[Table]) -> str:
    """That of a copy or a wait, where it is one alone."""
    if name not in ("copies", "syncs"):
        return ""
    tables, key = (olds, pair.before) if pair.after is None else (news, pair.after)
    found = set() if key is None else _operators(tables, key)
    return next(iter(found)) if len(found) == 1 else ""


def _of(tables: Sequence[Table], key: RowKey | None) -> RowSide | None:
    """A profile that has no such row has none of its calls."""
    if key is None:
        return None
    rows = [table.get(key) for table in tables]
    return RowSide(
        Figure(tuple(0.0 if row is None else row.count for row in rows)),
        _figure(0.0 if row is None else row.seconds for row in rows),
        _figure(0.0 if row is None else row.bytes for row in rows),
    )


def _pairs(name: str, olds: Sequence[Table], news: Sequence[Table]) -> list[_Both]:
    """Rows of the same key; then what is the same but for a line number, a launch shape or the runtime's prefix;
    then, of kernels, what replaced another: from the same operators, called as often, and with the same name but
    for its tuning, or the only one of its operators on both sides."""
    old = {key: None for table in olds for key in table}
    new = {key: None for table in news for key in table}
    pairs = [_Both(key, key) for key in old if key in new]
    lone = [key for key in old if key not in new], [key for key in new if key not in old]
    looser: list[Callable[[RowKey], Any]] = [lambda key: (key.name, key.detail, place(key.source))]
    if name == "kernels":
        looser.append(lambda key: key.name)
    if name == "syncs":
        looser.append(lambda key: (api(key.name), key.detail, place(key.source)))
    for alike in looser:
        pairs += _taken(lone, alike)
    if name == "kernels":
        pairs += [_Both(one, other, replaced=True) for one, other in _replaced(lone, olds, news)]
    return [
        *pairs,
        *(_Both(key, None) for key in lone[0]),
        *(_Both(None, key) for key in lone[1]),
    ]


def _taken(lone: tuple[list[RowKey], list[RowKey]], alike: Callable[[RowKey], Any]) -> list[_Both]:
    """Pairs of lone keys that are alike, in their order; taken out of `lone`."""
    waiting: dict[Any, list[RowKey]] = defaultdict(list)
    for key in lone[1]:
        waiting[alike(key)].append(key)
    found = []
    for key in list(lone[0]):
        if waiting[alike(key)]:
            other = waiting[alike(key)].pop(0)
            lone[0].remove(key)
            lone[1].remove(other)
            found.append(_Both(key, other))
    return found


def _replaced(
    lone: tuple[list[RowKey], list[RowKey]], olds: Sequence[Table], news: Sequence[Table]
) -> list[tuple[RowKey, RowKey]]:
    """Taken out of `lone`."""
    about = [
        {key: (_count(tables, key), _operators(tables, key)) for key in keys if key.name != REST}
        for keys, tables in zip(lone, (olds, news), strict=True)
    ]
    found = []

    def take(key: RowKey, other: RowKey) -> None:
        found.append((key, other))
        for side, one in enumerate((key, other)):
            lone[side].remove(one)
            del about[side][one]

    for key, (count, operators) in list(about[0].items()):
        for other, (its, others) in about[1].items():
            same = operators == others or not operators or not others
            if stem(key.name) == stem(other.name) and count == its and same:
                take(key, other)
                break
    for key, of in list(about[0].items()):
        mine = [one for one, each in about[0].items() if each == of]
        theirs = [one for one, each in about[1].items() if each == of]
        if of[1] and len(mine) == len(theirs) == 1:
            take(key, theirs[0])
    return found


def _count(tables: Sequence[Table], key: RowKey) -> float:
    side = _of(tables, key)
    assert side is not None
    return side.count.value


def _operators(tables: Sequence[Table], key: RowKey) -> frozenset[str]:
    return frozenset(name for table in tables if key in table for name in table[key].operators)


# ---- what became of a row


def _judged(sides: Sequence[tuple[RowSide | None, RowSide | None]]) -> list[tuple[str, bool]]:
    """Of each row whether one call of it became slower or faster, and whether that is sure."""
    found = [("", True)] * len(sides)
    spread, places = [], []
    for at, (old, new) in enumerate(sides):
        times = None if old is None or new is None else (_times(old), _times(new))
        if times is None or not all(times):
            continue
        if min(map(len, times)) > 1:
            spread.append(times)
            places.append(at)
        else:
            before, after = (Figure(tuple(one)).value for one in times)
            if abs(after - before) >= UNSURE * before:
                found[at] = SLOWER if after > before else FASTER, False
    if spread:
        from ..stats import compare_suite

        pairs = [([[x] for x in before], [[x] for x in after]) for before, after in spread]
        words = {REGRESSION: SLOWER, IMPROVEMENT: FASTER}
        for at, one in zip(places, compare_suite(pairs, use_guard=False), strict=True):
            found[at] = words.get(one.verdict, ""), True
    return found


def _times(side: RowSide) -> list[float]:
    """Seconds of one of its calls, from each profile that has some."""
    if side.seconds is None:
        return []
    pairs = zip(side.seconds.rounds, side.count.rounds, strict=True)
    return [seconds / count for seconds, count in pairs if count > 0 and seconds > 0]


def _row(
    what: str,
    pair: _Both,
    old: RowSide | None,
    new: RowSide | None,
    verdict: tuple[str, bool],
    capped: Sequence[bool],
) -> RowChange:
    key = pair.after or pair.before
    assert key is not None
    words: list[str] = []
    sure = True
    if old is None or new is None:
        words.append(ADDED if old is None else GONE)
        sure = not capped[0 if old is None else 1]
    else:
        words += [REPLACED] if pair.replaced else []
        found, sure = _counted(old.count, new.count, MORE_OFTEN, LESS_OFTEN)
        words += found
        if old.bytes is not None and new.bytes is not None and not found:
            words += _counted(old.bytes, new.bytes, MORE_BYTES, FEWER_BYTES)[0]
        # The host waits as long as the device has work: no figure of the wait itself.
        if verdict[0] and what != SYNC:
            words.append(verdict[0])
            # Of the same calls the host's time says more of the host than of the code.
            sure = sure and verdict[1] and what != OPERATOR
    was = pair.before.name if pair.replaced and pair.before is not None else ""
    if key.name == REST:
        words = []
    return RowChange(what, key.name, old, new, tuple(words), sure, was, key.detail, key.source)


def _counted(before: Figure, after: Figure, more: str, less: str) -> tuple[list[str], bool]:
    """Counts that do not vary differ if they do; others must lie apart."""
    if before.value == after.value:
        return [], True
    apart = before.high < after.low or after.high < before.low
    return ([more if after.value > before.value else less], True) if apart else ([], True)


def _shown(rows: Sequence[RowChange], least: float) -> list[RowChange]:
    """Those that changed, the largest change of time first. A change of time alone must be worth telling."""
    small = {(SLOWER,), (FASTER,)}
    changed = [row for row in rows if row.words and not (row.words in small and abs(row.seconds) < least)]
    return sorted(changed, key=lambda row: (-abs(row.seconds), row.name, row.detail, row.source))
