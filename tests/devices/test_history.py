"""Reading the history of torch's allocator. Snapshots are written by hand, in the form that torch gives them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dcu_asv_ext.devices import NotMeasured, history
from dcu_asv_ext.devices.history import block_sizes, history_holders, read_history
from dcu_asv_ext.devices.holders import NO_LINE, Change, Holders, hold
from dcu_asv_ext.devices.operators import Operator
from dcu_asv_ext.devices.places import Places

torch = pytest.importorskip("torch")
MIB = 1 << 20


def frames(*lines: int) -> list[dict[str, Any]]:
    """Innermost first: a function of torch, then lines of the user's file."""
    inside = [{"filename": torch.__file__.replace("__init__", "nn/functional"), "line": 9, "name": "relu"}]
    return inside + [{"filename": "/home/alice/step.py", "line": line, "name": "step"} for line in lines]


def entry(action: str, address: int, size: int, *lines: int) -> dict[str, Any]:
    return {"action": action, "addr": address, "size": size, "stream": 0} | (
        {"frames": frames(*lines), "time_us": 5} if lines else {}
    )


def read(
    *entries: dict[str, Any], older: dict[int, int] | None = None, operators: Any = None
) -> list[Change]:
    return read_history(entries, older or {}, Places(torch), operators or (lambda number: None))


def test_a_history_from_alloc_to_free_requested_in_rounded_bytes() -> None:
    changes = read(
        {"action": "snapshot", "frames": []},
        entry("segment_alloc", 1000, 20 * MIB),
        entry("alloc", 1000, 1, 12),
        entry("alloc", 2000, 8 * MIB, 14, 30),
        entry("free_requested", 2000, 8 * MIB),
        entry("free_completed", 2000, 8 * MIB),
        {"action": "oom", "size": 99 * MIB, "device_free": 0, "stream": 0, "frames": []},
        entry("alloc", 2000, 3 * MIB, 16),
        entry("free_requested", 1000, 1),
    )
    assert [change.bytes for change in changes] == [512, 8 * MIB, -8 * MIB, 3 * MIB, -512]
    found = hold(changes, 0, "")
    assert [(one.bytes, one.where, one.what) for one in found.holders] == [
        (8 * MIB, "step.py:14 in step", "functional.py relu")
    ]
    assert found.rest == 512 and found.unexplained == 0
    assert [(one.bytes, one.where) for one in found.kept] == []


def test_blocks_from_before_go_by_the_size_that_the_allocator_gave_them() -> None:
    changes = read(entry("free_requested", 7, 100), entry("free_requested", 8, 100), older={7: 2 * MIB})
    assert [(change.bytes, change.block) for change in changes] == [(-2 * MIB, None), (-512, None)]


def test_operators_are_named_and_lines_of_other_threads_are_the_callers() -> None:
    backward = Operator("step.py:20 in step", "MmBackward0: aten::mm", {3000: "float32[2, 2]"})

    def operator(number: int) -> Operator | None:
        return backward if number else None

    changes = read(
        entry("alloc", 1000, 512, 12),
        entry("alloc", 2000, 512),
        entry("alloc", 3000, 512, 14),
        operators=operator,
    )
    told = [(c.block.where, c.block.operator, c.block.result) for c in changes if c.block is not None]
    assert told == [
        ("step.py:12 in step", "functional.py relu", ""),
        ("step.py:20 in step", "MmBackward0: aten::mm", "scratch"),
        ("step.py:14 in step", "MmBackward0: aten::mm", "float32[2, 2]"),
    ]
    (change,) = read(entry("alloc", 1000, 512))
    assert change.block is not None and change.block.where == NO_LINE


