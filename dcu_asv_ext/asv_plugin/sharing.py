"""One measurement answers every metric: what happens between asv asking for a benchmark and getting its result."""

from __future__ import annotations

import datetime
import hashlib
import itertools
import json
import math
import os
import re
import shutil
import signal
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..evidence.record import OK, SKIPPED, Measurement
from ..evidence.store import append_line, parse_line
from ..evidence.summary import Outcome, asv_result, outcome
from ..metrics import METRICS, PROTOCOL
from .batches import BatchIndex, version_of
from .session import Key, Session
from .watchdog import Watchdog

#: Rounds of one commit whose median latencies are further apart than this are pointed out.
ROUNDS_APART = 1.5

#: asv's own exit code for a benchmark that ran out of time.
TIMEOUT_CODE = -256


class StorageFault(Exception):
    """The evidence cannot be kept, so measuring goes no further; the text says why."""


#: (parameters as JSON text, seconds allowed) -> (output, exit code)
Launch = Callable[[str, float], tuple[str, int]]


@dataclass(frozen=True)
class Request:
    """asv's request for one metric of one measurement.

    name: `<module>.<function>.<metric>[-<index>]`; parameters: asv's extra parameters as JSON text.
    profile: where asv expects a profile, None where it wants none.
    """

    name: str
    parameters: str
    result_file: str
    timeout: float
    profile: str | None = None

    @property
    def benchmark(self) -> str:
        return self.name.partition("-")[0]

    @property
    def family(self) -> str:
        return self.benchmark.rpartition(".")[0]

    @property
    def metric(self) -> str:
        return self.benchmark.rpartition(".")[2]

    @property
    def index(self) -> int | None:
        text = self.name.partition("-")[2]
        return int(text) if text else None


