"""Small traces with named kernels and memory, for the tests of the operator table."""

from __future__ import annotations

from pathlib import Path

from dcu_asv_ext.trace.analysis import Analysis

from .building import MAIN, Building

#: Device types as torch numbers them.
CPU, HIP = 0, 6


class Tabling(Building):
    """Times in microseconds, as in `Building`."""

    def runs(
        self,
        name: str,
        called: float,
        begin: float,
        end: float,
        *,
        took: float = 1,
        thread: int = MAIN,
        stream: int = 0,
        grid: int | None = None,
    ) -> None:
        """A kernel of this name with the call that launched it."""
        number = self.correlation()
        self.call("hipLaunchKernel", called, called + took, thread, correlation=number)
        shape = {} if grid is None else {"grid": [grid, 1, 1], "block": [256, 1, 1]}
        args = {"device": 0, "stream": stream, "correlation": number, **shape}
        self._add("kernel", name, begin, end, tid=stream, args=args)

    def memory(
        self, at: float, size: int, address: int, *, total: int = 0, thread: int = MAIN, kind: int = HIP
    ) -> None:
        """An allocation, or a free where `size` is negative."""
        args = {
            "Bytes": size, "Addr": address, "Device Type": kind, "Device Id": 0 if kind else -1,
            "Total Allocated": total, "Total Reserved": total,
        }  # fmt: skip
        row = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 1, "tid": thread}
        self.events.append({**row, "ts": at, "args": args})


def a_step(folder: Path) -> Analysis:
    """A linear layer of one product, an addition that calls itself, a read-back, and a kernel that no operator made.

    Times in us: linear 0-100 > addmm 10-90 > empty 12-16; add 100-140 > add 110-130; item 150-200 >
    _local_scalar_dense 155-195.
    """
    made = Tabling()
    made.operator(
        "aten::linear", 0, 100, **{"Input Dims": [[8, 4], [4, 4]], "Input type": ["float", "float"]}
    )
    made.operator("aten::addmm", 10, 90, **{"Input Dims": [[4], [8, 4]]})
    made.operator("aten::empty", 12, 16)
    made.runs("gemm", 20, 30, 70, took=8, grid=4)
    made.runs("bias", 50, 70, 80, took=2, grid=2)
    made.operator("aten::add", 100, 140, **{"Input Dims": [[8]]})
    made.operator("aten::empty", 102, 104)
    made.runs("add", 105, 110, 120, took=2)
    made.operator("aten::add", 110, 130, **{"Input Dims": [[2]]})
    made.runs("add", 115, 120, 124, took=3)
    made.operator("aten::item", 150, 200)
    made.operator("aten::_local_scalar_dense", 155, 195)
    made.copies("Memcpy DtoH (Device -> Host)", (160, 190), (180, 188), size=4)
    made.runs("python", 300, 310, 325)
    made.call("hipDeviceSynchronize", 330, 350)
    return made.analysis(folder)
