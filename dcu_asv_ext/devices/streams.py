"""Which streams and devices does a call use? Watched once, outside every measured call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .base import Usage
from .dispatch import Handler, compiles, leaves, operator_mode
from .events import stream_device

# torch.cuda.StreamContext enters and leaves through torch.cuda.set_stream, so wrapping the function also sees
# a `with` on a context object that was made before.
_ENTRY_POINTS = (("cuda", "set_stream"), ("cuda", "stream"), ("accelerator", "set_stream"))


class _Watch:
    """Collects streams by identity. The selected device's stream at the start is the home stream."""

    def __init__(self, device_type: str, index: int, current_stream: Callable[[int], Any]) -> None:
        self.device_type = device_type
        self.index = index
        self.current_stream = current_stream
        self.usage = Usage()
        self._seen = {self._key(current_stream(index))}

    def _key(self, stream: Any) -> tuple[int, object]:
        return stream_device(stream, self.index), getattr(stream, "stream_id", id(stream))

    def add(self, stream: Any) -> None:
        key = self._key(stream)
        if key[0] != self.index:
            self.usage.devices.add(key[0])
        if key not in self._seen:
            self._seen.add(key)
            self.usage.streams.append(stream)

    def add_devices_of(self, values: list[Any], tensor_type: type) -> None:
        for value in values:
            if isinstance(value, tensor_type):
                device = value.device  # type: ignore[attr-defined]
                if device.type == self.device_type:
                    self.add(self.current_stream(device.index or 0))

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(stream: Any, *args: Any, **kwargs: Any) -> Any:
            if stream is not None:
                self.add(stream)
            return function(stream, *args, **kwargs)

        return watched


def _around(watch: _Watch, tensor_type: type) -> Handler:
    def watched(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        out = operator(*args, **kwargs)
        # Inputs count too: a copy to the host runs on the stream of its source.
        watch.add_devices_of(leaves((args, kwargs, out)), tensor_type)
        return out

    return watched


def _watch_entering(watch: _Watch, stream_type: Any, stack: ExitStack) -> None:
    """`with stream:` on torch.cuda's own stream class, for the duration."""
    if not isinstance(stream_type, type) or "__enter__" in vars(stream_type):
        return
    entered = getattr(stream_type, "__enter__", None)
    if entered is None or not stream_type.__module__.startswith("torch.cuda"):
        return

    def enter(stream: Any) -> Any:
        watch.add(stream)
        return entered(stream)

    stream_type.__enter__ = enter  # type: ignore[attr-defined]
    stack.callback(delattr, stream_type, "__enter__")


@contextmanager
def observe_streams(
    torch: Any, device_type: str, index: int, current_stream: Callable[[int], Any]
) -> Iterator[Usage]:
    """Fills a Usage from every dispatched operator and from torch's own ways to set a stream.

    A stream that an extension makes and launches on by itself, past torch, is not seen; where torch.compile is at
    work, operators are not watched, only the setting of streams is.
    """
    watch = _Watch(device_type, index, current_stream)
    with ExitStack() as stack:
        for place, name in _ENTRY_POINTS:
            module = getattr(torch, place, None)
            function = getattr(module, name, None)
            if function is not None:
                setattr(module, name, watch.wrap(function))
                stack.callback(setattr, module, name, function)
        _watch_entering(watch, getattr(getattr(torch, "cuda", None), "Stream", None), stack)
        if not compiles():
            stack.enter_context(operator_mode(torch, _around(watch, torch.Tensor)))
        yield watch.usage
