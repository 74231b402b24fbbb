"""Does the measuring hold on this card? One command, at most four minutes, needing the package, torch and a device.

    python tests/device_check.py [--json FILE] [--rounds 20]

Kernels of known length (`torch.cuda._sleep`, its clock calibrated on a kernel twenty times as long), side streams,
copies, peaks, out of memory, escaped work; then one unchanged benchmark in 20 fresh processes, for the rate of false
alarms. Prints a table and writes a JSON file; the exit code is 1 if a check failed, 3 without a usable device.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import math
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

LIMIT_SECONDS = 240
MIB = 1 << 20


@dataclass
class Result:
    """One check: what was measured beside what must hold."""

    name: str
    ok: bool
    measured: str
    expected: str


class Bench:
    """The device under test, and how many cycles its `_sleep` makes of a second."""

    def __init__(self, device: Any, torch: Any) -> None:
        self.device, self.torch = device, torch
        self.cycles = self._calibrate()

    def _calibrate(self) -> float:
        cycles = 10_000_000
        for _ in range(6):
            seconds = min(self._wall(cycles) for _ in range(3))
            if seconds >= 0.1:
                break
            cycles = int(cycles * max(2.0, 0.12 / max(seconds, 1e-4)))
        return cycles / seconds

    def _wall(self, cycles: int) -> float:
        self.device.synchronize()
        begin = time.perf_counter()
        self.torch.cuda._sleep(cycles)
        self.device.synchronize()
        return time.perf_counter() - begin

    def kernel(self, seconds: float) -> None:
        self.torch.cuda._sleep(int(seconds * self.cycles))

    def measure(self, function: Callable[..., Any], setup: Any = None, **options: Any) -> dict[str, Any]:
        """Every pass over one function, in this process; the record as it would be stored."""
        from dcu_asv_ext.decorator import make_spec
        from dcu_asv_ext.measure.request import Options, Request
        from dcu_asv_ext.measure.session import measure

        metrics = ["latency", "device_time", "host_time", "cold_start", "peak_allocated", "peak_reserved"]
        spec = make_spec(function, {"setup": setup, "metrics": metrics, **options}, "suite.device_check")
        request = Request(spec=spec, params={}, labels={}, options=Options(repeat=7))
        return measure(request, self.device).record.to_dict()


def middle(record: dict[str, Any], name: str) -> float:
    values = [value for value in record["times"].get(name, []) if value is not None]
    return statistics.median(values) if values else math.nan


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"


def check_known_kernel(bench: Bench) -> list[Result]:
    def five(x: Any) -> Any:
        bench.kernel(5e-3)
        return x

    record = bench.measure(five, setup=lambda device: bench.torch.ones(4, device=device))
    found = [
        Result(f"5 ms kernel by {name}", abs(value / 5e-3 - 1) <= 0.1, milliseconds(value), "5 ms +- 10 %")
        for name, value in ((name, middle(record, name)) for name in ("latency", "device_time"))
    ]  # fmt: skip
    host = middle(record, "host_time")
    return [*found, Result("5 ms kernel by host_time", host < 1e-3, milliseconds(host), "< 1 ms")]


def check_side_stream(bench: Bench) -> list[Result]:
    side = bench.torch.cuda.Stream()

    def beside(x: Any) -> Any:
        with bench.torch.cuda.stream(side):
            for _ in range(5):
                bench.kernel(4e-3)
                x.add_(0)
        return x

    record = bench.measure(beside, setup=lambda device: bench.torch.ones(4, device=device))
    return [
        Result(f"5 kernels of 4 ms on a side stream by {name}", middle(record, name) >= 0.0195,
               milliseconds(middle(record, name)), ">= 20 ms")
        for name in ("latency", "device_time")
    ]  # fmt: skip


def check_queued_before(bench: Bench) -> list[Result]:
    def five(x: Any) -> Any:
        bench.kernel(5e-3)
        return x

    record = bench.measure(
        five,
        setup=lambda device: bench.torch.ones(4, device=device),
        reset=lambda x: bench.kernel(20e-3),
    )
    value = middle(record, "latency")
    return [Result("work queued before the sample is outside", value < 7e-3, milliseconds(value), "< 7 ms")]


def check_escape(bench: Bench) -> list[Result]:
    def launch() -> None:
        with bench.torch.cuda.stream(bench.torch.cuda.Stream()):
            bench.kernel(20e-3)

    def escaping(x: Any) -> Any:
        # Another thread's work is seen by no observer of this one.
        thread = threading.Thread(target=launch)
        thread.start()
        thread.join()
        return x

    record = bench.measure(escaping, setup=lambda device: bench.torch.ones(4, device=device))
    reason = record.get("missing", {}).get("device_time", "")
    latency = middle(record, "latency")
    return [
        Result("escaped work gives no device time", reason.startswith("stream escape"), reason[:32] or "a number",
               "a reason"),
        Result("escaped work is inside the latency", latency >= 0.0195, milliseconds(latency), ">= 20 ms"),
    ]  # fmt: skip


def check_copy(bench: Bench) -> list[Result]:
    size = 64 * MIB

    def to_device(host: Any) -> Any:
        return host.to(bench.device.torch_device, non_blocking=True)

    def pinned() -> Any:
        return bench.torch.ones(size, dtype=bench.torch.uint8).pin_memory()

    record = bench.measure(to_device, setup=pinned, reference=lambda host: host)
    latency = middle(record, "latency")
    rate = size / latency / 1e9
    right = bool(record["correctness"].get("correct"))
    return [
        Result("pinned copy of 64 MiB, host to device", right, f"{rate:.1f} GB/s, {'right' if right else 'wrong'}",
               "right at its end"),
    ]  # fmt: skip


def check_peaks(bench: Bench) -> list[Result]:
    def allocate(x: Any) -> Any:
        scratch = bench.torch.empty(64 * MIB, dtype=bench.torch.uint8, device=x.device)
        scratch[:1] = 1
        return x

    memory = bench.measure(allocate, setup=lambda device: bench.torch.ones(4, device=device))["memory"]
    extra = memory["peak_allocated"] - memory["baseline_allocated"]
    return [
        Result("64 MiB inside the call, peak_allocated", 64 * MIB <= extra <= 64 * MIB + 4096,
               f"{extra / MIB:.4f} MiB", "64 MiB"),
        Result("64 MiB inside the call, peak_reserved", memory["peak_reserved"] >= 64 * MIB,
               f"{memory['peak_reserved'] / MIB:.1f} MiB", ">= 64 MiB"),
    ]  # fmt: skip


def check_out_of_memory(bench: Bench) -> list[Result]:
    def too_much(x: Any) -> Any:
        return bench.torch.empty(1 << 46, dtype=bench.torch.uint8, device=x.device)

    def ones(device: Any) -> Any:
        return bench.torch.ones(4, device=device)

    first = bench.measure(too_much, setup=ones)["status"]
    then = bench.measure(lambda x: x + 1, setup=ones, name="after")["status"]
    return [
        Result(
            "out of memory is recorded as such",
            first.startswith("out of memory"),
            first[:40],
            "out of memory ...",
        ),
        Result("the next benchmark still runs", then == "ok", then[:40], "ok"),
    ]


CHECKS = (
    check_known_kernel, check_side_stream, check_queued_before, check_escape, check_copy, check_peaks,
    check_out_of_memory,
)  # fmt: skip


# ---- false alarms


def one_round() -> None:
    """Child: one round of one unchanged benchmark; its latency samples as JSON."""
    import torch

    from dcu_asv_ext.devices import select

    device = select()
    side = 2048 if device.asynchronous and not device.simulated else 256

    def make(device: Any) -> Any:
        return torch.randn(side, side, device=device), torch.randn(side, side, device=device)

    def product(a: Any, b: Any) -> Any:
        return a @ b

    bench = Bench.__new__(Bench)
    bench.device, bench.torch = device, torch
    record = bench.measure(product, setup=make)
    print(json.dumps({name: record["times"].get(name, []) for name in ("latency", "device_time")}))


def false_alarms(rounds: int, simulated: bool, deadline: float) -> tuple[list[Result], dict[str, Any]]:
    """Split the rounds of one unchanged benchmark into two halves of up to five, in every way of a fixed draw."""
    taken: list[dict[str, list[float]]] = []
    command = [sys.executable, __file__, "--one-round"] + (["--simulated"] if simulated else [])
    while len(taken) < rounds and time.monotonic() < deadline:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"a round of the unchanged benchmark failed:\n{done.stdout}{done.stderr}")
        taken.append(json.loads(done.stdout.strip().splitlines()[-1]))
        print(f"  unchanged benchmark, round {len(taken)} of {rounds}", file=sys.stderr)
    logs = [math.log(statistics.median(one["latency"])) for one in taken]
    alarms, splits = count_alarms(logs)
    spread = statistics.stdev(logs) if len(logs) > 1 else math.nan
    facts = {
        "rounds": len(logs),
        "splits": splits,
        "alarms": alarms,
        "between_round_sd_log": spread,
        "raw": taken,
    }
    share = alarms / splits if splits else math.nan
    text = f"{alarms} of {splits} ({share:.1%}), between rounds {spread:.2%}"
    if not splits:
        return [], facts
    enough = len(logs) >= min(rounds, 10)
    return [Result("false alarms, 5 against 5 rounds", enough and share <= 0.02, text, "<= 2 %")], facts


def count_alarms(logs: list[float], size: int = 5) -> tuple[int, int]:
    """(alarms, splits): Welch's test of log medians at 1 %, and a shift of more than 1 %."""
    from scipy.stats import ttest_ind

    alarms = splits = 0
    groups = list(itertools.combinations(range(len(logs)), size))[
        :: max(1, math.comb(len(logs), size) // 200)
    ]
    for group in groups:
        rest = [index for index in range(len(logs)) if index not in group]
        other = rest[splits % max(1, len(rest) - size + 1) :][:size]
        if len(other) < size:
            continue
        before, after = [logs[i] for i in group], [logs[i] for i in other]
        splits += 1
        shift = abs(statistics.mean(after) - statistics.mean(before))
        if shift > 0.01 and ttest_ind(before, after, equal_var=False).pvalue < 0.01:
            alarms += 1
    return alarms, splits


def use_simulated_device() -> None:
    """For this script's own test: the simulated HIP device stands in for a card."""
    path = Path(__file__).resolve().parent / "simulated_device" / "fake_cuda.py"
    spec = importlib.util.spec_from_file_location("fake_cuda", path)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def run_checks(bench: Bench) -> list[Result]:
    results = []
    for check in CHECKS:
        try:
            results += check(bench)
        except Exception as fault:
            results.append(
                Result(check.__name__.removeprefix("check_"), False, f"{type(fault).__name__}: {fault}", "")
            )
    return results


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", default="device_check.json", metavar="FILE", help="where the figures go")
    parser.add_argument("--rounds", type=int, default=20, help="fresh processes of the unchanged benchmark")
    parser.add_argument("--simulated", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--one-round", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    deadline = time.monotonic() + LIMIT_SECONDS - 15
    if options.simulated:
        use_simulated_device()
    if options.one_round:
        one_round()
        return 0
    from dcu_asv_ext.devices import DeviceUnavailable, select

    try:
        device = select()
    except DeviceUnavailable as fault:
        print(f"device_check: {fault}", file=sys.stderr)
        return 3
    if not device.name.startswith("cuda"):
        print(f"device_check: needs a HIP or CUDA device, and this is {device.name}", file=sys.stderr)
        return 3
    import torch

    bench = Bench(device, torch)
    results = run_checks(bench)
    rate, facts = false_alarms(options.rounds, options.simulated, deadline)
    results += rate
    description = device.describe()
    print(f"{description.get('product', device.name)} ({device.kind}), torch {torch.__version__}")
    for one in results:
        print(f"{'ok  ' if one.ok else 'FAIL'} {one.name:48} {one.measured:34} expected {one.expected}")
    report = {"device": description, "results": [asdict(one) for one in results], "unchanged": facts}
    Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0 if all(one.ok for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
