"""The experiment matrix of result sets: what each benchmark, its parameters and a variant of it showed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..evidence.matrix import ASV, MEMORY, VALUE, MatrixRow, Statistic
from ..evidence.record import OK as STATUS_OK
from ..evidence.record import WRONG
from ..evidence.summary import figures_of
from ..metrics import METRICS
from .facts import all_facts, is_figure, merged, record_facts
from .fields import group_of, number
from .matrix_experiments import Experiment, experiments
from .model import EVIDENCE, FAILED, OK, ResultSet, Side
from .reading import NO_ENTRY, Entries, read_results
from .sessions import Record, sessions_of

#: Column -> facts that tell it, the exactest first.
_TOLD_BY = {
    "device_kind": ("device.kind", "requirement.device"),
    "device_product": ("device.product",),
    "device_architecture": ("device.architecture",),
    "driver": ("device.driver",),
    "dtk": ("software.dtk",),
    "torch": ("software.torch", "requirement.torch"),
    "python": ("software.python", "requirement.python"),
}
_RUNTIMES = ("hip", "cuda", "runtime")
#: Memory that lies in a group of the record: column -> (group, name).
_IN_GROUP = {"baseline_card": ("card", "before"), "after_card": ("card", "after")}


@dataclass(frozen=True)
class Measured:
    """A result set, and where its raw data lies: the file below the results folder."""

    results: ResultSet
    file: str | None = None


@dataclass
class Matrix:
    """rows: by benchmark and parameters, then as the results were given. notes: sentences on what was read."""

    rows: list[MatrixRow] = field(default_factory=list)
    experiments: list[Experiment] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class _Group:
    """One benchmark with one set of parameters. index: asv's combination index, infinite where it is not known."""

    benchmark: str
    params: dict[str, str]
    sides: dict[str, Side] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    kind: str | None = None
    unit: str | None = None

    @property
    def index(self) -> float:
        known = [one["param_index"] for one in self.records if isinstance(one["param_index"], int)]
        return float(known[-1]) if known else math.inf


def matrix(
    measured: Sequence[Measured],
    *,
    functions: str | None = None,
    times: bool = False,
    notes: Sequence[str] = (),
) -> Matrix:
    """functions: a regular expression; the functions that it is found in are variants of one another.
    times: the rows hold every time that was taken."""
    found: list[tuple[tuple[Any, ...], MatrixRow]] = []
    order: dict[tuple[str, tuple[str, ...]], float] = {}
    told = list(notes)
    for place, one in enumerate(measured):
        told += one.results.notes
        for group in _groups(one.results):
            params = tuple(group.params.values())
            key = (group.benchmark, params)
            order[key] = min(order.get(key, math.inf), group.index)
            for row in _rows(one, group, times):
                found.append(((key, place), row))
    found.sort(key=lambda entry: (entry[0][0][0], order[entry[0][0]], _natural(entry[0][0][1]), entry[0][1]))
    rows = _named([row for _, row in found])
    return Matrix(rows, experiments(rows, functions), list(dict.fromkeys(told)))


def _natural(params: Iterable[str]) -> list[tuple[float, str]]:
    """Numbers by their value, before text."""
    return [(_number(one), one) for one in params]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.inf


def _groups(results: ResultSet) -> list[_Group]:
    """A group for each function of ours, and for each benchmark of another suite."""
    found: dict[tuple[str, tuple[str, ...]], _Group] = {}
    for key, side in results.sides.items():
        series = results.series[key]
        names = [*series.param_names, *([""] * len(key.params))]
        params = {
            name or str(place): value
            for place, (name, value) in enumerate(zip(names, key.params, strict=False))
        }
        group = found.setdefault((key.benchmark, key.params), _Group(key.benchmark, params))
        ours = key.metric in METRICS
        group.sides[key.metric if ours else VALUE] = side
        group.kind, group.unit = (series.kind, None) if ours else (None, series.unit or None)
    for record in results.records:
        params_of = tuple(record["params"].values())
        if (record["benchmark"], params_of) in found:
            found[record["benchmark"], params_of].records.append(dict(record))
    return list(found.values())


