"""The extension's own hot paths, on the host: the sampling loop, evidence written and read, figures made of it.

Results are judged by plain Python, so that a path made faster by doing less is noticed. The extension's modules
are imported by setup: a commit that lacks one fails these benchmarks alone.
"""

from __future__ import annotations

import json
import math
import random
import shutil
import tempfile
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dcu_asv_ext as dcu

LOOP_SAMPLES = 50_000
LINES_WRITTEN = 5
#: Measurements in a file, and samples of each: a suite of forty benchmarks with five rounds.
RECORDS, SAMPLES = 200, 100


def make_lines(count: int) -> list[str]:
    """Evidence lines as a measurement on an accelerator leaves them, with random times."""
    from dcu_asv_ext.evidence.record import Measurement
    from dcu_asv_ext.metrics import DEFAULT_METRICS

    lines = []
    for number in range(count):
        times = {name: [random.uniform(1e-4, 2e-4) for _ in range(SAMPLES)] for name in ("cold", "latency")}
        record = Measurement(
            benchmark=f"suite.function_{number % 40}",
            params={"n": "1024", "dtype": "'float32'"},
            round=1 + number // 40,
            metrics=list(DEFAULT_METRICS),
            times={**times, "cold": times["cold"][:1]},
            batch={"latency": 8},
            missing={"device_time": "the device has no events"},
            memory={"peak_allocated": 1 << 28, "peak_reserved": 1 << 29},
            correctness={"correct": True, "max_error": 1e-7},
        )
        lines.append(record.to_line())
    return lines


def make_loop() -> tuple[Any, ...]:
    from dcu_asv_ext.devices import select
    from dcu_asv_ext.measure.sampling import Plan, sample_synchronized

    return sample_synchronized, select("cpu"), Plan(LOOP_SAMPLES, LOOP_SAMPLES, 0.0)


def whole_and_plausible(samples: Sequence[float]) -> bool:
    """As many samples as were asked for, and none negative or longer than a second."""
    return len(samples) == LOOP_SAMPLES and min(samples) >= 0.0 and max(samples) < 1.0


@dcu.benchmark(setup=make_loop, check=whole_and_plausible, metrics=["latency"], kind="micro")
def sampling_loop(sample: Callable[..., array[float]], device: Any, plan: Any) -> array[float]:
    """50 000 samples of a call that does nothing: what the loop itself costs."""
    return sample(device, int, plan)


def make_journal() -> tuple[Any, ...]:
    from dcu_asv_ext.evidence.store import append_line

    return append_line, Path(tempfile.mkdtemp(prefix="journal-")) / "new.jsonl", make_lines(LINES_WRITTEN)


def empty_journal(append: Callable[..., None], path: Path, lines: list[str]) -> None:
    path.unlink(missing_ok=True)


def remove_folder(function: Callable[..., Any], path: Path, *rest: Any) -> None:
    shutil.rmtree(path.parent)


def exact_journal(append: Callable[..., None], path: Path, lines: list[str]) -> dict[str, int]:
    return {"lines": len(lines), "bytes": sum(len(line.encode()) for line in lines)}


@dcu.benchmark(
    setup=make_journal,
    reset=empty_journal,
    teardown=remove_folder,
    reference=exact_journal,
    metrics=["latency"],
    kind="micro",
)
def write_evidence(append: Callable[..., None], path: Path, lines: list[str]) -> dict[str, int]:
    """Five measurements appended, each forced to disk; returns what the file holds then."""
    for line in lines:
        append(path, line)
    text = path.read_bytes()
    return {"lines": text.count(b"\n"), "bytes": len(text)}


def make_file() -> tuple[Any, ...]:
    """A file of measurements whose last line was torn by a killed writer."""
    from dcu_asv_ext.evidence.store import read

    path = Path(tempfile.mkdtemp(prefix="evidence-")) / "old.jsonl"
    lines = make_lines(RECORDS)
    path.write_text("".join(lines) + lines[0][:100])
    return read, path


def exact_content(read: Callable[..., Any], path: Path) -> dict[str, float]:
    whole = [json.loads(line) for line in path.read_text().splitlines()[:-1]]
    return {
        "records": len(whole),
        "skipped": 1,
        "seconds": math.fsum(second for record in whole for second in record["times"]["latency"]),
    }


@dcu.benchmark(
    setup=make_file, teardown=remove_folder, reference=exact_content, metrics=["latency"], kind="micro"
)
def read_evidence(read: Callable[..., Any], path: Path) -> dict[str, float]:
    """200 measurements of 100 samples read; returns their count, the lines skipped, and all times summed."""
    found = read(path)
    seconds = sum(sum(record["times"]["latency"]) for record in found.records)
    return {"records": len(found.records), "skipped": found.skipped, "seconds": seconds}


def make_records() -> tuple[Any, ...]:
    from dcu_asv_ext.evidence.summary import outcome
    from dcu_asv_ext.metrics import DEFAULT_METRICS

    return outcome, [json.loads(line) for line in make_lines(RECORDS)], list(DEFAULT_METRICS)


def exact_totals(
    outcome: Callable[..., Any], records: list[dict[str, Any]], metrics: list[str]
) -> dict[str, float]:
    """Of the default metrics only device_time is missing."""

    def total(part: str, name: str) -> float:
        return math.fsum(record[part][name] for record in records)

    def total_seconds(name: str) -> float:
        return math.fsum(second for record in records for second in record["times"][name])

    return {
        "latency": total_seconds("latency"),
        "device_time": 0.0,
        "cold_start": total_seconds("cold"),
        "peak_allocated": total("memory", "peak_allocated"),
        "peak_reserved": total("memory", "peak_reserved"),
        "max_error": total("correctness", "max_error"),
    }


@dcu.benchmark(setup=make_records, reference=exact_totals, metrics=["latency"], kind="micro")
def summarise_evidence(
    outcome: Callable[..., Any], records: list[dict[str, Any]], metrics: list[str]
) -> dict[str, float]:
    """Every default metric of 200 measurements; returns the sum of each one's samples."""
    totals = dict.fromkeys(metrics, 0.0)
    for record in records:
        for metric in metrics:
            totals[metric] += sum(outcome(record, metric).samples)
    return totals
