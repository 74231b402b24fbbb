"""The virtual device's rules, with exact equalities: what tests of the passes build on."""

from __future__ import annotations

import statistics

import pytest

from dcu_asv_ext.devices.base import NotMeasured

from .virtual_device import DeviceFault, VirtualDevice, VirtualHost
from .virtual_memory import MIB, CachingAllocator, OutOfMemory
from .virtual_torch_device import VirtualTorchDevice

LAUNCH = 5_000
KERNEL = 5_000_000
COPY = 400_000_000  # bytes; 20 ms


@pytest.fixture
def device() -> VirtualDevice:
    return VirtualDevice()


def two_streams(device: VirtualDevice) -> None:
    """A copy on a side stream, and a kernel on the current one."""
    side = device.Stream()
    device.memcpy(COPY, stream=side, wait=False)
    device.launch(KERNEL)


# Time


def test_a_launch_costs_the_host_the_launch_alone(device: VirtualDevice) -> None:
    device.launch(KERNEL)
    assert device.host.now == LAUNCH
    assert not device.current_stream().query()


def test_synchronise_waits_for_the_end(device: VirtualDevice) -> None:
    device.launch(KERNEL)
    device.launch(KERNEL)
    device.synchronize()
    assert device.host.now == LAUNCH + 2 * KERNEL
    assert device.host.perf_counter() == 0.010005
    assert device.current_stream().query()


def test_synchronise_of_one_stream_misses_the_other(device: VirtualDevice) -> None:
    two_streams(device)
    device.current_stream().synchronize()
    assert device.host.now == 2 * LAUNCH + KERNEL
    device.synchronize()
    assert device.host.now == LAUNCH + 20_000_000


def test_wait_stream_orders_streams(device: VirtualDevice) -> None:
    side = device.Stream()
    with device.stream(side):
        device.launch(KERNEL)
        assert device.current_stream() is side
    device.current_stream().wait_stream(side)
    device.launch(KERNEL)
    device.current_stream().synchronize()
    assert device.host.now == LAUNCH + 2 * KERNEL
    assert device.current_stream() is device.default_stream()


def test_a_blocking_copy_waits(device: VirtualDevice) -> None:
    device.memcpy(COPY)
    assert device.host.now == LAUNCH + 20_000_000


def test_a_full_queue_blocks_the_host() -> None:
    device = VirtualDevice(queue_depth=64)
    for _ in range(200):
        device.launch(1_000_000)
    assert device.host.now == LAUNCH + 136 * 1_000_000


def test_jitter_is_seeded() -> None:
    def times(seed: int) -> list[int]:
        device = VirtualDevice(jitter=0.1, seed=seed)
        for _ in range(500):
            device.launch(KERNEL)
        return [launch.end - launch.start for launch in device.log]

    assert times(1) == times(1) != times(2)
    assert statistics.mean(times(1)) == pytest.approx(KERNEL, rel=0.02)
    assert statistics.stdev(times(1)) == pytest.approx(0.1 * KERNEL, rel=0.1)


# Events


def test_events_read_the_device_not_the_host(device: VirtualDevice) -> None:
    begin, end = device.Event(enable_timing=True), device.Event(enable_timing=True)
    begin.record()
    device.host.work(1_000)
    device.launch(KERNEL)
    end.record()
    with pytest.raises(RuntimeError, match="not ready"):
        begin.elapsed_time(end)
    end.synchronize()
    # The device idles from the start event until the launch arrives: the gap is inside the pair.
    assert begin.elapsed_time(end) == (1_000 + LAUNCH + KERNEL) / 1e6


def test_events_queued_behind_work_see_no_gap(device: VirtualDevice) -> None:
    begin, end = device.Event(enable_timing=True), device.Event(enable_timing=True)
    device.launch(KERNEL)
    begin.record()
    device.launch(KERNEL)
    end.record()
    end.synchronize()
    assert begin.elapsed_time(end) == 5.0


def test_events_refuse_what_torch_refuses(device: VirtualDevice) -> None:
    timed, plain = device.Event(enable_timing=True), device.Event()
    with pytest.raises(RuntimeError, match="enable_timing"):
        timed.elapsed_time(plain)
    with pytest.raises(RuntimeError, match="recorded"):
        timed.elapsed_time(device.Event(enable_timing=True))


