"""The profile pass on the CPU and on a virtual device: its place, its size, what it does with faults."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.devices import select
from dcu_asv_ext.devices.base import NotMeasured
from dcu_asv_ext.evidence import traces
from dcu_asv_ext.measure import tracing
from dcu_asv_ext.measure.request import Options, ProfileRequest, Request
from dcu_asv_ext.measure.session import measure
from dcu_asv_ext.measure.spec import Samples
from dcu_asv_ext.metrics import GROUPS
from dcu_asv_ext.trace import load

from .fakes import MS, FakeDevice
from .virtual_runs import run, spec_of

torch = pytest.importorskip("torch")
METRICS = ("latency", *GROUPS["profile"])
NO_ROWS = "the CPU has no device rows"


def inputs() -> Any:
    return torch.ones(8, 8)


def work(x: Any) -> Any:
    return (x @ x).relu()


def record(function: Any, tmp_path: Path, setup: Any = inputs, **options: Any) -> dict[str, Any]:
    metrics = options.pop("metrics", METRICS)
    spec = spec_of(function, setup=setup, metrics=metrics, reset=options.pop("reset", None))
    options = {"repeat": 3, "evidence": tmp_path / "c-e.evidence.jsonl", **options}
    request = Request(spec, {}, {}, options=Options(**options), cache_root=tmp_path / "cache")
    return measure(request, select("cpu")).record.to_dict()


def test_without_a_metric_of_it_there_is_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "record_trace", None)
    told = record(work, tmp_path, metrics=("latency",))
    assert told["status"] == "ok" and "profile" not in told and "profile" not in told["spans"]


def test_on_the_cpu_the_operators_are_told_and_the_device_s_figures_are_missing(tmp_path: Path) -> None:
    told = record(work, tmp_path)
    profile = told["profile"]
    assert told["status"] == "ok" and told["missing"] == dict.fromkeys(GROUPS["profile"], NO_ROWS)
    assert profile["missing"] == {"device": NO_ROWS} and profile["per_call"] == {}
    calls = {row[0]: row[1] for row in profile["operators"]}
    assert calls["aten::mm"] == calls["aten::relu"] == profile["steps"]
    assert profile["totals"]["kernel_count"] is None and profile["overhead"] > 0


def test_one_metric_alone_is_enough_and_only_it_is_missing(tmp_path: Path) -> None:
    told = record(work, tmp_path, metrics=("latency", "sync_count"))
    assert told["missing"] == {"sync_count": NO_ROWS}


def test_it_is_the_last_of_all_passes(tmp_path: Path) -> None:
    spans = record(work, tmp_path, metrics=(*METRICS, "host_time", "memory_growth"))["spans"]
    assert max(spans, key=lambda name: spans[name][0]) == "profile"
    assert all(spans["profile"][0] >= end for name, (_, end) in spans.items() if name != "profile")


def test_the_trace_is_kept_beside_the_evidence(tmp_path: Path) -> None:
    told = record(work, tmp_path)
    path = tmp_path / "c-e.traces" / "suite.bench.json.gz"
    assert told["profile"]["trace"] == path.name
    trace = load(path)
    assert len(trace.steps) == told["profile"]["steps"] and not trace.faults
    assert {trace.name(one) for one in trace.spans.name} >= {"ProfilerStep#0", "dcu_asv_ext.wait"}
    # Nothing of the start-up: no operator lies outside of the steps.
    begin, end = trace.spans.start[trace.steps].min(), trace.spans.end[trace.steps].max()
    assert begin <= trace.operators.start.min() and trace.operators.end.max() <= end


def test_without_a_results_folder_no_trace_is_kept(tmp_path: Path) -> None:
    told = record(work, tmp_path, evidence=None)
    assert told["profile"]["trace"] is None and told["profile"]["missing"] == {"device": NO_ROWS}


@pytest.mark.parametrize(
    ("seconds", "size", "turn", "steps"),
    [
        (0.0, 1000, 1, 20),
        (0.01, 1000, 1, 20),
        (0.25, 1000, 1, 8),
        (0.9, 1000, 1, 3),
        (3.0, 1000, 1, 3),
        (4.0, 1000, 1, 2),
        (60.0, 1000, 1, 1),
        # Whole turns of the argument sets, where there is room for one.
        (0.01, 1000, 3, 18),
        (0.01, 1000, 30, 20),
        (0.25, 1000, 5, 5),
        # The trace's size counts too.
        (0.01, 10 << 20, 1, 2),
        (0.01, 500 << 20, 1, 1),
    ],
)
def test_how_many_calls_are_profiled(seconds: float, size: int, turn: int, steps: int) -> None:
    assert tracing._how_many(seconds, size, turn) == steps


@pytest.mark.parametrize(("milliseconds", "steps"), [(1, 20), (399, 5), (4000, 2)])
def test_long_calls_are_profiled_a_few_times(tmp_path: Path, milliseconds: int, steps: int) -> None:
    device = FakeDevice()
    told = run(spec_of(lambda: device.kernel(milliseconds * MS), metrics=METRICS), device, tmp_path)
    profile = told.record.profile
    assert profile["steps"] == steps
    assert profile["seconds"] == pytest.approx([milliseconds * 1e-3] * steps, rel=0.02)
    assert profile["overhead"] == pytest.approx(1, rel=0.02)


def test_each_call_has_its_reset_and_begins_and_ends_with_the_device_idle(tmp_path: Path) -> None:
    device = FakeDevice()

    def call() -> None:
        device.log.append("call")
        device.kernel(MS)

    options = {"metrics": METRICS, "reset": lambda: device.log.append("reset")}
    told = run(spec_of(call, **options), device, tmp_path, repeat=1, quick=True)
    assert told.record.profile["steps"] == 1
    rehearsed, warmed, profiled = (
        ["reset", "sync", "call", "sync"],
        ["reset", "call", "sync"],
        ["reset", "sync"],
    )
    ends = [one for one in device.log if one != "peak"][-len(rehearsed + warmed + profiled) - 6 :]
    assert ends == ["sync", *rehearsed, "sync", "sync", *warmed, *profiled, "call", "sync", "sync"]


def test_argument_sets_are_used_in_whole_turns(tmp_path: Path) -> None:
    sets = [(torch.ones(rows, 8),) for rows in (1, 2, 3)]
    told = record(lambda x: x + 1, tmp_path, lambda: Samples(sets))
    assert told["profile"]["steps"] == 18
    trace = load(tmp_path / "c-e.traces" / "suite.bench.json.gz")
    adds = [number for number, name in enumerate(trace.operators.name) if trace.name(name) == "aten::add"]
    rows = [json.loads(trace.name(trace.operators.shapes[number]))[0][0] for number in adds]
    assert sorted(rows) == [1] * 6 + [2] * 6 + [3] * 6


# ---- faults


@pytest.mark.parametrize(
    ("fault", "name"),
    [(ZeroDivisionError("only here"), "ZeroDivisionError: only here"), (SystemExit(3), "SystemExit: 3")],
)
def test_a_call_that_raises_under_the_profiler_leaves_what_was_measured(
    tmp_path: Path, fault: BaseException, name: str
) -> None:
    device = FakeDevice()

    def call() -> None:
        device.kernel(MS)
        if torch._C._autograd._profiler_enabled():
            raise fault

    told = run(spec_of(call, metrics=METRICS), device, tmp_path).record
    reason = f"the call raised under the profiler ({name})"
    assert told.status == "ok" and told.missing["kernel_count"] == reason and told.error is None
    assert [one for one in told.notes if reason in one] and told.times["latency"]
    # The next measurement of the process can be profiled.
    assert record(work, tmp_path)["profile"]["steps"] == 20


@pytest.mark.parametrize("kind", ["autograd", "profiler"])
def test_a_call_with_a_profiler_of_its_own_raises(tmp_path: Path, kind: str) -> None:
    """Two at a time would end the process; the call's own one works without ours."""

    def call() -> Any:
        with getattr(torch, kind).profiler.profile() if kind == "autograd" else torch.profiler.profile():
            return torch.ones(2) + 1

    with pytest.raises(RuntimeError, match="the call starts a profiler of its own"):
        tracing.record_trace(select("cpu"), call, None, tmp_path / "x.json.gz")
    call()


