"""The benchmarks that the pages list: what is the same at all places and commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..comparing.model import Key, Series
from ..metrics import METRICS
from .model import Shape, Unreadable, Work
from .writing import slug

_ORDER = {name: place for place, name in enumerate(METRICS)}


def metric_order(name: str) -> tuple[int, str]:
    """Of the table of metrics, then of the alphabet."""
    return _ORDER.get(name, len(_ORDER)), name


@dataclass
class _Function:
    """series: of each metric, as its newest result has it. values: of each parameter those that were seen."""

    name: str
    series: dict[str, Series] = field(default_factory=dict)
    values: list[dict[str, None]] = field(default_factory=list)

    def take(self, key: Key, series: Series) -> None:
        self.series[key.metric] = series
        for place, value in enumerate(key.params):
            if place == len(self.values):
                self.values.append({})
            self.values[place][value] = None


def functions(work: Work) -> list[dict[str, Any]]:
    """As "index" lists them, by name: those that have files of series."""
    found: dict[str, _Function] = {}
    for shape in _shapes(work):
        for key, series in zip(shape.keys, shape.series, strict=True):
            found.setdefault(key.benchmark, _Function(key.benchmark)).take(key, series)
    return [_told(work, found[name]) for name in sorted({name for name, _ in work.parts})]


def _shapes(work: Work) -> Iterator[Shape]:
    """Each once, where it was last seen."""
    last: dict[Shape, int] = {}
    for (_, commit), entry in work.entries.items():
        try:
            shape = work.extract(entry).shape
        except Unreadable:  # told by who read it first
            continue
        last[shape] = max(commit, last.get(shape, -1))
    return iter(sorted(last, key=lambda shape: last[shape]))


def _told(work: Work, one: _Function) -> dict[str, Any]:
    metrics = sorted(one.series, key=metric_order)
    newest = one.series[metrics[0]]
    asv = {metric: one.series[metric].asv_name for metric in metrics}
    about = work.benchmarks.get(newest.asv_name, {})
    ours = all(metric in METRICS for metric in metrics)
    return {
        "name": one.name,
        "slug": slug(one.name),
        "label": _label(one.name, metrics[0], str(about.get("pretty_name") or one.name)),
        "kind": newest.kind,
        "ours": ours,
        "params": _params(one, newest, about),
        "metrics": metrics,
        "asv": asv,
        "gone": [metric for metric in metrics if asv[metric] not in work.benchmarks],
        "units": {metric: one.series[metric].unit for metric in metrics},
        "places": dict(_places(work, one.name)),
    }


def _label(name: str, metric: str, pretty: str) -> str:
    """What the author calls the function: what asv shows of ours ends with a metric, and begins with the bare name
    where the author has no other."""
    if metric in METRICS:
        pretty = pretty.removesuffix(f": {METRICS[metric].label}")
    return name if pretty == name.rpartition(".")[2] else pretty


def _params(one: _Function, newest: Series, about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """As many as any result has; a value that asv does not know any more comes after those that it does."""
    declared = about.get("params") or []
    found = []
    for place, seen in enumerate(one.values):
        named = newest.param_names[place] if place < len(newest.param_names) else ""
        known = [str(value) for value in declared[place]] if place < len(declared) else []
        values = [value for value in known if value in seen]
        values += [value for value in seen if value not in set(known)]
        found.append({"name": named or str(place), "values": values})
    return found


def _places(work: Work, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for place in range(len(work.places)):
        if (name, place) not in work.parts:
            continue
        combos = work.combos[name, place]
        told: dict[str, Any] = {
            "parts": work.parts[name, place],
            "combos": [params for part in combos for params in part],
        }
        if len(combos) > 1:
            # The first of the combinations in each of the parts.
            told["starts"] = [sum(map(len, combos[:part])) for part in range(len(combos))]
        told["evidence"] = work.evidence_files.get((name, place), [])
        yield str(place), told
