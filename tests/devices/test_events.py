from __future__ import annotations

from typing import Any

import pytest

from dcu_asv_ext.devices import NotMeasured
from dcu_asv_ext.devices.events import StreamEvents, check_events

from .fakes import FakeEvent, FakeStream


class Bench:
    def __init__(self) -> None:
        self.log: list[Any] = []
        self.clock = [0.0]
        self.home = FakeStream(self.log, 0)
        self.made: list[tuple[int, bool]] = []

    def make(self, index: int, timing: bool) -> FakeEvent:
        self.made.append((index, timing))
        return FakeEvent(self.log, self.clock, timing)

    def timer(self, pairs: int, *sides: Any) -> StreamEvents:
        return StreamEvents(pairs, sides, lambda: self.home, self.make, 0)


def test_pairs_in_order_and_in_seconds_unclamped() -> None:
    bench = Bench()
    timer = bench.timer(3)
    for step in (5.0, 0.0, -2.0):
        timer.start()
        bench.clock[0] += step
        timer.stop()
        bench.clock[0] += 100.0
    timer.wait()
    assert timer.read() == [0.005, 0.0, -0.002]


def test_only_recorded_pairs_are_read_and_more_are_refused() -> None:
    timer = Bench().timer(1)
    assert timer.read() == []
    timer.start()
    with pytest.raises(RuntimeError, match="still open"):
        timer.start()
    timer.stop()
    with pytest.raises(RuntimeError, match="without start"):
        timer.stop()
    with pytest.raises(RuntimeError, match="all 1 pairs"):
        timer.start()
    assert len(timer.read()) == 1


def test_side_streams_are_forked_from_start_and_joined_before_stop() -> None:
    bench = Bench()
    side = FakeStream(bench.log, 7, device_index=1)
    timer = bench.timer(1, side)
    assert (1, False) in bench.made, "the join event belongs to the side stream's device"
    bench.log.clear()
    timer.start()
    timer.stop()
    kinds = [entry[:2] for entry in bench.log]
    assert kinds == [("record", 0), ("wait", 7), ("record", 7), ("wait", 0), ("record", 0)]
    started, joined = bench.log[0][2], bench.log[2][2]
    assert bench.log[1][2] == started and bench.log[3][2] == joined


def test_wait_is_for_the_last_stop_alone() -> None:
    bench = Bench()
    timer = bench.timer(2)
    timer.start()
    timer.stop()
    last = bench.log[-1][2]
    bench.log.clear()
    timer.wait()
    assert bench.log == [("synchronize", last)]


def test_streams_that_cannot_wait_for_each_other() -> None:
    bench = Bench()
    side = FakeStream(bench.log, 7, device_index=1)

    def refuse(event: object) -> None:
        raise RuntimeError("no peer access\nmore")

    side.wait_event = refuse  # type: ignore[method-assign]
    with pytest.raises(NotMeasured, match=r"cannot be tied to the timed stream \(no peer access\)"):
        bench.timer(1, side)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_events_that_read_nonsense(value: float) -> None:
    bench = Bench()

    class Odd(FakeEvent):
        def elapsed_time(self, other: FakeEvent) -> float:
            return value

    with pytest.raises(NotMeasured, match="between two events"):
        check_events(lambda: bench.home, lambda i, timing: Odd(bench.log, bench.clock, timing), 0, "odd:0")


def test_events_that_construct_but_cannot_record() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("the trap is one of builds without a device")
    with pytest.raises(NotMeasured, match="cpu cannot time events"):
        check_events(lambda: None, lambda index, timing: torch.Event(enable_timing=True), 0, "cpu")
