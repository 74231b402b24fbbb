"""A generated suite through asv's own discovery and in asv's child, spawned and forked from a server."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.metrics import METRICS

PROJECT = """
def product(a, b):
    "The project's own words."
    return a @ b


class Model:
    def __init__(self, must_be_given):
        self.must_be_given = must_be_given

    def forward(self, x):
        return x
"""

SUITE = """
from asv_runner.benchmarks import mark
from decorated_project import Model, product

import dcu_asv_ext as dcu


class Helper(Model):
    # asv makes an instance of every class that has a method of a benchmark's name.
    def run(self):
        raise AssertionError


def setup():
    raise RuntimeError("a module-level setup belongs to asv's own benchmarks")


def inputs(device, n, dtype):
    import torch

    return torch.ones(n, n, device=device, dtype=getattr(torch, dtype)), torch.eye(n, dtype=getattr(torch, dtype))


imported = dcu.benchmark(
    setup=inputs, params={"n": [2, 3], "dtype": ["float32"]}, reference=lambda a, b: a.double() @ b.double(), rounds=2
)(product)


@dcu.benchmark
@mark.skip_benchmark
def skipped():
    return 1


@dcu.benchmark(params={"n": [1, 2]}, metrics=["latency"])
@mark.skip_for_params([(2,)])
def partly(n):
    return n


@dcu.benchmark(metrics=["latency", "device_time", "max_error"], reference=lambda: 2.0)
def wrong():
    return 1.0


@dcu.benchmark(metrics=["latency"])
def broken():
    raise ValueError("broken on purpose")


def helper():
    return 1


def time_own():
    pass


def track_own():
    return 3
"""

RUN = """
import sys
{before}
from asv_runner.run import _run
_run(({root!r}, {name!r}, {extra!r}, "None", {result!r}))
"""

DISCOVER = "from asv_runner.discovery import _discover\n_discover(({root!r}, {result!r}))\n"

# What asv's fork server does: import the suite, then fork for each benchmark.
FORK = """
import os
from asv_runner import server
from asv_runner._aux import update_sys_path
update_sys_path({root!r})
names = [found.name for found in server.disc_benchmarks({root!r}, ignore_import_errors=True)]
assert "bench.product.latency" in names, names
assert "torch" not in sys.modules
child = os.fork()
if child:
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status))
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decorated")
    (folder / "decorated_project.py").write_text(PROJECT)
    (folder / "suite").mkdir()
    (folder / "suite" / "__init__.py").write_text("")
    (folder / "suite" / "bench.py").write_text(SUITE)
    return folder / "suite"


def python(root: Path, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=root.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def discovered(root: Path) -> dict[str, dict[str, Any]]:
    result = root.parent / "benchmarks.json"
    done = python(root, DISCOVER.format(root=str(root), result=str(result)))
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for one in json.loads(result.read_text())}


def test_names_are_module_function_metric_and_nothing_else(discovered: dict[str, dict[str, Any]]) -> None:
    defaults = ["latency", "device_time", "cold_start", "peak_allocated", "peak_reserved", "max_error"]
    assert set(discovered) == {
        *(f"bench.product.{metric}" for metric in defaults),
        "bench.partly.latency",
        "bench.wrong.latency",
        "bench.wrong.device_time",
        "bench.wrong.max_error",
        "bench.broken.latency",
        "bench.time_own",
        "bench.track_own",
    }


def test_what_asv_is_told(discovered: dict[str, dict[str, Any]]) -> None:
    found = discovered["bench.product.latency"]
    assert (found["unit"], found["type"], found["rounds"], found["timeout"]) == ("seconds", "time", 2, 600.0)
    assert found["params"] == [["2", "3"], ["'float32'"]] and found["param_names"] == ["n", "dtype"]
    assert found["pretty_name"] == f"product: {METRICS['latency'].label}"
    assert "return a @ b" in found["code"]
    assert (
        discovered["bench.product.peak_allocated"]["unit"],
        discovered["bench.product.max_error"]["unit"],
    ) == (
        "bytes",
        "relative",
    )
    assert len({one["version"] for name, one in discovered.items() if ".product." in name}) == 6
    json.dumps(discovered, allow_nan=False)


def test_asv_s_own_benchmarks_stay_asv_s(discovered: dict[str, dict[str, Any]]) -> None:
    assert discovered["bench.time_own"]["type"] == "time" and "family" not in discovered["bench.time_own"]
    assert discovered["bench.track_own"]["type"] == "track"


def measured(
    root: Path, name: str, before: str = "", **extra: Any
) -> tuple[Any, subprocess.CompletedProcess[str]]:
    """asv's result of one benchmark process, or None where it failed."""
    result = root.parent / f"{name}.result.json"
    result.unlink(missing_ok=True)
    quick = {"number": 1, "repeat": 1, "warmup_time": 0}
    text = json.dumps(quick | extra)
    before = before.format(root=str(root))
    done = python(root, RUN.format(before=before, root=str(root), name=name, extra=text, result=str(result)))
    return (json.loads(result.read_text()) if result.exists() else None), done


@pytest.mark.parametrize("before", ["", FORK], ids=["spawn", "forkserver"])
def test_a_child_measures(root: Path, before: str) -> None:
    value, done = measured(root, "bench.product.latency-1", before)
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(value) == {"samples", "number"} and len(value["samples"]) == 1
    assert 0 < value["samples"][0] < 1


def test_evidence_is_written_before_the_result(root: Path) -> None:
    target = root.parent / "evidence.jsonl"
    about = {"commit": "c" * 40, "round": 3, "machine": "m"}
    value, done = measured(
        root,
        "bench.product.max_error-0",
        dcu={"evidence": str(target), "about": about, "batch": {"latency": 4}},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [json.loads(text) for text in target.read_text().splitlines()]
    assert line["benchmark"] == "bench.product" and line["params"] == {"n": "2", "dtype": "'float32'"}
    assert (line["round"], line["commit"], line["param_index"]) == (3, "c" * 40, 0)
    assert line["batch"]["latency"] == 4
    assert value["samples"] == [line["correctness"]["max_error"]]


def test_evidence_that_cannot_be_written_offers_no_figure(root: Path) -> None:
    target = root.parent / "no" / "such" / "folder.jsonl"
    value, done = measured(root, "bench.product.latency-0", dcu={"evidence": str(target)})
    assert value is None and done.returncode == 1
    assert "the evidence could not be written" in done.stdout


def test_a_missing_metric_is_asv_s_n_a_with_its_reason_shown(root: Path) -> None:
    value, done = measured(root, "bench.product.device_time-0")
    assert done.returncode == 0 and math.isnan(value)
    assert "device_time not measured, because the CPU has no device events" in done.stdout


def test_parameters_skipped_by_asv_s_mark(root: Path) -> None:
    value, done = measured(root, "bench.partly.latency-1")
    assert done.returncode == 0 and math.isnan(value)


@pytest.mark.parametrize(
    ("name", "words"),
    [("bench.wrong.latency", "wrong result"), ("bench.broken.latency", "ValueError: broken on purpose")],
)
def test_a_fault_is_a_failure_with_its_words(root: Path, name: str, words: str) -> None:
    value, done = measured(root, name)
    assert value is None and done.returncode == 1
    assert words in done.stdout
