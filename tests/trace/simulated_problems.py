"""Run in a process of its own: `simulated_problems.py FORM`, FORM "sim" or "cuda"; `TRACES` names a folder.

Profiles each function below on the simulated device, and prints {name: trace file}. For each problem there is
the code that has it and the same code without it. The costs of kernels and copies are programmed; numbers are not
computed.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FORM = sys.argv[1]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "simulated_device"))
simulated = importlib.import_module({"sim": "sim_backend", "cuda": "fake_cuda"}[FORM])

import torch  # noqa: E402  the "cuda" form has to come before it
from simulated_profile import record  # noqa: E402

STEPS = 4
ROUNDS = 6
MS = 1_000_000
KB_PER_BATCH = 1024

torch.set_num_threads(1)
simulated.set_compute(False)
simulated.set_cost("*", MS)
simulated.set_cost("copy:htod_ns_per_kb", MS // KB_PER_BATCH)
device = torch.device(FORM)
weight = torch.ones(512, 512, device=device)
rows = torch.ones(512, 512, device=device)
large = torch.ones(4 << 20, device=device)
pageable = torch.ones(512, 512)
pinned = pageable.pin_memory()
side = torch.Stream(device=device)


def host_work(seconds: float = 0.003) -> int:
    """What a loop over a batch's entries does: Python, and no operator. Few calls: the profiler writes each."""
    total, until = 0, time.perf_counter() + seconds
    while time.perf_counter() < until:
        for number in range(500):
            total += number * number
    return total


def item_in_the_loop() -> float:
    total = 0.0
    for _ in range(ROUNDS):
        loss = (rows @ weight).sum()
        total += loss.item()
        host_work(0.0004)
    return total


def item_in_the_loop_clean() -> torch.Tensor:
    total = torch.zeros((), device=device)
    for _ in range(ROUNDS):
        loss = (rows @ weight).sum()
        total += loss
        host_work(0.0004)
    return total


def pageable_copy() -> torch.Tensor:
    for _ in range(ROUNDS):
        batch = pageable.to(device)
        out = batch @ weight @ weight
    return out


def pageable_copy_clean() -> torch.Tensor:
    for _ in range(ROUNDS):
        batch = pinned.to(device, non_blocking=True)
        out = batch @ weight @ weight
    return out


def gelu_by_hand() -> torch.Tensor:
    x = large
    cube = x * x * x
    inner = (x + cube * 0.044715) * 0.7978845608
    return x * (torch.tanh(inner) + 1) * 0.5 * 1.0


def gelu_by_hand_clean() -> torch.Tensor:
    return torch.nn.functional.gelu(large, approximate="tanh")


def streams_in_turn() -> None:
    main = torch.accelerator.current_stream()
    for _ in range(ROUNDS):
        rows @ weight
        side.wait_stream(main)
        with side:
            rows @ weight
        main.wait_stream(side)


def streams_in_turn_clean() -> None:
    main = torch.accelerator.current_stream()
    for _ in range(ROUNDS):
        side.wait_stream(main)
        rows @ weight
        with side:
            rows @ weight
        main.wait_stream(side)


def python_between_launches() -> None:
    for _ in range(ROUNDS):
        host_work()
        rows @ weight


def python_between_launches_clean() -> None:
    host_work(0.0005)
    for _ in range(ROUNDS):
        rows @ weight


FUNCTIONS: dict[str, Callable[[], Any]] = {
    function.__name__: function
    for problem, clean in (
        (item_in_the_loop, item_in_the_loop_clean),
        (pageable_copy, pageable_copy_clean),
        (gelu_by_hand, gelu_by_hand_clean),
        (streams_in_turn, streams_in_turn_clean),
        (python_between_launches, python_between_launches_clean),
    )
    for function in (problem, clean)
}


def main() -> None:
    folder = Path(os.environ["TRACES"])
    wanted = os.environ.get("ONLY", "").split() or FUNCTIONS
    written = {}
    for name in wanted:
        path = folder / f"{name}.json.gz"
        record(FORM, FUNCTIONS[name], path, STEPS)
        written[name] = str(path)
    print(json.dumps(written))


if __name__ == "__main__":
    main()