def test_ctrl_c_ends_the_measurement(tmp_path: Path) -> None:
    def call(x: Any) -> Any:
        if torch._C._autograd._profiler_enabled():
            raise KeyboardInterrupt
        return x + 1

    with pytest.raises(KeyboardInterrupt):
        record(call, tmp_path)


def test_a_profiler_that_records_nothing_of_the_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcu_asv_ext.devices.cpu.Cpu.profiled_as", lambda self: "xpu")
    told = record(work, tmp_path)
    assert told["status"] == "ok" and told["profile"]["operators"]
    assert "recorded no work of xpu, not even its own" in told["missing"]["kernel_count"]
    assert "kernel_count" not in told["profile"]["per_call"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no end: is the folder of temporary files full?"),
        ('{"schemaVersion": 1, "traceEvents": [{"ph": "X"', "no end"),
        ('{"traceEvents": []}', "recorded nothing that can be read"),
        ("{}", "recorded nothing that can be read"),
    ],
)
def test_a_profiler_that_leaves_no_trace_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    monkeypatch.setattr(tracing._Profiler, "save", lambda self, path: path.write_text(text))
    told = record(work, tmp_path)
    assert told["status"] == "ok" and told["times"]["latency"]
    assert words in told["missing"]["kernel_count"] and words in told["profile"]["missing"]["rows"]
    assert str(tmp_path) not in told["missing"]["kernel_count"] and "/" not in told["missing"]["kernel_count"]


