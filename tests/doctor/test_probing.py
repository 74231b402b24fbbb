from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.doctor import probing
from dcu_asv_ext.doctor.probing import Probe, check_device, check_timing, judge_timing, metric_rows, run_probe
from dcu_asv_ext.metrics import GROUPS, METRICS

SIMULATED = Path(__file__).resolve().parents[1] / "simulated_device"
CPU = {"kind": "cpu", "name": "cpu", "product": "Some CPU", "asynchronous": False, "simulated": False}


def child(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def told(stage: str, content: Any = None) -> str:
    return (
        f"import json; print(json.dumps({{'stage': {stage!r}, 'content': {content or {}!r}}}), flush=True)\n"
    )


def environ(**more: str) -> dict[str, str]:
    return {**os.environ, "DCU_ASV_DEVICE": "cpu", **more}


def test_on_this_machines_cpu() -> None:
    found = run_probe(environ())
    assert found.failure is None, found.words
    assert list(found.stages) == ["torch", "device", "metrics", "timing"]
    assert found.stages["device"]["kind"] == "cpu" and check_device(found).state == "ok"
    assert (
        len(found.stages["timing"]["synchronised"]) == 7 and min(found.stages["timing"]["synchronised"]) > 0
    )
    # Other work on the machine may disturb either series: that is a warning, and never a problem.
    assert check_timing(found, environ()).state in ("ok", "warning")


def test_without_timing() -> None:
    found = run_probe(environ(), timing=False)
    assert list(found.stages) == ["torch", "device", "metrics"] and found.failure is None
    assert check_timing(found, {}, "another run is measuring").state == "warning"


@pytest.mark.simulated
@pytest.mark.parametrize("form", ["sim_backend", "fake_cuda"])
def test_on_the_simulated_device(form: str) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SIMULATED)!r}); import {form}\n"
        "from dcu_asv_ext.doctor.probe import main; sys.exit(main(sys.argv[1:]))"
    )
    kind = "sim" if form == "sim_backend" else "cuda"
    found = run_probe(environ(DCU_ASV_DEVICE=kind), command=child(code))
    assert found.failure is None, found.words
    assert check_timing(found, {}).state == "ok"
    assert check_device(found).state == "warning", "simulated figures are no measurements"
    assert all(row["measured"] for row in metric_rows(found))


def test_a_device_that_is_not_there() -> None:
    found = run_probe(environ(DCU_ASV_DEVICE="xpu"))
    check = check_device(found)
    assert (
        check.state == "problem"
        and "'xpu' was asked for" in check.finding
        and "DCU_ASV_DEVICE" in check.remedy
    )
    assert {row["measured"] for row in metric_rows(found)} == {None}


def test_a_hang_is_ended_and_named() -> None:
    begin = time.monotonic()
    code = told("torch") + "import subprocess, sys, time\nsubprocess.Popen(['sleep', '600'])\ntime.sleep(600)"
    found = run_probe(environ(), limit=3, command=child(code))
    assert time.monotonic() - begin < 60
    check = check_device(found)
    assert check.state == "problem" and "opening the device: it did not end within 3 s" in check.finding


def test_a_crash_is_named() -> None:
    code = told("torch") + told("device", CPU) + "import os; os.kill(os.getpid(), 11)"
    found = run_probe(environ(), command=child(code))
    assert found.failure == f"it was ended by {signal.Signals(11).name}"
    assert "asking the device what it measures" in check_device(found).finding


def test_a_crash_while_timing_fails_that_check_alone() -> None:
    code = told("torch") + told("device", CPU) + told("metrics") + "raise SystemExit(7)"
    found = run_probe(environ(), command=child(code))
    assert check_device(found).state == "ok"
    check = check_timing(found, {})
    assert (
        check.state == "problem" and "timing work on the device: it ended with exit code 7" in check.finding
    )


def test_a_fault_keeps_its_words() -> None:
    code = (
        "import dcu_asv_ext.devices as d\n"
        "def select(): raise RuntimeError('HIP error: invalid device')\n"
        "d.select = select\n"
        "from dcu_asv_ext.doctor.probe import main; raise SystemExit(main([]))"
    )
    found = run_probe(environ(), command=child(code))
    assert found.failure == "RuntimeError: HIP error: invalid device" and "Traceback" in found.words


def test_what_a_driver_prints_does_no_harm() -> None:
    code = (
        "import dcu_asv_ext.devices as d, os\n"
        "old = d.select\n"
        "def select(): os.write(1, b'MIOpen says hello'); print('{'); return old()\n"
        "d.select = select\n"
        "from dcu_asv_ext.doctor.probe import main; raise SystemExit(main(['--no-timing']))"
    )
    found = run_probe(environ(), command=child(code))
    assert found.failure is None and list(found.stages) == ["torch", "device", "metrics"]


def test_an_asynchronous_device_has_to_show_it() -> None:
    good = judge_timing(0.0001, 0.03, True, {})
    assert good.state == "ok" and "0.1 ms without and 30 ms with" in good.finding
    assert judge_timing(0.014, 0.03, True, {}).state == "ok"
    assert judge_timing(0.016, 0.03, True, {}).state == "problem"
    blocked = judge_timing(0.03, 0.03, True, {"HIP_LAUNCH_BLOCKING": "1"})
    assert blocked.state == "problem" and blocked.remedy == "Unset HIP_LAUNCH_BLOCKING."
    assert "Unset" not in judge_timing(0.03, 0.03, True, {"HIP_LAUNCH_BLOCKING": "0"}).remedy


def test_the_cpu_has_to_agree() -> None:
    agreed = judge_timing(0.03, 0.031, False, {})
    assert agreed.state == "ok" and "as they must on the CPU" in agreed.finding
    assert judge_timing(0.03, 0.05, False, {}).state == "warning"
    assert judge_timing(0.05, 0.03, False, {}).state == "warning"


def test_metric_rows() -> None:
    rows = {
        row["name"]: row
        for row in metric_rows(Probe({"metrics": {"device_time": "no events", "peak_allocated": None}}))
    }
    assert list(rows) == list(METRICS)
    assert rows["device_time"]["measured"] is False and rows["device_time"]["reason"] == "no events"
    assert rows["peak_allocated"]["measured"] is True and rows["peak_allocated"]["reason"] is None
    assert "reference" in rows["max_error"]["condition"] and "check" in rows["task_metric"]["condition"]
    # One reason may stand for all that a pass would tell.
    rows = {row["name"]: row for row in metric_rows(Probe({"metrics": {"profile": "no rows"}}))}
    assert {rows[name]["reason"] for name in GROUPS["profile"]} == {"no rows"} and rows["latency"]["measured"]
    unknown = metric_rows(Probe(), "--no-probe was given")[0]
    assert (unknown["measured"], unknown["reason"]) == (None, "--no-probe was given")


def test_the_limit_leaves_time_for_a_slow_import() -> None:
    assert probing.LIMIT >= 60
