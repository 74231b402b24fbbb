"""Every allocation of one call on the CPU, from the trace of torch's profiler.

Two things are missing there and added here: what was alive before (found by the garbage collector), and when parts
of that were freed during the call (the profiler passes over memory that it did not see being allocated, so a
training step that replaces its gradients would seem to hold both sets at once).
Not in the baseline: tensors that C++ alone holds, as those that a graph kept from before saved for its backward pass.
"""

from __future__ import annotations

import gc
import mmap
import os
import re
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .base import NotMeasured
from .live import live_storages

_FREED = "dcu_asv_ext.freed#"
_MARK = "dcu_asv_ext.mark#"
_PROBE_BYTES = 4099

# The order of the fields inside "args" is not the same in every torch.
_ALLOCATION = re.compile(
    rb'"name": "\[memory\]"[^{}]*?"ts": ([0-9.]+)[^{}]*?"args": \{'
    rb'(?=[^{}]*"Device Type": 0\b)(?=[^{}]*"Addr": (\d+))(?=[^{}]*"Bytes": (-?\d+))'
)
_FREE = re.compile(rb'"name": "' + _FREED.encode() + rb'(\d+)"[^{}]*?"ts": ([0-9.]+)')
_MARKED = re.compile(
    rb'"name": "' + _MARK.encode() + rb'(\d+)"(?=[^{}]*?"ts": ([0-9.]+))(?=[^{}]*?"dur": ([0-9.]+))'
)


@dataclass(frozen=True)
class Step:
    """An allocation (bytes > 0) or its end at `time` (us). address: None for memory that is older than the call."""

    time: float
    bytes: int
    address: int | None


@dataclass(frozen=True)
class Mark:
    """A stretch of the call that it marked itself, in us."""

    begin: float
    end: float


@dataclass(frozen=True)
class Trace:
    """baseline: bytes alive before the call. steps: in order. marks: by the number that `mark` was given.
    size: bytes of the trace's file.
    """

    baseline: int
    steps: list[Step]
    marks: dict[int, Mark]
    size: int = 0


def mark(torch: Any, number: int) -> AbstractContextManager[Any]:
    """Marks what runs inside as `number`."""
    marked: AbstractContextManager[Any] = torch.autograd.profiler.record_function(f"{_MARK}{number}")
    return marked


def unsupported_reason(torch: Any) -> str | None:
    """Why this torch cannot tell the CPU's peak, None where it can."""
    available = getattr(torch.autograd, "kineto_available", None)
    if available is None or not available():
        return "this torch was built without its profiler (Kineto), which alone counts CPU allocations"
    tensor = torch.empty(1)
    if weakref.ref(tensor.untyped_storage())() is None:
        return "this torch does not tell when a tensor's memory is freed"
    return None


def trace_call(call: Callable[[], object], torch: Any) -> Trace:
    """Runs `call` once; raises NotMeasured, after the call."""
    gc.collect()
    freed: list[int] = []
    sizes, watched = _watch_live_storages(torch, freed)
    try:
        return _profiled(call, torch, sizes, freed)
    finally:
        watched.clear()


def _watch_live_storages(torch: Any, freed: list[int]) -> tuple[list[int], list[Any]]:
    """Sizes of the CPU storages alive now, and weak references that put an index into `freed` as one dies."""
    record = torch.autograd.profiler.record_function

    def gone(number: int, _: object) -> None:
        freed.append(number)
        with record(f"{_FREED}{number}"):
            pass

    sizes: list[int] = []
    watched: list[Any] = []
    for storage, _ in live_storages(torch, "cpu"):
        watched.append(weakref.ref(storage, partial(gone, len(sizes))))
        sizes.append(int(storage.nbytes()))
    return sizes, watched


def _profiled(call: Callable[[], object], torch: Any, sizes: list[int], freed: list[int]) -> Trace:
    reason = unsupported_reason(torch)
    if reason is not None:
        call()
        raise NotMeasured(reason)
    # The profiler announces itself on stderr unless told otherwise before its first use.
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        profile = torch.autograd.profiler.profile(use_cpu=True, profile_memory=True)
    with profile:
        # Proves that allocations are seen.
        torch.empty(_PROBE_BYTES, dtype=torch.uint8)
        earlier = len(freed)
        baseline = sum(sizes) - sum(sizes[number] for number in freed[:earlier])
        call()
        during = freed[earlier:]
        unbroken = torch.autograd._profiler_enabled()
    if not unbroken:
        # What is left of it cannot even be saved: the process would end.
        raise NotMeasured("the call uses a profiler of its own, which ends the one that counts allocations")
    with tempfile.TemporaryDirectory(prefix="dcu-asv-memory-") as folder:
        path = Path(folder) / "trace.json"
        profile.kineto_results.save(str(path))
        return read_trace(path, sizes, during, baseline)


def read_trace(path: Path, sizes: list[int], freed: list[int], baseline: int = 0) -> Trace:
    """From a saved trace that begins with the probe. `freed`: indices into `sizes`, as they died."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        seen = [(float(t), int(address), int(size)) for t, address, size in _ALLOCATION.findall(text)]
        deaths = [(int(number), float(t)) for number, t in _FREE.findall(text)]
        marks = {int(number): Mark(float(t), float(t) + float(d)) for number, t, d in _MARKED.findall(text)}
        length = len(text)
    # Times repeat within a microsecond; the file keeps their order, and so does a stable sort.
    seen.sort(key=lambda one: one[0])
    if [size for _, _, size in seen[:2]] != [_PROBE_BYTES, -_PROBE_BYTES]:
        raise NotMeasured("the profiler of this torch does not write allocations into its trace")
    if sorted(number for number, _ in deaths) != sorted(freed):
        raise NotMeasured("memory from before the call was freed on a thread that the profiler does not see")
    steps = [*(Step(time, -sizes[number], None) for number, time in deaths), *_own_steps(seen[2:])]
    return Trace(baseline, sorted(steps, key=lambda step: step.time), marks, length)


def _own_steps(seen: list[tuple[float, int, int]]) -> Iterator[Step]:
    """What the call itself allocated and freed, from (time, address, bytes).

    The profiler also reports the end of blocks that it remembers from an earlier profile, by the size that it
    last knew at their address, right or stale, and its running total takes that over. Those blocks are older
    than the call, and the weak references tell of them.
    """
    alive: set[int] = set()
    for time, address, size in seen:
        if size > 0:
            alive.add(address)
            yield Step(time, size, address)
        elif address in alive:
            alive.remove(address)
            yield Step(time, size, address)
