"""From evidence records and asv's figures to the rounds that are compared. Pure: no files."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..evidence.summary import outcome
from ..metrics import METRICS, PROTOCOL
from .disturbed import contended, side_notes, throttled
from .facts import merged, record_facts
from .fields import group_of, is_number, number
from .identity import Identities, Identity, together
from .model import FAILED, MISSING, OK, SAMPLES, VALUE, WORKLOAD, Key, ResultSet, Round, Series, Side
from .sessions import Kept, Record, by_samples, by_value, kept_rounds, sessions_of

if TYPE_CHECKING:
    from ..stats.steady import SteadyState

NO_ENTRY = "asv's file does not have it: the run was stopped before asv saved, or is still under way"


@dataclass(frozen=True)
class Recorded:
    """What asv's file says of one benchmark with one set of parameters. value: None: failed; NaN: n/a.
    samples: of all rounds, empty where asv kept none."""

    value: float | None
    samples: tuple[float, ...] = ()
    version: str | None = None


class Sides(Mapping[Key, Side]):
    """Sides, each made when it is first asked for: few of a history's are looked at."""

    def __init__(self, makers: Mapping[Key, Callable[[], Side]]) -> None:
        self._makers = makers
        self._made: dict[Key, Side] = {}

    def __getitem__(self, key: Key) -> Side:
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._makers[key]()
        return found

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

    torn: lines of the evidence that could not be read. steady: cut what is not steady from the latencies; a history
    is read without it and without the sides' facts: its levels are those that asv publishes. match: which keys are
    wanted (None: all).
    """
    sound = [record for record in records if is_sound(record)]
    torn += len(records) - len(sound)
    records = sound
    grouped = _grouped(records)
    recorded = entries.recorded
    series = dict(entries.series)
    makers: dict[Key, Callable[[], Side]] = {}
    for group in grouped.values():
        for metric in dict.fromkeys(name for record in group.records for name in record["metrics"]):
            key = Key(group.benchmark, metric, group.params)
            if metric not in METRICS or (match is not None and not match(key)):
                continue
            series[key] = replace(series.get(key) or series_of(key, group.names), kind=group.kind)
            entry = (recorded or {}).get(key)
            rounds = entries.rounds.get(key.benchmark, 1)
            makers[key] = _later(group, metric, entry, rounds, steady)
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
        records=records,
    )
    if recorded is None and records:
        found.notes.append(
            f"{commit[:8]} ({env}) has evidence and no result file of asv: its run was stopped, "
            "or is still under way"
        )
    if torn:
        found.notes.append(f"the evidence of {commit[:8]} ({env}) has lines that could not be read: {torn}")
    return found


#: What belongs into a record's fields.
_SHAPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("params", "times", "batch", "memory", "correctness", "versions"), dict),
    **dict.fromkeys(("device", "software", "switches", "input", "boundary"), dict),
    **dict.fromkeys(("round", "protocol"), int),
    **dict.fromkeys(("benchmark", "status", "kind"), str),
    **dict.fromkeys(("session", "variant"), (str, type(None))),
    **dict.fromkeys(("seed", "param_index"), (int, type(None))),
    **dict.fromkeys(("metrics", "notes"), list),
}
#: Of those that may be left out.
_OPTIONAL_SHAPES = ("missing", "host", "state", "sampled", "profile")
_NUMBERS = {int, float, type(None)}


def is_sound(record: Record) -> bool:
    """Whether a line that has evidence's fields also has what belongs into them."""
    if not all(isinstance(record[name], kind) for name, kind in _SHAPES.items()):
        return False
    if not all(isinstance(record.get(name, {}), dict) for name in _OPTIONAL_SHAPES):
        return False
    texts = [*record["params"].values(), *record["metrics"]]
    figures = [
        record["param_index"],
        *map(record["memory"].get, METRICS),
        *map(record["correctness"].get, METRICS),
        *map(group_of(record, "profile", "per_call").get, METRICS),
    ]
    taken = record["times"].values()
    return (
        set(map(type, texts)) <= {str}
        and float not in map(type, record["versions"].values())
        and isinstance(record["input"].get("tensors"), (list, type(None)))
        and set(map(type, record["batch"].values())) <= {int}
        and _are_numbers(figures)
        and all(isinstance(one, list) and _are_numbers(one) for one in taken)
    )


def _are_numbers(values: Sequence[object]) -> bool:
    """Or None, each of them."""
    kinds = set(map(type, values))
    return kinds <= _NUMBERS and (int not in kinds or all(one is None or is_number(one) for one in values))


