"""One suite of everything that goes wrong in benchmarks: each is told as what it was, and the others go on."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest

from .watching import evidence_files, strict, survivors
from .workbench import Workbench

pytestmark = pytest.mark.e2e

SUITE = """
import os, signal, time
import torch
import dcu_asv_ext as dcu

def make(device):
    return torch.ones(8, device=device)

def fails(*arguments):
    raise ValueError("broken on purpose")

quick = dict(metrics=["latency", "peak_allocated"], rounds=1, repeat=1)
judged = dict(quick, metrics=["latency", "max_error"])

@dcu.benchmark(setup=fails, **quick)
def in_setup(x):
    return x

@dcu.benchmark(setup=make, **quick)
def in_function(x):
    fails()

@dcu.benchmark(setup=make, reference=fails, **judged)
def in_reference(x):
    return x * 2

@dcu.benchmark(setup=make, check=fails, rounds=1, repeat=1, metrics=["latency", "task_metric"])
def in_check(x):
    return x * 2

@dcu.benchmark(setup=make, reset=fails, **quick)
def in_reset(x):
    return x * 2

@dcu.benchmark(setup=make, teardown=fails, **quick)
def in_teardown(x):
    return x * 2

@dcu.benchmark(setup=make, **quick)
def segfault(x):
    os.kill(os.getpid(), signal.SIGSEGV)

@dcu.benchmark(setup=make, timeout=3, **quick)
def hang(x):
    time.sleep(100)

@dcu.benchmark(setup=make, timeout=3, **quick)
def chatty_hang(x):
    while True:
        print("still here", flush=True)
        time.sleep(0.2)

@dcu.benchmark(setup=make, reference=lambda x: x, **judged)
def returns_nothing(x):
    x * 2

@dcu.benchmark(params={"log2": [4, 50]}, **quick)
def out_of_memory(log2):
    return torch.empty(1 << log2, dtype=torch.uint8)

def not_here(device):
    raise NotImplementedError("not on this device")

@dcu.benchmark(setup=not_here, **quick)
def skipped(x):
    return x

@dcu.benchmark(setup=make, reference=lambda x: x * 2, **judged)
def infinite(x):
    return x / 0

@dcu.benchmark(setup=make, **quick)
def zz_sound(x):
    return x * 2
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workbench, str, float]:
    bench = Workbench(tmp_path_factory.mktemp("bad"), SUITE)
    bench.commit({"tinyproj.py": ""})
    begin = time.monotonic()
    # Exit code 2: asv's own for a run in which benchmarks failed.
    out = bench.asv("run", "--show-stderr", code=2)
    return bench, out, time.monotonic() - begin


@pytest.fixture
def records(run: tuple[Workbench, str, float]) -> dict[str, dict[str, Any]]:
    bench, _, _ = run
    (path,) = evidence_files(bench)
    return {one["benchmark"].removeprefix("suite."): one for one in strict(path)}


@pytest.fixture
def stored(run: tuple[Workbench, str, float]) -> dict[str, Any]:
    """asv's own values, by series."""
    bench, _, _ = run
    (path,) = bench.folder.glob("*-*.json")
    data = json.loads(path.read_text())
    found = {}
    for name, row in data["results"].items():
        found[name.removeprefix("suite.")] = dict(zip(data["result_columns"], row, strict=False)).get(
            "result"
        )
    return found


@pytest.mark.parametrize(
    ("function", "status"),
    [
        ("in_setup", "failed in setup: ValueError: broken on purpose"),
        ("in_function", "failed in "),
        ("in_reference", "failed in "),
        ("in_check", "failed in "),
        ("in_reset", "failed in "),
        ("in_teardown", "failed in teardown: ValueError: broken on purpose"),
        ("segfault", "crashed: SIGSEGV"),
        ("hang", "timed out after 3 s"),
        ("chatty_hang", "timed out after 3 s"),
        ("returns_nothing", "failed"),
        ("out_of_memory", "out of memory in"),
        ("skipped", "skipped: not on this device"),
        ("infinite", "wrong result"),
        ("zz_sound", "ok"),
    ],
)
def test_the_evidence_says_what_it_was(records: dict[str, Any], function: str, status: str) -> None:
    assert records[function]["status"].startswith(status)
    if function.startswith("in_"):
        assert records[function]["status"].endswith(": ValueError: broken on purpose")


def test_a_traceback_is_kept_and_shown(run: tuple[Workbench, str, float], records: dict[str, Any]) -> None:
    for function in [one for one in records if one.startswith("in_")]:
        assert 'raise ValueError("broken on purpose")' in records[function]["error"]["traceback"], function
    assert 'raise ValueError("broken on purpose")' in run[1]
    assert "still here" in records["chatty_hang"]["error"]["output"]


def test_one_failure_answers_all_metrics(stored: dict[str, Any]) -> None:
    for function in ("in_setup", "in_function", "in_reset", "segfault", "hang", "chatty_hang"):
        for metric in ("latency", "peak_allocated"):
            assert stored[f"{function}.{metric}"] in (None, [None]), (function, metric)
    assert stored["infinite.latency"] in (None, [None])


def test_what_is_skipped_is_na(stored: dict[str, Any]) -> None:
    for metric in ("latency", "peak_allocated"):
        (value,) = stored[f"skipped.{metric}"]
        assert math.isnan(value)


def test_the_next_parameters_and_benchmarks_are_measured(stored: dict[str, Any]) -> None:
    sound, lost = stored["out_of_memory.latency"]
    assert sound > 0
    assert lost is None
    assert stored["zz_sound.latency"][0] > 0
    assert stored["zz_sound.peak_allocated"][0] > 0


def test_no_infinity_enters_asvs_values(stored: dict[str, Any]) -> None:
    """One would make `asv publish` run for ever."""
    values = [value for row in stored.values() for value in row or () if value is not None]
    assert values
    assert not any(math.isinf(value) for value in values)
    assert stored["infinite.max_error"] in (None, [None])


def test_hangs_end_at_their_limit_and_leave_no_process(run: tuple[Workbench, str, float]) -> None:
    bench, _, seconds = run
    assert seconds < 180, "both hangs have 3 s; without the limit the chatty one would never end"
    assert survivors(bench) == []


def test_faults_are_told_at_the_end_of_the_run(run: tuple[Workbench, str, float]) -> None:
    said = " ".join(run[1].split())
    assert "dcu-asv: suite.segfault(): crashed: SIGSEGV" in said
    assert "every metric not measured for suite.skipped: skipped: not on this device" in said
