"""Evidence on disk and back: a thousand measurements of 200 samples, with everything that a record can tell."""

from __future__ import annotations

import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from dcu_asv_ext.devices.cards.samples import Samples
from dcu_asv_ext.devices.cards.source import Reading
from dcu_asv_ext.evidence.record import Measurement
from dcu_asv_ext.evidence.store import pack, read
from dcu_asv_ext.measure.sampled import summarise
from dcu_asv_ext.measure.warmup import Rule

from .report import Row

MEASUREMENTS, SAMPLES = 1000, 200
#: A card is looked at every 50 ms; a measurement takes some seconds.
_INTERVAL, _SECONDS = 0.05, 5.0
_TURNS = 5
_GIB = 2**30


def rows() -> list[Row]:
    """latency alone has the samples, or device_time has as many besides."""
    found = []
    for passes in (("latency",), ("latency", "device_time")):
        what = f"{MEASUREMENTS:,} measurements of {SAMPLES} samples of {' and of '.join(passes)}"
        with tempfile.TemporaryDirectory(prefix="peers-") as folder:
            path = Path(folder) / "0123abcd-overlay-py3.10.evidence.jsonl"
            lines = [measurement(number, passes).to_line() for number in range(MEASUREMENTS)]
            path.write_text("".join(lines), encoding="utf-8")
            size, seconds = path.stat().st_size, _seconds(path)
            pack(path)
            packed, unpacking = path.with_name(path.name + ".gz").stat().st_size, _seconds(path)
        found += [
            Row(f"{what}: on disk", size / 1e6, None, "MB", 10.0 if passes == ("latency",) else None),
            Row("  read", seconds, None, "s", 1.0),
            Row("  on disk, packed by dcu-asv prune", packed / 1e6, None, "MB", 10.0),
            Row("  read, packed", unpacking, None, "s", 1.0),
        ]
    return found


def room(passes: tuple[str, ...] = ("latency", "device_time")) -> dict[str, int]:
    """Field of a record -> its bytes, the largest first."""
    record = json.loads(measurement(0, passes).to_line())
    sizes = {name: len(json.dumps({name: one}, separators=(",", ":"))) - 1 for name, one in record.items()}
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _seconds(path: Path) -> float:
    taken = []
    for _ in range(_TURNS):
        begin = time.perf_counter()
        found = read(path)
        taken.append(time.perf_counter() - begin)
        assert len(found.records) == MEASUREMENTS and not found.skipped
    return min(taken)  # what else runs meanwhile only adds


