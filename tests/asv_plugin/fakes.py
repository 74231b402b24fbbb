"""Stand-ins for asv's side of the plugin: discovered benchmarks, measuring processes and their records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dcu_asv_ext.asv_plugin.batches import BatchIndex
from dcu_asv_ext.asv_plugin.session import Session, begin
from dcu_asv_ext.asv_plugin.sharing import Request, Sharing
from dcu_asv_ext.evidence.record import Measurement
from dcu_asv_ext.evidence.store import append_line

FAMILY = "suite.step"
METRICS = ("latency", "cold_start", "peak_allocated")


def benchmarks(metrics: Iterable[str] = METRICS, params: bool = True, version: str = "1") -> dict[str, Any]:
    """asv's own description of one decorated function, by name, and of a plain benchmark beside it."""
    about = {
        "family": FAMILY,
        "kind": "micro",
        "version": version,
        "params": [["64", "256"], ["'float32'"]] if params else [],
        "param_names": ["n", "dtype"] if params else [],
        "timeout": 600.0,
    }
    found = {f"{FAMILY}.{metric}": {**about, "name": f"{FAMILY}.{metric}"} for metric in metrics}
    found["suite.time_plain"] = {"name": "suite.time_plain", "version": "1", "params": [], "param_names": []}
    return found


def record(**changes: Any) -> dict[str, Any]:
    """An evidence record of FAMILY, first parameters, round 1, as a mapping."""
    return Measurement(
        **{
            "benchmark": FAMILY,
            "params": {"n": "64", "dtype": "'float32'"},
            "param_index": 0,
            "metrics": list(METRICS),
            "versions": dict.fromkeys(METRICS, "1"),
            "times": {"cold": [0.5], "latency": [0.25, 0.125]},
            "batch": {"cold": 1, "latency": 8},
            "memory": {"peak_allocated": 4096},
            "device": {"kind": "cpu", "simulated": False},
            **changes,
        }
    ).to_dict()


class Launcher:
    """What asv's spawner does, without a process: `work` gets what the child would get, and answers for it."""

    def __init__(self, work: Callable[[dict[str, Any]], tuple[str, int]]) -> None:
        self.work = work
        self.parameters: list[dict[str, Any]] = []
        self.seconds: list[float] = []

    def __call__(self, parameters: str, seconds: float) -> tuple[str, int]:
        self.parameters.append(json.loads(parameters))
        self.seconds.append(seconds)
        return self.work(self.parameters[-1])

    @property
    def started(self) -> int:
        return len(self.seconds)


def measures(**changes: Any) -> Launcher:
    """A child that measures: evidence first, then the copy for the waiting parent."""

    def work(parameters: dict[str, Any]) -> tuple[str, int]:
        info = parameters["dcu"]
        made = record(**{**info["about"], **changes})
        line = json.dumps(made) + "\n"
        if info["evidence"]:
            append_line(info["evidence"], line)
        Path(info["record"]).write_text(line)
        return "said something", 0 if made["status"] == "ok" else 1

    return Launcher(work)


def dies(code: int, output: str = "its last words") -> Launcher:
    """A child that ends with asv's exit code before it has a record."""
    return Launcher(lambda parameters: (output, code))


class Desk:
    """One `run_benchmarks` over a session in `folder`, and what it told."""

    def __init__(self, folder: Path, session: Session | None = None, **settings: Any) -> None:
        self.folder = folder
        self.evidence = folder / "results" / "box" / "12345678-env.evidence.jsonl"
        self.evidence.parent.mkdir(parents=True, exist_ok=True)
        self.session = session or begin(self.evidence, "1234567890ab", "env", "box", {})
        self.told: list[str] = []
        (folder / "caches").mkdir(exist_ok=True)
        self.firsts = 0
        self.sharing = Sharing(
            **{
                "session": self.session,
                "benchmarks": benchmarks(),
                "device_kind": "cpu",
                "cache_root": folder / "caches",
                "user_caches": {},
                "tell": self.told.append,
                "before_first": self._first,
                "batches": BatchIndex(self.evidence.parent),
                **settings,
            }
        )

    def _first(self) -> None:
        self.firsts += 1

    def ask(self, metric: str, launch: Launcher, index: int | None = 0, **parameters: Any) -> tuple[Any, int]:
        """One request of asv: what stands in its result file (None: nothing), and the exit code it sees."""
        file = self.folder / "asv-result"
        file.write_text("")
        suffix = "" if index is None else f"-{index}"
        request = Request(f"{FAMILY}.{metric}{suffix}", json.dumps(parameters), str(file), 600.0)
        self.output, code = self.sharing.answer(request, launch)
        text = file.read_text()
        return (json.loads(text) if text else None), code

    def lines(self) -> list[dict[str, Any]]:
        if not self.evidence.exists():
            return []
        return [
            json.loads(line, parse_constant=_no_constant) for line in self.evidence.read_text().splitlines()
        ]

    def stop(self) -> None:
        """The process ends here, without having finished."""
        if self.session.lock is not None:
            self.session.lock.release()


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")
