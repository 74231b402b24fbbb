"""What the CPU cannot run: copies, and their overlap with compute, right on an asynchronous device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A process of its own: the simulated device cannot be taken out of a torch again. Shapes are cut down to what a
# processor multiplies quickly.
SCRIPT = """
import sys
sys.path[:0] = [{root!r}, {simulated!r}]
import sim_backend
import torch
from benchmarks import copies, overlap
from dcu_asv_ext.decorator import spec_of
from dcu_asv_ext.devices import select
from dcu_asv_ext.measure.arguments import make_arguments
from dcu_asv_ext.measure.correctness import judge

copies.COUNT, overlap.SIDE = 1 << 14, 64
device = select("sim")
for decorated in (copies.copy, overlap.copy_and_compute):
    spec = spec_of(decorated)
    for params in spec.combinations():
        arguments = make_arguments(spec, params, device.torch_device)[0]
        # Slow copies show what is read too early, slow products what is overwritten too early.
        for copy, product in ((200_000, 0), (0, 5_000_000)):
            sim_backend.set_cost("copy:htod_ns_per_kb", copy)
            sim_backend.set_cost("aten::mm", product)
            outputs = [arguments.call(spec.function) for _ in range(2)]
            device.synchronize()
            for output in outputs:
                wrong = judge(spec, [], output, arguments.call(spec.reference)).wrong
                assert not wrong, (spec.family, params, wrong)
        broken = output.cpu() * 0.99
        assert judge(spec, [], broken, arguments.call(spec.reference)).wrong, (spec.family, params)
        print("right", spec.family, params)
"""


@pytest.mark.simulated
def test_copies_and_overlap_are_right_on_an_asynchronous_device() -> None:
    script = SCRIPT.format(root=str(ROOT), simulated=str(ROOT / "tests" / "simulated_device"))
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "DCU_ASV_DEVICE": "sim"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("right") == 6
