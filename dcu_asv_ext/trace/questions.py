"""What to ask before a kernel is written for an operator, answered from the trace as far as it goes."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from . import intervals, kinds, units
from .analysis import Analysis
from .model import Ints
from .operator_memory import OperatorMemory
from .operator_tree import OperatorTree
from .operators import NO_OPERATOR, OperatorRow, memory_place
from .patterns import COPYING
from .waits import CAUSES, HOST_LATE, UNKNOWN

NEEDED = "Is it needed?"
CRITICAL = "Is it on the critical path?"
FUSABLE = "Could the backend fuse it?"
REUSED = "Is its output used again?"
GROWTH = "Would memory grow?"
YES, NO, PARTLY, OPEN = "yes", "no", "partly", "open"

#: Share of the device's time from which on an operator may be worth a kernel: without it the whole would be at most
#: 1.11 times as fast.
WORTH = 0.1
#: Of so many operators the questions are asked.
MOST = 3
#: Shares from which on an answer holds for the whole, and up to which it does not hold at all.
_NEARLY_ALL, _NEARLY_NONE = 0.9, 0.1
#: Names of kernels that work element by element, or reduce: what compilers fuse.
_POINTWISE = re.compile(
    r"elementwise|vectorized|reduce_kernel|Functor|multi_tensor|softmax|norm|_add_|_mul_", re.I
)
#: Matrix products, convolutions, attention: what compilers leave to libraries.
_LIBRARY = re.compile(r"Cijk_|gemm|cutlass|conv(?!ert)|miopen|attn|flash|fmha|_mm_|_bmm_|matmul", re.I)
_GENERATED = re.compile(r"triton_")


@dataclass(frozen=True)
class Answer:
    """answer: YES, NO, PARTLY or OPEN. text: the figures that say so, or what would tell."""

    question: str
    answer: str
    text: str


@dataclass(frozen=True)
class Questions:
    """operator: a row's name. share: of the device's summed time that is its own. answers: one to each question;
    of what only copies whether it is needed comes first."""

    operator: str
    share: float
    answers: tuple[Answer, ...]


def questions(analysis: Analysis) -> list[Questions]:
    """Of the operators that take enough of the device's time to be worth a kernel; none where nothing ran on one."""
    whole = sum(row.self_device for row in analysis.operators)
    worth = [
        row
        for row in analysis.operators
        if row.name != NO_OPERATOR and row.self_device >= WORTH * max(whole, 1)
    ]
    if not worth:
        return []
    tree = OperatorTree(analysis.trace)
    place = memory_place(analysis)
    memory = OperatorMemory(tree, on_cpu=False) if place == "device" else None
    return [
        Questions(
            row.name,
            row.self_device / whole,
            (
                *([_needed()] if row.name in COPYING else []),
                _critical(analysis, _device_rows(tree, row)),
                _fusable(analysis, _device_rows(tree, row)),
                _reused(tree, row, memory),
                _growth(row, memory),
            ),
        )
        for row in worth[:MOST]
    ]


def _needed() -> Answer:
    return Answer(
        NEEDED,
        OPEN,
        "it copies, and computes nothing. The trace does not tell who needs the copy: look for `.contiguous()`, "
        "`.clone()`, `.to()` and assignments into slices, and leave them out, or keep the layout from the start.",
    )


def _calls(tree: OperatorTree, row: OperatorRow) -> Ints:
    """Rows of operators of this name."""
    trace = tree.trace
    return np.flatnonzero(tree.used & (trace.operators.name == trace.names.index(row.name)))


def _device_rows(tree: OperatorTree, row: OperatorRow) -> Ints:
    return np.flatnonzero(np.isin(tree.device_rows, _calls(tree, row)))


def _critical(analysis: Analysis, rows: Ints) -> Answer:
    """By when nothing else ran on its device, and the device was not about to run dry anyway."""
    device, gaps = analysis.trace.device, analysis.gaps
    if (gaps.cause == CAUSES.index(UNKNOWN)).any():
        text = "what the device waited for is not known: launching calls, on its clock, would tell."
        return Answer(CRITICAL, OPEN, text)
    slack = np.isin(rows, gaps.before[gaps.cause == CAUSES.index(HOST_LATE)])
    alone = sum(_alone(analysis, rows[~slack], number) for number in analysis.trace.devices)
    own = int(device.duration[rows].sum())
    share = alone / own if own else 0.0
    span = sum(one.span for one in analysis.activities)
    late = int(device.duration[rows[slack]].sum())
    text = f"in {units.share(share)} of its {units.time(own)} nothing else ran on the device"
    if late:
        text = f"of its {units.time(own)} the device waits for the host after {units.time(late)} in any case"
        text += f", and in {units.time(alone)} of the others nothing else ran" if alone else ""
    gain = f"be up to {units.time(alone)} shorter" if alone else "be no shorter"
    return Answer(
        CRITICAL, _word(share), f"{text}: without it the device's span of {units.time(span)} would {gain}."
    )


def _alone(analysis: Analysis, rows: Ints, number: int) -> int:
    """ns in which only these of a device's rows ran."""
    device, on = analysis.trace.device, analysis.trace.on(number)
    mine = np.zeros(len(device), np.bool_)
    mine[rows] = True
    own = intervals.union(device.start[mine & on], device.end[mine & on])
    others = intervals.union(device.start[~mine & on], device.end[~mine & on])
    return intervals.length(*own) - intervals.length(*intervals.intersection(own, others))


