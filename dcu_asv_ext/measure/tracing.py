"""A trace of steady calls by torch's profiler, with nothing in it but those calls.

torch.autograd.profiler, which torch.profiler is made of: it writes the same file, and starts in milliseconds where
`torch.profiler.profile` imports for a second.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.autograd import profiler as torch_profiler

from ..devices.base import Device, NotMeasured
from ..devices.places import short_path
from ..trace import TraceError, load
from ..trace.cleaning import clean
from ..trace.syncs import OWN_SPAN
from .frame_lines import CallingLines
from .sampling import collect_young, collector_off

STEP = "ProfilerStep#"
LEAST_STEPS = 3
MOST_STEPS = 20
#: Seconds that the profiled calls may take, and bytes that their trace may have before it is compressed.
BUDGET = 2.0
MOST_BYTES = 24 << 20


class UnreadTrace(Exception):
    """What reads the trace failed, and not the call; the text says how."""


_NOTHING = "torch's profiler recorded nothing"
_FULL = "is the folder of temporary files full?"


@dataclass(frozen=True)
class Recording:
    """seconds: of each profiled call, on the host, synchronised. device_seen: the profiler has shown that it records
    rows of this device, so that calls without any ran nothing on it. bytes: of the trace as it was written."""

    seconds: list[float]
    device_seen: bool
    bytes: int


def record_trace(
    device: Device,
    call: Callable[[], object],
    reset: Callable[[], object] | None,
    path: Path,
    *,
    steps: int | None = None,
    turn: int = 1,
    stacks: bool = False,
    first: bool = False,
    cost: Callable[[list[float]], Mapping[str, Any] | None] = lambda _: None,
) -> Recording:
    """Profile calls, each after its own reset, and write their cleaned trace to `path` (compressed: `.gz`).

    Each call is a span `ProfilerStep#k` that also holds, in a span `dcu_asv_ext.wait`, the wait for its end.
    steps: how many (None: 3 to 20 within two seconds and 24 MiB, whole turns of `turn` argument sets if it can be).
    cost: the trace's entry of what the profiler costs, of the seconds of the calls.
    stacks: with Python frames. first: the calls are the first of this process, so none is made before them.

    Before them one call is profiled and thrown away: it takes the profiler's start-up, and tells what calls cost.
    Raises NotMeasured (no profiler, nothing recorded, no room for the trace), and what `call` raises.
    """
    with _scratch() as folder, collector_off():
        raw = folder / "trace.json"
        # A file of its own: where there is no room the profiler leaves the one that is there.
        rehearsal = _rehearse(device, call, reset, folder / "rehearsal.json", stacks, first)
        count = steps or _how_many(rehearsal.seconds[0], rehearsal.bytes, turn)
        seconds: list[float] = []
        with _profiled(device, stacks, raw, None if first else _once(call, reset)) as profiler:
            for number in range(count):
                seconds.append(_step(device, call, reset, number))
                collect_young()
        size = _checked_size(raw)
        _write(raw, path, profiler.calling_lines() if stacks else None, cost(seconds))
    return Recording(seconds, rehearsal.device_seen, size)


def _how_many(seconds: float, size: int, turn: int) -> int:
    """Calls of such cost that fit; of several argument sets each as often as the others, where that fits too."""
    most = min(MOST_STEPS, MOST_BYTES // max(size, 1))
    if seconds > 0:
        most = min(most, int(max(BUDGET / seconds, min(LEAST_STEPS, 5 * BUDGET / seconds))))
    return max(1, most - most % turn if most >= turn else most)


def _once(call: Callable[[], object], reset: Callable[[], object] | None) -> Callable[[], None]:
    def once() -> None:
        if reset is not None:
            reset()
        call()

    return once


def _step(
    device: Device, call: Callable[[], object], reset: Callable[[], object] | None, number: int
) -> float:
    if reset is not None:
        reset()
    device.synchronize()
    begin = device.clock()
    with torch_profiler.record_function(f"{STEP}{number}"):
        call()
        with torch_profiler.record_function(OWN_SPAN):
            device.synchronize()
    return device.clock() - begin


def _rehearse(
    device: Device,
    call: Callable[[], object],
    reset: Callable[[], object] | None,
    raw: Path,
    stacks: bool,
    first: bool,
) -> Recording:
    """A profile that is thrown away, of one call, after a piece of work that shows whether the device is recorded."""
    seconds = 0.0
    with _profiled(device, stacks, raw):
        if not first:
            with suppress(NotMeasured):
                device.profiled_as()
                torch.zeros(16, device=device.torch_device).add_(1)
            seconds = _step(device, call, reset, 0)
    size = _checked_size(raw)
    try:
        with reading():
            seen = not first and len(load(raw).device) > 0
    except TraceError as fault:
        raise NotMeasured(
            f"{_NOTHING} that can be read ({str(fault).replace(str(raw), 'its trace')})"
        ) from fault
    return Recording([seconds], seen, size)


# ---- the profiler


@contextmanager
def _profiled(
    device: Device, stacks: bool, raw: Path, before: Callable[[], None] | None = None
) -> Iterator[_Profiler]:
    """What runs inside is recorded into `raw`. before: runs with the tracer ready and nothing recorded yet, as in the
    warm-up of torch.profiler's schedule. What was submitted until then is done when the recording begins.
    """
    device.synchronize()
    profiler = _Profiler(device, stacks)
    profiler.prepare()
    try:
        with _no_other():
            if before is not None:
                before()
            device.synchronize()
            profiler.start()
            yield profiler
            device.synchronize()
    except BaseException:
        # The fault of the call is what counts, but a profiler that goes on would spoil the next one.
        with suppress(NotMeasured):
            profiler.stop()
        raise
    profiler.stop()
    profiler.save(raw)


@contextmanager
def _no_other() -> Iterator[None]:
    """A second profiler within the first ends the process, with all that was measured; here it raises."""

    def refuse(self: Any) -> None:
        raise RuntimeError("the call starts a profiler of its own, and there can be only one")

    prepare = torch_profiler.profile._prepare_trace
    torch_profiler.profile._prepare_trace = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch_profiler.profile._prepare_trace = prepare  # type: ignore[method-assign]


class _Profiler:
    """torch's, whose own faults are NotMeasured. Its two halves of a start are what torch.profiler's schedule uses,
    from torch 2.1 on."""

    def __init__(self, device: Device, stacks: bool) -> None:
        # It announces itself on stderr unless told otherwise before its first use.
        os.environ.setdefault("KINETO_LOG_LEVEL", "6")
        self._started = False
        with self._own_faults("cannot be used"):
            self._profile = _made(device, stacks)

    def prepare(self) -> None:
        with self._own_faults("could not be started"):
            self._profile._prepare_trace()

    def start(self) -> None:
        with self._own_faults("could not be started"):
            self._profile._start_trace()
        self._started = True

    def stop(self) -> None:
        with self._own_faults("could not be stopped"):
            if not self._started:
                self._profile._start_trace()
            unbroken = torch._C._autograd._profiler_enabled()
            self._profile.__exit__(None, None, None)
            if not unbroken:
                # What is left of it cannot even be saved: the process would end.
                raise RuntimeError("the call ended it")

    def save(self, path: Path) -> None:
        with self._own_faults("could not write its trace"):
            self._profile.kineto_results.save(str(path))

    def calling_lines(self) -> CallingLines:
        with self._own_faults("could not tell its stacks"):
            return CallingLines(self._profile.kineto_results)

    @contextmanager
    def _own_faults(self, what: str) -> Iterator[None]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield
            except Exception as fault:
                raise NotMeasured(f"torch's profiler {what} ({_first_line(fault)})") from fault


def _made(device: Device, stacks: bool) -> Any:
    options: dict[str, Any] = {"use_kineto": True, "record_shapes": True, "profile_memory": True}
    options["with_stack"] = stacks
    try:
        kind = device.profiled_as()
    except NotMeasured:
        return torch_profiler.profile(**options)
    made = torch_profiler.profile(use_device=kind, **options)
    if kind == "cuda" and not any(one.name == "CUDA" for one in made.kineto_activities):
        # torch before 2.4 knows HIP and CUDA by this name alone.
        made = torch_profiler.profile(use_cuda=True, **options)
    return made


def _first_line(fault: BaseException) -> str:
    lines = str(fault).strip().splitlines()
    return lines[0] if lines else type(fault).__name__


# ---- files


@contextmanager
def _scratch() -> Iterator[Path]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="dcu-asv-profile-")
    except OSError as fault:
        raise NotMeasured(f"there is no room for its trace ({fault})") from fault
    with folder as name:
        yield Path(name)


def _checked_size(raw: Path) -> int:
    """Bytes of the profiler's file, which it writes without a word where there is no room. Raises NotMeasured."""
    try:
        size = raw.stat().st_size
        with raw.open("rb") as file:
            file.seek(max(0, size - 64))
            end = file.read().rstrip()
    except OSError as fault:
        raise NotMeasured(f"torch's profiler left no trace: {_FULL}") from fault
    if not end.endswith(b"}"):
        raise NotMeasured(f"torch's profiler wrote {size} bytes of its trace and no end: {_FULL}")
    return size


@contextmanager
def reading() -> Iterator[None]:
    """Raises UnreadTrace for a fault that is neither the file's nor the disk's, so that no call is blamed for it."""
    try:
        yield
    except (TraceError, OSError):
        raise
    except Exception as fault:
        raise UnreadTrace(
            f"its trace could not be read ({type(fault).__name__}: {_first_line(fault)})"
        ) from fault


def _write(raw: Path, path: Path, lines: CallingLines | None, cost: Mapping[str, Any] | None) -> None:
    try:
        with reading():
            clean(raw, path, short_path, None if lines is None else lines.tell, cost)
    except OSError as fault:
        raise NotMeasured(f"its trace could not be written ({fault.strerror or fault})") from fault
    except TraceError as fault:
        raise NotMeasured(f"{_NOTHING} that can be read") from fault