def test_a_fault_surfaces_at_the_synchronise_that_reaches_it_once(device: VirtualDevice) -> None:
    side = device.Stream()
    device.launch(KERNEL, side)
    device.fail("memory access fault", side)
    device.current_stream().synchronize()
    with pytest.raises(DeviceFault, match="memory access fault"):
        device.synchronize()
    device.synchronize()


# Memory


def test_allocated_peak_and_reserved() -> None:
    memory = CachingAllocator(64 << 30)
    memory.malloc(3 * MIB)
    large = memory.malloc(64 * MIB)
    memory.free(large)
    assert (memory.allocated, memory.peak_allocated) == (3 * MIB, 67 * MIB)
    assert (memory.reserved, memory.peak_reserved) == (84 * MIB, 84 * MIB)
    memory.empty_cache()
    assert (memory.reserved, memory.peak_reserved) == (20 * MIB, 84 * MIB)
    memory.reset_peaks()
    assert (memory.peak_allocated, memory.peak_reserved) == (3 * MIB, 20 * MIB)


@pytest.mark.parametrize(
    ("size", "rounded", "segment"),
    [
        (1, 512, 2 * MIB),
        (513, 1024, 2 * MIB),
        (MIB, MIB, 2 * MIB),
        (MIB + 1, MIB + 512, 20 * MIB),
        (10 * MIB, 10 * MIB, 10 * MIB),
        (11 * MIB, 12 * MIB, 12 * MIB),  # a rest of at most 1 MiB stays with the block
        (13 * MIB + 1, 14 * MIB, 14 * MIB),
    ],
)
def test_sizes_and_segments(size: int, rounded: int, segment: int) -> None:
    memory = CachingAllocator(64 << 30)
    memory.malloc(size)
    assert (memory.allocated, memory.reserved) == (rounded, segment)


def test_free_neighbours_merge_and_others_do_not() -> None:
    memory = CachingAllocator(64 << 30)
    first, second, third, _ = (memory.malloc(5 * MIB) for _ in range(4))
    memory.free(first)
    memory.free(third)
    memory.malloc(8 * MIB)  # fits into neither of the two holes
    assert memory.reserved == 40 * MIB
    memory.free(second)
    memory.malloc(9 * MIB)  # fits into what is left of the new segment
    memory.malloc(15 * MIB)  # fits into the merged hole
    assert memory.reserved == 40 * MIB


def test_pools_belong_to_streams() -> None:
    device = VirtualDevice()
    device.free(device.malloc(5 * MIB))
    with device.stream(device.Stream()):
        device.malloc(5 * MIB)
    assert device.memory.reserved == 40 * MIB


def test_out_of_memory_comes_after_the_cache_is_emptied() -> None:
    memory = CachingAllocator(64 * MIB)
    memory.free(memory.malloc(40 * MIB))
    kept = memory.malloc(60 * MIB)
    assert (memory.retries, memory.ooms, memory.reserved) == (1, 0, 60 * MIB)
    with pytest.raises(OutOfMemory, match="tried to allocate 8388608 bytes, 4194304 are free"):
        memory.malloc(8 * MIB)
    assert memory.ooms == 1
    memory.free(kept)
    with pytest.raises(ValueError, match="twice"):
        memory.free(kept)


# The package's interface on it


def test_clock_and_synchronise_are_the_virtual_device_s(device: VirtualDevice) -> None:
    adapter = VirtualTorchDevice(device)
    begin = adapter.clock()
    device.launch(KERNEL, device.Stream())
    adapter.synchronize()
    assert adapter.clock() - begin == 0.005005


def test_only_devices_in_use_are_synchronised() -> None:
    host = VirtualHost()
    one, other = VirtualDevice(host=host), VirtualDevice(host=host)
    adapter = VirtualTorchDevice(one, other)
    other.launch(KERNEL)
    adapter.synchronize()
    assert host.now == LAUNCH
    adapter.use([1])
    adapter.synchronize()
    assert host.now == LAUNCH + KERNEL
    with pytest.raises(ValueError, match="virtual:2"):
        adapter.use([2])
    with pytest.raises(ValueError, match="one host"):
        VirtualTorchDevice(VirtualDevice(), VirtualDevice())


