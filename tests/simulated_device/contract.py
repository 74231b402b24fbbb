"""What the simulated device promises, at torch's level. The same checks for both of its forms.

Run by test_device_contract.py in a process of its own, with SIM_FORM naming the form and SIM_DEVICES=2.
The truth is the programmed cost: asserts are one-sided, or on medians.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
form: Any = importlib.import_module({"sim": "sim_backend", "cuda": "fake_cuda"}[os.environ["SIM_FORM"]])
import torch  # noqa: E402  (one form has to come before it)

api, DEVICE = form.api, form.DEVICE
MS = 1_000_000
MIB = 1 << 20
KERNEL = 4  # ms, of every aten::mm here
RATES = ("copy:htod_ns_per_kb", "copy:dtoh_ns_per_kb", "copy:dtod_ns_per_kb")


@pytest.fixture(autouse=True)
def known_costs() -> Iterator[None]:
    torch.set_num_threads(1)
    api.set_device(0)
    # The first call of an op pays for its shapes, in Python.
    multiply()
    wait_for_all()
    form.set_cost("aten::mm", KERNEL * MS)
    yield
    for name in ("aten::mm", "aten::add", "*", *RATES):
        form.set_cost(name, -1)
    form.set_compute(True)
    form.set_capacity(64 << 30)
    wait_for_all()


def wait_for_all() -> None:
    for index in range(api.device_count()):
        api.synchronize(index)


def multiply(device: str = DEVICE) -> torch.Tensor:
    ones = torch.ones(8, 8, device=device)
    return ones @ ones


def milliseconds(work: Callable[[], object], wait: Callable[[], object] = lambda: None) -> float:
    wait_for_all()
    start = time.perf_counter()
    work()
    wait()
    return (time.perf_counter() - start) * 1e3


def median(work: Callable[[], object], wait: Callable[[], object] = lambda: None, of: int = 5) -> float:
    return statistics.median(milliseconds(work, wait) for _ in range(of))


def on_side_stream(calls: int) -> Callable[[], None]:
    stream = api.Stream()

    def work() -> None:
        with api.stream(stream):
            for _ in range(calls):
                multiply()

    return work


def reject(message: str) -> Any:
    return pytest.raises(RuntimeError, match=message)


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


# Copies


def test_a_pinned_copy_on_a_side_stream_is_asynchronous() -> None:
    form.set_cost("copy:htod_ns_per_kb", 20_000)
    host, stream = torch.ones(1024, 256).pin_memory(), api.Stream()
    kept = []

    def work() -> None:
        with api.stream(stream):
            kept.append(host.to(DEVICE, non_blocking=True))

    assert host.is_pinned() and not torch.ones(2).is_pinned()
    assert median(work) < 10
    assert min(milliseconds(work, api.synchronize) for _ in range(3)) >= 20


def test_a_pinned_copy_to_the_host_is_seen_after_the_synchronise_only() -> None:
    form.set_cost("copy:dtoh_ns_per_kb", 50_000)
    device, host = torch.ones(256, 1024, device=DEVICE), torch.zeros(256, 1024).pin_memory()
    api.synchronize()
    host.copy_(device, non_blocking=True)
    time.sleep(0.01)
    assert host.sum() == 0
    api.synchronize()
    assert host.sum() == 256 * 1024


def test_a_pageable_copy_to_the_host_waits() -> None:
    form.set_cost("copy:dtoh_ns_per_kb", 5_000)
    device, host = torch.ones(256, 1024, device=DEVICE), torch.zeros(256, 1024)
    assert milliseconds(lambda: host.copy_(device, non_blocking=True)) >= 5
    assert host.sum() == 256 * 1024


def test_a_pageable_copy_to_the_device_is_staged_before_it_returns() -> None:
    form.sleep_ns(20 * MS)
    host = torch.ones(1024)
    device = host.to(DEVICE, non_blocking=True)
    host.zero_()
    assert device.sum().item() == 1024


def test_the_default_cost_is_of_kernels_not_of_kilobytes() -> None:
    form.set_cost("*", 2 * MS)
    assert median(lambda: torch.ones(256, 1024).to(DEVICE)) < 1024


def test_a_host_scalar_is_read_at_the_launch() -> None:
    ones, scalar = torch.ones(4, device=DEVICE), torch.tensor(2.0)
    ones * scalar  # now its shapes are known, and the next launch is quick
    form.sleep_ns(20 * MS)
    product = ones * scalar
    scalar.fill_(7.0)
    assert product.sum().item() == 8


def test_item_waits() -> None:
    assert min(milliseconds(lambda: multiply().sum().item()) for _ in range(3)) >= KERNEL


# Memory


def test_peaks_and_the_cache() -> None:
    api.empty_cache()
    allocated, reserved = api.memory_allocated(), api.memory_reserved()
    api.reset_peak_memory_stats()
    tensor = torch.empty(64 * MIB, dtype=torch.uint8, device=DEVICE)
    del tensor
    assert api.max_memory_allocated() - allocated == 64 * MIB and api.memory_allocated() == allocated
    assert api.memory_reserved() - reserved == 64 * MIB == api.max_memory_reserved() - reserved
    api.empty_cache()
    assert api.memory_reserved() == reserved
    assert api.max_memory_reserved() == reserved + 64 * MIB
    api.reset_peak_memory_stats()
    assert api.max_memory_allocated() == allocated and api.max_memory_reserved() == reserved


def test_small_blocks_are_rounded_and_share_a_segment() -> None:
    api.empty_cache()
    kept = [torch.empty(1, device=DEVICE)]
    reserved, allocated = api.memory_reserved(), api.memory_allocated()
    kept += [torch.empty(129, device=DEVICE) for _ in range(10)]
    assert api.memory_allocated() - allocated == 10 * 1024
    assert api.memory_reserved() == reserved


def test_memory_functions_take_a_device_in_every_spelling() -> None:
    tensor = torch.empty(8 * MIB, dtype=torch.uint8, device=f"{DEVICE}:1")
    for device in (1, f"{DEVICE}:1", torch.device(DEVICE, 1)):
        assert (
            api.memory_allocated(device)
            == tensor.numel()
            == api.memory_stats(device)["allocated_bytes.all.current"]
        )
        assert api.memory_reserved(device) == 20 * MIB == api.max_memory_reserved(device)
        assert api.max_memory_allocated(device) >= tensor.numel()
        assert str(tensor.numel()) in api.memory_summary(device, abbreviated=True)
        free, total = api.mem_get_info(device)
        assert total == 64 << 30 and free == total - 20 * MIB
    del tensor
    api.reset_peak_memory_stats(1)
    assert api.max_memory_allocated(1) == 0
    api.empty_cache()


def test_out_of_memory_and_after() -> None:
    assert api.OutOfMemoryError is torch.OutOfMemoryError
    ooms = api.memory_stats()["num_ooms"]
    form.set_capacity(api.memory_reserved() + 8 * MIB)
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate 1073741824 bytes"):
        torch.empty(1 << 30, dtype=torch.uint8, device=DEVICE)
    assert api.memory_stats()["num_ooms"] == ooms + 1
    assert multiply().sum().item() == 512
    form.set_capacity(0)
    assert api.mem_get_info() == (0, 0)


def test_cached_blocks_are_given_back_before_memory_runs_out() -> None:
    api.empty_cache()
    form.set_capacity(api.memory_reserved() + 64 * MIB)
    for size in (40 * MIB, 60 * MIB):
        torch.empty(size, dtype=torch.uint8, device=DEVICE)
    assert api.memory_reserved() <= 64 * MIB + 22 * MIB


def freed_while_a_side_stream_reads(record: bool) -> float:
    """The sum that a side stream, busy until then, reads from a tensor that was freed meanwhile."""
    side = api.Stream()
    tensor = torch.ones(8 * MIB, dtype=torch.float32, device=DEVICE)
    api.synchronize()
    with api.stream(side):
        form.sleep_ns(30 * MS)
        total = tensor.sum()
    if record:
        tensor.record_stream(side)
    del tensor
    torch.zeros(8 * MIB, dtype=torch.float32, device=DEVICE)
    api.synchronize()
    return float(total.item())


def test_record_stream_keeps_a_block_from_being_used_again() -> None:
    assert freed_while_a_side_stream_reads(record=True) == 8 * MIB


def test_a_missing_record_stream_shows() -> None:
    assert freed_while_a_side_stream_reads(record=False) == 0


# Errors


def test_an_asynchronous_error_surfaces_at_the_synchronise_and_once() -> None:
    form.fail("memory access fault")
    with pytest.raises(torch.AcceleratorError, match="asynchronous error: memory access fault"):
        api.synchronize()
    api.synchronize()
    assert multiply().sum().item() == 512


def test_an_asynchronous_error_surfaces_at_a_blocking_copy() -> None:
    form.fail("bad kernel")
    with reject("bad kernel"):
        torch.ones(2, device=DEVICE).cpu()


def test_wrong_arguments_raise_at_the_call() -> None:
    with reject("shape|size"):
        torch.ones(2, 3, device=DEVICE) @ torch.ones(2, 3, device=DEVICE)


def test_a_forked_child_is_told() -> None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            multiply()
            said = "nothing"
        except RuntimeError as error:
            said = str(error)
        os.write(write, said.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert "forked subprocess" in os.read(read, 4096).decode()


# Several devices


def test_each_device_has_its_own_memory_and_streams() -> None:
    assert api.device_count() == 2
    before = api.memory_allocated(0)
    tensor = torch.empty(MIB, dtype=torch.uint8, device=f"{DEVICE}:1")
    assert api.memory_allocated(0) == before and api.memory_allocated(1) >= tensor.numel()
    assert api.current_stream(1).device_index == 1 and api.current_stream(0).device_index == 0


def test_synchronise_waits_for_the_device_that_is_named() -> None:
    def work() -> None:
        for _ in range(5):
            multiply(f"{DEVICE}:1")

    assert median(work, lambda: api.synchronize(0)) < 2.5 * KERNEL
    for device in (1, f"{DEVICE}:1", torch.device(DEVICE, 1)):
        assert milliseconds(work, lambda device=device: api.synchronize(device)) >= 5 * KERNEL


def test_an_op_leaves_the_current_device_alone() -> None:
    multiply(f"{DEVICE}:1")
    assert api.current_device() == 0
    with api.device(1):
        assert torch.ones(2, device=DEVICE).device.index == 1
    assert api.current_device() == 0


def test_devices_do_not_mix() -> None:
    one, other = torch.ones(2, device=f"{DEVICE}:0"), torch.ones(2, device=f"{DEVICE}:1")
    with reject("same device"):
        one + other
    assert (one + other.to(one.device)).sum().item() == 4


def test_a_device_that_is_not_there_is_refused() -> None:
    with reject("invalid device ordinal 5"):
        torch.empty(2, device=f"{DEVICE}:5")
    with reject("invalid device ordinal 2"):
        api.set_device(2)


# Numbers


def test_random_numbers_follow_the_order_of_launches() -> None:
    def draw(by_host: int) -> torch.Tensor:
        torch.manual_seed(3)
        form.sleep_ns(20 * MS)
        first = torch.rand(64, device=DEVICE)
        torch.rand(by_host)
        return torch.cat([first, torch.rand(64, device=DEVICE)])

    draw(0)
    one, other = draw(0), draw(64)
    assert torch.equal(one.cpu(), other.cpu())
    assert not torch.equal(one[:64].cpu(), one[64:].cpu())


def test_generators_of_the_device() -> None:
    one, other = (torch.Generator(device=DEVICE).manual_seed(5) for _ in range(2))
    first = torch.randn(16, device=DEVICE, generator=one).cpu()
    assert one.device.type == DEVICE
    assert torch.equal(first, torch.randn(16, device=DEVICE, generator=other).cpu())
    state = api.get_rng_state()
    before = torch.rand(4, device=DEVICE).cpu()
    api.set_rng_state(state)
    assert torch.equal(before, torch.rand(4, device=DEVICE).cpu())


def test_dropout_draws_from_the_device_s_generator() -> None:
    def draw(by_host: int) -> torch.Tensor:
        torch.manual_seed(3)
        form.sleep_ns(20 * MS)
        kept = torch.nn.functional.dropout(torch.ones(4096, device=DEVICE), 0.25)
        torch.rand(by_host)
        return kept.cpu()

    draw(0)
    one = draw(0)
    assert torch.equal(one, draw(64))
    assert one.unique().tolist() == pytest.approx([0, 4 / 3])
    assert 0.2 < (one == 0).float().mean() < 0.3


def train(device: str) -> list[float]:
    torch.manual_seed(0)
    layers = (torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 5))
    model = torch.nn.Sequential(*layers).to(device)
    optimiser = torch.optim.AdamW(model.parameters())
    data = torch.linspace(-1, 1, 2 * 3 * 64).reshape(2, 3, 8, 8).to(device)
    losses = []
    for _ in range(3):
        loss = torch.nn.functional.cross_entropy(model(data), torch.tensor([1, 2], device=device))
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
    return losses


def test_training_computes_what_the_cpu_computes() -> None:
    assert train(DEVICE) == pytest.approx(train("cpu"), abs=1e-5)


def test_an_out_argument_is_resized_in_stream_order() -> None:
    out = torch.empty(0, device=DEVICE)
    torch.add(torch.ones(1000, device=DEVICE), 1, out=out)
    assert out.shape == (1000,) and out.sum().item() == 2000
    grown = torch.arange(4.0).to(DEVICE).resize_(8)
    assert grown[:4].cpu().tolist() == [0, 1, 2, 3]


def test_computing_can_be_switched_off() -> None:
    form.set_compute(False)
    assert min(milliseconds(multiply, api.synchronize) for _ in range(3)) >= KERNEL


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
