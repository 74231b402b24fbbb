"""The warm-up rule on virtual time: stable, never stable, capped, long calls, batching."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from dcu_asv_ext.measure.warmup import Rule, is_stable, warm_up

from .fakes import LAUNCH, MS, FakeDevice


def calls_of(device: FakeDevice, milliseconds: Iterator[float]) -> Callable[[], None]:
    return lambda: device.kernel(round(next(milliseconds) * MS) - LAUNCH)


def forever(*values: float) -> Iterator[float]:
    while True:
        yield from values


def test_a_steady_call_is_stable_after_two_windows_and_the_minimum_time() -> None:
    device = FakeDevice()
    done = warm_up(device, calls_of(device, forever(20.0)), Rule())
    assert done.stable
    assert done.seconds == pytest.approx([0.02] * 10)
    assert done.calls == 10


def test_a_falling_call_is_warmed_up_until_it_settles() -> None:
    device = FakeDevice()

    def falling() -> Iterator[float]:
        for number in range(20):
            yield 100.0 * 0.8**number
        yield from forever(1.0)

    done = warm_up(device, calls_of(device, falling()), Rule(max_seconds=100.0))
    assert done.stable
    assert done.seconds[:3] == pytest.approx([0.1, 0.08, 0.064])
    assert done.call_seconds == pytest.approx(1e-3, rel=0.06)


def test_never_stable_ends_at_the_cap_and_says_so() -> None:
    device = FakeDevice()

    def growing() -> Iterator[float]:
        value = 10.0
        while True:
            yield value
            value *= 1.1

    done = warm_up(device, calls_of(device, growing()), Rule())
    assert not done.stable
    spent = sum(done.seconds)
    assert spent >= Rule().max_seconds > spent - done.seconds[-1]


def test_the_number_of_calls_is_capped_too() -> None:
    device = FakeDevice()
    alternating = (10.0 * (1 + number // 5 % 2) for number in range(1_000_000))
    done = warm_up(device, calls_of(device, alternating), Rule(max_calls=23, max_seconds=1e9))
    assert not done.stable
    assert done.calls == 23


@pytest.mark.parametrize(("times", "calls", "stable"), [((10e3,), 2, True), ((10e3, 5e3), 2, False)])
def test_long_calls_are_compared_singly(times: tuple[float, ...], calls: int, stable: bool) -> None:
    device = FakeDevice()
    done = warm_up(device, calls_of(device, forever(*times)), Rule())
    assert (done.calls, done.stable) == (calls, stable)


def test_long_calls_are_few_even_where_the_time_cap_is_far() -> None:
    device = FakeDevice()
    done = warm_up(device, calls_of(device, forever(300.0, 500.0)), Rule(max_seconds=100.0))
    assert done.calls == Rule().max_long_calls
    assert not done.stable


def test_short_calls_are_batched_after_two_windows() -> None:
    device = FakeDevice(asynchronous=False)
    done = warm_up(device, calls_of(device, forever(0.02)), Rule())
    assert done.batched_from == 10
    assert done.batch == 64
    assert done.seconds == pytest.approx([20e-6] * len(done.seconds))
    assert done.calls == 10 + 64 * (len(done.seconds) - 10)
    assert sum(done.seconds[:10]) + 64 * sum(done.seconds[10:]) >= Rule().min_seconds


def test_a_reset_forbids_batches_and_is_not_in_the_times() -> None:
    device = FakeDevice()
    resets = [0]

    def reset() -> None:
        resets[0] += 1
        device.kernel(3 * MS)

    done = warm_up(device, calls_of(device, forever(0.02)), Rule(), reset)
    assert done.batch == 1 and done.batched_from is None
    assert resets[0] == done.calls
    assert done.seconds == pytest.approx([20e-6] * done.calls)


def test_a_slow_reset_does_not_make_the_warm_up_endless() -> None:
    device = FakeDevice()
    done = warm_up(device, calls_of(device, forever(0.02)), Rule(), lambda: device.host(500 * MS))
    assert done.calls <= 10
    assert device.clock() < 10.0


def test_an_asynchronous_device_is_warmed_up_longer() -> None:
    assert Rule.for_device(FakeDevice(), False).min_seconds > Rule().min_seconds
    assert Rule.for_device(FakeDevice(asynchronous=False), False) == Rule()


def test_quick_is_one_call() -> None:
    device = FakeDevice()
    done = warm_up(device, calls_of(device, forever(1.0)), Rule.for_device(device, True))
    assert done.calls == 1 and not done.stable


def test_the_times_are_synchronised() -> None:
    device = FakeDevice()
    device.kernel(50 * MS)
    done = warm_up(device, calls_of(device, forever(30.0)), Rule())
    assert done.seconds == pytest.approx([0.03] * len(done.seconds))


def test_window_medians_ignore_one_outlier() -> None:
    steady = [1.0e-3] * 10
    assert is_stable(steady, Rule())
    assert is_stable([*steady[:-1], 9e-3], Rule())
    assert not is_stable([1.0e-3] * 5 + [1.1e-3] * 5, Rule())
    assert not is_stable([1.0e-3] * 9, Rule())


def test_the_rule_is_stated_in_words() -> None:
    text = Rule().as_text()
    assert "5 calls" in text and "5%" in text and "0.1 s" in text and "1 s" in text