def test_sizes_of_blocks_with_and_without_addresses_of_their_own() -> None:
    blocks = [
        {"size": 512, "requested_size": 100, "state": "active_allocated", "frames": []},
        {"size": 1024, "requested_size": 0, "state": "inactive", "frames": []},
        {"size": 2048, "requested_size": 2000, "state": "active_awaiting_free", "frames": []},
    ]
    segment = {"device": 0, "address": 10_000, "total_size": 3584, "stream": 0, "segment_type": "small"}
    assert block_sizes({"segments": [segment | {"blocks": blocks}]}) == {10_000: 512, 11_536: 2048}
    own = [block | {"address": 50_000 + number} for number, block in enumerate(blocks)]
    assert block_sizes({"segments": [segment | {"blocks": own}]}) == {50_000: 512, 50_002: 2048}


class Allocator:
    """What torch.cuda tells of an allocator, with its history. `log`: how the history was switched."""

    def __init__(self) -> None:
        self.memory = self
        self.recording = False
        self.log: list[Any] = []
        self.entries: list[dict[str, Any]] = []
        self.sizes: dict[int, int] = {}
        self.allocated = self.peak = self.made = 0

    def alloc(self, size: int, *lines: int) -> int:
        address = self.made = self.made + 1
        self.sizes[address] = max(512, -(-size // 512) * 512)
        self.allocated += self.sizes[address]
        self.peak = max(self.peak, self.allocated)
        self._record(entry("alloc", address, size, *lines))
        return address

    def free(self, address: int) -> None:
        size = self.sizes.pop(address)
        self.allocated -= size
        self._record(entry("free_requested", address, size))
        self._record(entry("free_completed", address, size))

    def _record(self, what: dict[str, Any]) -> None:
        if self.recording:
            self.entries.append(what)

    def _record_memory_history(self, **asked: Any) -> None:
        # The installed torch takes these arguments.
        inspect.signature(torch.cuda.memory._record_memory_history).bind(**asked)
        self.log.append(asked["enabled"])
        self.recording = asked["enabled"] is not None
        if not self.recording:
            self.entries.clear()

    def _snapshot(self) -> Any:
        blocks = [
            {"address": address, "size": size, "requested_size": size, "state": "active_allocated"}
            for address, size in self.sizes.items()
        ]
        return {"segments": [{"address": 0, "blocks": blocks}], "device_traces": [list(self.entries), []]}

    def memory_allocated(self, index: int) -> int:
        return self.allocated

    def max_memory_allocated(self, index: int) -> int:
        return self.peak

    def reset_peak_memory_stats(self, index: int) -> None:
        self.peak = self.allocated

    def memory_stats_as_nested_dict(self, index: int) -> Any:
        return {"allocation": {"all": {"allocated": self.made}}}


class Face:
    """`over`, with some attributes of its own."""

    def __init__(self, over: Any, **own: Any) -> None:
        self._over = over
        vars(self).update(own)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._over, name)


@pytest.fixture
def allocator(monkeypatch: pytest.MonkeyPatch) -> Allocator:
    monkeypatch.setattr(history, "compiles", lambda: False)
    return Allocator()


def watched(call: Callable[[], object], allocator: Allocator, **private: Any) -> Holders:
    def empty(*shape: int, **options: Any) -> None:
        allocator.free(allocator.alloc(1))

    face = Face(torch, cuda=allocator, empty=empty, _C=Face(torch._C, **private))
    return history_holders(call, face, 0, lambda: None)


def test_a_call_is_recorded_and_the_history_switched_off(allocator: Allocator) -> None:
    # An earlier peak is not the call's.
    allocator.free(allocator.alloc(90 * MIB))
    old = allocator.alloc(5 * MIB)
    state = {"old": old}

    def call() -> None:
        allocator.free(state["old"])
        state["new"] = allocator.alloc(7 * MIB, 31)
        allocator.free(allocator.alloc(1000, 32))
        allocator.free(state["new"])
        state["old"] = allocator.alloc(5 * MIB, 33)

    found = watched(call, allocator)
    assert allocator.log == ["all", None] and not allocator.recording
    assert (found.bytes, found.before_call, found.rest) == (7 * MIB + 1024, 0, 1024)
    assert [(one.bytes, one.where) for one in found.holders] == [(7 * MIB, "step.py:31 in step")]
    assert found.unexplained == 0


def test_what_a_block_has_beyond_its_rounding_is_unexplained(allocator: Allocator) -> None:
    def call() -> None:
        address = allocator.alloc(MIB, 31)
        allocator.allocated += 256
        allocator.peak = allocator.allocated
        allocator.allocated -= 256
        allocator.free(address)

    found = watched(call, allocator)
    assert found.bytes == MIB + 256 and found.unexplained == found.rest == 256


def test_operators_are_named_by_the_allocations_that_were_counted_around_them(allocator: Allocator) -> None:
    library = torch.library.Library("dcu_asv_test", "FRAGMENT")
    library.define("take(Tensor x, int mib) -> ()")
    library.impl("take", lambda x, mib: allocator.alloc(mib * MIB) and None, "CPU")
    x = torch.zeros(1)

    def call() -> None:
        allocator.alloc(MIB)
        torch.ops.dcu_asv_test.take(x, 4)
        allocator.alloc(2 * MIB)

    found = watched(call, allocator)
    told = [(one.bytes // MIB, one.what) for one in found.holders]
    assert told == [(4, "dcu_asv_test::take scratch"), (3, "")]
    assert "test_history.py:" in found.holders[0].where and found.holders[1].where == NO_LINE


def test_compiled_code_is_watched_without_a_dispatch_mode(
    allocator: Allocator, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def refused(*_: object) -> Iterator[None]:
        raise AssertionError("a dispatch mode was entered")
        yield

    monkeypatch.setattr(history, "compiles", lambda: True)
    monkeypatch.setattr("dcu_asv_ext.devices.operators.operator_mode", refused)
    found = watched(lambda: allocator.alloc(MIB, 31), allocator)
    assert [(one.where, one.what) for one in found.holders] == [("step.py:31 in step", "functional.py relu")]


def test_a_fault_of_the_call_passes_through_and_the_history_is_off(allocator: Allocator) -> None:
    with pytest.raises(ZeroDivisionError):
        watched(lambda: 1 / 0, allocator)
    assert allocator.log == ["all", None]


@pytest.mark.parametrize("private", [{}, {"_cuda_isHistoryEnabled": lambda: True}])
def test_somebody_elses_history_is_left_on(allocator: Allocator, private: dict[str, Any]) -> None:
    allocator.recording = True
    calls: list[int] = []
    with pytest.raises(NotMeasured, match="already being recorded"):
        watched(lambda: calls.append(1), allocator, **private)
    assert allocator.recording and allocator.log == [] and calls == []


def test_an_interface_that_is_not_as_known(allocator: Allocator, monkeypatch: pytest.MonkeyPatch) -> None:
    def legacy(enabled: bool, record_context: bool = True) -> None: ...

    monkeypatch.setattr(allocator, "_record_memory_history", legacy)
    with pytest.raises(NotMeasured, match=r"keeps no history here \(.*unexpected keyword"):
        watched(lambda: None, allocator)
    with pytest.raises(NotMeasured, match="keeps no history here"):
        # A build of torch without CUDA.
        history_holders(lambda: None, Face(torch, empty=lambda *_, **__: None), 0, lambda: None)


def test_a_history_that_stays_empty(allocator: Allocator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocator, "_record", lambda what: None)
    with pytest.raises(NotMeasured, match="stays empty"):
        watched(lambda: None, allocator)
    assert allocator.log == ["all", None]


def test_a_snapshot_of_another_form(allocator: Allocator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocator, "_snapshot", lambda: [1, 2])
    with pytest.raises(NotMeasured, match="unknown form"):
        watched(lambda: None, allocator)


def test_a_history_that_is_full_has_lost_its_beginning(
    allocator: Allocator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MAX_ENTRIES", 20)
    with pytest.raises(NotMeasured, match="more than 20 times"):
        watched(lambda: [allocator.alloc(1) for _ in range(20)], allocator)