def series_of(key: Key, param_names: Sequence[str] = (), kind: str = WORKLOAD) -> Series:
    """Of a metric of our own table. Raises KeyError for another's."""
    metric = METRICS[key.metric]
    return Series(
        f"{key.benchmark}.{key.metric}", tuple(param_names), metric.unit, metric.better, metric.exact, kind
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
    identities: dict[tuple[int, ...], Identity | None] = field(default_factory=dict)
    make_identity: Identities = field(default_factory=Identities)

    @property
    def kind(self) -> str:
        """As the newest measurement was declared."""
        return str(self.records[-1]["kind"])

    def facts_of(self, used: Iterable[Record]) -> dict[str, str]:
        for record in used:
            if id(record) not in self.facts:
                self.facts[id(record)] = record_facts(record)
        return merged(self.facts[id(record)] for record in used)

    def identity_of(self, used: Sequence[Record]) -> Identity | None:
        # All metrics of a benchmark mostly have the same rounds.
        key = tuple(map(id, used))
        if key not in self.identities:
            self.identities[key] = together(map(self.make_identity.of, used))
        return self.identities[key]


def _grouped(records: Sequence[Record]) -> dict[tuple[str, tuple[str, ...]], _Group]:
    found: dict[tuple[str, tuple[str, ...]], _Group] = {}
    for record in records:
        params = tuple(record["params"].values())
        key = (record["benchmark"], params)
        if key not in found:
            found[key] = _Group(record["benchmark"], params, tuple(record["params"]))
        found[key].records.append(record)
    return found


def _later(
    group: _Group, metric: str, entry: Recorded | None, rounds: int, steady: bool
) -> Callable[[], Side]:
    return lambda: _evidence_side(group, metric, entry, rounds, steady)


def _later_asv(entry: Recorded, rounds: int) -> Callable[[], Side]:
    return lambda: asv_side(entry, rounds)


def _evidence_side(group: _Group, metric: str, entry: Recorded | None, asv_rounds: int, steady: bool) -> Side:
    told = [record for record in group.records if metric in record["metrics"]]
    version = entry.version if entry is not None else None
    if version is None:
        version = told[-1]["versions"].get(metric)
    told = [record for record in told if record["versions"].get(metric) == version]
    if entry is not None and not told:
        side = asv_side(entry, asv_rounds)
        return replace(side, notes=(*side.notes, "the evidence is of another version of the benchmark"))
    sessions = sessions_of(told)
    kept = [kept_rounds(session, metric) for session in sessions]
    used: list[Kept] = []
    if entry is None:
        used = kept[-1]
    elif entry.value is not None and not math.isnan(entry.value):
        used = by_samples(kept, entry.samples) if entry.samples else by_value(kept, entry.value)
        if not used:
            conflict = f"the evidence contradicts asv's file ({_contradiction(entry, kept[-1])})"
            return replace(asv_side(entry, asv_rounds), conflict=conflict)
    if not used:
        return _without_number(sessions[-1][-1], metric, entry, version)
    rounds = tuple(_round(record, metric, samples, steady) for record, samples in used)
    records = [record for record, _ in used]
    notes = [NO_ENTRY] if entry is None else []
    notes += _notes(records, rounds, newest=sessions[-1][-1])
    value = entry.value if entry is not None else statistics.median(x for _, own in used for x in own)
    protocols = sorted({record["protocol"] for record in records})
    return Side(
        rounds,
        value=value,
        version=version,
        protocol=protocols[-1],
        notes=tuple(notes),
        facts=group.facts_of(records) if steady else {},
        identity=group.identity_of(records),
        conflict=f"its rounds were measured by different protocols ({protocols})" if protocols[1:] else "",
    )


def _contradiction(entry: Recorded, newest: Sequence[Kept]) -> str:
    own = [x for _, samples in newest for x in samples]
    has = f"{len(entry.samples)} samples" if entry.samples else "one figure"
    other = f"{len(own)} with median {statistics.median(own):.5g}" if own else "none"
    return (
        f"{has} with median {entry.value:.5g} there; {other} in the newest session, and no sessions that fit"
    )


def _without_number(last: Record, metric: str, entry: Recorded | None, version: str | None) -> Side:
    """last: the newest measurement. asv's word counts; the evidence gives the reason where it says the same."""
    found = outcome(last, metric)
    failed = entry.value is None if entry is not None else found.state == FAILED
    state = FAILED if failed else MISSING
    if found.state == state:
        reason = found.reason
    elif not failed and last["protocol"] != PROTOCOL:
        reason = f"measured by protocol {last['protocol']}, not {PROTOCOL}"
    else:
        reason = "it failed, and the evidence tells no reason" if failed else "n/a in asv's file"
    return Side((), state=state, reason=reason, version=version, protocol=last["protocol"])


def _round(record: Record, metric: str, samples: tuple[float, ...], steady: bool) -> Round:
    cut, note = 0, ""
    if steady and metric == "latency":
        samples, cut, note = _steady(record, samples)
    made = Round(
        samples,
        int(record["round"]),
        str(record["session"] or ""),
        str(record["started_at"] or ""),
        cut,
        note,
    )
    return _with_card(made, record, METRICS[metric].source) if steady else made


def _with_card(made: Round, record: Record, timed: str) -> Round:
    """The round with what was seen of the card in the pass that it was timed in."""
    clock = number(record, "sampled", "passes", timed, "core_clock_mhz")
    return replace(
        made,
        clock_mhz=float(clock) if clock is not None and math.isfinite(clock) else None,
        throttled=throttled(record, timed),
        contended=contended(record),
    )


def _steady(record: Record, samples: tuple[float, ...]) -> tuple[tuple[float, ...], int, str]:
    """The samples of the steady segment of warm-up and latency together, how many were cut, and why."""
    warm_up = [x if x is not None and x > 0 else None for x in record["times"].get("warm_up") or ()]
    state = steady_of((*warm_up, *samples), len(warm_up))
    if state.start is None:
        return samples, 0, f"{state.kind}: {state.reason}"
    cut = max(state.start - len(warm_up), 0)
    return samples[cut:], cut, f"{state.kind}: {state.reason}" if cut else ""


@functools.lru_cache(maxsize=1024)
def steady_of(times: tuple[float | None, ...], warm_up: int) -> SteadyState:
    """`stats.steady_state`, which takes a millisecond, and which several views of one round ask for."""
    from ..stats.steady import steady_state

    return steady_state(times, warm_up=warm_up)


def _notes(used: Sequence[Record], rounds: Sequence[Round], newest: Record) -> list[str]:
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
    notes += side_notes(rounds)
    if all(record is not newest for record in used):
        notes.append(
            "the evidence has newer rounds that asv's file does not (--quick's, or a run that was stopped)"
        )
    return notes
