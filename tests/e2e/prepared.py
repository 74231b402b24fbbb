"""Results as `asv run` leaves them, made without measuring: asv's files with the evidence beside them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from asv.results import Results
from asv.runner import BenchmarkResult

from dcu_asv_ext.evidence.record import Measurement
from dcu_asv_ext.evidence.store import evidence_path
from tests.asv_plugin.overlay_project import Project

ENV = "overlay-py3"
MACHINE = {"machine": "box", "arch": "", "cpu": "", "num_cpu": "1", "os": "", "ram": ""}
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


def rounds_of(
    level: float, rounds: int = 5, samples: int = 5, spread: float = 0.002, seed: int = 0
) -> list[list[float]]:
    """Latencies in seconds: rounds that differ by `spread`, and samples in them by half of it."""
    random = np.random.default_rng(seed)
    logs = random.normal(0, spread, (rounds, 1)) + random.normal(0, spread / 2, (rounds, samples))
    return [[float(f"{one:.6g}") for one in row] for row in level * np.exp(logs)]


class Prepared(Project):
    """A project whose commits have results that a test wrote down."""

    def __init__(self, root: Path, **settings: Any) -> None:
        super().__init__(root)
        (self.suite / "benchmarks").mkdir()
        (self.suite / "benchmarks" / "__init__.py").touch()
        self.results_dir = self.suite / "results"
        (self.results_dir / "box").mkdir(parents=True)
        (self.results_dir / "box" / "machine.json").write_text(json.dumps({**MACHINE, "version": 1}))
        self.known: dict[str, Any] = {"version": 2}
        self.set_up(**settings)

    def set_up(self, **settings: Any) -> None:
        self.configure(**{"plugins": [".dcu_asv_ext.asv_plugin"], **settings})

    def commits(self, number: int) -> list[str]:
        return [self.commit({"step": str(i)}) for i in range(number)]

    def write(
        self,
        commit: str,
        ours: Mapping[str, Sequence[Sequence[float]]],
        plain: Mapping[str, Sequence[float] | float] | None = None,
        *,
        hours: float = 0,
        device: Mapping[str, Any] | None = None,
        version: str = "1",
        session: str = "",
        env: str = ENV,
        date: int | None = None,
    ) -> None:
        """ours: `module.function` -> rounds of latencies, measured from `hours` after START on, a minute a round.
        plain: name of another suite's benchmark -> its samples, or the one figure that asv keeps."""
        when = date if date is not None else 1000 * int(self.git("show", "-s", "--format=%ct", commit))
        results = Results(dict(MACHINE), {}, commit, when, "3.11", env, {})
        path = self.results_dir / results._filename
        lines = []
        for name, rounds in ours.items():
            metric = f"{name}.latency"
            self._know(metric, family=name, rounds=len(rounds))
            samples = [one for each in rounds for one in each]
            results.add_result(self._about(metric, version), _measured(samples), record_samples=True)
            for number, each in enumerate(rounds, 1):
                started = START + datetime.timedelta(hours=hours, minutes=number)
                lines.append(
                    _line(name, number, each, started, commit, version, session or commit, device, env)
                )
        for name, given in (plain or {}).items():
            self._know(name)
            several = isinstance(given, Sequence)
            samples = list(given) if isinstance(given, Sequence) else [given]
            results.add_result(self._about(name, version), _measured(samples), record_samples=several)
        results.save(str(self.results_dir))
        if lines:
            evidence_path(path).write_text("".join(lines))
        (self.results_dir / "benchmarks.json").write_text(json.dumps(self.known))

    def _know(self, name: str, **more: Any) -> None:
        about = {
            "name": name,
            "params": [],
            "param_names": [],
            "unit": "seconds",
            "type": "time",
            "version": "1",
        }
        self.known[name] = {**about, "code": "", "timeout": 60.0, **more}

    def _about(self, name: str, version: str) -> dict[str, Any]:
        return {**self.known[name], "version": version}


def _measured(samples: list[float]) -> BenchmarkResult:
    value = float(np.median(samples))
    return BenchmarkResult([value], [samples], [1], 0, "", None)


def _line(
    name: str,
    number: int,
    samples: Sequence[float],
    started: datetime.datetime,
    commit: str,
    version: str,
    session: str,
    device: Mapping[str, Any] | None,
    env: str,
) -> str:
    return Measurement(
        benchmark=name,
        params={},
        round=number,
        session=session,
        commit=commit,
        env=env,
        machine="box",
        started_at=started.isoformat(),
        metrics=["latency"],
        versions={"latency": version},
        times={"latency": list(samples)},
        batch={"latency": 1},
        device={"kind": "cpu", "simulated": False, **(device or {})},
    ).to_line()