@dataclass
class Sharing:
    """Answers asv's requests of one `run_benchmarks`: measures once per (function, parameters, round).

    benchmarks: asv's discovered benchmarks, by name. device_kind: without importing torch.
    cache_root: folder of this asv run for on-disk caches. tell: prints a line beside asv's own.
    marks: fields of the evidence that asv knows nothing of (a working tree's, an experiment's).
    profile: what is asked of the profiler beside the benchmark's own metrics; empty: nothing.
    trace_limit: bytes of a kept trace; 0: none is kept.
    project: tells what the commit's installed project is, for the evidence; asked when something is to be measured.
    """

    session: Session
    benchmarks: Mapping[str, Any]
    device_kind: str
    cache_root: Path
    user_caches: Mapping[str, str | None]
    tell: Callable[[str], None]
    before_first: Callable[[], None]
    marks: Mapping[str, Any] = field(default_factory=dict)
    profile: Mapping[str, Any] = field(default_factory=dict)
    batches: BatchIndex | None = None
    project: Callable[[], Mapping[str, Any]] = dict
    trace_limit: int = 0
    started: int = 0
    answered: int = 0
    taken_up: int = 0
    missing: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    _ready: bool = False
    _profiles: dict[Key, bytes] = field(default_factory=dict)

    def is_ours(self, name: str) -> bool:
        benchmark = self.benchmarks.get(name.partition("-")[0])
        family, _, metric = name.partition("-")[0].rpartition(".")
        return metric in METRICS and benchmark is not None and benchmark.get("family") == family

    def answer(self, request: Request, launch: Launch) -> tuple[str, int]:
        """Write the metric's result where asv expects it; the output and exit code asv is to see."""
        if not self._ready:
            self.before_first()
            self._ready = True
        session = self.session
        number = session.next_round(request.family, request.index, request.metric)
        key = (request.family, request.index, number)
        record = session.records.get(key)
        output = ""
        if record is None:
            record = self._skipped_before(key) or self._resumed(request, key)
            if record is None:
                record, output = self._measure(request, number, launch)
                self.started += 1
                if request.profile is not None:
                    self._profiles[key] = Path(request.profile).read_bytes()
            session.records[key] = record
            self._notice(request, record)
        else:
            self.answered += 1
            if request.profile is not None:
                Path(request.profile).write_bytes(self._profiles.get(key, b""))
        return self._deliver(request, record, output)

    def _skipped_before(self, key: Key) -> dict[str, Any] | None:
        """A setup that skips does so in every round; a process to hear it again would cost a torch start."""
        family, index, number = key
        earlier = self.session.records.get((family, index, number - 1))
        return earlier if earlier is not None and str(earlier["status"]).startswith(SKIPPED) else None

    def _resumed(self, request: Request, key: Key) -> dict[str, Any] | None:
        record = self.session.resumed.get(key)
        if record is None or record["versions"].get(request.metric) != self._version(request):
            return None
        if record["protocol"] != PROTOCOL or record["params"] != self._labels(request):
            return None
        self.taken_up += 1
        return record

    def _version(self, request: Request) -> str:
        return str(self.benchmarks[request.benchmark]["version"])

    def _labels(self, request: Request) -> dict[str, str]:
        benchmark = self.benchmarks[request.benchmark]
        if request.index is None:
            return {}
        values = next(itertools.islice(itertools.product(*benchmark["params"]), request.index, None))
        return dict(zip(benchmark["param_names"], values, strict=True))

    def _about(self, number: int) -> dict[str, Any]:
        session = self.session
        return {
            "round": number,
            "session": session.identity,
            "order": session.next_order(),
            "commit": session.commit,
            "env": session.env,
            "machine": session.machine,
            **self.marks,
        }

    def _measure(self, request: Request, number: int, launch: Launch) -> tuple[dict[str, Any], str]:
        """Start the measuring process; its record, or the record of how it died."""
        about, project = self._about(number), dict(self.project())
        started_at = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        labels = self._labels(request)
        work = Path(tempfile.mkdtemp(prefix="measure-", dir=self.cache_root))
        place = work / "record.json"
        parameters = json.loads(request.parameters)
        timeout = float(parameters.get("timeout") or request.timeout)
        parameters["dcu"] = {
            "record": str(place),
            "evidence": str(self.session.evidence) if self.session.evidence else None,
            "about": about,
            # Beside `about`: a ruler that a commit brings itself may be too old to know the field.
            "project": project,
            "asv_pid": os.getpid(),
            "cache_root": str(self._cache_folder(request)),
            "user_caches": dict(self.user_caches),
            "batch": self._batch(request, labels),
            "trace_limit": self.trace_limit,
            "profile": dict(self.profile),
        }
        try:
            with Watchdog(request.result_file, timeout) as watchdog:
                output, code = launch(json.dumps(parameters), timeout)
            if watchdog.fired:
                code = TIMEOUT_CODE
            record = parse_line(place.read_text(encoding="utf-8")) if place.exists() else None
        finally:
            shutil.rmtree(work, ignore_errors=True)
        if record is None:
            about |= {"started_at": started_at, "project": project}
            if code == 0 and _is_na(request.result_file):
                return self._skipped_by_asv(request, labels, about), output
            return self._died(request, labels, about, how_it_ended(code, timeout, output), output), output
        if self.batches is not None and self.session.evidence is not None:
            with _storage(self.session.evidence):
                self.batches.learn(record)
        return record, output

    def _versions(self, request: Request) -> dict[str, str]:
        """metric -> version of every series of the request's function that asv discovered."""
        names = {name: f"{request.family}.{name}" for name in METRICS}
        return {
            name: self.benchmarks[full]["version"] for name, full in names.items() if full in self.benchmarks
        }

    def _batch(self, request: Request, labels: dict[str, str]) -> dict[str, int]:
        if self.batches is None:
            return {}
        version = version_of(self._versions(request))
        return self.batches.get(request.family, labels, self.device_kind, version)

    def _cache_folder(self, request: Request) -> Path:
        # Environments of one commit may differ in a variable that compilers go by.
        env = hashlib.sha256(self.session.env.encode()).hexdigest()[:8]
        name = "_".join([str(self.session.commit)[:12], env, request.family, str(request.index)])
        folder = self.cache_root / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _skipped_by_asv(
        self, request: Request, labels: dict[str, str], about: dict[str, Any]
    ) -> dict[str, Any]:
        """One of asv's marks (skip_for_params) took these parameters out: nothing was measured, so no evidence."""
        status = f"{SKIPPED} by asv's mark for these parameters"
        return Measurement(request.family, labels, request.index, status=status, **about).to_dict()

    def _died(
        self, request: Request, labels: dict[str, str], about: dict[str, Any], how: str, output: str
    ) -> dict[str, Any]:
        """The evidence line that a crashed, hung or never started child could not write."""
        versions = self._versions(request)
        record = Measurement(
            benchmark=request.family,
            params=labels,
            param_index=request.index,
            status=how,
            kind=str(self.benchmarks[request.benchmark].get("kind", "workload")),
            metrics=list(versions),
            versions=versions,
            device={"kind": self.device_kind},
            error={
                "stage": "unknown",
                "kind": how.partition(":")[0].partition(" after ")[0],
                "output": output[-4000:],
            },
            **about,
        )
        if self.session.evidence is not None:
            with _storage(self.session.evidence):
                append_line(self.session.evidence, record.to_line())
        return record.to_dict()

    def _notice(self, request: Request, record: dict[str, Any]) -> None:
        """Collect what went wrong and why metrics are missing; asv's own lines are not to be broken up."""
        if record["protocol"] != PROTOCOL:
            self.missing.setdefault(("every metric", _unknown(record)), set()).add(request.family)
            return
        status = str(record["status"])
        where = f"{request.family}({', '.join(f'{k}={v}' for k, v in record['params'].items())})"
        if status != OK and not status.startswith(SKIPPED):
            self.faults.append(f"{where}: {status}")
        for metric, reason in (record.get("missing") or {}).items():
            self.missing.setdefault((metric, reason), set()).add(request.family)
        if status.startswith(SKIPPED):
            self.missing.setdefault(("every metric", status), set()).add(request.family)

    def _deliver(self, request: Request, record: dict[str, Any], output: str) -> tuple[str, int]:
        value, failure = asv_result(self._outcome(request, record))
        if failure is not None:
            status = str(record["status"])
            code = TIMEOUT_CODE if status.startswith("timed out") else 1
            # The first metric carries the process's output; the others would only repeat it.
            return output, code
        with open(request.result_file, "w", encoding="utf-8") as stream:
            json.dump(value, stream)
        return output, 0

    def _outcome(self, request: Request, record: dict[str, Any]) -> Outcome:
        if record["protocol"] != PROTOCOL:
            return Outcome("missing", reason=_unknown(record))
        return outcome(record, request.metric)

    def report(self, final: bool = True) -> None:
        """After the run: faults, what was kept or taken up; after its last round also which rounds disagree, and
        which metrics could not be measured, and why."""
        # Of a profile whoever asked for it tells the fault.
        for fault in dict.fromkeys(() if self.profile else self.faults):
            self.tell(fault)
        if self.kept:
            names = ", ".join(sorted(self.kept)[:4]) + (" and others" if len(self.kept) > 4 else "")
            self.tell(f"the earlier results have more samples than --quick's, and stay: {names}")
        if self.taken_up:
            self.tell(f"{self.taken_up} measurements were taken from the interrupted session")
        if not final:
            return
        for name, low, high in disagreeing(self.session.records):
            self.tell(
                f"{name}: the rounds' latencies lie between {low:.3g} s and {high:.3g} s; "
                "the machine was busy, or the program has two speeds"
            )
        together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for (metric, reason), families in sorted(self.missing.items()):
            together.setdefault((reason, tuple(sorted(families))), []).append(metric)
        for (reason, of), metrics in together.items():
            self.tell(f"{_few(metrics)} not measured for {_few(of)}: {reason}")


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")