def measurement(number: int, passes: tuple[str, ...]) -> Measurement:
    """As a DCU's would be: `number` of a suite of 20 functions with 5 parameters, 10 rounds."""
    chance = random.Random(number)
    level = 1e-3 * chance.uniform(0.05, 50)
    times: dict[str, list[float | None]] = {
        "cold": [chance.uniform(0.1, 1)],
        "warm_up": _samples(chance, level, 12),
        **{name: _samples(chance, level, SAMPLES) for name in passes},
    }
    metrics = [
        "latency", "device_time", "cold_start", "peak_allocated", "peak_reserved", "peak_card", "memory_growth",
        "max_error",
    ]  # fmt: skip
    return Measurement(
        benchmark=f"attention.scaled_dot_product_{number // 50}",
        params={"batch": "8", "sequence": str(256 * (1 + number // 10 % 5)), "dtype": "'bfloat16'"},
        param_index=number // 10 % 5,
        round=number % 10 + 1,
        session="bb31af0e3862",
        order=number,
        commit="0123abcd" * 5,
        env="overlay-py3.10-devicehip-torch2.4.1+das.dtk25.04",
        machine="k100-ai-node",
        started_at="2026-11-29T23:19:24.496+00:00",
        metrics=metrics,
        versions={name: _version(number // 50, name) for name in metrics},
        boundary={
            "outside": ["setup"],
            "inside": "everything the function does, transfers and synchronisations included",
            "inputs_on": ["cuda:0"],
            "outputs_on": ["cuda:0"],
        },
        seed=chance.getrandbits(31),
        times=times,
        batch=dict.fromkeys(passes, 4),
        warm_up={
            "count": 12,
            "stable": True,
            "rule": Rule().as_text(),
            "batch": 4,
            "batched_from": None,
        },
        memory=_memory(chance),
        correctness={
            "correct": True, "max_error": chance.uniform(1e-7, 1e-3), "mean_error": chance.uniform(1e-9, 1e-5),
            "max_absolute": chance.uniform(1e-7, 1e-3), "outside": 0, "elements": 262144, "non_finite": 0,
            "rtol": 0.002, "atol": 0.002, "timed_outputs": [0, 63, 127], "subset": False,
        },
        work={"flop": 536870912.0},
        **_cold(chance),
        spans={name: [one * 1.1, one * 1.1 + 1] for one, name in enumerate(("cold", "warm_up", "memory", *passes))},
        **_machine(chance),
        sampled=_sampled(chance, passes),
    )  # fmt: skip


def _version(function: int, metric: str) -> str:
    return f"{random.Random(f'{function}.{metric}').getrandbits(128):032x}"


def _cold(chance: random.Random) -> dict[str, Any]:
    nothing = dict.fromkeys(("compilation", "extension_build", "extension_load"), 0.0)
    within = "within first_use_rest"
    return {
        "parts": {
            "imports": chance.uniform(2, 4), "setup": chance.uniform(0.01, 0.1), **nothing,
            "first_use_rest": chance.uniform(0.1, 1),
        },
        "cold": {
            "in_first_call": nothing,
            "wrote": [],
            "missing": {
                "library_init": within,
                "pool_growth": f"{within}; its bytes are in memory.first",
                "algorithm_search": within,
            },
        },
    }  # fmt: skip


def _samples(chance: random.Random, level: float, count: int) -> list[float | None]:
    return [level * chance.lognormvariate(0, 0.01) for _ in range(count)]


def _memory(chance: random.Random) -> dict[str, Any]:
    def peaks() -> dict[str, int]:
        names = ("baseline", "peak", "after")
        figures = {
            f"{name}_{kind}": chance.randrange(_GIB) for kind in ("allocated", "reserved") for name in names
        }
        return {**figures, "requested_peak": chance.randrange(_GIB), "retries": 0, "ooms": 0, "segments": 3}

    def holders(count: int) -> list[dict[str, Any]]:
        return [
            {
                "bytes": chance.randrange(2**28),
                "count": chance.randrange(1, 9),
                "where": f"fused/attention/block.py:{chance.randrange(400)} in forward",
                "what": "aten::_scaled_dot_product_flash_attention, bfloat16[8, 16, 1024, 64]",
            }
            for _ in range(count)
        ]

    resident = {f"rss_{name}": chance.randrange(_GIB) for name in ("before", "peak", "after")}
    return {
        **peaks(),
        "method": "torch's allocator counters, reset before the call",
        "first": {**peaks(), **resident, "card": {"before": 1 << 30, "after": 3 << 30, "source": "sysfs"}},
        "peak_card": chance.randrange(8 * _GIB),
        "card": {
            "before": chance.randrange(8 * _GIB), "peak": chance.randrange(8 * _GIB), "after": 1 << 33,
            "total": 64 * _GIB, "source": "sysfs", "interval": 0.001, "readings": 40, "own": 1 << 33,
            "others": {"count": 0, "mib": 0}, "contended": False,
        },
        "outside_allocator": chance.randrange(_GIB),
        "alive": {
            "bytes": chance.randrange(_GIB), "before_call": chance.randrange(_GIB),
            "method": "torch's allocator history of one call", "holders": holders(8), "rest": 0, "unexplained": 0,
        },
        "memory_growth": 0.0,
        "growth": {
            "calls": 1000, "points": 1000, "series": "allocated", "slope": 0.0, "ci_low": 0.0, "ci_high": 0.0,
            "p_value": 1.0, "peak_slope": 0.0, "leak": False, "reason": "no call kept anything", "collected": 0.0,
            "method": "allocator counters after each call; pairwise slopes, t test of block increments",
            "reserved_slope": 0.0, "grew": [],
        },
        "empty_cache": {"calls": 0, "seconds": 0.0},
    }  # fmt: skip


def _reading(chance: random.Random) -> Reading:
    return Reading(
        used_bytes=_GIB + 2**20 * chance.randrange(4096),
        total_bytes=64 * _GIB,
        core_clock_mhz=float(chance.choice((1400, 1500))),
        memory_clock_mhz=1600.0,
        power_w=chance.randrange(80_000, 350_000) / 1000,
        temperature_c=chance.randrange(40, 80) / 1.0,
        utilization=chance.randrange(100) / 1.0,
        performance_level="auto",
    )


def _sampled(chance: random.Random, passes: tuple[str, ...]) -> dict[str, Any]:
    count = int(_SECONDS / _INTERVAL)
    times = [one * _INTERVAL + chance.uniform(0, 0.002) for one in range(count)]
    spans = {
        name: [1.1 * one, 1.1 * one + 1] for one, name in enumerate(("cold", "warm_up", "memory", *passes))
    }
    readings = [_reading(chance) for _ in range(count)]
    return summarise(Samples("sysfs", _INTERVAL, times, readings, count), spans, 0.0)


def _machine(chance: random.Random) -> dict[str, Any]:
    look = {name: value for name, value in vars(_reading(chance)).items() if value is not None}
    return {
        "device": {
            "kind": "dcu", "name": "cuda:0", "index": 0, "simulated": False, "product": "K100_AI",
            "architecture": "gfx928:sramecc+:xnack-", "total_memory": 64 * _GIB, "multiprocessors": 120,
            "warp_size": 64, "driver": "6.3.8", "runtime": "6.3.25045", "dtk": "25.04", "torch": "2.4.1+das.dtk25.04",
            "torch_git": "0123456789abcdef" * 2 + "01234567", "toolkits": {"miopen": "2.18", "rccl": "2.18.3"},
            "pci_address": "0000:9f:00.0", "numa_node": 3, "performance_level": "auto", "power_cap_w": 400,
            "visible": {"HIP_VISIBLE_DEVICES": "0"}, "visible_addresses": ["0000:9f:00.0"], "devices_in_use": 1,
            "allocator": "native",
        },
        "host": {
            "cpu": "Hygon C86 7490 64-core Processor", "cores": 128, "cores_total": 256, "sockets": 2,
            "threads_per_core": 2, "numa_nodes": 8, "governor": "performance", "kernel": "5.15.0-91-generic",
            "container": "docker", "memory_total": 1081101176832,
        },
        "state": {
            "before": look, "after": look, "own_bytes": 1 << 33, "others": {"count": 0, "mib": 0},
            "load_1min": 1.5, "contended": False,
        },
        "project": {"package_size": 1234567, "files": 123},
        "software": {
            "packages": {
                "python": "3.10.12", "implementation": "cpython", "dcu-asv-ext": "0.1.0", "asv": "0.6.6",
                "asv_runner": "0.3.2", "torch": "2.4.1+das.dtk25.04", "numpy": "1.26.4", "scipy": "1.13.1",
                "triton": "3.0.0",
            },
            "environment": {"HSA_FORCE_FINE_GRAIN_PCIE": "1", "OMP_NUM_THREADS": "16"},
            "load_1min": 1.5,
        },
        "switches": {
            "grad": True, "deterministic": False, "float32_matmul_precision": "highest", "threads": 16,
            "interop_threads": 64, "default_dtype": "float32", "gc_in_samples": False, "gc_enabled": True,
            "tf32_matmul": False, "tf32_cudnn": True, "cudnn_benchmark": False, "cudnn_deterministic": False,
            "quick": False, "cache": {"mode": "session", "was_empty": True, "wrote": False},
        },
        "input": {"tensors": ["bfloat16[8, 16, 1024, 64]"] * 3, "bytes": 50331648, "sets": 1},
    }  # fmt: skip
