"""The metric table: what everything else reads must be consistent in itself."""

from __future__ import annotations

import re
import subprocess
import sys

from dcu_asv_ext.evidence.summary import outcome
from dcu_asv_ext.metrics import DEFAULT_METRICS, GROUPS, METRICS, NEEDS_CHECK, NEEDS_REFERENCE, PROTOCOL


def test_defaults_are_those_that_are_documented() -> None:
    documented = ("latency", "device_time", "cold_start", "peak_allocated", "peak_reserved", "max_error")
    assert documented == DEFAULT_METRICS


def test_names_are_what_asv_can_carry() -> None:
    for name, metric in METRICS.items():
        assert name == metric.name
        assert re.fullmatch("[a-z][a-z_]*", name)
        # asv's own types would take these names for theirs.
        assert not re.match("(time|timeraw|mem|peakmem|track)_|Time|Mem|PeakMem|Track", name)


def test_units() -> None:
    assert {metric.unit for metric in METRICS.values()} <= {
        "seconds",
        "bytes",
        "relative",
        "value",
        "count",
        "share",
    }
    times = {name for name, metric in METRICS.items() if metric.is_time}
    assert times == {
        *("latency", "device_time", "cold_start", "host_time", "process_wall", "compile_time"),
        "profiled_device_time",
    }
    assert all(METRICS[name].unit == "bytes" for name in METRICS if name.startswith("peak_"))


def test_labels_and_directions() -> None:
    assert len({metric.label for metric in METRICS.values()}) == len(METRICS)
    assert {metric.better for metric in METRICS.values()} <= {"lower", "higher"}


def test_metrics_that_need_a_judge_exist_and_come_from_correctness() -> None:
    assert {METRICS[name].source for name in NEEDS_REFERENCE | NEEDS_CHECK} == {"correctness"}
    assert not NEEDS_REFERENCE & NEEDS_CHECK


def test_each_metric_has_an_outcome_of_an_empty_record() -> None:
    record = {
        "status": "ok",
        "metrics": list(METRICS),
        "times": {},
        "batch": {},
        "memory": {},
        "correctness": {},
    }
    for name in METRICS:
        found = outcome(record, name)
        assert found.state == "missing" and found.reason


def test_figures_of_a_profile_are_read_and_zero_is_one() -> None:
    record = {"status": "ok", "metrics": list(METRICS), "profile": {"per_call": {"sync_count": 0}}}
    assert outcome(record, "sync_count").samples == (0.0,)
    record["missing"] = {"kernel_count": "the CPU has no device rows"}
    assert outcome(record, "kernel_count").reason == "the CPU has no device rows"
    # A wrong result's counts still say what ran; its times do not count.
    record["status"] = "wrong result: 1 of 4 elements differ"
    record["profile"]["per_call"]["profiled_device_time"] = 0.1  # type: ignore[index]
    assert outcome(record, "sync_count").state == "ok"
    assert outcome(record, "profiled_device_time").state == "failed"


def test_the_group_is_what_the_profile_fills() -> None:
    group = GROUPS["profile"]
    assert len(group) == 12 and not set(group) & set(DEFAULT_METRICS) and "profile" not in METRICS
    assert {METRICS[name].unit for name in group} == {"count", "bytes", "share", "seconds"}
    assert all(METRICS[name].exact == (METRICS[name].unit in ("count", "bytes")) for name in group)
    assert [name for name in group if METRICS[name].better == "higher"] == ["overlap_share"]


def test_protocol_is_a_number_raised_by_hand() -> None:
    assert isinstance(PROTOCOL, int) and PROTOCOL >= 1


def test_the_table_imports_neither_torch_nor_asv() -> None:
    modules = "metrics, decorator, evidence.store, evidence.summary, evidence.software"
    names = ", ".join(f"dcu_asv_ext.{name.strip()}" for name in modules.split(","))
    code = f"import sys, dcu_asv_ext, {names}; dcu_asv_ext.benchmark; dcu_asv_ext.samples;"
    code += "print(sorted({'torch', 'asv', 'asv_runner', 'numpy', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
