"""Plans, batch sizes and the sampling loops, exact on virtual time."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest

from dcu_asv_ext.measure.arguments import CallArguments
from dcu_asv_ext.measure.calls import batched, one_call
from dcu_asv_ext.measure.sampling import (
    BUDGET,
    MAX_BATCH,
    MAX_SAMPLES,
    MIN_SAMPLES,
    UNTIMED_SHARE,
    WINDOW_SECONDS,
    Plan,
    choose_batch,
    keep_batch,
    overhead,
    per_call,
    sample_submission,
    sample_synchronized,
)

from ..virtual_torch_device import VirtualTorchDevice
from .fakes import LAUNCH, MS, FakeDevice


def test_a_round_has_at_least_five_samples_by_default() -> None:
    assert MIN_SAMPLES >= 5
    for source in ("latency", "device_time", "host_time"):
        assert Plan.make(source, 0).low >= 5


def test_default_passes_sample_for_about_one_second() -> None:
    assert 0.8 <= BUDGET["latency"] + BUDGET["device_time"] <= 1.2


@pytest.mark.parametrize(
    ("repeat", "plan"),
    [
        (0, Plan(MIN_SAMPLES, MAX_SAMPLES, BUDGET["latency"])),
        (1, Plan(1, 1, 0.0)),
        (7, Plan(7, 7, 0.0)),
        ((3, 9, 2.5), Plan(3, 9, 2.5)),
    ],
)
def test_plan_from_asv_repeat(repeat: Any, plan: Plan) -> None:
    assert Plan.make("latency", repeat) == plan


def test_stops_at_the_budget_once_the_minimum_is_there() -> None:
    device = FakeDevice()
    samples = sample_synchronized(device, lambda: device.kernel(100 * MS - LAUNCH), Plan(5, 250, 0.6))
    assert list(samples) == pytest.approx([0.1] * 6)


def test_takes_the_minimum_however_long_a_call_is() -> None:
    device = FakeDevice()
    samples = sample_synchronized(device, lambda: device.kernel(10_000 * MS - LAUNCH), Plan(5, 250, 0.6))
    assert list(samples) == pytest.approx([10.0] * 5)


@pytest.mark.parametrize("sample", [sample_synchronized, sample_submission])
def test_a_hundred_thousand_samples_keep_little_memory(sample: Any) -> None:
    device = VirtualTorchDevice()
    plan = Plan(100_000, 100_000, 0.0)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        times = per_call(sample(device, lambda: device.virtual.host.work(1000), plan), 4)
        kept, peak = (size - before for size in tracemalloc.get_traced_memory())
    finally:
        tracemalloc.stop()
    assert len(times) == 100_000 and times[99_999] == pytest.approx(250e-9)
    assert kept <= 16e6 and peak <= 16e6


def test_stops_at_the_maximum_number() -> None:
    device = FakeDevice()
    assert len(sample_synchronized(device, lambda: device.kernel(100), Plan(5, 40, 0.6))) == 40


def test_a_count_is_obeyed_exactly() -> None:
    device = FakeDevice()
    call = lambda: device.kernel(1000 * MS)  # noqa: E731
    assert len(sample_synchronized(device, call, Plan.make("latency", 3))) == 3
    assert len(sample_submission(device, call, Plan.make("host_time", 3))) == 3


def test_the_untimed_reset_is_not_in_a_sample() -> None:
    device = FakeDevice()
    samples = sample_synchronized(
        device, lambda: device.kernel(5 * MS - LAUNCH), Plan(5, 5, 0.0), lambda: device.kernel(50 * MS)
    )
    assert list(samples) == pytest.approx([0.005] * 5)


def test_a_slow_reset_does_not_make_the_pass_endless() -> None:
    """1 ms calls with a 1 s reset: the 0.6 s of samples would take 250 resets."""
    device = FakeDevice()
    plan = Plan.make("latency", 0)
    for sample in (sample_synchronized, sample_submission):
        begin = device.clock()
        samples = sample(device, lambda: device.kernel(1 * MS), plan, lambda: device.host(1000 * MS))
        assert len(samples) >= MIN_SAMPLES
        assert device.clock() - begin <= plan.seconds * UNTIMED_SHARE + 1.1


class Wanting:
    """Wants some samples' outputs and notes what it was given."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = numbers
        self.taken: list[tuple[int, Any]] = []

    def wants(self, number: int) -> bool:
        return number in self.numbers

    def take(self, number: int, output: Any) -> None:
        self.taken.append((number, output))


def test_the_keeper_gets_the_outputs_it_wanted_and_no_other() -> None:
    device = FakeDevice()
    numbers = iter(range(100))
    ticks: list[int] = []

    def call() -> int:
        device.kernel(MS)
        return next(numbers)

    keeper = Wanting(0, 3)
    sample_synchronized(device, call, Plan(5, 5, 0.0), None, lambda: ticks.append(1), keeper)
    assert keeper.taken == [(0, 0), (3, 3)]
    assert len(ticks) == 5


def test_an_unwanted_output_is_released_inside_its_sample() -> None:
    """As between the calls of a batch: releasing belongs to what a call costs, with and without a reference."""
    device = FakeDevice()

    class Output:
        def __del__(self) -> None:
            device.host(3 * MS)

    def call() -> Output:
        device.kernel(MS)
        return Output()

    kept, *others = sample_synchronized(device, call, Plan(3, 3, 0.0), keeper=Wanting(0))
    assert others == pytest.approx([kept + 3 * MS / 1e9] * 2, abs=1.1e-3)