def _rows(one: Measured, group: _Group, times: bool) -> Iterator[MatrixRow]:
    """The row of what asv's file is made of, and one of each other protocol that the evidence still has."""
    results, used = one.results, _used(group)
    protocols = {record["protocol"] for record in used}
    if used:
        yield _evidence_row(one, group, used, times)
    else:
        yield _asv_row(one, group, times)
    rest = [record for record in group.records if record["protocol"] not in protocols]
    for protocol in dict.fromkeys(record["protocol"] for record in rest):
        records = [record for record in rest if record["protocol"] == protocol]
        alone = read_results(
            results.machine,
            results.commit,
            results.env,
            entries=Entries(),
            records=records,
            facts=results.facts,
        )
        note = f"measured by protocol {protocol}; no part of the result that asv's file has now"
        for inner in _groups(alone):
            row = _evidence_row(replace(one, results=alone), inner, _used(inner), times)
            yield replace(row, notes=[note, *(text for text in row.notes if text != NO_ENTRY)])


def _used(group: _Group) -> list[Record]:
    """The measurements that the sides' rounds are; where none has a number, those of the newest session."""
    sides = [side for side in group.sides.values() if side.source == EVIDENCE]
    saved = [side for side in sides if NO_ENTRY not in side.notes]
    sides = saved if any(side.rounds for side in saved) else sides
    wanted = {(each.session, each.number) for side in sides for each in side.rounds}
    if not wanted:
        return sessions_of(group.records)[-1] if group.records and sides else []
    chosen = {(str(record["session"] or ""), record["round"]): record for record in group.records}
    return [record for place, record in chosen.items() if place in wanted]


# ---- a row


def _evidence_row(one: Measured, group: _Group, used: Sequence[Record], times: bool) -> MatrixRow:
    results, last = one.results, used[-1]
    of_rounds = merged(record_facts(record) for record in used)
    passes = dict.fromkeys(name for record in used for name in record["times"])
    seeds = {record["seed"] for record in used}
    common = _common(one, group, all_facts(results.facts, of_rounds))
    return replace(
        common,
        status=_status(used),
        figures={**_unasked(group, used), **common.figures},
        label=last["variant"],
        dirty=any(record.get("dirty") for record in used),
        head=last.get("head"),
        inputs=[str(tensor) for tensor in last["input"].get("tensors") or ()],
        input_bytes=last["input"].get("bytes"),
        input_sets=last["input"].get("sets"),
        seed=last["seed"] if len(seeds) == 1 else None,
        boundary=last["boundary"],
        cache=_cache(used),
        rounds=len(used),
        batch={
            name: [record["batch"].get(name, 1) for record in used]
            for name in dict.fromkeys(name for record in used for name in record["batch"])
        },
        memory=_memory(used),
        package_size=number(last, "project", "package_size"),
        missing=_missing(group, last),
        notes=_notes(group, used),
        protocol=last["protocol"],
        evidence=[
            {"file": one.file, "session": record["session"], "round": record["round"]} for record in used
        ],
        times={name: [record["times"].get(name, []) for record in used] for name in passes}
        if times
        else None,
    )


def _asv_row(one: Measured, group: _Group, times: bool) -> MatrixRow:
    """What asv's file alone knows."""
    sides = group.sides.values()
    states = {side.state for side in sides}
    bad = next((side for side in sides if side.state != OK), None)
    rounds = max(len(side.rounds) for side in sides)
    if states == {OK} or bad is None or OK in states:
        status = STATUS_OK
    else:
        status = bad.reason if bad.state == FAILED else f"no number: {bad.reason}"
    return replace(
        _common(one, group, dict(one.results.facts)),
        status=status,
        rounds=rounds,
        source=ASV,
        missing=_missing(group, None),
        notes=_notes(group, ()),
        evidence=[],
        times=(
            {name: [each.samples for each in side.rounds] for name, side in group.sides.items()}
            if times
            else None
        ),
    )


def _common(one: Measured, group: _Group, facts: Mapping[str, str]) -> MatrixRow:
    results = one.results
    stable = {"machine.machine": results.machine, **{k: v for k, v in facts.items() if not is_figure(k)}}
    sides = {name: side for name, side in group.sides.items() if side.state == OK and side.rounds}
    latency = sides.get("latency")
    runtimes = [f"{name} {facts[f'software.{name}']}" for name in _RUNTIMES if f"software.{name}" in facts]
    prefix = "environment."
    told: dict[str, Any] = {
        column: next((facts[name] for name in names if name in facts), None)
        for column, names in _TOLD_BY.items()
    }
    figures = {name: Statistic.of([each.samples for each in side.rounds]) for name, side in sides.items()}
    return MatrixRow(
        group.benchmark,
        group.params,
        kind=group.kind,
        commit=results.commit,
        dirty=results.dirty,
        machine=results.machine,
        env=results.env,
        env_vars={k.removeprefix(prefix): v for k, v in results.facts.items() if k.startswith(prefix)},
        **told,
        runtime=", ".join(runtimes) or None,
        samples={
            name: [len(each.samples) for each in side.rounds]
            for name, side in sides.items()
            if name not in METRICS or METRICS[name].is_time
        },
        cut=[each.cut for each in latency.rounds] if latency is not None else [],
        figures={name: one for name, one in figures.items() if one is not None},
        unit=group.unit,
        versions={name: side.version for name, side in group.sides.items() if side.version is not None},
        facts=stable,
        conditions={name: value for name, value in facts.items() if is_figure(name)},
    )


