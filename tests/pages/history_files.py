"""asv's result files and the evidence beside them, of measurements that were made up."""

from __future__ import annotations

import gzip
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dcu_asv_ext.evidence.record import Measurement
from dcu_asv_ext.evidence.store import SUFFIX
from dcu_asv_ext.evidence.summary import outcome
from dcu_asv_ext.evidence.traces import trace_path
from dcu_asv_ext.metrics import METRICS
from tests.asv_plugin.result_folder import COLUMNS
from tests.trace.building import Building

from .history_records import START, Told

#: Of one combination of parameters: what lies in the evidence, and what of it asv's file is made of.
Group = tuple[Sequence[Measurement], Sequence[Measurement]]

_DAY = 86_400_000


class Files:
    """The suite's folder of a project; `close` when all is written."""

    def __init__(self, suite: Path) -> None:
        self.suite, self.results = suite, suite / "results"
        self._machines: dict[str, dict[str, str]] = {}
        self._known: dict[str, Any] = {"version": 2}
        (suite / "benchmarks").mkdir(parents=True)
        (suite / "benchmarks" / "__init__.py").touch()

    def configure(self, **conf: Any) -> None:
        ours = {"version": 1, "environment_type": "overlay", "plugins": [".dcu_asv_ext.asv_plugin"]}
        (self.suite / "asv.conf.json").write_text(json.dumps({**ours, **conf}, indent=1))

    def machine(self, about: dict[str, str]) -> None:
        folder = self.results / about["machine"]
        folder.mkdir(parents=True)
        (folder / "machine.json").write_text(json.dumps({**about, "version": 1}))
        self._machines[about["machine"]] = about

    def close(self) -> None:
        (self.results / "benchmarks.json").write_text(json.dumps(self._known))

    # ---- what was measured

    def save(self, told: Told, groups: Mapping[str, Sequence[Group]]) -> None:
        """groups: function -> its combinations of parameters, in asv's order."""
        entries: dict[str, Any] = {}
        for function, combinations in groups.items():
            first = combinations[0][0][0]
            values = _values([one[0].params for one, _ in combinations])
            used = [[one.to_dict() for one in mine] for _, mine in combinations]
            for metric in first.metrics:
                entries[f"{function}.{metric}"] = _entry(used, metric, values, _milliseconds(told))
                self._know(function, metric, first, values)
        self._result_file(told, entries, ours=True)
        self.evidence(told, [one for group in groups.values() for mine, _ in group for one in mine])

    def save_plain(
        self, told: Told, given: Mapping[str, tuple[str, Sequence[Sequence[float] | float | None]]]
    ) -> None:
        """Another suite's: name -> what its second value of a parameter is called ("": it has no parameters), and
        for each combination its samples, its one figure, or None where it failed."""
        entries = {}
        for name, (second, found) in given.items():
            values = [["1", second]] if second else []
            medians = [statistics.median(one) if isinstance(one, Sequence) else one for one in found]
            samples = [list(one) if isinstance(one, Sequence) else None for one in found]
            entries[name] = [
                medians,
                values,
                "1",
                _milliseconds(told),
                1.0,
                *[[None] * len(found)] * 6,
                samples,
            ]
            timed = name.rpartition(".")[2].startswith("time")
            self._known[name] = {
                "name": name, "params": values, "param_names": ["size"] if second else [], "version": "1",
                "type": "time" if timed else "track", "unit": "seconds" if timed else "unit", "code": "",
                "timeout": 60.0,
            }  # fmt: skip
        self._result_file(told, entries, ours=False)

    def evidence(self, told: Told, measured: Sequence[Measurement]) -> None:
        self._evidence(told).write_text("".join(one.to_line() for one in measured))

    def trace(self, told: Told, built: Building) -> None:
        path = trace_path(self._evidence(told), told.benchmark, told.index)
        path.parent.mkdir(exist_ok=True)
        data = json.dumps({**built.header, "traceEvents": built.events})
        path.write_bytes(gzip.compress(data.encode(), mtime=0))

    # ---- files

    def _evidence(self, told: Told) -> Path:
        return self.results / told.machine / f"{told.commit[:8]}-{told.env}{SUFFIX}"

    def _result_file(self, told: Told, entries: Mapping[str, Any], ours: bool) -> None:
        requirements = {"torch": "2.7.1", "device": "hip"} if ours else {}
        found = {
            "commit_hash": told.commit, "env_name": told.env, "date": _milliseconds(told), "python": "3.11",
            "params": {**self._machines[told.machine], "python": "3.11", **requirements},
            "requirements": requirements, "env_vars": {}, "result_columns": COLUMNS, "results": entries,
            "durations": {}, "version": 2,
        }  # fmt: skip
        path = self.results / told.machine / f"{told.commit[:8]}-{told.env}.json"
        path.write_text(json.dumps(found))

    def _know(self, function: str, metric: str, one: Measurement, values: list[list[str]]) -> None:
        name = f"{function}.{metric}"
        self._known[name] = {
            "name": name, "param_names": [*one.params], "params": values, "version": one.versions[metric],
            "unit": METRICS[metric].unit, "type": "dcu", "family": function, "kind": one.kind, "rounds": 5,
            "code": f"def {function}(): ...", "timeout": 600.0,
        }  # fmt: skip


def _milliseconds(told: Told) -> int:
    return round(START.timestamp() * 1000) + told.day * _DAY


def _values(combinations: Sequence[Mapping[str, str]]) -> list[list[str]]:
    names = [*combinations[0]]
    return [[*dict.fromkeys(one[name] for one in combinations)] for name in names]


def _entry(
    used: Sequence[Sequence[dict[str, Any]]], metric: str, values: list[list[str]], when: int
) -> list[Any]:
    """A row of asv's file: the median of all samples, null where one failed, NaN where none could be measured."""
    found = [[outcome(record, metric) for record in mine] for mine in used]
    samples = [
        [x for one in mine for x in one.samples] if all(one.state == "ok" for one in mine) else None
        for mine in found
    ]
    results = [
        statistics.median(own) if own else None if any(one.state == "failed" for one in mine) else math.nan
        for own, mine in zip(samples, found, strict=True)
    ]
    ends = [[None if own is None else pick(own) for own in samples] for pick in (min, max, min, max)]
    numbers = [None if own is None else 1 for own in samples]
    repeats = [None if own is None else len(own) for own in samples]
    version = used[0][0]["versions"][metric]
    return [results, values, version, when, 3.5, *ends, numbers, repeats, samples]
