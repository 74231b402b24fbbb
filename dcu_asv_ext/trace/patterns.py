"""What the figures of an operator's row mean, for those rows in which they mean something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from . import units
from .activity import activities
from .analysis import Analysis
from .operators import NO_OPERATOR, OperatorRow, memory_place, operators
from .steps import each_step

HEAVY = "few calls and long"
MANY_SHORT = "many short kernels"
HOST_BOUND = "host busy, device idle"
WAITING = "waits for the device"
WORKSPACE = "workspace"
GROWING = "memory kept"
MANY_SHAPES = "many shapes"
LAYOUT = "copy or change of layout"

#: Share of the device's (host's) time from which on a row is worth a word: by Amdahl's law, removing 5 % of the time
#: altogether makes the whole 1.05 times as fast.
WORTH = 0.05
#: Share from which on one operator stands out: without it the whole would be 1.25 times as fast.
DOMINANT = 0.2
#: ... where it takes so many times what the next one does.
STANDS_OUT = 1.5
#: Operators that compute nothing: they copy, or change a layout or a type.
COPYING = frozenset({"aten::copy_", "aten::clone", "aten::contiguous", "aten::_to_copy", "aten::to"})
#: ns. A launch costs the host 5 to 10 us on HIP and CUDA, so that ten times that hides it ...
LONG = 100_000
#: ... and a shorter kernel is over before the host has submitted the next.
SHORT = 10_000
#: Launches from which on short kernels are many: below, they add up to less than about 0.2 ms.
MANY = 20
#: A device that lies idle for less of its time does not wait for the host: what the host does costs nothing.
IDLE = 0.1
#: An operator's own host time must be so many times its time on the device.
HOST_OVER_DEVICE = 5
#: Different input shapes from which on they are many, and the share of the time that the largest of them must stay
#: below: a kernel for one shape that takes half of the time is worth writing.
SHAPES, COVERED = 8, 0.5
#: Bytes below which memory is not worth a word, and of what the trace's peak is, the least share.
LEAST_BYTES, LEAST_OF_PEAK = 1 << 20, 0.05
#: A workspace is so many times what a call leaves allocated.
WORKSPACE_OVER_NET = 4
#: Calls or steps that must each leave something behind: the first ones may fill a cache or make gradients.
LEAST_HOLDING = 3


@dataclass(frozen=True)
class Pattern:
    """kind: one of the names above. text: a sentence with the figures that say so."""

    kind: str
    text: str


def patterns(analysis: Analysis, rows: Sequence[OperatorRow]) -> list[tuple[Pattern, ...]]:
    """Of each row; most have none. The rows are all of `operators`, or a part of them."""
    whole = _Whole(analysis)
    return [whole.of(row) if row.name != NO_OPERATOR else () for row in rows]


class _Whole:
    """What a row is compared with."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    @cached_property
    def device(self) -> int:
        return sum(row.self_device for row in self.analysis.operators)

    @cached_property
    def host(self) -> int:
        return sum(row.self_cpu + row.runtime for row in self.analysis.operators)

    @cached_property
    def largest(self) -> list[int]:
        """Own times of the two operators that take most."""
        times = [row.self_device if self.device else row.self_cpu for row in self.analysis.operators]
        return sorted([*times, 0, 0])[:-3:-1]

    def stands_out(self, taken: int) -> bool:
        first, second = self.largest
        return taken >= first and taken >= STANDS_OUT * second

    @cached_property
    def idle(self) -> float | None:
        """Share of the device's span, within the steps of a trace that has some, in which nothing ran."""
        each = [one for step in each_step(self.analysis.trace) for one in activities(step)]
        span = sum(one.span for one in each)
        return sum(one.idle_time for one in each) / span if span else None

    @cached_property
    def peak(self) -> int:
        """The most that the allocator held; 0 where not told."""
        memory = self.analysis.trace.memory
        mine = memory.allocated[memory.on_cpu == int(memory_place(self.analysis) == "host")]
        return max(int(mine.max(initial=0)), 0)

    @cached_property
    def largest_shape(self) -> Mapping[str, tuple[str, int]]:
        """Name -> the input shapes that take most of its own time, and how much."""
        found: dict[str, tuple[str, int]] = {}
        for row in operators(self.analysis, by_shape=True):
            taken = row.self_device if self.device else row.self_cpu
            if row.shapes and taken > found.get(row.name, ("", -1))[1]:
                found[row.name] = (row.shapes[0], taken)
        return found

    def of(self, row: OperatorRow) -> tuple[Pattern, ...]:
        tests = (_layout, _heavy, _many_short, _host_bound, _workspace, _growing, _many_shapes)
        return tuple(found for test in tests if (found := test(row, self)) is not None)


