"""Peak tensor memory of one call on the CPU.

torch keeps no such counter, but its profiler writes every allocation into its trace. Two things are missing
there and added here: what was alive before (found by the garbage collector), and when parts of that were freed
during the call (the profiler passes over memory that it did not see being allocated, so a training step that
replaces its gradients would seem to hold both sets at once).
Not in the baseline: tensors
that C++ alone holds, as those that a graph kept from before saved for its backward pass.
"""

from __future__ import annotations

import gc
import mmap
import os
import re
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, compress
from pathlib import Path
from typing import Any

from .base import MemoryPeaks, NotMeasured

RESERVED_REASON = "torch's CPU allocator holds no reserve: it asks the system for each tensor"
NO_COUNTERS_REASON = (
    "on the CPU only torch's profiler counts allocations, and it would slow the call that is timed"
)
_NOT_ON_THE_CPU = {
    **dict.fromkeys(("baseline_reserved", "peak_reserved", "after_reserved"), RESERVED_REASON),
    "requested_peak": "torch's CPU allocator rounds nothing: what is allocated is what was asked for",
    **dict.fromkeys(
        ("retries", "ooms"), "torch's CPU allocator has no cache to give back and does not retry"
    ),
}
_FREED = "dcu_asv_ext.freed#"
_PROBE_BYTES = 4099

# The order of the fields inside "args" is not the same in every torch.
_ALLOCATION = re.compile(
    rb'"name": "\[memory\]"[^{}]*?"ts": ([0-9.]+)[^{}]*?"args": \{'
    rb'(?=[^{}]*"Device Type": 0\b)(?=[^{}]*"Addr": (\d+))(?=[^{}]*"Bytes": (-?\d+))'
)
_FREE = re.compile(rb'"name": "' + _FREED.encode() + rb'(\d+)"[^{}]*?"ts": ([0-9.]+)')


@dataclass(frozen=True)
class Allocations:
    """Bytes above the start: the highest point and the end; what was freed of older memory is subtracted."""

    peak: int
    end: int


def cpu_peak_memory(call: Callable[[], object], torch: Any) -> MemoryPeaks:
    """Runs `call` once. Fields that cannot be told are None, with a reason in `missing`."""
    gc.collect()
    missing = dict(_NOT_ON_THE_CPU)
    freed: list[int] = []
    sizes, watched = _watch_live_storages(torch, freed)
    try:
        baseline, allocations = _profiled(call, torch, sizes, freed)
    except NotMeasured as reason:
        missing.update(
            dict.fromkeys(("baseline_allocated", "peak_allocated", "after_allocated"), reason.reason)
        )
        return MemoryPeaks(missing=missing)
    finally:
        watched.clear()
    return MemoryPeaks(
        baseline_allocated=baseline,
        peak_allocated=baseline + allocations.peak,
        after_allocated=baseline + allocations.end,
        method="live CPU tensors before the call, and the profiler's record of allocations during it",
        missing=missing,
    )


def unsupported_reason(torch: Any) -> str | None:
    """Why this torch cannot tell the CPU's peak, None where it can."""
    available = getattr(torch.autograd, "kineto_available", None)
    if available is None or not available():
        return "this torch was built without its profiler (Kineto), which alone counts CPU allocations"
    tensor = torch.empty(1)
    if weakref.ref(tensor.untyped_storage())() is None:
        return "this torch does not tell when a tensor's memory is freed"
    return None


def _watch_live_storages(torch: Any, freed: list[int]) -> tuple[list[int], list[Any]]:
    """Sizes of the CPU storages alive now, and weak references that put an index into `freed` as one dies."""
    record = torch.autograd.profiler.record_function

    def gone(number: int, _: object) -> None:
        freed.append(number)
        with record(f"{_FREED}{number}"):
            pass

    sizes: list[int] = []
    watched: list[Any] = []
    addresses: set[int] = set()
    with torch._C.DisableTorchFunctionSubclass():
        for tensor in _live_tensors(torch):
            storage = _cpu_storage(tensor)
            if storage is not None and storage.data_ptr() not in addresses:
                addresses.add(storage.data_ptr())
                watched.append(weakref.ref(storage, partial(gone, len(sizes))))
                sizes.append(int(storage.nbytes()))
    return sizes, watched


def _live_tensors(torch: Any) -> Iterable[Any]:
    # A process has hundreds of thousands of objects, so the search stays inside C functions. And it looks at
    # types: isinstance() would ask proxies for __class__, and run their code.
    kinds = _with_subclasses(torch.Tensor)
    objects = gc.get_objects()
    for tensor in list(compress(objects, map(kinds.__contains__, map(type, objects)))):
        yield tensor
        if tensor.is_leaf and tensor.grad is not None:
            yield tensor.grad


def _with_subclasses(kind: type) -> set[type]:
    found = {kind}
    below: type
    for below in type.__subclasses__(kind):
        found |= _with_subclasses(below)
    return found


def _cpu_storage(tensor: Any) -> Any:
    try:
        storage = tensor.untyped_storage()
        # A tensor without memory of its own (fake, meta, wrapper) has no address.
        return storage if storage.device.type == "cpu" and storage.data_ptr() else None
    except (RuntimeError, NotImplementedError):
        # Sparse and opaque tensors have no storage; a sparse one's indices and values are tensors of their own.
        return None


def _profiled(
    call: Callable[[], object], torch: Any, sizes: list[int], freed: list[int]
) -> tuple[int, Allocations]:
    """(bytes alive at the start, what the call added)."""
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
    with tempfile.TemporaryDirectory(prefix="dcu-asv-memory-") as folder:
        path = Path(folder) / "trace.json"
        profile.kineto_results.save(str(path))
        return baseline, read_allocations(path, sizes, during)


def read_allocations(path: Path, sizes: list[int], freed: list[int]) -> Allocations:
    """From a saved trace that begins with the probe. `freed`: indices into `sizes`, as they died."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        steps = [(float(t), int(address), int(size)) for t, address, size in _ALLOCATION.findall(text)]
        deaths = [(float(t), int(number)) for number, t in _FREE.findall(text)]
    # Times repeat within a microsecond; the file keeps their order, and so does a stable sort.
    steps.sort(key=lambda step: step[0])
    if [size for _, _, size in steps[:2]] != [_PROBE_BYTES, -_PROBE_BYTES]:
        raise NotMeasured("the profiler of this torch does not write allocations into its trace")
    if sorted(number for _, number in deaths) != sorted(freed):
        raise NotMeasured("memory from before the call was freed on a thread that the profiler does not see")
    changes = [*((time, -sizes[number]) for time, number in deaths), *_own_changes(steps[2:])]
    changes.sort(key=lambda change: change[0])
    levels = list(accumulate((change for _, change in changes), initial=0))
    return Allocations(max(levels), levels[-1])


def _own_changes(steps: list[tuple[float, int, int]]) -> Iterator[tuple[float, int]]:
    """(time, bytes) of what the call itself allocated and freed, from (time, address, bytes).

    The profiler also reports the end of blocks that it remembers from an earlier profile, by the size that it
    last knew at their address, right or stale, and its running total takes that over. Those blocks are older
    than the call, and the weak references tell of them.
    """
    alive: set[int] = set()
    for time, address, size in steps:
        if size > 0:
            alive.add(address)
            yield time, size
        elif address in alive:
            alive.remove(address)
            yield time, size