def test_no_output_outlives_its_sample() -> None:
    """A kept output would make the next call run in more memory than it needs."""
    device = FakeDevice()
    alive = [0]

    class Output:
        def __init__(self) -> None:
            alive[0] += 1

        def __del__(self) -> None:
            alive[0] -= 1

    def call() -> Output:
        assert alive[0] == 0
        device.kernel(MS)
        return Output()

    sample_synchronized(device, call, Plan(5, 5, 0.0), None, lambda: None)
    assert alive[0] == 0


def test_the_collector_is_off_inside_and_restored() -> None:
    device = FakeDevice()
    states: list[bool] = []
    sample_synchronized(device, lambda: states.append(gc.isenabled()), Plan(2, 2, 0.0))
    assert states == [False, False] and gc.isenabled()
    gc.disable()
    try:
        sample_synchronized(device, lambda: None, Plan(2, 2, 0.0))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_collector_is_restored_when_the_call_raises() -> None:
    def call() -> None:
        raise RuntimeError("broken call")

    with pytest.raises(RuntimeError, match="broken call"):
        sample_synchronized(FakeDevice(), call, Plan(2, 2, 0.0))
    assert gc.isenabled()


def test_host_time_is_the_submission_and_the_device_is_idle_at_its_start() -> None:
    device = FakeDevice()
    idle: list[bool] = []

    def call() -> None:
        idle.append(device.home.query())
        device.kernel(5 * MS)

    samples = sample_submission(device, call, Plan(5, 5, 0.0))
    assert list(samples) == pytest.approx([LAUNCH / 1e9] * 5)
    assert idle == [True] * 5


def test_host_time_equals_latency_on_a_synchronous_device() -> None:
    device = FakeDevice(asynchronous=False)
    call = lambda: device.kernel(5 * MS)  # noqa: E731
    assert list(sample_submission(device, call, Plan(3, 3, 0.0))) == pytest.approx(
        list(sample_synchronized(device, call, Plan(3, 3, 0.0)))
    )


def test_overhead_is_the_smallest_empty_sample() -> None:
    assert overhead(FakeDevice(sync_cost=7_000)) == pytest.approx(7e-6)


@pytest.mark.parametrize(
    ("call_seconds", "empty", "batch"),
    [
        (1.0, 0.0, 1),
        (WINDOW_SECONDS, 0.0, 1),
        (WINDOW_SECONDS * 0.99, 0.0, 2),
        (WINDOW_SECONDS / 4, 0.0, 4),
        (WINDOW_SECONDS / 4.01, 0.0, 8),
        (20e-6, 0.0, 128),
        (WINDOW_SECONDS, 200e-6, 4),
        (0.0, 0.0, MAX_BATCH),
    ],
)
def test_batch_is_the_smallest_power_of_two_that_fills_the_window(
    call_seconds: float, empty: float, batch: int
) -> None:
    assert choose_batch(call_seconds, empty) == batch
    assert batch & (batch - 1) == 0


@pytest.mark.parametrize(
    ("earlier", "call_seconds", "kept"),
    [
        (None, 1e-3, None),
        (64, 1e-3, 64),
        (64, 1e-9, 64),
        (64, 1.0, None),
        (1, 100.0, 1),
        (0, 1e-3, None),
    ],
)
def test_batch_of_earlier_evidence_is_kept_unless_far_too_slow(
    earlier: int | None, call_seconds: float, kept: int | None
) -> None:
    assert keep_batch(earlier, call_seconds) == kept


def test_batched_samples_are_per_call() -> None:
    device = FakeDevice()
    calls = [0]

    def function() -> int:
        calls[0] += 1
        device.kernel(1 * MS - LAUNCH)
        return calls[0]

    call = batched(function, [CallArguments()], 8)
    assert call() == 8
    samples = sample_synchronized(device, call, Plan(5, 5, 0.0))
    assert per_call(samples, 8) == pytest.approx([1e-3 - LAUNCH * 7 / 8e9] * 5, rel=0.01)
    assert calls[0] == 8 * 6


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_argument_sets_are_used_in_turn(batch: int) -> None:
    seen: list[Any] = []
    sets = [CallArguments((1,)), CallArguments((2,), {"b": 0}), CallArguments((), {"a": 3})]
    call = batched(lambda a, b=None: seen.append(a), sets, batch)
    for _ in range(3):
        call()
    assert seen == ([1, 2, 3] * 4)[: 3 * batch]


def test_keyword_arguments_reach_the_function() -> None:
    assert one_call(lambda a, b: (a, b), [CallArguments((1,), {"b": 2})])() == (1, 2)
    assert batched(lambda a, b: (a, b), [CallArguments((1,), {"b": 2})], 4)() == (1, 2)


def test_garbage_in_cycles_does_not_pile_up() -> None:
    """The collector is off inside samples; between them the young generations are collected."""
    alive = [0]

    class Node:
        def __init__(self) -> None:
            alive[0] += 1
            self.me = self

        def __del__(self) -> None:
            alive[0] -= 1

    most = [0]

    def call() -> None:
        for _ in range(100):
            Node()
        most[0] = max(most[0], alive[0])

    sample_synchronized(FakeDevice(), call, Plan(200, 200, 0.0))
    assert most[0] < 5_000


@pytest.mark.parametrize(
    ("seconds", "asynchronous", "batch"), [(1e-3, True, 1), (1e-3, False, 4), (2e-5, True, 128)]
)
def test_an_asynchronous_call_of_a_millisecond_is_not_batched(
    seconds: float, asynchronous: bool, batch: int
) -> None:
    assert choose_batch(seconds, 1e-6, asynchronous) == batch
