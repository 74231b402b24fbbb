"""A long history as `asv run` with the plugin leaves it, made up: asv's files, and evidence of the newest commits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dcu_asv_ext.evidence.record import Measurement
from tests.asv_plugin.result_folder import COLUMNS

ENV = "overlay-py3.11-devicehip-torch2.7.1"
MACHINE = {
    "machine": "dcu-1",
    "arch": "x86_64",
    "cpu": "32-core",
    "num_cpu": "32",
    "os": "Linux",
    "ram": "256 GB",
}
PARAMS = {**MACHINE, "python": "3.11", "torch": "2.7.1", "device": "hip"}
START = 1_700_000_000
DAY = 86_400
ROUNDS, SAMPLES = 5, 5

#: Metric -> unit, and whether it varies from round to round.
METRICS = {
    "latency": ("seconds", True),
    "device_time": ("seconds", True),
    "cold_start": ("seconds", True),
    "peak_allocated": ("bytes", False),
    "peak_reserved": ("bytes", False),
}


def write(
    root: Path, commits: int, functions: int = 40, evidence: int = 60, plugin: bool = True
) -> list[str]:
    """asv.conf.json, repo/, results/ and benchmarks/ below `root`; the commits' hashes, oldest first.

    evidence: so many of the newest commits have it. Every function's level steps at a few commits of its own.
    """
    root.mkdir(parents=True, exist_ok=True)
    hashes = repository(root / "repo", [START + DAY * number for number in range(commits)])
    folder = root / "results" / MACHINE["machine"]
    folder.mkdir(parents=True)
    (root / "benchmarks").mkdir()
    (root / "benchmarks" / "__init__.py").touch()
    conf = {"version": 1, "project": "history", "repo": "repo", "branches": ["main"], "pythons": ["same"]}
    conf |= {"environment_type": "existing", "plugins": [".dcu_asv_ext.asv_plugin"] if plugin else []}
    (root / "asv.conf.json").write_text(json.dumps(conf, indent=1))
    (folder / "machine.json").write_text(json.dumps({**MACHINE, "version": 1}))
    names = [f"suite_{number // 10}.kernel_{number:02}" for number in range(functions)]
    about = {f"{name}.{metric}": _about(name, metric) for name in names for metric in METRICS}
    (root / "results" / "benchmarks.json").write_text(json.dumps({**about, "version": 2}))
    random = np.random.default_rng(20)
    levels = {name: _levels(random, commits) for name in names}
    for place, commit in enumerate(hashes):
        stem = f"{commit[:8]}-{ENV}"
        lines: list[str] = []
        results: dict[str, Any] = {}
        for name in names:
            level = levels[name][place]
            rounds = {
                "latency": _rounds(random, 1e-3 * level),
                "device_time": _rounds(random, 0.8e-3 * level),
                "cold_start": _rounds(random, 0.5, samples=1, spread=0.03),
            }
            peak = 2**20 * int(256 * max(level, 1))
            for metric in METRICS:
                value = rounds.get(metric) or [[peak if metric == "peak_allocated" else 2 * peak]] * ROUNDS
                results[f"{name}.{metric}"] = _entry(value, START + DAY * place)
            if place >= commits - evidence:
                lines += [_record(name, commit, n, rounds, peak, place) for n in range(ROUNDS)]
        (folder / f"{stem}.json").write_text(json.dumps(_file(commit, place, results)))
        if lines:
            (folder / f"{stem}.evidence.jsonl").write_text("".join(lines))
    return hashes


def repository(place: Path, times: Sequence[int]) -> list[str]:
    """A branch of empty commits at these seconds since 1970; their hashes, oldest first."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(place)], check=True)
    stream = []
    for number, time in enumerate(times):
        when = f"maker <maker@example.org> {time} +0000"
        text = f"Change number {number}"
        stream.append(f"commit refs/heads/main\nauthor {when}\ncommitter {when}\ndata {len(text)}\n{text}\n")
    git = ["git", "-C", str(place)]
    subprocess.run([*git, "fast-import", "--quiet"], input="\n".join(stream), text=True, check=True)
    log = [*git, "log", "--reverse", "--format=%H", "main"]
    return subprocess.run(log, capture_output=True, text=True, check=True).stdout.split()


