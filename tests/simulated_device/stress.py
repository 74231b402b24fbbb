"""Three threads with three streams each, checked against the CPU; then an exit with work still queued.

python stress.py sim|cuda SEED
"""

from __future__ import annotations

import importlib
import random
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
form: Any = importlib.import_module({"sim": "sim_backend", "cuda": "fake_cuda"}[sys.argv[1]])
import torch  # noqa: E402  (one form has to come before it)

CHAINS, STEPS = 30, 5


def chain(start: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    value = start
    for _ in range(STEPS):
        value = (value @ weight).tanh() + start
        value.sum(0)  # a block that is free again at once
    return value


def work(seed: int, wrong: list[str]) -> None:
    generator = torch.Generator().manual_seed(seed)
    sizes = random.Random(seed)
    streams = [form.api.Stream() for _ in range(3)]
    try:
        for step in range(CHAINS):
            start = torch.randn(sizes.randint(1, 300), 64, generator=generator)
            weight = torch.randn(64, 64, generator=generator)
            with form.api.stream(streams[step % 3]):
                computed = chain(start.to(form.DEVICE), weight.to(form.DEVICE)).cpu()
            if not torch.allclose(computed, chain(start, weight), atol=1e-4):
                wrong.append(f"thread {seed}, chain {step}")
    except BaseException as error:
        wrong.append(f"thread {seed}: {error!r}")
        raise


def main() -> None:
    torch.set_num_threads(1)
    wrong: list[str] = []
    first = int(sys.argv[2])
    threads = [threading.Thread(target=work, args=(seed, wrong)) for seed in range(first, first + 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        sys.exit(f"mismatches: {wrong}")
    form.set_cost("*", 2_000_000)
    value = torch.ones(8, 8, device=form.DEVICE)
    for _ in range(200):
        value = value + 1
    print("pending at exit:", form.pending())


main()
