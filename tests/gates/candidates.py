"""Commits whose measurements a test wrote down whole: evidence, and what asv would have kept of it."""

from __future__ import annotations

import datetime
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from asv.results import Results
from asv.runner import BenchmarkResult

from dcu_asv_ext.evidence.record import Measurement
from dcu_asv_ext.evidence.store import evidence_path
from dcu_asv_ext.evidence.summary import asv_result, outcome
from dcu_asv_ext.metrics import METRICS
from tests.e2e.prepared import ENV, MACHINE, START, Prepared, rounds_of

MIB = 2**20
CPU: dict[str, Any] = {"kind": "cpu", "simulated": False}
HIP: dict[str, Any] = {"kind": "dcu", "simulated": True, "product": "simulated HIP", "runtime": "6.3"}
DEVICES = {"cpu": CPU, "hip": HIP}


def measured(
    name: str = "suite.step",
    *,
    latency: float = 0.010,
    device_time: float = 0.008,
    cold: float = 0.5,
    allocated: int = 10 * MIB,
    reserved: int | None = None,
    error: float | None = 1e-6,
    size: int | None = 1 * MIB,
    kind: str = "workload",
    rounds: int = 5,
    spread: float = 0.002,
    seed: int = 0,
    hours: float = 0.0,
    params: Mapping[str, str] | None = None,
    device: Mapping[str, Any] = CPU,
    **changes: Any,
) -> list[Measurement]:
    """The rounds of one benchmark. error: None: it has no reference. changes: of the records' fields."""
    metrics = ["latency", "device_time", "cold_start", "peak_allocated", "peak_reserved"]
    metrics += ["max_error"] if error is not None else []
    levels = {"latency": latency, "device_time": device_time, "cold": cold}
    times = {
        one: rounds_of(level, rounds, 1 if one == "cold" else 5, spread, seed + place)
        for place, (one, level) in enumerate(levels.items())
    }
    made = []
    for number in range(1, rounds + 1):
        fields: dict[str, Any] = {
            "benchmark": name,
            "params": dict(params or {}),
            "round": number,
            "started_at": (START + datetime.timedelta(hours=hours, minutes=number)).isoformat(),
            "kind": kind,
            "metrics": metrics,
            "versions": dict.fromkeys(metrics, "1"),
            "times": {one: each[number - 1] for one, each in times.items()},
            "batch": {"latency": 1, "device_time": 1, "cold": 1},
            "memory": {"peak_allocated": allocated, "peak_reserved": reserved or allocated + 2 * MIB},
            "correctness": {} if error is None else judged(error),
            "device": dict(device),
            "project": {} if size is None else {"package_size": size, "files": 3},
        }
        made.append(Measurement(**{**fields, **changes}))
    return made


def judged(error: float | None, rtol: float = 1e-3, atol: float = 0.0) -> dict[str, Any]:
    """A result whose reference's largest value is 1, in float32."""
    return {
        "correct": True,
        "max_error": error,
        "mean_error": error,
        "max_absolute": error,
        "outside": 0,
        "elements": 100,
        "non_finite": 0,
        "rtol": rtol,
        "atol": atol,
        "epsilon": 1.1920929e-07,
    }


def wrong(error: float = 0.5, **more: Any) -> dict[str, Any]:
    """Fields of a measurement whose result is wrong."""
    status = (
        "wrong result: 3 of 100 elements differ by more than atol 0 + rtol 0.001 * |ref|; the largest difference "
        f"is {error:.3g}"
    )
    return {"status": status, "correctness": {**judged(error), "correct": False, "outside": 3}, **more}


class Candidates(Prepared):
    """A project with two commits, which have the results that `keep` is given."""

    def __init__(self, root: Path, **gate: Any) -> None:
        super().__init__(root)
        self.base, self.candidate = self.commits(2)
        if gate:
            self.gate(gate)

    def gate(self, gate: Any) -> None:
        self.set_up(dcu={"gate": gate})

    def keep(
        self, commit: str, records: Sequence[Measurement], *, evidence: bool = True, env: str = ENV
    ) -> Path:
        """asv's file, and the evidence beside it. Parameters are combined as asv does."""
        when = 1000 * int(self.git("show", "-s", "--format=%ct", commit))
        results = Results(dict(MACHINE), {}, commit, when, "3.11", env, {})
        for record in records:
            record.commit, record.env, record.machine = commit, env, "box"
            record.session = record.session or commit
        for name in dict.fromkeys(one.benchmark for one in records):
            mine = [one.to_dict() for one in records if one.benchmark == name]
            for metric in dict.fromkeys(metric for one in mine for metric in one["metrics"]):
                self._add(results, f"{name}.{metric}", metric, mine)
        results.save(str(self.results_dir))
        path = self.results_dir / results._filename
        if evidence:
            evidence_path(path).write_text("".join(one.to_line() for one in records))
        (self.results_dir / "benchmarks.json").write_text(json.dumps(self.known))
        return path

    def _add(self, results: Results, name: str, metric: str, records: Sequence[dict[str, Any]]) -> None:
        first = records[0]
        params = [list(dict.fromkeys(one["params"][key] for one in records)) for key in first["params"]]
        about = METRICS[metric]
        self._know(
            name,
            family=first["benchmark"],
            kind=first["kind"],
            rounds=max(one["round"] for one in records),
            params=params,
            param_names=list(first["params"]),
            unit=about.unit,
            type="time" if about.is_time else "track",
            version=first["versions"].get(metric, "1"),
        )
        values: list[Any] = []
        samples: list[Any] = []
        for combination in itertools.product(*params):
            mine = [one for one in records if tuple(one["params"].values()) == combination]
            kept = [asv_result(outcome(one, metric))[0] for one in mine if metric in one["metrics"]]
            value, own = _as_asv_keeps(kept)
            values.append(value)
            samples.append(own)
        results.add_result(
            self.known[name],
            BenchmarkResult(values, samples, [1] * len(values), 0, "", None),
            record_samples=True,
        )


def _as_asv_keeps(kept: Sequence[Any]) -> tuple[float | None, list[float] | None]:
    """A round without a number makes asv forget those before it."""
    if not kept:
        return math.nan, None
    if kept[-1] is None or not isinstance(kept[-1], dict):
        return kept[-1], None
    last = max((place for place, one in enumerate(kept) if not isinstance(one, dict)), default=-1)
    samples = sorted(x for one in kept[last + 1 :] for x in one["samples"])
    middle = len(samples) // 2
    value = samples[middle] if len(samples) % 2 else (samples[middle - 1] + samples[middle]) / 2
    return value, [x for one in kept[last + 1 :] for x in one["samples"]]
