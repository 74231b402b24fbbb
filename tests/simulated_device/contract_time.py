"""When things are done: waiting, streams, events, the profiler."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from contract_support import (
    DEVICE,
    KERNEL,
    MS,
    api,
    form,
    median,
    milliseconds,
    multiply,
    on_side_stream,
    reject,
    torch,
)

# Identity


def test_is_recognised_as_simulated() -> None:
    assert api.get_device_name().startswith("Simulated")
    assert api.get_device_properties(0).gcnArchName.startswith("gfx936")
    assert DEVICE == "sim" or (torch.version.hip == "6.3.0-sim" and torch.version.cuda is None)
    assert torch.accelerator.current_accelerator() == torch.device(DEVICE)
    assert api.is_available() and api.is_initialized()


def test_default_tensors_and_modules_live_on_the_device() -> None:
    tensor = torch.empty(2, device=DEVICE)
    assert tensor.device == torch.device(DEVICE, 0) and tensor.is_cuda == (DEVICE == "cuda")
    assert torch.nn.Linear(2, 2).to(DEVICE).weight.device == tensor.device


# Waiting


def test_a_missing_synchronise_shows() -> None:
    assert median(multiply) < KERNEL / 2


def test_device_synchronise_covers_the_current_stream() -> None:
    assert min(milliseconds(multiply, api.synchronize) for _ in range(5)) >= KERNEL


def test_current_stream_synchronise_misses_a_side_stream() -> None:
    work = on_side_stream(5)
    assert median(work, lambda: api.current_stream().synchronize()) < 2.5 * KERNEL


def test_device_synchronise_covers_a_side_stream() -> None:
    work = on_side_stream(5)
    assert min(milliseconds(work, api.synchronize) for _ in range(5)) >= 5 * KERNEL


def test_wait_stream_ties_a_side_stream_to_the_current_one() -> None:
    stream = api.Stream()

    def work() -> None:
        with api.stream(stream):
            multiply()
        api.current_stream().wait_stream(stream)

    assert min(milliseconds(work, lambda: api.current_stream().synchronize()) for _ in range(5)) >= KERNEL


def test_query_tells_a_busy_stream() -> None:
    form.sleep_ns(50 * MS)
    assert not api.current_stream().query()
    api.synchronize()
    assert api.current_stream().query() and form.pending() == 0


def test_stream_context_puts_back_stream_and_device() -> None:
    before = api.current_stream()
    with api.stream(api.Stream(device=f"{DEVICE}:1")) as side:
        assert api.current_device() == 1 and api.current_stream() == side
    assert api.current_device() == 0 and api.current_stream() == before == api.default_stream()


# Events


def event_pair() -> tuple[Any, Any]:
    return api.Event(enable_timing=True), api.Event(enable_timing=True)


def test_events_read_the_programmed_cost() -> None:
    read = []
    for _ in range(9):
        start, stop = event_pair()
        start.record()
        multiply()
        stop.record()
        stop.synchronize()
        read.append(start.elapsed_time(stop))
    assert min(read) >= KERNEL and statistics.median(read) < 1.25 * KERNEL


def test_events_on_the_current_stream_miss_a_side_stream() -> None:
    work, read = on_side_stream(5), []
    for _ in range(5):
        start, stop = event_pair()
        start.record()
        work()
        stop.record()
        stop.synchronize()
        read.append(start.elapsed_time(stop))
        api.synchronize()
    assert statistics.median(read) < 2.5 * KERNEL


def test_elapsed_time_before_completion_raises() -> None:
    start, stop = event_pair()
    start.record()
    form.sleep_ns(50 * MS)
    stop.record()
    assert not stop.query()
    with reject("must be completed before calculating elapsed time"):
        start.elapsed_time(stop)
    stop.synchronize()
    assert start.elapsed_time(stop) >= 50


def test_elapsed_time_needs_timing() -> None:
    start, stop = api.Event(), api.Event()
    start.record()
    stop.record()
    api.synchronize()
    with pytest.raises((RuntimeError, ValueError), match="timing"):
        start.elapsed_time(stop)


def test_an_event_recorded_again_is_not_set_back_by_the_slower_stream() -> None:
    slow, event = api.Stream(), api.Event()
    with api.stream(slow):
        form.sleep_ns(30 * MS)
        event.record()
    event.record()
    event.synchronize()
    assert event.query() and not slow.query()
    slow.synchronize()
    assert event.query()


# The profiler


def test_profiler_rows(tmp_path: Path) -> None:
    activity = torch.profiler.ProfilerActivity
    wanted = [activity.CPU, activity.CUDA if DEVICE == "cuda" else activity.PrivateUse1]
    assert activity.CUDA in torch.profiler.supported_activities() or DEVICE == "sim"
    with torch.profiler.profile(activities=wanted) as profile:
        on_side_stream(1)()
        multiply().cpu()
        api.synchronize()
    trace = tmp_path / "trace.json"
    profile.export_chrome_trace(str(trace))
    rows = [row for row in json.loads(trace.read_text())["traceEvents"] if row.get("ph") == "X"]
    kernels = [row for row in rows if row["name"] == "sim_mm_kernel"]
    assert len(kernels) == 2 and all(row["dur"] >= KERNEL * 1e3 for row in kernels)
    assert {row["cat"] for row in kernels} == {"kernel"}
    assert len({row["tid"] for row in kernels}) == 2
    copies = [row for row in rows if row["cat"] == "gpu_memcpy"]
    assert [row["name"] for row in copies] == ["Memcpy DtoH (Device -> Pageable)"]
    assert int(copies[0]["args"]["bytes"]) == 256
    launcher = "hip" if DEVICE == "cuda" else "sim"
    runtime = {row["name"] for row in rows if row["cat"] in ("cuda_runtime", "privateuse1_runtime")}
    assert {f"{launcher}LaunchKernel", f"{launcher}MemcpyAsync", f"{launcher}DeviceSynchronize"} <= runtime