def _about(name: str, metric: str) -> dict[str, Any]:
    own = {
        "name": f"{name}.{metric}",
        "unit": METRICS[metric][0],
        "version": "1",
        "family": name,
        "kind": "workload",
    }
    rest = {
        "params": [],
        "param_names": [],
        "type": "dcu",
        "code": f"def {name}(): ...",
        "timeout": 600.0,
        "rounds": ROUNDS,
    }
    return {**own, **rest}


def _levels(random: np.random.Generator, commits: int) -> list[float]:
    """Steps of 4 to 20 % up and down, each some hundred commits from the last."""
    levels, level = [], float(random.uniform(0.5, 4))
    change = int(random.integers(50, 400))
    for place in range(commits):
        if place == change:
            level *= float(np.exp(random.choice([-1, 1]) * random.uniform(0.04, 0.2)))
            change += int(random.integers(100, 500))
        levels.append(level)
    return levels


def _rounds(
    random: np.random.Generator, level: float, samples: int = SAMPLES, spread: float = 0.005
) -> list[list[float]]:
    logs = random.normal(0, spread, (ROUNDS, 1)) + random.normal(0, spread / 2, (ROUNDS, samples))
    return [[float(f"{one:.6g}") for one in row] for row in level * np.exp(logs)]


def _entry(rounds: list[list[float]], started: int) -> list[Any]:
    samples = [one for each in rounds for one in each]
    low, q25, value, q75, high = np.quantile(samples, [0.005, 0.25, 0.5, 0.75, 0.995]).tolist()
    figures = [[float(f"{one:.5g}")] for one in (low, high, q25, q75)]
    return [[value], [], "1", 1000 * started, 3.5, *figures, [1], [len(samples)], [samples]]


def _file(commit: str, place: int, results: dict[str, Any]) -> dict[str, Any]:
    return {
        "commit_hash": commit, "env_name": ENV, "date": 1000 * (START + DAY * place), "params": PARAMS,
        "python": "3.11", "requirements": {"torch": "2.7.1", "device": "hip"}, "env_vars": {},
        "result_columns": COLUMNS, "results": results, "durations": {}, "version": 2,
    }  # fmt: skip


def _record(
    name: str, commit: str, number: int, rounds: dict[str, list[list[float]]], peak: int, place: int
) -> str:
    day = f"{np.datetime64(START + DAY * place, 's')}"
    made = Measurement(
        benchmark=name, params={}, param_index=0, round=number + 1, session=f"s{place}", order=number,
        commit=commit, env=ENV, machine=MACHINE["machine"], started_at=f"{day[:-5]}{number:02}:00+00:00",
        metrics=list(METRICS), versions=dict.fromkeys(METRICS, "1"),
        boundary={"inputs": "device", "outputs": "device", "setup": "once per process"}, seed=7,
        times={
            "latency": list(rounds["latency"][number]), "device_time": list(rounds["device_time"][number]),
            "cold": list(rounds["cold_start"][number]),
            "warm_up": [rounds["latency"][number][0] * x for x in (1.3, 1.1, 1.02)],
        },
        batch={"latency": 1, "device_time": 1},
        memory={"baseline_allocated": peak // 2, "peak_allocated": peak, "after_allocated": peak // 2,
                "baseline_reserved": peak, "peak_reserved": 2 * peak, "after_reserved": 2 * peak},
        device={"kind": "hip", "product": "K100", "architecture": "gfx928", "driver": "6.3.8", "simulated": False},
        software={"torch": "2.7.1", "python": "3.11", "hip": "6.3"},
        switches={"grad": False, "threads": 16}, input={"tensors": ["4096x4096 float16"], "bytes": 2**25},
    )  # fmt: skip
    return made.to_line()
