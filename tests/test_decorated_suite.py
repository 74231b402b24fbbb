"""A generated suite through asv's own discovery and in asv's child, spawned and forked from a server."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import dataclass
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

DISCOVER = "from asv_runner.discovery import _discover\n_discover(({root!r}, {result!r}))\n"

RUN = """
import json, sys
from asv_runner.run import _run
root, name, extra, result = json.loads(sys.argv[1])
_run((root, name, json.dumps(extra), "None", result))
"""

# What asv's fork server does: import the suite, then fork for each benchmark.
SERVE = """
import json, os, sys, traceback
from asv_runner import server
from asv_runner._aux import update_sys_path
requests = json.loads(sys.argv[1])
root = requests[0][0]
update_sys_path(root)
names = [found.name for found in server.disc_benchmarks(root, ignore_import_errors=True)]
assert "bench.product.latency" in names, names
assert "torch" not in sys.modules
import torch
for root, name, extra, result in requests:
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        with open(result + ".code", "w") as stream:
            stream.write(str(os.waitstatus_to_exitcode(status)))
        continue
    descriptor = os.open(result + ".out", os.O_WRONLY | os.O_CREAT)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    code = 0
    try:
        server._run((root, name, json.dumps(extra), "None", result))
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 99
    sys.stdout.flush()
    os._exit(code)
"""

QUICK = {"number": 1, "repeat": 1, "warmup_time": 0}
ABOUT = {"commit": "c" * 40, "round": 3, "machine": "m"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decorated")
    (folder / "decorated_project.py").write_text(PROJECT)
    (folder / "suite").mkdir()
    (folder / "suite" / "__init__.py").write_text("")
    (folder / "suite" / "bench.py").write_text(SUITE)
    return folder / "suite"


def python(root: Path, code: str, argument: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, argument]
    return subprocess.run(command, cwd=root.parent, capture_output=True, text=True, timeout=120, check=False)


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


def answer(result: Path) -> Any:
    """asv's result of one benchmark process, or None where it failed."""
    return json.loads(result.read_text()) if result.exists() else None


def test_a_spawned_child_measures(root: Path) -> None:
    result = root.parent / "spawned.json"
    done = python(root, RUN, json.dumps([str(root), "bench.product.latency-1", QUICK, str(result)]))
    assert done.returncode == 0, done.stdout + done.stderr
    value = answer(result)
    assert set(value) == {"samples", "number"} and len(value["samples"]) == 1
    assert 0 < value["samples"][0] < 1


@dataclass
class Child:
    value: Any
    code: int
    output: str


REQUESTS: dict[str, dict[str, Any]] = {
    "bench.product.latency-0": {},
    "bench.product.device_time-0": {},
    "bench.product.max_error-0": {"evidence": "evidence.jsonl", "about": ABOUT, "batch": {"latency": 4}},
    "bench.product.cold_start-0": {"evidence": "no/such/folder.jsonl"},
    "bench.partly.latency-1": {},
    "bench.wrong.latency": {},
    "bench.broken.latency": {},
}


@pytest.fixture(scope="module")
def forked(root: Path) -> dict[str, Child]:
    """Every request in a child of asv's fork server."""
    folder = root.parent
    requests = []
    for number, (name, told) in enumerate(REQUESTS.items()):
        if "evidence" in told:
            told = {**told, "evidence": str(folder / told["evidence"])}
        requests.append([str(root), name, {**QUICK, "dcu": told}, str(folder / f"forked{number}.json")])
    done = python(root, SERVE, json.dumps(requests))
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        name: Child(
            answer(Path(result)), int(Path(result + ".code").read_text()), Path(result + ".out").read_text()
        )
        for _, name, _, result in requests
    }


def test_a_forked_child_measures(forked: dict[str, Child]) -> None:
    child = forked["bench.product.latency-0"]
    assert child.code == 0, child.output
    assert 0 < child.value["samples"][0] < 1


def test_evidence_is_written_with_the_result(forked: dict[str, Child], root: Path) -> None:
    child = forked["bench.product.max_error-0"]
    assert child.code == 0, child.output
    (line,) = [json.loads(text) for text in (root.parent / "evidence.jsonl").read_text().splitlines()]
    assert line["benchmark"] == "bench.product" and line["params"] == {"n": "2", "dtype": "'float32'"}
    assert {name: line[name] for name in ABOUT} == ABOUT and line["param_index"] == 0
    assert line["batch"]["latency"] == 4
    assert child.value["samples"] == [line["correctness"]["max_error"]]


def test_evidence_that_cannot_be_written_offers_no_figure(forked: dict[str, Child]) -> None:
    child = forked["bench.product.cold_start-0"]
    assert child.value is None and child.code == 1
    assert "the evidence could not be written" in child.output


def test_a_missing_metric_is_asv_s_n_a_with_its_reason_shown(forked: dict[str, Child]) -> None:
    child = forked["bench.product.device_time-0"]
    assert child.code == 0 and math.isnan(child.value)
    assert "device_time not measured, because the CPU has no device events" in child.output


def test_parameters_skipped_by_asv_s_mark(forked: dict[str, Child]) -> None:
    child = forked["bench.partly.latency-1"]
    assert child.code == 0 and math.isnan(child.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [("bench.wrong.latency", "wrong result"), ("bench.broken.latency", "ValueError: broken on purpose")],
)
def test_a_fault_is_a_failure_with_its_words(forked: dict[str, Child], name: str, words: str) -> None:
    child = forked[name]
    assert child.value is None and child.code == 1
    assert words in child.output