def _word(share: float) -> str:
    if share >= _NEARLY_ALL:
        return YES
    return PARTLY if share > _NEARLY_NONE else NO


def _fusable(analysis: Analysis, rows: Ints) -> Answer:
    """By what its kernels are called, and those beside them on their stream."""
    trace = analysis.trace
    rows = rows[trace.device.kind[rows] == kinds.KERNEL]
    names = {trace.names[number] for number in np.unique(trace.device.name[rows]).tolist()}
    if not names:
        return Answer(FUSABLE, NO, "it runs copies and fills, no kernels.")
    if all(_GENERATED.match(name) for name in names):
        return Answer(FUSABLE, NO, "its kernels are made by the compiler already, fused as far as it could.")
    beside, total = _neighbours(analysis, rows)
    told = f"{beside} of {total} kernels beside its own on a stream are element-wise or reductions"
    if any(_LIBRARY.search(name) for name in names):
        text = f"it is a library's, which compilers call as it is; only its neighbours may be fused ({told})."
        return Answer(FUSABLE, PARTLY if beside else NO, text)
    if all(_POINTWISE.search(name) for name in names):
        text = f"it is element-wise or a reduction; {told}: torch.compile fuses such neighbours."
        return Answer(FUSABLE, YES if beside else PARTLY, text)
    return Answer(
        FUSABLE,
        OPEN,
        f"the names of its kernels do not say; torch.compile with TORCH_LOGS=fusion would ({told}).",
    )


def _neighbours(analysis: Analysis, rows: Ints) -> tuple[int, int]:
    """Kernels just before and after these in their streams that are not among them: fusable ones, and all."""
    device, names = analysis.trace.device, analysis.trace.names
    fusable = np.array([bool(_POINTWISE.search(name) and not _LIBRARY.search(name)) for name in names])
    order = np.lexsort((device.start, device.lane))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    beside = np.unique(np.concatenate((place[rows] - 1, place[rows] + 1)))
    beside = order[beside[(beside >= 0) & (beside < len(order))]]
    beside = beside[~np.isin(beside, rows) & (device.kind[beside] == kinds.KERNEL)]
    return int(fusable[device.name[beside]].sum()), len(beside)


def _reused(tree: OperatorTree, row: OperatorRow, memory: OperatorMemory | None) -> Answer:
    """By how many kernels are launched between the end of a call and the freeing of what it allocated."""
    if memory is None:
        return Answer(
            REUSED, OPEN, "memory was not recorded: profile_memory would tell how long its output lives."
        )
    calls = _calls(tree, row)
    holder = _around(tree, memory.holder, calls)
    made = np.flatnonzero((holder >= 0) & (memory.rows.bytes > 0))
    freed, left = memory.freed[made], tree.trace.operators.end[np.maximum(holder[made], 0)]
    lived = (freed < 0) | (freed > left)
    made, freed, left = made[lived], freed[lived], left[lived]
    if not len(made):
        return Answer(
            REUSED, OPEN, "its calls leave nothing allocated: it writes into a tensor that was there before."
        )
    launches = np.sort(tree.trace.calls.start[tree.trace.calls.kind == kinds.LAUNCH])
    until = (
        np.searchsorted(launches, np.where(freed < 0, launches[-1] + 1, freed))
        if len(launches)
        else freed * 0
    )
    between = until - np.searchsorted(launches, left)
    once = (between <= 1) & (freed >= 0)
    share = float(1 - once.mean())
    kept = int((freed < 0).sum())
    text = (
        f"of {units.count(len(made), 'output')} {int(once.sum())} are freed after at most one more launch; "
        f"the median lives through {int(np.median(between))}"
        + (f", and {kept} to the end of the trace" if kept else "")
        + (": intermediates, which a fused kernel would not write." if share <= _NEARLY_NONE else ".")
    )
    return Answer(REUSED, _word(share), text)


def _around(tree: OperatorTree, holder: Ints, calls: Ints) -> Ints:
    """Of each holder, the operator among `calls` that it is or lies in; -1 where none."""
    wanted = np.zeros(len(tree.used) + 1, np.bool_)
    wanted[calls] = True
    found: Ints = holder.copy()
    while True:
        outside = (found >= 0) & ~wanted[found]
        if not outside.any():
            return found
        found[outside] = tree.parent[found[outside]]


def _growth(row: OperatorRow, memory: OperatorMemory | None) -> Answer:
    if memory is None or row.peak_bytes is None or row.net_bytes is None:
        return Answer(
            GROWTH, OPEN, "memory was not recorded: profile_memory would tell what a call allocates."
        )
    each = max(row.net_bytes / max(row.outermost, 1), 0)
    high = int(memory.rows.allocated.max(initial=0))
    of_peak = f" (the trace's peak: {units.size(high)})" if high > 0 else ""
    if not row.peak_bytes:
        return Answer(
            GROWTH, YES, f"unless the kernel works in place as this does: it allocates nothing now{of_peak}."
        )
    return Answer(
        GROWTH,
        NO,
        f"a call now allocates up to {units.size(row.peak_bytes)} and leaves {units.size(each)}{of_peak}: only what "
        "a new kernel needs beyond that, or saves for a backward pass, would be more.",
    )
