"""The watch works on any tensors: here the CPU's, with invented streams."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dcu_asv_ext.devices import streams as streams_module
from dcu_asv_ext.devices.streams import observe_streams

from .fakes import FakeStream

torch = pytest.importorskip("torch")


@pytest.fixture
def nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests of this process may have compiled something, which makes the watch more careful."""
    monkeypatch.setattr(streams_module, "compiles", lambda: False)


class Streams:
    """A face of torch whose current stream can be set."""

    def __init__(self) -> None:
        self.home = FakeStream([], 0)
        self.now: Any = self.home
        self.Tensor = torch.Tensor
        self.cuda = SimpleNamespace(set_stream=self.set_stream, stream=lambda stream: stream)
        self.original = self.cuda.set_stream

    def set_stream(self, stream: Any) -> None:
        self.now = stream

    def watch(self, index: int = 0) -> Any:
        return observe_streams(self, "cpu", index, lambda index: self.now)


def test_the_current_stream_is_not_a_side_stream() -> None:
    streams = Streams()
    with streams.watch() as usage:
        torch.ones(2) + 1
    assert usage.streams == [] and usage.devices == set()


@pytest.mark.usefixtures("nothing_compiled")
def test_streams_that_operators_run_on_once_each() -> None:
    streams = Streams()
    side = FakeStream([], 3)
    x = torch.ones(2, requires_grad=True)
    with streams.watch() as usage:
        streams.now = side
        y = x * 2
        streams.now = FakeStream([], 3)
        y.sum()
        streams.now = streams.home
        x + 1
    assert usage.streams == [side]


@pytest.mark.usefixtures("nothing_compiled")
def test_operators_of_a_backward_pass_are_seen() -> None:
    streams = Streams()
    loss = (torch.ones(2, requires_grad=True) * 2).sum()
    with streams.watch() as usage:
        streams.now = FakeStream([], 4)
        loss.backward()
    assert [stream.stream_id for stream in usage.streams] == [4]


@pytest.mark.usefixtures("nothing_compiled")
def test_in_place_operators_and_nested_outputs() -> None:
    streams = Streams()
    x = torch.ones(4)
    with streams.watch() as usage:
        streams.now = FakeStream([], 1)
        x.add_(1)
        streams.now = FakeStream([], 2)
        torch._foreach_add_([x], 1.0)
    assert [stream.stream_id for stream in usage.streams] == [1, 2]


def test_a_stream_that_is_only_set_counts_and_the_functions_are_put_back() -> None:
    streams = Streams()
    side = FakeStream([], 9)
    with pytest.raises(ZeroDivisionError), streams.watch() as usage:
        streams.cuda.set_stream(side)
        assert streams.now is side
        streams.cuda.stream(None)
        streams.cuda.set_stream(streams.home)
        raise ZeroDivisionError
    assert usage.streams == [side]
    assert streams.cuda.set_stream == streams.original


@pytest.mark.usefixtures("nothing_compiled")
def test_another_device_and_its_stream_are_used() -> None:
    streams = Streams()
    other = FakeStream([], 0, device_index=1)
    with streams.watch() as usage:
        streams.now = other
        torch.ones(2)
    assert usage.devices == {1} and usage.streams == [other]


def test_tensors_of_other_device_types_are_passed_over() -> None:
    streams = Streams()
    with observe_streams(streams, "cuda", 0, lambda index: streams.now) as usage:
        streams.now = FakeStream([], 5)
        torch.ones(2)
    assert usage.streams == []


def test_compiled_code_is_still_compiled_after_the_watch() -> None:
    """Dynamo gives up a frame that it meets under a dispatch mode; the watch must not be what makes code slow."""
    compiled_calls = [0]

    def backend(graph: Any, inputs: Any) -> Any:
        def run(*arguments: Any) -> Any:
            compiled_calls[0] += 1
            return graph.forward(*arguments)

        return run

    function = torch.compile(lambda x: x * 2 + 1, backend=backend)
    function(torch.ones(3))
    with Streams().watch():
        function(torch.ones(3))
    before = compiled_calls[0]
    function(torch.ones(3))
    assert compiled_calls[0] == before + 1