@pytest.mark.parametrize(
    ("method", "words"),
    [("_prepare_trace", "could not be started"), ("_start_trace", "could not be started")],
)
def test_a_profiler_that_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, words: str
) -> None:
    def refuse(self: Any) -> None:
        raise RuntimeError("no permission\nsecond line")

    monkeypatch.setattr(torch.autograd.profiler.profile, method, refuse)
    device = FakeDevice()
    told = run(spec_of(lambda: device.kernel(MS), metrics=METRICS), device, tmp_path).record
    assert told.status == "ok"
    assert told.missing["sync_count"] == f"torch's profiler {words} (no permission)"


def test_a_trace_that_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*paths: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(traces.shutil, "copyfile", full)
    told = record(work, tmp_path)
    assert told["status"] == "ok" and told["profile"]["operators"] and told["profile"]["trace"] is None
    assert told["profile"]["missing"]["trace"] == "it cannot be written: No space left on device"
    assert list((tmp_path / "c-e.traces").iterdir()) == []


FULL_DISK = """
    import json, resource, signal, sys
    from pathlib import Path
    import torch
    from dcu_asv_ext.devices import select
    from dcu_asv_ext.measure.request import Options, Request
    from dcu_asv_ext.measure.session import measure
    from dcu_asv_ext.measure.spec import Spec
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    spec = Spec("suite.f", "f", "suite", lambda x: (x @ x).relu(), lambda device: torch.ones(8, 8),
                metrics=("latency", "sync_count"))
    found = measure(Request(spec, {}, {}, options=Options(repeat=3)), select("cpu"))
    print(json.dumps(found.record.to_dict()))
"""


def test_a_full_disk_where_the_profiler_writes() -> None:
    """No file of this process can grow beyond 8 KiB; the profiler passes over it without a word."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(FULL_DISK)], capture_output=True, text=True)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["status"] == "ok" and len(told["times"]["latency"]) == 3
    assert "is the folder of temporary files full?" in told["missing"]["sync_count"]
    assert done.stderr == ""


# ---- a profile by itself


def test_only_a_profile(tmp_path: Path) -> None:
    place = tmp_path / "mine.json"
    asked = ProfileRequest(only=True, stacks=True, trace=place)
    told = record(work, tmp_path, metrics=("latency", "peak_allocated", "host_time"), profile=asked)
    assert told["status"] == "ok" and told["profile"]["trace"] == "mine.json"
    assert told["missing"] == dict.fromkeys(("peak_allocated", "host_time"), "only the profile was asked for")
    assert json.loads(place.read_text())["traceEvents"]
    assert not traces.folder_of(tmp_path / "c-e.evidence.jsonl").exists()
    assert any(row[0] == "aten::mm" for row in told["profile"]["operators"])


def test_only_a_profile_that_fails_is_a_failure(tmp_path: Path) -> None:
    def call(x: Any) -> Any:
        if torch._C._autograd._profiler_enabled():
            raise ZeroDivisionError("only here")
        return x + 1

    told = record(call, tmp_path, profile=ProfileRequest(only=True))
    assert told["status"] == "failed in the profile pass: ZeroDivisionError: only here"


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    asked = ProfileRequest(only=True, trace=tmp_path / "file" / "x.json.gz")
    told = record(work, tmp_path, profile=asked)
    assert told["status"] == "ok" and told["profile"]["steps"] == 20 and told["profile"]["trace"] is None
    assert told["profile"]["missing"]["trace"].startswith("it cannot be written: ")


def test_the_first_call_is_profiled_by_itself(tmp_path: Path) -> None:
    made: list[int] = []

    def call(x: Any) -> Any:
        made.append(torch._C._autograd._profiler_enabled())
        return x + 1

    first = tmp_path / "first.json.gz"
    told = record(call, tmp_path, profile=ProfileRequest(only=True, first=True, first_trace=first))
    assert made[0] and not made[1]
    assert told["profile"]["first_call"]["steps"] == 1 and len(load(first).steps) == 1
    # What was called next is no first call.
    assert "cold" not in told["times"] and told["profile"]["first_call"]["overhead"] is None


def test_nothing_is_written_to_stderr() -> None:
    script = FULL_DISK.replace("resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))", "")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert json.loads(done.stdout)["profile"]["steps"] == 20 and done.stderr == ""


def test_an_older_torch_serves_hip_by_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 2.4 `use_device` knows no "cuda", and says so in a warning alone."""
    asked: list[dict[str, Any]] = []

    class Activity:
        name = "CUDA"

    class Old:
        def __init__(self, use_cuda: bool = False, use_device: str | None = None, **options: Any) -> None:
            asked.append({"use_cuda": use_cuda, "use_device": use_device})
            self.kineto_activities = {Activity} if use_cuda else set()

    class Hip(FakeDevice):
        def profiled_as(self) -> str:
            return "cuda"

    monkeypatch.setattr(tracing.torch_profiler, "profile", Old)
    made = tracing._made(Hip(), stacks=False)
    assert made.kineto_activities == {Activity} and asked[-1] == {"use_cuda": True, "use_device": None}


def test_a_device_of_no_known_kind_says_so() -> None:
    with pytest.raises(NotMeasured, match="knows no device of the kind virtual"):
        FakeDevice().profiled_as()