def _status(used: Sequence[Record]) -> str:
    """The one that all rounds have, else each with its rounds: "ok (2 of 3); out of memory in setup: ... (1)"."""
    counted: dict[str, int] = {}
    for record in used:
        counted[record["status"]] = counted.get(record["status"], 0) + 1
    if len(counted) == 1:
        return next(iter(counted))
    return "; ".join(f"{status} ({number} of {len(used)} rounds)" for status, number in counted.items())


def _cache(used: Sequence[Record]) -> dict[str, Any]:
    """mode: of all; was_empty, wrote: of each round. {} where nothing tells."""
    told = [cache for record in used if isinstance(cache := record["switches"].get("cache"), Mapping)]
    if not told:
        return {}
    modes = dict.fromkeys(str(one.get("mode")) for one in told)
    mode = next(iter(modes)) if len(modes) == 1 else f"mixed: {'; '.join(modes)}"
    return {"mode": mode, **{name: [one.get(name) for one in told] for name in ("was_empty", "wrote")}}


def _memory(used: Sequence[Record]) -> dict[str, float]:
    found = {}
    for name in MEMORY:
        values = [value for record in used if (value := _bytes(record["memory"], name)) is not None]
        if values:
            found[name] = statistics.median(values)
    return found


def _unasked(group: _Group, used: Sequence[Record]) -> dict[str, Statistic]:
    """Figures that a measurement has although its benchmark does not report them, as the mean error."""
    found = {}
    sound = [record for record in used if record["status"].startswith((STATUS_OK, WRONG))]
    for name, metric in METRICS.items():
        if metric.is_time or name in group.sides:
            continue
        values = [
            value
            for record in sound
            if (value := number(figures_of(record, metric.source), name)) is not None
        ]
        if (one := Statistic.of([[value] for value in values])) is not None:
            found[name] = one
    return found


def _bytes(memory: Mapping[str, Any], name: str) -> float | None:
    return number(memory, *_IN_GROUP.get(name, (name,)))


def _missing(group: _Group, last: Record | None) -> dict[str, str]:
    found = {name: side.reason for name, side in group.sides.items() if side.state != OK}
    of_memory = group_of(last, "memory", "missing")
    return found | {str(name): str(reason) for name, reason in of_memory.items() if name not in found}


def _notes(group: _Group, used: Sequence[Record]) -> list[str]:
    sides = group.sides.values()
    said = [
        *(side.conflict for side in sides if side.conflict),
        *(note for side in sides for note in side.notes),
        *(str(note) for record in used for note in record["notes"] or ()),
    ]
    if len({record["seed"] for record in used}) > 1:
        said.append("the rounds were not measured with one seed")
    if len({str(record["variant"]) for record in used}) > 1:
        said.append("the rounds have different variant= names")
    return list(dict.fromkeys(said))


# ---- names of the variants


def _named(rows: Sequence[MatrixRow]) -> list[MatrixRow]:
    """With the variant told: the commit, what its `variant=` and asv's `matrix.env` say, and the environment or
    machine where these do not tell two rows apart."""
    alike: dict[tuple[Any, ...], set[tuple[str | None, str | None]]] = {}
    for row in rows:
        alike.setdefault((row.benchmark, *row.params.values(), variant(row)), set()).add(
            (row.env, row.machine)
        )
    protocols = len({row.protocol for row in rows if row.protocol is not None}) > 1
    envs = any(len({env for env, _ in places}) > 1 for places in alike.values())
    machines = any(len({machine for _, machine in places}) > 1 for places in alike.values())
    named = []
    for row in rows:
        more = [str(row.env)] * envs + [str(row.machine)] * machines
        more += [f"protocol {row.protocol}"] * (protocols and row.protocol is not None)
        named.append(replace(row, variant=", ".join([variant(row), *more])))
    return named


def variant(row: MatrixRow) -> str:
    commit = (row.commit or "")[:8]
    parts = [f"{commit} with uncommitted changes" if row.dirty else commit, row.label or ""]
    variables = [f"{name}={value}" for name, value in row.env_vars.items()]
    return ", ".join(part for part in [*parts, *(one for one in variables if one != row.label)] if part)
