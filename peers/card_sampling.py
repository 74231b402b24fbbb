"""What looking at a card every 50 ms does to the latency of an operation that is measured meanwhile."""

from __future__ import annotations

import os
import signal
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from scipy.stats import binom

from dcu_asv_ext.devices import select
from dcu_asv_ext.devices.cards.sampler import Sampler
from dcu_asv_ext.measure.arguments import CallArguments
from dcu_asv_ext.measure.calls import batched
from dcu_asv_ext.measure.sampling import Plan, sample_synchronized

from .loops import operation
from .report import Row

ADDRESS = "0000:09:00.0"
FILES = {
    "mem_info_vram_used": 2207744,
    "mem_info_vram_total": 68702699520,
    "gpu_busy_percent": 0,
    "power_dpm_force_performance_level": "auto",
    "numa_node": 0,
    "hwmon/hwmon3/temp1_input": 44000,
    "hwmon/hwmon3/power1_average": 135000000,
    "hwmon/hwmon3/freq1_input": 1500000000,
    "hwmon/hwmon3/freq2_input": 1800000000,
}
#: Seconds of a block: short beside the drift of a machine, long enough for two looks.
BLOCK = 0.1
#: By how much the ratio, and the ends of its interval, may leave 1.
REACH = 0.005


def rows(turns: int = 401) -> list[Row]:
    """One block with the sampler running and one with it stopped a turn, the order changing from turn to turn.

    The ratio is the median over turns of the ratio of the blocks' medians, with its exact sign interval.
    """
    torch.set_num_threads(1)
    device = select("cpu")
    call = batched(torch.sin, [CallArguments((operation(1e-3),))], 1)
    plan = Plan(5, 10_000, BLOCK)
    on, off = [], []
    with _card() as root:
        sampler = Sampler(("sysfs", ADDRESS, str(root)))
        assert sampler.pid is not None, sampler.stop().reason
        sample_synchronized(device, call, Plan(5, 10_000, 10 * BLOCK))
        for turn in range(turns):
            for running in (True, False) if turn % 2 else (False, True):
                os.kill(sampler.pid, signal.SIGCONT if running else signal.SIGSTOP)
                (on if running else off).append(statistics.median(sample_synchronized(device, call, plan)))
        os.kill(sampler.pid, signal.SIGCONT)
        taken = sampler.stop().taken
    assert taken >= turns, f"the sampler looked only {taken} times in {turns} blocks"
    ratios = sorted(one / other for one, other in zip(on, off, strict=True))
    rank = int(binom.ppf(0.025, turns, 0.5))
    low, high = ratios[rank - 1], ratios[turns - rank]
    without = statistics.median(off)
    return [
        Row(
            "median latency of a 1 ms operation while a card is looked at every 50 ms",
            without * statistics.median(ratios) * 1e6,
            without * 1e6,
            "us",
            REACH,
            f"the same without, {turns} turns; 95 % interval of the ratio {low:.4f} to {high:.4f}",
            both_sides=True,
        ),
        Row(
            "the farther end of that interval, away from 1",
            max(abs(low - 1), abs(high - 1)) * 100,
            None,
            "%",
            REACH * 100,
        ),
    ]


@contextmanager
def _card() -> Iterator[Path]:
    """A made-up machine's root: its files lie in memory where that is possible, as the driver's do."""
    memory = Path("/dev/shm")
    folder = str(memory) if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="peers-", dir=folder) as root:
        for name, value in FILES.items():
            path = Path(root, "sys/bus/pci/devices", ADDRESS, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{value}\n")
        yield Path(root)
