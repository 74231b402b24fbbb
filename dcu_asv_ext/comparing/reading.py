"""From evidence records and asv's figures to the rounds that are compared. Pure: no files.

asv's file holds the current result; the evidence holds every session there was. The rounds of a side are those of
the newest sessions whose samples, put together, are the samples that asv's file has.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..evidence.summary import Outcome, outcome
from ..metrics import METRICS, PROTOCOL
from .facts import merged, record_facts
from .model import FAILED, MISSING, OK, SAMPLES, VALUE, Key, ResultSet, Round, Series, Side

Record = Mapping[str, Any]

#: Two files hold the same number if it differs by less: both round to some digits.
_ROUNDING = 1e-6

NO_ENTRY = "asv's file does not have it: the run was stopped before asv saved"


@dataclass(frozen=True)
class Recorded:
    """What asv's file says of one benchmark with one set of parameters. value: None: failed; NaN: n/a."""

    value: float | None
    samples: tuple[float, ...] | None = None
    version: str | None = None


class Sides(Mapping[Key, Side]):
    """Sides, each made when it is first asked for: few of a history's are looked at."""

    def __init__(self, makers: Mapping[Key, Callable[[], Side]]) -> None:
        self._makers = makers
        self._made: dict[Key, Side] = {}

    def __getitem__(self, key: Key) -> Side:
        if key not in self._made:
            self._made[key] = self._makers[key]()
        return self._made[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __contains__(self, key: object) -> bool:
        return key in self._makers


@dataclass
class Entries:
    """asv's file (None: there is none), by key, with what asv knows of the series.

    rounds: benchmark -> rounds of asv's configuration, for samples without evidence.
    """

    recorded: Mapping[Key, Recorded] | None = None
    series: dict[Key, Series] = field(default_factory=dict)
    rounds: Mapping[str, int] = field(default_factory=dict)


def read_results(
    machine: str,
    commit: str,
    env: str,
    *,
    entries: Entries,
    records: Sequence[Record] = (),
    facts: Mapping[str, str] | None = None,
    torn: int = 0,
    steady: bool = True,
    match: Callable[[Key], bool] | None = None,
    date: int = 0,
) -> ResultSet:
    """Everything that was kept of one (machine, commit, environment).

    torn: lines of the evidence that could not be read. steady: cut what is not steady from the latencies (a history
    is read whole: its levels are those that asv publishes). match: which keys are wanted (None: all).
    """
    grouped = _grouped(records)
    recorded = entries.recorded
    series = dict(entries.series)
    makers: dict[Key, Callable[[], Side]] = {}
    for group in grouped.values():
        for metric in dict.fromkeys(name for record in group.records for name in record["metrics"]):
            key = Key(group.benchmark, metric, group.params)
            if metric not in METRICS or (match is not None and not match(key)):
                continue
            series.setdefault(key, series_of(key, group.names))
            entry = (recorded or {}).get(key)
            makers[key] = _later(group, key, entry, steady)
    for key, entry in (recorded or {}).items():
        if key not in makers and (match is None or match(key)):
            makers[key] = _later_asv(entry, entries.rounds.get(key.benchmark, 1))
    found = ResultSet(
        machine,
        commit,
        env,
        sides=Sides(dict(sorted(makers.items()))),
        series={key: series[key] for key in makers if key in series},
        facts=dict(facts or {}),
        label=commit[:8],
        date=date,
        dirty=any(record.get("dirty") for record in records),
    )
    if recorded is None and records:
        found.notes.append(
            f"{commit[:8]} ({env}) has evidence and no result file of asv: its run was stopped"
        )
    if torn:
        found.notes.append(f"{torn} lines of the evidence of {commit[:8]} ({env}) could not be read")
    return found


def series_of(key: Key, param_names: Sequence[str] = ()) -> Series:
    """Of a metric of our own table. Raises KeyError for another's."""
    metric = METRICS[key.metric]
    return Series(
        f"{key.benchmark}.{key.metric}", tuple(param_names), metric.unit, metric.better, metric.exact
    )


def asv_side(entry: Recorded, rounds: int = 1) -> Side:
    """A side without evidence.

    asv joins the samples of all rounds and does not keep where one ends. They are split into `rounds` equal parts
    where that divides their number, else taken as one round; without samples the value is one round of one sample.
    """
    value = entry.value
    if value is None:
        return Side((), SAMPLES, FAILED, "it failed, and asv keeps no reason", version=entry.version)
    if math.isnan(value):
        return Side((), SAMPLES, MISSING, "n/a in asv's file", version=entry.version)
    if not entry.samples:
        only = ("asv kept no samples, only one figure",)
        return Side((Round((value,)),), VALUE, OK, "", value, entry.version, notes=only)
    samples, parts = entry.samples, max(rounds, 1)
    notes: tuple[str, ...] = ()
    if len(samples) % parts:
        parts = 1
        notes = (
            "asv keeps no round boundaries, and the samples do not divide by the rounds: taken as one round",
        )
    size = len(samples) // parts
    made = tuple(Round(samples[i * size : (i + 1) * size], i + 1) for i in range(parts))
    return Side(made, SAMPLES, OK, "", value, entry.version, notes=notes)


# ---- records of one (benchmark, parameters)


@dataclass
class _Group:
    benchmark: str
    params: tuple[str, ...]
    names: tuple[str, ...]
    records: list[Record] = field(default_factory=list)
    facts: dict[int, dict[str, str]] = field(default_factory=dict)

    def facts_of(self, used: Iterable[Record]) -> dict[str, str]:
        for record in used:
            if id(record) not in self.facts:
                self.facts[id(record)] = record_facts(record)
        return merged(self.facts[id(record)] for record in used)


def _grouped(records: Sequence[Record]) -> dict[tuple[str, tuple[str, ...]], _Group]:
    found: dict[tuple[str, tuple[str, ...]], _Group] = {}
    for record in records:
        params = tuple(record["params"].values())
        key = (record["benchmark"], params)
        if key not in found:
            found[key] = _Group(record["benchmark"], params, tuple(record["params"]))
        found[key].records.append(record)
    return found


def _later(group: _Group, key: Key, entry: Recorded | None, steady: bool) -> Callable[[], Side]:
    return lambda: _evidence_side(group, key.metric, entry, steady)


def _later_asv(entry: Recorded, rounds: int) -> Callable[[], Side]:
    return lambda: asv_side(entry, rounds)


def _evidence_side(group: _Group, metric: str, entry: Recorded | None, steady: bool) -> Side:
    told = [record for record in group.records if metric in record["metrics"]]
    version = entry.version if entry is not None else None
    if version is None:
        version = told[-1]["versions"].get(metric)
    told = [record for record in told if record["versions"].get(metric) == version] or told
    sessions = _sessions(told)
    newest = sessions[-1]
    about = {"version": version, "protocol": newest[-1]["protocol"]}
    if entry is not None and (entry.value is None or math.isnan(entry.value)):
        return _without_number(newest, metric, entry, about)
    if entry is None:
        used, conflict = _after_last_failure(newest, metric), ""
        if not used:
            return _without_number(newest, metric, None, about)
    else:
        used, conflict = _matching(sessions, metric, entry)
    rounds = tuple(_round(record, metric, steady) for record in used)
    notes = [NO_ENTRY] if entry is None else []
    notes += _notes(used, rounds, sessions)
    value = entry.value if entry is not None else statistics.median(x for one in rounds for x in one.samples)
    if conflict:
        assert entry is not None and entry.value is not None
        rounds = asv_side(entry).rounds
    about["protocol"] = used[-1]["protocol"] if used else newest[-1]["protocol"]
    return Side(
        rounds,
        value=value,
        notes=tuple(notes),
        facts=group.facts_of(used or newest),
        conflict=conflict,
        **about,
    )


def _sessions(records: Sequence[Record]) -> list[list[Record]]:
    """Sessions in the order of their last measurement, each with one record a round (the last), in order."""
    found: dict[Any, dict[int, Record]] = {}
    for record in records:
        rounds = found.pop(record["session"], {})
        rounds[record["round"]] = record
        found[record["session"]] = rounds
    return [[rounds[number] for number in sorted(rounds)] for rounds in found.values()]


def _after_last_failure(session: Sequence[Record], metric: str) -> list[Record]:
    """The rounds that asv keeps of a session: a round without a number makes it forget those before."""
    kept: list[Record] = []
    for record in session:
        if outcome(dict(record), metric).state == OK:
            kept.append(record)
        else:
            kept.clear()
    return kept


def _without_number(
    session: Sequence[Record], metric: str, entry: Recorded | None, about: dict[str, Any]
) -> Side:
    last: Outcome = outcome(dict(session[-1]), metric)
    failed = entry.value is None if entry is not None else last.state == FAILED
    if last.state == (FAILED if failed else MISSING):
        reason = last.reason
    elif not failed and about["protocol"] != PROTOCOL:
        reason = f"measured by protocol {about['protocol']}, not {PROTOCOL}"
    else:
        reason = "it failed, and the evidence tells no reason" if failed else "n/a in asv's file"
    return Side((), state=FAILED if failed else MISSING, reason=reason, **about)


def _matching(sessions: Sequence[Sequence[Record]], metric: str, entry: Recorded) -> tuple[list[Record], str]:
    """The records whose samples are those of asv's file, oldest first; or none, and the sentence why."""
    kept = [_after_last_failure(session, metric) for session in sessions]
    if entry.samples:
        used = _by_samples(kept, metric, entry.samples)
    else:
        used = _by_value(kept, metric, entry.value)
    if used:
        return used, ""
    have = sum(len(outcome(dict(record), metric).samples) for record in kept[-1])
    asv = f"{len(entry.samples)} samples" if entry.samples else "a value"
    return [], (
        f"the evidence contradicts asv's file ({asv} with median {entry.value:.5g} there, "
        f"{have} samples of the newest session here, and no sessions that fit)"
    )


def _by_samples(sessions: Sequence[Sequence[Record]], metric: str, samples: Sequence[float]) -> list[Record]:
    """Walks back from the newest session, and takes each whose samples end what is left of asv's.

    A session that asv has not (--quick's, an unfinished one) is passed over; of one that asv saved while it went on
    the first rounds are taken.
    """
    left = list(samples)
    used: list[Record] = []
    for session in reversed(sessions):
        for stop in range(len(session), 0, -1):
            own = [x for record in session[:stop] for x in outcome(dict(record), metric).samples]
            if own and len(own) <= len(left) and _same(own, left[-len(own) :]):
                used = [*session[:stop], *used]
                del left[-len(own) :]
                break
        if not left:
            return used
    return []


def _by_value(sessions: Sequence[Sequence[Record]], metric: str, value: float | None) -> list[Record]:
    used: list[Record] = []
    for session in reversed(sessions):
        used = [*session, *used]
        own = [x for record in used for x in outcome(dict(record), metric).samples]
        if own and _same([statistics.median(own)], [value or 0.0]):
            return used
    return []


def _same(own: Sequence[float], others: Sequence[float]) -> bool:
    return all(
        math.isclose(a, b, rel_tol=_ROUNDING, abs_tol=1e-10)
        for a, b in zip(sorted(own), sorted(others), strict=True)
    )


def _round(record: Record, metric: str, steady: bool) -> Round:
    samples = outcome(dict(record), metric).samples
    cut, note = 0, ""
    if steady and metric == "latency":
        samples, cut, note = _steady(record, samples)
    return Round(
        samples,
        int(record["round"]),
        str(record["session"] or ""),
        str(record["started_at"] or ""),
        cut,
        note,
    )


def _steady(record: Record, samples: tuple[float, ...]) -> tuple[tuple[float, ...], int, str]:
    """The samples of the steady segment of warm-up and latency together, how many were cut, and why."""
    from ..stats import steady_samples

    warm_up = [x if x is not None and x > 0 else None for x in record["times"].get("warm_up") or ()]
    _, state = steady_samples([*warm_up, *samples], warm_up=len(warm_up))
    if state.start is None:
        return samples, 0, f"{state.kind}: {state.reason}"
    cut = max(state.start - len(warm_up), 0)
    return samples[cut:], cut, f"{state.kind}: {state.reason}" if cut else ""


def _notes(
    used: Sequence[Record], rounds: Sequence[Round], sessions: Sequence[Sequence[Record]]
) -> list[str]:
    notes = []
    quick = sum(bool(record["switches"].get("quick")) for record in used)
    if quick:
        notes.append("measured with --quick: one call, not warmed up")
    cut = sum(one.cut > 0 for one in rounds)
    if cut:
        notes.append(f"the samples before the steady state were cut in {cut} of {len(rounds)} rounds")
    never = sum(bool(one.note) and not one.cut for one in rounds)
    if never:
        notes.append(f"{never} of {len(rounds)} rounds were never steady; all their samples are used")
    if used and sessions[-1][-1] not in used:
        notes.append(
            "the evidence has newer rounds that asv's file does not (--quick's, or a run that was stopped)"
        )
    return notes