def disagreeing(records: Mapping[Key, Mapping[str, Any]]) -> list[tuple[str, float, float]]:
    """(name, fastest, slowest round's median latency) of measurements whose rounds are more than a factor apart."""
    medians: dict[str, list[float]] = {}
    for record in records.values():
        times = (record.get("times") or {}).get("latency")
        if times:
            shown = ", ".join(f"{name}={value}" for name, value in record["params"].items())
            medians.setdefault(f"{record['benchmark']}({shown})", []).append(statistics.median(times))
    return [
        (name, min(found), max(found))
        for name, found in sorted(medians.items())
        if max(found) > ROUNDS_APART * min(found)
    ]


def _unknown(record: Mapping[str, Any]) -> str:
    return f"this commit's benchmarks measure by protocol {record['protocol']}, not {PROTOCOL}"


@contextmanager
def _storage(evidence: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise StorageFault(
            f"the evidence beside {evidence} cannot be written ({fault}); free the disk or make the folder "
            "writable, and run asv again: what was measured so far is kept, and taken up"
        ) from fault


def _is_na(result_file: str) -> bool:
    """Whether asv's own child has left its n/a there."""
    try:
        value = json.loads(Path(result_file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(value, float) and math.isnan(value)


def how_it_ended(code: int, timeout: float, output: str = "") -> str:
    """A status from an exit code and, for a suite that could not be imported, the process's last words."""
    if code == TIMEOUT_CODE:
        return f"timed out after {timeout:g} s"
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"crashed: {name}"
    missing = re.findall(r"^(?:ModuleNotFoundError|ImportError): .*", output, re.MULTILINE)
    if missing:
        return (
            f"failed: the suite could not be imported: {missing[-1]} (the commit's dependencies come from the "
            "interpreter that runs asv; install what is missing there)"
        )
    return f"failed: the measuring process ended with exit status {code} before it had a record"


def fuller(earlier: Iterable[Any] | None, later: Iterable[Any] | None) -> bool:
    """Whether earlier asv statistics hold more samples than later ones."""

    def count(stats: Iterable[Any] | None) -> int:
        return sum(int((one or {}).get("repeat") or 0) for one in stats or ())

    return count(earlier) > count(later)
