"""Run in a process of its own: `simulated_contract.py FORM`, FORM "sim" or "cuda". Prints {check: error or null}.

The programmed cost of a kernel is the truth. Timing assertions are on the fastest sample: a busy machine only adds.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FORM = sys.argv[1]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "simulated_device"))
simulated = importlib.import_module({"sim": "sim_backend", "cuda": "fake_cuda"}[FORM])

import torch  # noqa: E402  the "cuda" form has to come before it

from dcu_asv_ext.devices import Device, DeviceUnavailable, NotMeasured, select  # noqa: E402
from scripts import checked  # noqa: E402

torch.set_num_threads(1)
COST = 0.005
MIB = 1 << 20
device: Device = select()
x = torch.ones(8, 8, device=device.torch_device)
side = torch.Stream(device=device.torch_device)


def kernel() -> Any:
    return x @ x


def kernels_on_the_side() -> None:
    with side:
        for _ in range(5):
            kernel()


def samples(call: Callable[[], object], stop: Callable[[], object], count: int = 5) -> list[float]:
    taken = []
    for _ in range(count):
        device.synchronize()
        begin = device.clock()
        call()
        stop()
        taken.append(device.clock() - begin)
    device.synchronize()
    return taken


def event_times(call: Callable[[], object], streams: list[Any], count: int = 7) -> list[float]:
    timer = device.event_timer(count, streams)
    for _ in range(count):
        timer.start()
        call()
        timer.stop()
    timer.wait()
    taken = timer.read()
    device.synchronize()
    return taken


def check_selected_by_default_and_marked_simulated() -> None:
    told = device.describe()
    assert device.simulated and told["simulated"] and device.asynchronous
    assert (device.kind, device.name) == {"sim": ("sim", "sim:0"), "cuda": ("dcu", "cuda:0")}[FORM]
    assert device.metric_support() == dict.fromkeys(
        ("device_time", "peak_allocated", "peak_reserved", "peak_card")
    )
    if FORM == "cuda":
        assert told["architecture"].startswith("gfx936") and told["runtime"].endswith("-sim")


def check_index_out_of_range() -> None:
    try:
        select(f"{FORM}:7")
    except DeviceUnavailable as error:
        assert f"{FORM}:7 was asked for, but torch sees 2" in str(error)
    else:
        raise AssertionError("a device that is not there was selected")


def check_synchronize_covers_all_streams() -> None:
    assert min(samples(kernel, device.synchronize)) >= COST
    assert min(samples(kernel, lambda: None)) < COST / 2
    assert min(samples(kernels_on_the_side, device.synchronize, 3)) >= 5 * COST


def check_synchronize_covers_the_devices_in_use() -> None:
    other = torch.ones(8, 8, device=f"{FORM}:1")
    both = select()

    def taken() -> float:
        torch.accelerator.synchronize(1)
        begin = time.perf_counter()
        other @ other
        both.synchronize()
        return time.perf_counter() - begin

    assert min(taken() for _ in range(5)) < COST / 2, "a device that is not used was waited for"
    both.use({1})
    assert min(taken() for _ in range(3)) >= COST


def check_observe_finds_side_streams() -> None:
    with device.observe() as usage:
        kernels_on_the_side()
        kernel()
        x.cpu()
    assert [stream.stream_id for stream in usage.streams] == [side.stream_id] and not usage.devices


def check_observe_finds_streams_set_through_torch() -> None:
    with device.observe() as usage:
        if FORM == "cuda":
            with torch.cuda.stream(torch.cuda.Stream()):
                pass
        home = torch.accelerator.current_stream()
        torch.accelerator.set_stream(side)
        torch.accelerator.set_stream(home)
    assert len(usage.streams) == (2 if FORM == "cuda" else 1)


def check_observe_finds_other_devices() -> None:
    with device.observe() as usage:
        torch.ones(8, 8, device=f"{FORM}:1")
    assert usage.devices == {1} and [stream.device_index for stream in usage.streams] == [1]


def check_events_read_the_programmed_cost() -> None:
    taken = event_times(kernel, [])
    assert 0.98 * COST <= min(taken) < 1.1 * COST, taken


def check_side_streams_are_inside_the_pair() -> None:
    inside = event_times(kernels_on_the_side, [side])
    assert 0.98 * 5 * COST <= min(inside) < 1.1 * 5 * COST, inside
    outside = event_times(kernels_on_the_side, [])
    assert min(outside) < COST, outside


def check_another_devices_stream_is_inside_the_pair() -> None:
    other = torch.ones(8, 8, device=f"{FORM}:1")
    with device.observe() as usage:
        other @ other
    taken = event_times(lambda: other @ other, usage.streams)
    assert min(taken) >= 0.98 * COST, taken


def check_peaks() -> None:
    def call() -> None:
        torch.empty(64 * MIB, dtype=torch.uint8, device=device.torch_device)

    peaks = device.peak_memory(call)
    assert peaks.peak_allocated is not None and peaks.baseline_allocated is not None
    assert peaks.peak_allocated - peaks.baseline_allocated == 64 * MIB
    assert peaks.peak_reserved is not None and peaks.peak_reserved >= 64 * MIB
    assert peaks.after_allocated == peaks.baseline_allocated and not peaks.missing
    assert peaks.after_reserved == peaks.peak_reserved and peaks.retries == peaks.ooms == 0
    # The peak of an earlier call is not this one's; the cache is kept, and reserved memory with it.
    again = device.peak_memory(lambda: None)
    assert again.peak_allocated == again.baseline_allocated
    assert again.peak_reserved == peaks.peak_reserved
    used, total = device.card_memory()
    assert 64 * MIB <= used < total


def check_what_was_asked_for_is_told_from_what_is_allocated_and_reserved() -> None:
    odd = 64 * MIB - 100

    def call() -> None:
        torch.empty(odd, dtype=torch.uint8, device=device.torch_device)

    nothing = device.peak_memory(lambda: None)
    peaks = device.peak_memory(call)
    assert peaks.peak_allocated is not None and nothing.peak_allocated is not None
    assert peaks.requested_peak is not None and nothing.requested_peak is not None
    # The allocator rounds to 512 bytes, and asks the device for whole segments of 2 MiB.
    assert peaks.peak_allocated - nothing.peak_allocated == 64 * MIB
    assert peaks.requested_peak - nothing.requested_peak == odd
    assert peaks.peak_reserved is not None and peaks.peak_reserved % (2 * MIB) == 0
    assert peaks.peak_reserved > peaks.peak_allocated


def check_memory_of_work_that_is_timed() -> None:
    read = device.start_peaks()
    torch.empty(32 * MIB, dtype=torch.uint8, device=device.torch_device)
    peaks = read()
    assert peaks.peak_allocated is not None and peaks.baseline_allocated is not None
    assert peaks.peak_allocated - peaks.baseline_allocated == 32 * MIB
    assert peaks.after_allocated == peaks.baseline_allocated


def check_a_retry_is_counted() -> None:
    torch.accelerator.empty_cache()
    simulated.set_capacity(torch.accelerator.memory_reserved() + 200 * MIB)

    def call() -> None:
        torch.empty(120 * MIB, dtype=torch.uint8, device=device.torch_device)
        # Fits only once the cached 120 MiB are given back.
        torch.empty(160 * MIB, dtype=torch.uint8, device=device.torch_device)

    try:
        peaks = device.peak_memory(call)
    finally:
        simulated.set_capacity(64 << 30)
        torch.accelerator.empty_cache()
    assert (peaks.retries, peaks.ooms) == (1, 0), (peaks.retries, peaks.ooms)


def check_no_card_of_the_host_is_looked_at() -> None:
    source = device.card_source()
    assert source.name == "mem_get_info" and source.arguments == ()
    assert source.read().total_bytes == device.card_memory()[1]
    try:
        told = device.card_arguments()
    except NotMeasured as missing:
        assert "sim" in missing.reason
    else:
        raise AssertionError(f"another process would look at {told}")


def check_out_of_memory() -> None:
    simulated.set_capacity(100 * MIB)
    try:
        torch.empty(1 << 30, dtype=torch.uint8, device=device.torch_device)
    except RuntimeError as error:
        assert device.error_kind(error) == "out of memory"
    else:
        raise AssertionError("1 GiB fitted into 100 MiB")
    finally:
        simulated.set_capacity(64 << 30)
    assert isinstance(device.memory_summary(), str)


def check_asynchronous_error() -> None:
    simulated.fail("memory access fault")
    try:
        device.synchronize()
    except RuntimeError as error:
        assert device.error_kind(error) == "device error", error
    else:
        raise AssertionError("the error did not surface at the synchronise")
    device.synchronize()


def check_seed_is_accepted() -> None:
    device.seed(7)


CHECKS = {name: check for name, check in list(globals().items()) if name.startswith("check_")}


def run() -> dict[str, str | None]:
    kernel()  # the first call of an operator finds its shapes, which takes long
    kernels_on_the_side()
    device.synchronize()
    simulated.set_cost("aten::mm", round(COST * 1e9))
    return checked(CHECKS)


if __name__ == "__main__":
    print(json.dumps(run()))