def test_observe_finds_side_streams_and_devices() -> None:
    host = VirtualHost()
    one, other = VirtualDevice(host=host), VirtualDevice(host=host)
    adapter = VirtualTorchDevice(one, other)
    side = one.Stream()
    one.launch(KERNEL, one.Stream())  # before: not this call's
    with adapter.observe() as usage:
        one.launch(KERNEL)
        one.launch(KERNEL, side)
        one.launch(KERNEL, side)
        other.launch(KERNEL)
    assert usage.streams == [side, other.default_stream()]
    assert usage.devices == {1}


def test_event_timer_holds_side_streams_inside_the_pair(device: VirtualDevice) -> None:
    side = device.Stream()
    adapter = VirtualTorchDevice(device)

    def times(*side_streams: object) -> list[float]:
        timer = adapter.event_timer(2, side_streams)
        for _ in range(2):
            adapter.synchronize()
            timer.start()
            device.launch(20_000_000, side)
            device.launch(KERNEL)
            timer.stop()
        timer.wait()
        return timer.read()

    assert times() == [0.00501, 0.00501]
    # In the first loop's end the side stream is still busy; fork and join keep it in its own pair.
    assert times(side) == [0.020005, 0.020005]


def test_event_timer_waits_for_the_last_stop_event_alone(device: VirtualDevice) -> None:
    timer = VirtualTorchDevice(device).event_timer(1)
    timer.start()
    device.launch(20_000_000, device.Stream())
    device.launch(KERNEL)
    timer.stop()
    timer.wait()
    assert device.host.now == 2 * LAUNCH + KERNEL
    with pytest.raises(RuntimeError, match="all 1 pairs are used"):
        timer.start()


def test_peak_memory(device: VirtualDevice) -> None:
    adapter = VirtualTorchDevice(device)
    device.malloc(3 * MIB)
    device.free(device.malloc(128 * MIB))
    device.memory.empty_cache()
    peaks = adapter.peak_memory(lambda: device.free(device.malloc(64 * MIB)))
    assert (peaks.baseline_allocated, peaks.peak_allocated, peaks.after_allocated) == (
        3 * MIB,
        67 * MIB,
        3 * MIB,
    )
    assert (peaks.baseline_reserved, peaks.peak_reserved, peaks.after_reserved) == (
        20 * MIB,
        84 * MIB,
        84 * MIB,
    )
    assert peaks.missing == {}
    assert adapter.card_memory() == (84 * MIB, 64 << 30)


def test_what_was_asked_for_and_what_the_allocator_had_to_do_for_it(device: VirtualDevice) -> None:
    device.memory.total = 300 * MIB
    adapter = VirtualTorchDevice(device)
    device.free(device.malloc(200 * MIB))
    odd = 256 * MIB - 100
    peaks = adapter.peak_memory(lambda: device.free(device.malloc(odd)))
    assert (peaks.requested_peak, peaks.peak_allocated) == (odd, 256 * MIB)
    assert (peaks.retries, peaks.ooms, peaks.after_reserved, peaks.segments) == (1, 0, 256 * MIB, 1)


def test_what_is_missing_has_its_reason(device: VirtualDevice) -> None:
    adapter = VirtualTorchDevice(device, missing={"device_time": "no events", "peak_reserved": "no cache"})
    with pytest.raises(NotMeasured, match="no events"):
        adapter.event_timer(1)
    peaks = adapter.peak_memory(lambda: device.malloc(MIB))
    assert peaks.peak_allocated == MIB and peaks.peak_reserved is None
    assert peaks.missing == dict.fromkeys(
        ("baseline_reserved", "peak_reserved", "after_reserved", "segments"), "no cache"
    )
    assert adapter.metric_support() == {
        "device_time": "no events",
        "peak_allocated": None,
        "peak_reserved": "no cache",
        "peak_card": None,
    }


def test_errors_have_their_kind(device: VirtualDevice) -> None:
    adapter = VirtualTorchDevice(VirtualDevice(total=MIB))
    with pytest.raises(OutOfMemory) as memory:
        adapter.virtual.malloc(2 * MIB)
    adapter.virtual.fail("bad kernel")
    with pytest.raises(DeviceFault) as fault:
        adapter.synchronize()
    assert adapter.error_kind(memory.value) == "out of memory"
    assert adapter.error_kind(fault.value) == "device error"
    assert adapter.error_kind(ValueError()) is None
