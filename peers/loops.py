"""The sampling loop itself: its figures, its overhead, its memory, and the package's import time."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
import tracemalloc

import torch
from torch.utils.benchmark import Timer

from dcu_asv_ext.devices import select
from dcu_asv_ext.measure.arguments import CallArguments
from dcu_asv_ext.measure.calls import batched
from dcu_asv_ext.measure.sampling import Plan, choose_batch, overhead, sample_synchronized

from .report import Row


def operation(seconds: float) -> torch.Tensor:
    """A tensor whose element-wise sine takes about this long."""
    count = 1024
    while True:
        tensor = torch.rand(count)
        torch.sin(tensor)
        took = min(_once(tensor) for _ in range(5))
        if took >= seconds or count >= 1 << 27:
            return torch.rand(max(64, int(count * seconds / took)))
        count *= 2


def _once(tensor: torch.Tensor) -> float:
    begin = time.perf_counter()
    torch.sin(tensor)
    return time.perf_counter() - begin


def latency_rows(turns: int = 31) -> list[Row]:
    torch.set_num_threads(1)
    device = select("cpu")
    found = []
    for seconds, reach in ((20e-6, 0.05), (1e-3, 0.02), (50e-3, 0.02)):
        tensor = operation(seconds)
        timer = Timer("sin(x)", globals={"sin": torch.sin, "x": tensor}, num_threads=1)
        batch = choose_batch(seconds, overhead(device))
        call = batched(torch.sin, [CallArguments((tensor,))], batch)
        plan = Plan(5, 250, 0.1)
        ours, theirs = [], []
        for _ in range(turns):
            ours.append(statistics.median(sample_synchronized(device, call, plan)) / batch)
            theirs.append(timer.blocked_autorange(min_run_time=0.1).median)
        ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
        peer = statistics.median(theirs)
        found.append(
            Row(
                f"median latency of a {seconds * 1e6:g} us operation",
                peer * statistics.median(ratios) * 1e6,
                peer * 1e6,
                "us",
                reach,
                "torch.utils.benchmark.Timer.blocked_autorange, interleaved",
                both_sides=True,
            )
        )
    return found


def overhead_row(count: int = 20_000) -> Row:
    """What one sample of an empty call reads above a bare perf_counter pair around the same call."""
    device = select("cpu")

    def nothing() -> None:
        return None

    clock = time.perf_counter
    bare, ours = [], []
    for _ in range(5):
        pairs = []
        for _ in range(count):
            begin = clock()
            nothing()
            pairs.append(clock() - begin)
        bare.append(statistics.median(pairs))
        call = batched(nothing, [CallArguments()], 1)
        ours.append(statistics.median(sample_synchronized(device, call, Plan(count, count, 0.0))))
    added = statistics.median(one - other for one, other in zip(ours, bare, strict=True))
    return Row(
        "time that the loop itself adds to a sample", added * 1e6, None, "us", 1.0, "a bare perf_counter pair"
    )


def memory_row(count: int = 100_000) -> Row:
    device = select("cpu")
    call = batched(lambda: None, [CallArguments()], 1)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = sample_synchronized(device, call, Plan(count, count, 0.0))
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(kept) == count
    return Row("memory that the harness keeps for 100 000 samples", held / 2**20, None, "MiB", 16.0)


def import_row(turns: int = 9) -> Row:
    def seconds(module: str) -> float:
        code = (
            f"import time; begin = time.perf_counter(); import {module}; print(time.perf_counter() - begin)\n"
            "import sys; assert 'torch' not in sys.modules"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return float(done.stdout)

    ours, theirs = [], []
    for _ in range(turns):
        ours.append(seconds("dcu_asv_ext"))
        theirs.append(seconds("asv"))
    return Row(
        "import dcu_asv_ext (and no torch)",
        statistics.median(ours) * 1e3,
        statistics.median(theirs) * 1e3,
        "ms",
        0.3,
        "import asv",
    )
