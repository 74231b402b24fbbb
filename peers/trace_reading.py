"""A trace of a million events against HolisticTraceAnalysis: parse and breakdown, time and peak memory."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .report import Row

EVENTS = 1_000_000
#: What else runs on the machine only adds, so the least of a few turns counts.
_TURNS = 3
_PEER = "HolisticTraceAnalysis==0.5.0"
_CACHE = Path(__file__).resolve().parent.parent / ".cache" / "peers-hta"

#: The peak is the kernel's figure of the process itself: what os.wait4 tells has that of its parent in it.
_TELL = """
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print("took", time.perf_counter() - begin, int(peak) / 1024, idle)
"""
_OURS = f"""
import sys, time
from dcu_asv_ext.trace import summarize
begin = time.perf_counter()
idle = 100 * summarize(sys.argv[1])["idle_share"]
{_TELL}"""
_THEIRS = f"""
import pathlib, sys, time
from hta.trace_analysis import TraceAnalysis
begin = time.perf_counter()
found = TraceAnalysis(trace_dir=str(pathlib.Path(sys.argv[1]).parent)).get_temporal_breakdown(visualize=False)
idle = found["idle_time_pctg"][0]
{_TELL}"""

Event = dict[str, Any]


@dataclass(frozen=True)
class _Cost:
    """Seconds without the imports; peak resident memory of the whole process, in MB; idle share in percent."""

    seconds: float
    memory: float
    idle: float


def rows() -> list[Row]:
    python = _peer_python()
    found = []
    for what, make in (
        (f"a trace of {EVENTS:,} events", plain),
        ("  with Python frames and memory", stacked),
    ):
        with tempfile.TemporaryDirectory(prefix="peers-") as folder:
            path = Path(folder) / "rank0.json"
            size = write(path, make(EVENTS)) / 1e6
            ours, theirs = [], []
            for _ in range(_TURNS):
                ours.append(_cost(sys.executable, _OURS, path))
                theirs.append(_cost(python, _THEIRS, path))
        # HTA rounds times down to whole microseconds.
        assert abs(ours[0].idle - theirs[0].idle) < 10, (ours[0], theirs[0])
        mine, peer = (min(one.seconds for one in side) for side in (ours, theirs))
        found.append(
            Row(f"{what} ({size:.0f} MB): parse and breakdown", mine, peer, "s", 0.2, f"{_PEER}, interleaved")
        )
        mine, peer = (min(one.memory for one in side) for side in (ours, theirs))
        found.append(Row("  peak memory of the process", mine, peer, "MB", 0.3))
    return found


def _peer_python() -> str:
    """In an environment of its own, made on first use."""
    python = _CACHE / "bin" / "python"
    if not (_CACHE / ".ready").exists():
        venv.create(_CACHE, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", _PEER], check=True)
        (_CACHE / ".ready").touch()
    return str(python)


def _cost(python: str, code: str, path: Path) -> _Cost:
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run([python, "-c", code, path], capture_output=True, text=True, cwd=root)
    if done.returncode:
        raise RuntimeError(f"{python} ended with {done.returncode}: {done.stderr}")
    told = next(line for line in done.stdout.splitlines() if line.startswith("took "))
    return _Cost(*map(float, told.split()[1:]))


def write(path: Path, events: Iterator[Event]) -> int:
    """As Kineto lays a file out; its bytes."""
    with path.open("w") as file:
        file.write('{\n  "schemaVersion": 1,\n  "distributedInfo": {"rank": 0, "world_size": 1},\n')
        file.write('  "hip_runtime_version": 60443483,\n  "displayTimeUnit": "ms",\n  "traceEvents": [')
        for number, event in enumerate(events):
            text = json.dumps(event, indent=2).replace("\n", "\n  ")
            file.write(f"{',' if number else ''}\n  {text}")
        file.write('\n  ],\n  "traceName": "rank0.json"\n}\n')
    return path.stat().st_size


def plain(count: int) -> Iterator[Event]:
    """An operator, its launch, its kernel and the arrow between them, again and again."""
    chance = random.Random(0)
    host = device = 5_172_167_321_211.789
    for number in range(1, count // 5 + 1):
        yield _operator(number, host)
        yield _complete("cuda_runtime", "hipLaunchKernel", 100, 100, host + 4, 5.2, {
            "External id": number, "cid": 27, "correlation": number, "grid": [64, 1, 1], "block": [256, 1, 1],
            "shared memory": 0,
        })  # fmt: skip
        yield _arrow("s", number, 100, 100, host + 4)
        begin, took = max(device, host + 9), chance.uniform(5, 15)
        device = begin + took
        yield _complete("kernel", f"Cijk_Ailk_Bljk_SB_MT64x64x16_{number % 40}", 2, 0, begin, took, {
            "External id": number, "device": 2, "stream": 0, "correlation": number, "kind": "Dispatch Kernel",
            "grid": [64, 1, 1], "block": [256, 1, 1],
        })  # fmt: skip
        yield _arrow("f", number, 2, 0, begin)
        host += 14


def stacked(count: int) -> Iterator[Event]:
    """The same among the rows that with_stack and profile_memory add: ten frames and two allocations to a kernel."""
    run, depth = plain(count), 10
    allocated = 0
    for number in range(count // (5 + depth + 2)):
        mine = [next(run) for _ in range(5)]
        host = mine[0]["ts"]
        for level in range(depth):
            yield _complete(
                "python_function", f"model/layer_{level}.py({10 * level}): forward_{number % 50}", 100, 100,
                host + 0.01 * level, 13.8 - 0.02 * level,
                {"Python parent id": max(0, number * depth + level - 1), "Python id": number * depth + level,
                 "Ev Idx": number},
            )  # fmt: skip
        for size in (4096, -4096):
            allocated += size
            yield {
                "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, "tid": 100,
                "ts": round(host + 1, 3), "args": {
                    "Total Reserved": 1 << 21, "Total Allocated": allocated, "Bytes": size, "Addr": 1 << 47,
                    "Device Id": 2, "Device Type": 1, "Ev Idx": number,
                },
            }  # fmt: skip
        yield from mine


def _operator(number: int, begin: float) -> Event:
    name = ("aten::mm", "aten::add", "aten::mul", "aten::linear", "aten::addmm", "aten::copy_")[number % 6]
    return _complete("cpu_op", name, 100, 100, begin, 12.5, {
        "External id": number, "Record function id": 0, "Sequence number": 0, "Fwd thread id": 0,
        "Concrete Inputs": ["", ""], "Input type": ["float", "float"], "Input Strides": [[512, 1], [512, 1]],
        "Input Dims": [[512, 512], [512, 512]], "Ev Idx": number,
    })  # fmt: skip


def _complete(category: str, name: str, pid: int, tid: int, begin: float, took: float, args: Event) -> Event:
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": round(begin, 3),
            "dur": round(took, 3), "args": args}  # fmt: skip


def _arrow(phase: str, number: int, pid: int, tid: int, time: float) -> Event:
    found = {
        "ph": phase,
        "id": number,
        "pid": pid,
        "tid": tid,
        "ts": round(time, 3),
        "cat": "ac2g",
        "name": "ac2g",
    }
    return found if phase == "s" else {**found, "bp": "e"}
