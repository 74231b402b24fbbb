"""Pairs of device events with the side streams inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .base import EventTimer, NotMeasured

#: Makes an event on the device with this index; the flag asks for timing.
MakeEvent = Callable[[int, bool], Any]


class StreamEvents(EventTimer):
    """Events on the current stream of one device, in seconds.

    pairs: at most this many `start`/`stop` rounds; more raise RuntimeError.
    side_streams: forked from each start event and joined before each stop event; they may belong to other
        devices than the timed one.
    """

    def __init__(
        self,
        pairs: int,
        side_streams: Iterable[Any],
        current_stream: Callable[[], Any],
        make_event: MakeEvent,
        index: int,
    ) -> None:
        if pairs < 1:
            raise ValueError(f"an event timer needs at least one pair, not {pairs}")
        self._current = current_stream
        self._starts = [make_event(index, True) for _ in range(pairs)]
        self._stops = [make_event(index, True) for _ in range(pairs)]
        self._sides = [(stream, make_event(stream_device(stream, index), False)) for stream in side_streams]
        self._next = 0
        self._open = False
        self._prime()

    def _prime(self) -> None:
        # torch creates the device's event at the first record; that must not happen inside a measured pair.
        stream = self._current()
        for event in self._starts:
            event.record(stream)
        try:
            for side, joined in self._sides:
                side.wait_event(self._starts[0])
                joined.record(side)
                stream.wait_event(joined)
        except Exception as error:
            reason = f"a side stream cannot be tied to the timed stream ({first_line(error)})"
            raise NotMeasured(reason) from error
        for event in self._stops:
            event.record(stream)
        self._stops[-1].synchronize()

    def start(self) -> None:
        if self._open or self._next >= len(self._starts):
            state = "the last pair is still open" if self._open else f"all {self._next} pairs are used"
            raise RuntimeError(f"event timer: start() while {state}")
        event = self._starts[self._next]
        event.record(self._current())
        for side, _ in self._sides:
            side.wait_event(event)
        self._open = True

    def stop(self) -> None:
        if not self._open:
            raise RuntimeError("event timer: stop() without start()")
        current = self._current()
        for side, joined in self._sides:
            joined.record(side)
            current.wait_event(joined)
        self._stops[self._next].record(current)
        self._next += 1
        self._open = False

    def wait(self) -> None:
        if self._next:
            self._stops[self._next - 1].synchronize()

    def read(self) -> list[float]:
        pairs = zip(self._starts[: self._next], self._stops, strict=False)
        return [start.elapsed_time(stop) / 1e3 for start, stop in pairs]


def stream_device(stream: Any, default: int) -> int:
    """The index of the device that a stream belongs to."""
    index = getattr(stream, "device_index", None)
    if index is None:
        index = getattr(getattr(stream, "device", None), "index", None)
    return default if index is None else int(index)


def check_events(current_stream: Callable[[], Any], make_event: MakeEvent, index: int, device: str) -> None:
    """Raises NotMeasured where events construct but cannot be recorded or subtracted (seen on several backends)."""
    try:
        first, second = make_event(index, True), make_event(index, True)
        stream = current_stream()
        first.record(stream)
        second.record(stream)
        second.synchronize()
        elapsed = float(first.elapsed_time(second))
    except Exception as error:
        raise NotMeasured(f"{device} cannot time events ({first_line(error)})") from error
    if not elapsed >= 0.0 or elapsed > 60_000.0:
        raise NotMeasured(f"{device} reads {elapsed} ms between two events recorded one after the other")


def first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
