"""Measurements for the tests of evidence."""

from __future__ import annotations

from typing import Any

from dcu_asv_ext.evidence.record import Measurement


def measurement(**changes: Any) -> Measurement:
    """A good one with a reference and every default metric."""
    made: dict[str, Any] = {
        "benchmark": "gemm.matmul",
        "params": {"n": "256", "dtype": "'float32'"},
        "param_index": 1,
        "metrics": ["latency", "device_time", "cold_start", "peak_allocated", "peak_reserved", "max_error"],
        "times": {
            "cold": [0.5],
            "warm_up": [0.02, 0.01],
            "latency": [1.25e-3, 1.5e-3],
            "device_time": [1.0e-3, None, -1.0e-9, 1.125e-3],
        },
        "batch": {"latency": 4, "device_time": 2},
        "memory": {"peak_allocated": 4096, "peak_reserved": 2 << 20, "method": "counters"},
        "correctness": {"correct": True, "max_error": 2.5e-7, "mean_error": 1e-8},
    }
    return Measurement(**{**made, **changes})