def _heavy(row: OperatorRow, whole: _Whole) -> Pattern | None:
    if whole.device:
        taken, total, count, noun = row.self_device, whole.device, row.kernels, "device row"
        of = "the device's time"
    else:
        taken, total, count, noun = row.self_cpu, whole.host, row.calls, "call"
        of = "the operators' time on the host"
    if row.name in COPYING or not count or taken < DOMINANT * total or taken / count < LONG:
        return None
    worth = "one operator worth work" if whole.stands_out(taken) else "worth work, as others are"
    take = "takes" if count == 1 else "each take"
    return Pattern(
        HEAVY,
        f"{units.count(count, noun)} of {units.time(taken / count)} {take} {units.share(taken / total)} of {of}: "
        f"{worth}.",
    )


def _layout(row: OperatorRow, whole: _Whole) -> Pattern | None:
    if row.name not in COPYING or not row.self_device or row.self_device < WORTH * whole.device:
        return None
    return Pattern(
        LAYOUT,
        f"{units.share(row.self_device / whole.device)} of the device's time copies, and computes nothing: is it "
        "needed? A layout and type kept from the start, or a kernel that reads what is there, would save it.",
    )


def _many_short(row: OperatorRow, whole: _Whole) -> Pattern | None:
    if row.kernels < MANY or row.self_device / row.kernels >= SHORT or row.self_device < WORTH * whole.device:
        return None
    figures = (
        f"{row.kernels} device rows of {units.time(row.self_device / row.kernels)} each, "
        f"{units.share(row.self_device / whole.device)} of the device's time"
    )
    if whole.idle is not None and whole.idle >= IDLE:
        return Pattern(
            MANY_SHORT,
            f"{figures}, while the device is idle {units.share(whole.idle)} of its span: bound by launches. Fewer "
            "and larger kernels (fusion, foreach, a captured graph) would help more than faster ones.",
        )
    return Pattern(
        MANY_SHORT,
        f"{figures}: each writes an intermediate tensor that the next reads. Fusing them saves that traffic.",
    )


def _host_bound(row: OperatorRow, whole: _Whole) -> Pattern | None:
    """Only where the device lies idle: else the host has time to spend."""
    own = row.self_cpu + row.runtime
    if not whole.device or whole.idle is None or whole.idle < IDLE:
        return None
    if own < DOMINANT * whole.host or own < HOST_OVER_DEVICE * row.self_device:
        return None
    told = (
        f"{units.time(own)} of the host ({units.share(own / whole.host)} of its time in operators) in "
        f"{units.count(row.calls, 'call')} against {units.time(row.self_device)} on the device, which is idle "
        f"{units.share(whole.idle)} of its span"
    )
    if row.self_waits >= own / 2:
        return Pattern(
            WAITING, f"{told}; {units.time(row.self_waits)} of it waits for the device: a synchronisation."
        )
    each = units.time(own / max(row.calls, 1))
    if row.calls < MANY:
        return Pattern(HOST_BOUND, f"{told}: {each} a call of the operator's own work on the host.")
    return Pattern(HOST_BOUND, f"{told}: {each} a call and hardly a wait, as a loop in Python makes them.")


def _workspace(row: OperatorRow, whole: _Whole) -> Pattern | None:
    peak, net = row.peak_bytes or 0, row.net_bytes or 0
    left = max(net / max(row.outermost, 1), 0)
    works_itself = row.self_device > 0 if whole.device else row.self_cpu >= row.cpu / 2
    if not works_itself or peak < max(LEAST_BYTES, LEAST_OF_PEAK * whole.peak, WORKSPACE_OVER_NET * left):
        return None
    return Pattern(
        WORKSPACE,
        f"A call allocates up to {units.size(peak)} and leaves {units.size(left)}"
        + (f" (the trace's peak is {units.size(whole.peak)})" if whole.peak else "")
        + ": workspace, which a kernel of one's own may not need.",
    )


def _growing(row: OperatorRow, whole: _Whole) -> Pattern | None:
    held, holding, steps = row.held_bytes or 0, row.holding or 0, len(whole.analysis.trace.steps)
    if held < max(LEAST_BYTES, LEAST_OF_PEAK * whole.peak) or holding < max(LEAST_HOLDING, steps / 2):
        return None
    times = units.count(holding, "step" if steps else "call")
    return Pattern(
        GROWING,
        f"{units.size(held)} that {times} allocated in it are not freed when the trace ends: what it returns "
        "lives on (a list, a graph, a cache).",
    )


def _many_shapes(row: OperatorRow, whole: _Whole) -> Pattern | None:
    taken, total = (row.self_device, whole.device) if whole.device else (row.self_cpu, whole.host)
    if row.distinct_shapes < SHAPES or taken < WORTH * total or not total:
        return None
    _, most = whole.largest_shape.get(row.name, ("", 0))
    if most >= COVERED * taken:
        return None
    return Pattern(
        MANY_SHAPES,
        f"{row.distinct_shapes} input shapes in {units.count(row.calls, 'call')}, of which the largest takes "
        f"{units.share(most / taken)} of its time: a kernel for one shape will not cover it.",
    )
